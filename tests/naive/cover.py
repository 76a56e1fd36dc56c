"""The lattice cover from the definition: every node of the lattice, sorted, and every class of it."""

from itertools import product

from naive.columns import loss
from naive.grow import grow, join


def cover(rows, k, columns, weights, levels):
    """Return groups as lists of row numbers; `levels` maps, for each column, a value to a class at each level."""
    share = [weight / sum(weights) for weight in weights]

    def level_loss(j, level):
        total = 0.0
        for row in rows:
            alike = [value for value in level if level[value] == level[row[j]]]
            total += share[j] * loss([(value,) for value in alike], [columns[j]], [1.0])
        return total / len(rows)

    losses = [[level_loss(j, level) for level in levels[j]] for j in range(len(columns))]
    nodes = sorted(
        product(*(range(len(column)) for column in levels)),
        key=lambda node: (sum(losses[j][level] for j, level in enumerate(node)), node),
    )
    left, groups = list(range(len(rows))), []
    for node in nodes:
        classes = {}
        for row in left:
            key = tuple(levels[j][level][rows[row][j]] for j, level in enumerate(node))
            classes.setdefault(key, []).append(row)
        for members in classes.values():
            if len(members) >= k:
                groups.append(members)
        left = [row for row in left if not any(row in members for members in groups)]
    grown, waiting = grow(rows, k, columns, weights, left) if len(left) >= k else ([], left)
    return join(sorted(groups + grown, key=min), waiting, rows, columns, weights)
