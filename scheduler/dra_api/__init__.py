"""Wire forms of the Kubernetes API and their conversion to what the engine works on."""
