"""Case files of Kubernetes' own tests, run through our engine: which outcomes are equal, and how the others differ."""
