"""A cluster as one file: enough to decide again what was decided there, without what is nobody's business."""
