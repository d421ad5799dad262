"""The scheduling cycle: a pod and the cluster's state in, a decision out."""
