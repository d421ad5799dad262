"""Our engine against Kubernetes' own: random clusters, expressions and quantities, both answers, every difference."""
