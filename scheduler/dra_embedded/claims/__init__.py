"""The ResourceClaim controller: what kube-controller-manager does for claims."""
