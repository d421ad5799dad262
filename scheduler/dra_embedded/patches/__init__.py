"""The three patch formats: merge patch (RFC 7396), JSON patch (RFC 6902), strategic merge patch (Kubernetes)."""
