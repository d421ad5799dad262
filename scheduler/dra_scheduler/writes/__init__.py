"""The only place that writes to the cluster: claims, bindings, conditions and events, and taking back."""
