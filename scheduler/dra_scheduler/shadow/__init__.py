"""Deciding beside another scheduler without writing anything: where do we differ, and how fast is each."""
