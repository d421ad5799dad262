"""Measurements that are not a loop of decisions: first uses of selectors, loading, changes, memory."""
