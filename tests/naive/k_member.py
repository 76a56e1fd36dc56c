"""k-member from its definition: lists, `sorted`, and whole numbers and fractions that are never rounded."""

from fractions import Fraction


def k_member(rows, k, many=5000, near=256, diversity=None):
    """Return the group of each row; groups are numbered in the order of their first rows."""
    free = list(range(len(rows)))
    groups = []
    seed = farthest(rows, free, total(rows, free), len(free))
    while len(free) >= k:
        pool = [i for i in free if i != seed]
        if len(free) > many:
            pool = sorted(pool, key=lambda i: (squared(rows[i], rows[seed], 1), i))[: max(near, 4 * k)]
        group = [seed]
        while len(group) < k:
            row = choose(rows, group, [i for i in pool if i not in group], k, diversity)
            group.append(row)
        groups.append(group)
        free = [i for i in free if i not in group]
        if free:
            seed = farthest(rows, free, rows[seed], 1)
    for row in free:
        # Groups stand in the order in which they were made, and min takes the first of equals.
        min(groups, key=lambda group: rise(rows, group, row)).append(row)
    return numbered(groups, len(rows))


def choose(rows, group, pool, k, diversity):
    """The row of least cost, or one with another sensitive value if the group needs it and it is not too dear."""
    size, own = len(group), total(rows, group)
    order = sorted(pool, key=lambda i: (squared(rows[i], own, size), i))
    if diversity:
        values, wanted, met, tolerance = diversity
        seen = {values[i] for i in group}
        if size == k - 1:
            welcome = [i for i in order if met([*group, i])]
        elif (not met(group)) if wanted is None else (wanted - len(seen) >= k - size):
            welcome = [i for i in order if values[i] not in seen]
        else:
            welcome = order
        if welcome and squared(rows[welcome[0]], own, size) <= tolerance * squared(rows[order[0]], own, size):
            return welcome[0]
    return order[0]


def rise(rows, group, row):
    """What a row adds to the SSE of a group of m: |m x - S|^2 / (m (m + 1))."""
    m = len(group)
    return Fraction(squared(rows[row], total(rows, group), m), m * (m + 1))


def farthest(rows, free, point, scale):
    return min(free, key=lambda i: (-squared(rows[i], point, scale), i))


def total(rows, some):
    return [sum(rows[i][j] for i in some) for j in range(len(rows[0]))]


def squared(x, y, scale):
    """|scale x - y|^2: with a sum y of so many rows, it orders as the distance from their mean does."""
    return sum((scale * a - b) ** 2 for a, b in zip(x, y, strict=True))


def numbered(groups, n):
    labels = [0] * n
    for number, group in enumerate(sorted(groups, key=min)):
        for i in group:
            labels[i] = number
    return labels
