"""Maps, what they say of views of a table, and labels: cells of rows that are finished into groups."""
