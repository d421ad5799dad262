"""Every device of a cluster with what people want to know of it: where it is, what it is, who holds it."""
