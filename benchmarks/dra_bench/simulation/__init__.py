"""Deterministic simulation: scheduler and cluster on one event loop with virtual time, everything drawn from a seed."""
