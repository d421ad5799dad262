"""What restricts a choice of devices beyond selectors: one module per rule, all with the interface of `rule`."""
