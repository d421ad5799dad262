"""The embedded API server over HTTP(S), so that kubectl and other clients can use it."""
