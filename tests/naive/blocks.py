"""Blocks without a search, from the definition: cells cut at multiples of k, MDAV in each."""

from fractions import Fraction

from naive.mdav import mdav, numbered


def blocks(rows, k, most):
    """Return the group of each row."""
    groups = []
    for cell in cells(rows, list(range(len(rows))), k, max(most, 2 * k - 1)):
        own = mdav([rows[i] for i in cell], k)
        groups += [[cell[i] for i in range(len(cell)) if own[i] == g] for g in range(max(own) + 1)]
    return numbered(groups, len(rows))


def cells(rows, cell, k, most):
    """Cut a cell in two along its column of largest variance until it is small enough."""
    if len(cell) <= most:
        return [cell]
    columns = range(len(rows[0])) if rows[0] else []
    widest = max(columns, key=lambda j: (variance([rows[i][j] for i in cell]), -j), default=None)
    order = sorted(cell, key=lambda i: (rows[i][widest] if widest is not None else 0, i))
    left = k * (len(cell) // (2 * k))
    return [part for half in (order[:left], order[left:]) for part in cells(rows, sorted(half), k, most)]


def variance(values):
    mean = Fraction(sum(values), len(values))
    return sum((value - mean) ** 2 for value in values)
