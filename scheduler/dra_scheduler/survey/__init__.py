"""A cluster looked at once, read-only: all objects that devices are about, from an API server or from files."""
