"""The memory of a scheduler beside a large cluster."""
