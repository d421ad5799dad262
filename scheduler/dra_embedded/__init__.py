"""An in-memory cluster: API server, ResourceClaim controller, kubelet stand-in."""
