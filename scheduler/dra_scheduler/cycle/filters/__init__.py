"""Filters over all nodes at once: each says which nodes fall out, and the reason in kube-scheduler's words."""
