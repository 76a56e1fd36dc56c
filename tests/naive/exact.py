"""The least SSE, from its definition: every partition into groups of k to 2k - 1 rows is tried."""

import math
from itertools import combinations


def partitions(rows, k):
    """Yield every partition of a list into groups of k to 2k - 1."""
    if not rows:
        yield []
        return
    first, others = rows[0], rows[1:]
    for size in range(k - 1, 2 * k - 1):
        if len(others) - size != 0 and len(others) - size < k:
            continue
        for some in combinations(others, size):
            for rest in partitions([row for row in others if row not in some], k):
                yield [[first, *some], *rest]


def least_sse(rows, k):
    """The least SSE of all partitions into groups of k to 2k - 1 rows; for up to 14 rows or so."""
    return _least(rows, tuple(range(len(rows))), k, {})


def _least(rows, left, k, known):
    if not left:
        return 0.0
    if left not in known:
        first, others = left[0], left[1:]
        best = math.inf
        for size in range(k - 1, 2 * k - 1):
            if len(others) - size != 0 and len(others) - size < k:
                continue
            for some in combinations(others, size):
                cost = squares([rows[i] for i in (first, *some)])
                if cost < best:
                    best = min(best, cost + _least(rows, tuple(i for i in others if i not in some), k, known))
        known[left] = best
    return known[left]


def squares(rows):
    """The squared distances of rows to their mean."""
    size = len(rows)
    return sum(sum((x - sum(column) / size) ** 2 for x in column) for column in zip(*rows, strict=True))


def left_side(partition, rows, weights, divisor):
    """The sum over the groups of the weight of their rows by the divisor, rounded down."""
    weight = dict(zip(rows, weights, strict=True))
    return sum(sum(weight.get(row, 0) for row in group) // divisor for group in partition)
