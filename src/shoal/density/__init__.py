"""Densities of columns: where a column is cut, and the cells of rows that come of it."""
