"""Published values: one per group and column."""
