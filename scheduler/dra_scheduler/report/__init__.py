"""Texts for people: the PodScheduled condition and events, made from decisions."""
