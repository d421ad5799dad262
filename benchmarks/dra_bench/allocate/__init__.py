"""`dra-bench allocate`: how fast decisions are, ours and Kubernetes' own, on the same clusters in the same run."""
