"""What the controllers and the kubelet stand-in talk to the API server with; they need a Transport and nothing else."""
