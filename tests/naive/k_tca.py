"""k-TCA up to its cells: maps of views, codes by best matching units, a map of the codes.

The deal of the columns, the grids and the starts of the maps are given.
"""

from naive.som import maps_of_views, nearest, trained


def coded(rows, columns, grid, start, epochs, rounds, clear=0.0):
    """Return each row as the prototypes that are nearest to it in its views."""
    views, _ = maps_of_views(rows, columns, grid, start, epochs, rounds, clear)
    result = [[None] * len(rows[0]) for _ in rows]
    for some, (prototypes, cells) in zip(columns, views, strict=True):
        for code, cell in zip(result, cells, strict=True):
            for place, j in enumerate(some):
                code[j] = prototypes[cell][place]
    return result


def cells_of(codes, grid, start, epochs, clear=0.0):
    """Return the cell of each coded row in a map of all of them."""
    prototypes = trained(codes, start, grid, epochs, clear=clear)
    return [nearest(code, prototypes, clear) for code in codes]


def k_tca(rows, columns, first, second, epochs=15, rounds=1, clear=0.0):
    """Return the cell of each row; `first` and `second` are the grids and starts of the views and of the last map."""
    return cells_of(coded(rows, columns, *first, epochs, rounds, clear), *second, epochs, clear)
