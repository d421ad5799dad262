"""The stand-in for the kubelets of all nodes."""
