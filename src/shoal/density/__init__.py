"""Densities of columns: where a column is cut, and the resulting cells of rows."""
