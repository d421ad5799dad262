"""The object store: what etcd and the watch cache are to the real API server."""
