"""Self-organizing maps, collaboration between views of a table, and label-driven cells that become groups."""
