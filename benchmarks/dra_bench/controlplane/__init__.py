"""A real Kubernetes control plane on loopback: etcd, API server, controllers, optionally kube-scheduler."""
