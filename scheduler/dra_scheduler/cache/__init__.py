"""What is known of the cluster: observed objects, and what we have decided and not yet observed."""
