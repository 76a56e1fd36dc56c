"""C-TCA up to its cells, and its dissolved cells: as k-TCA, with mixtures of units next to each other for codes."""

from naive.k_tca import cells_of
from naive.som import maps_of_views, mixture, nearest, next_to


def coded(rows, columns, grid, start, epochs, rounds, clear=0.0):
    """Return each row as the mixtures that its views make of it."""
    views, _ = maps_of_views(rows, columns, grid, start, epochs, rounds, clear)
    result = [[None] * len(rows[0]) for _ in rows]
    for some, (prototypes, cells) in zip(columns, views, strict=True):
        for row, code, cell in zip(rows, result, cells, strict=True):
            near = [prototypes[unit] for unit in [cell, *next_to(cell, grid)]]
            for j, value in zip(some, mixture([row[j] for j in some], near), strict=True):
                code[j] = value
    return result


def c_tca(rows, columns, first, second, epochs=15, rounds=1, clear=0.0):
    """Return the cell of each row; `first` and `second` are the grids and starts of the views and of the last map."""
    return cells_of(coded(rows, columns, *first, epochs, rounds, clear), *second, epochs, clear)


def dissolved(codes, prototypes, cells, k):
    """Return cells of k rows or more: the smallest goes first, its rows to the nearest prototypes of cells left."""
    cells = list(cells)
    while len(set(cells)) > 1 and min(cells.count(cell) for cell in cells) < k:
        goes = min(set(cells), key=lambda cell: (cells.count(cell), cell))
        left = sorted(set(cells) - {goes})
        there = {i: nearest(codes[i], [prototypes[c] for c in left]) for i, c in enumerate(cells) if c == goes}
        cells = [left[there[i]] if i in there else cell for i, cell in enumerate(cells)]
    return cells
