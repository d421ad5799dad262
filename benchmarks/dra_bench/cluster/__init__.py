"""Schedulers against each other on the real control plane: pods per second, latency, writes, double allocations."""
