"""A third opinion: an allocator that is slow and plain, to judge between Kubernetes' and ours.

It shares no code with ours, works on the API objects as they are, asks Kubernetes for selectors' values, recomputes
everything from the picks so far at each step (nothing to undo), and tries all combinations. Without `bugs` it does what
the API documents; each listed bug of Kubernetes' allocator can be switched on, and a difference between Kubernetes and
us is explained only if the model agrees with us without them and with Kubernetes when some are on.
"""
