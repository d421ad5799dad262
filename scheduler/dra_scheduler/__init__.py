"""The scheduler: watch, cache, queue, cycle, writes, reports."""
