"""Which pod comes next: active, backoff and unschedulable pods, and the events that move them."""
