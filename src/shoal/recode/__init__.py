"""Classes into values: one published value a group and column."""
