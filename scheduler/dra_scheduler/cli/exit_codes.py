"""Exit codes that several commands share; each command's --help lists those that it uses."""

OK = 0
PENDING = 1
"""`simulate`: some pods stay pending. Elsewhere: an error that is nobody's input."""
BAD_INPUT = 2
"""Usage, a file or a kubeconfig is wrong; the message names file, line, object and field as far as known."""
NO_RESOURCE_API = 3
"""The API server serves no version of resource.k8s.io that this program knows."""
INTERRUPTED = 130
