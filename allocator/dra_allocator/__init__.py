"""Structured-parameter allocation: a view of the devices and claims in, an outcome out. Pure and deterministic."""
