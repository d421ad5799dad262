"""One module per workload; each has WORKLOADS, a tuple of `Workload`."""
