"""Self-organizing maps from their definitions: every row, every unit and every weight one by one, in lists.

A grid is (rows, columns); where its units stand and how far apart they are is counted anew for each pair.
"""

from math import ceil, exp, inf, sqrt


class TooCloseError(Exception):
    """Two prototypes are so nearly as near to a row that rounding decides."""


def place(unit, columns, hexagonal=True):
    """Return where a unit stands, as (row, column) of a picture."""
    row, column = unit // columns, unit % columns
    return (row * sqrt(3) / 2, column + (0.5 if row % 2 else 0.0)) if hexagonal else (float(row), float(column))


def squared_distance(one, two, columns, hexagonal=True):
    """Return the squared distance of two units."""
    return squared(place(one, columns, hexagonal), place(two, columns, hexagonal))


def next_to(unit, grid, hexagonal=True):
    """Return the units around one: six for hexagons, or the eight that share a side or a corner."""
    row, column = unit // grid[1], unit % grid[1]
    if not hexagonal:
        around = [(row + a, column + b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    else:
        side = column if row % 2 else column - 1
        above, below = [(row - 1, side), (row - 1, side + 1)], [(row + 1, side), (row + 1, side + 1)]
        around = [*above, (row, column - 1), (row, column + 1), *below]
    return [a * grid[1] + b for a, b in around if 0 <= a < grid[0] and 0 <= b < grid[1]]


def steps(start, grid, hexagonal=True):
    """Return how many steps each unit is from one, by going to neighbours and their neighbours."""
    found, edge = {start: 0}, [start]
    while edge:
        here = edge.pop(0)
        for there in next_to(here, grid, hexagonal):
            if there not in found:
                found[there] = found[here] + 1
                edge.append(there)
    return [found[unit] for unit in range(grid[0] * grid[1])]


def nearest(row, prototypes, clear=0.0):
    """Return the nearest prototype, the lowest of equals; refuse what is not clear between others."""
    gaps = [squared(row, one) for one in prototypes]
    best = min(range(len(gaps)), key=lambda unit: (gaps[unit], unit))
    if any(gap - gaps[best] < clear and prototypes[unit] != prototypes[best] for unit, gap in enumerate(gaps)):
        raise TooCloseError
    return best


def two_nearest(row, prototypes):
    """Return the nearest and the second nearest prototype."""
    order = sorted(range(len(prototypes)), key=lambda unit: (squared(row, prototypes[unit]), unit))
    return order[0], order[min(1, len(order) - 1)]


def sigma(epoch, epochs, grid, linear=False):
    """Return how wide the neighbourhood is in an epoch."""
    wide, share = max(1, ceil(max(grid) / 4)), epoch / max(1, epochs - 1)
    return wide - (wide - 1) * share if linear else wide * (1 / wide) ** share


def weights_of(cells, grid, wide=1.0):
    """Return how near each unit is to each row's own."""
    units = range(grid[0] * grid[1])
    return [[exp(-squared_distance(cell, unit, grid[1]) / (2 * wide * wide)) for unit in units] for cell in cells]


def means(rows, weights, before):
    """Return for each unit the mean of the rows by their weights; where nothing counts, what was before."""
    result = []
    for unit, old in enumerate(before):
        mass = sum(own[unit] for own in weights)
        sums = [sum(own[unit] * row[j] for own, row in zip(weights, rows, strict=True)) for j in range(len(old))]
        result.append([total / mass for total in sums] if mass > 0 else list(old))
    return result


def trained(rows, prototypes, grid, epochs, linear=False, clear=0.0):
    """Return the prototypes after some epochs of batch training."""
    for epoch in range(epochs):
        cells = [nearest(row, prototypes, clear) for row in rows]
        prototypes = means(rows, weights_of(cells, grid, sigma(epoch, epochs, grid, linear)), prototypes)
    return prototypes


def u_matrix(prototypes, grid, hexagonal=True):
    """Return the mean distance of each prototype to those next to it."""
    found = []
    for unit, own in enumerate(prototypes):
        gaps = [sqrt(squared(own, prototypes[other])) for other in next_to(unit, grid, hexagonal)]
        found.append(sum(gaps) / len(gaps) if gaps else 0.0)
    return found


def disagreement(here, there, grid):
    """Return the squared differences of how near the units are to rows in two maps."""
    one, two = weights_of(here, grid), weights_of(there, grid)
    return [[(a - b) ** 2 for a, b in zip(x, y, strict=True)] for x, y in zip(one, two, strict=True)]


def davies_bouldin(rows, prototypes, cells):
    """Return the index of cells around their prototypes."""
    held = sorted(set(cells))
    if len(held) < 2:
        return inf
    wide = {}
    for cell in held:
        gaps = [sqrt(squared(row, prototypes[cell])) for row, own in zip(rows, cells, strict=True) if own == cell]
        wide[cell] = sum(gaps) / len(gaps)
    worst = [
        max((wide[a] + wide[b]) / max(sqrt(squared(prototypes[a], prototypes[b])), 1e-12) for b in held if b != a)
        for a in held
    ]
    return sum(worst) / len(worst)


def maps_of_views(rows, columns, grid, start, epochs, rounds, clear=0.0):
    """Return prototypes and cells of each view, after views have learnt from each other, and what was accepted."""
    tables = [[[row[j] for j in some] for row in rows] for some in columns]
    views = []
    for some, table in zip(columns, tables, strict=True):
        prototypes = trained(table, [[unit[j] for j in some] for unit in start], grid, epochs, clear=clear)
        views.append((prototypes, [nearest(row, prototypes, clear) for row in table]))
    strength = {(a, b): 1.0 for a in range(len(views)) for b in range(len(views)) if a != b}
    accepted = []
    for _ in range(rounds if len(views) > 1 else 0):
        for number, table in enumerate(tables):
            prototypes, cells = views[number]
            weights = weights_of(cells, grid)
            near = sum(map(sum, weights))
            for other in range(len(views)):
                if other != number:
                    gaps = disagreement(cells, views[other][1], grid)
                    far = sum(map(sum, gaps))
                    grown = strength[number, other] + near / (2 * far) if far > 0 else 10.0
                    strength[number, other] = min(10.0, max(1.0, grown))
                    square = strength[number, other] ** 2
                    weights = [
                        [w + square * gap for w, gap in zip(own, away, strict=True)]
                        for own, away in zip(weights, gaps, strict=True)
                    ]
            moved = means(table, weights, prototypes)
            after = [nearest(row, moved, clear) for row in table]
            accepted.append(davies_bouldin(table, moved, after) < davies_bouldin(table, prototypes, cells))
            if accepted[-1]:
                views[number] = (moved, after)
    return views, accepted


def mixture(row, prototypes, count=40):
    """Return the convex mixture of prototypes near a row: so many steps of descent from the first, which is zero."""
    ways = [[p - first for p, first in zip(one, prototypes[0], strict=True)] for one in prototypes]
    there = [x - first for x, first in zip(row, prototypes[0], strict=True)]
    length = sum(x * x for one in ways for x in one)
    share = [1.0] + [0.0] * (len(prototypes) - 1)
    for _ in range(count if length > 0 else 0):
        mixed = mean_by(share, ways)
        slopes = [sum((m - x) * p for m, x, p in zip(mixed, there, one, strict=True)) for one in ways]
        share = on_simplex([a - slope / length for a, slope in zip(share, slopes, strict=True)])
    return mean_by(share, prototypes)


def mean_by(share, prototypes):
    return [sum(a * one[j] for a, one in zip(share, prototypes, strict=True)) for j in range(len(prototypes[0]))]


def on_simplex(values):
    """Return the nearest point whose coordinates are at least 0 and add up to 1, by sorting."""
    level, reached = 0.0, 0.0
    for count, value in enumerate(sorted(values, reverse=True), 1):
        reached += value
        if value > (reached - 1) / count:
            level = (reached - 1) / count
    return [max(0.0, value - level) for value in values]


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
