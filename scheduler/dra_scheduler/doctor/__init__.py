"""Whether a cluster can schedule devices, whether we may help it, and what is about to break."""
