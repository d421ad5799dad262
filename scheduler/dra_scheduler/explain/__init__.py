"""One pod explained, whoever schedules it: why it is pending, or why its devices are the ones that it has."""
