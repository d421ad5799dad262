"""What should not be in a cluster with devices: found from its objects alone, whoever schedules there."""
