"""What each kind does on writes: defaults, what may change, generation, graceful deletion, selectable fields."""
