"""What `kubectl get` shows of each kind: the columns that its users know, by the API server's rules."""
