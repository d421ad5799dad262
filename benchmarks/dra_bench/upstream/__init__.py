"""Kubernetes' own tests of Dynamic Resource Allocation, with our scheduler in the place of kube-scheduler."""
