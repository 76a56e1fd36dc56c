"""Optimal cuts of one order, and optimal partitions of one column, by trying all of them with whole numbers."""

from fractions import Fraction
from itertools import combinations


def least_cut(rows, weights, k):
    """The least SSE of all cuts of rows that are in order into runs of k to 2k - 1."""
    best = {0: Fraction(0)}
    for j in range(1, len(rows) + 1):
        costs = [
            best[j - size] + sse(rows[j - size : j], weights[j - size : j])
            for size in range(k, 2 * k)
            if j - size in best
        ]
        if costs:
            best[j] = min(costs)
    return best[len(rows)]


def least_partition(rows, k):
    """The least SSE of all partitions into groups of k rows or more, whatever the order."""
    if not rows:
        return Fraction(0)
    first, others = rows[0], list(range(1, len(rows)))
    best = None
    for size in range(k - 1, len(rows)):
        if 0 < len(others) - size < k:
            continue
        for some in combinations(others, size):
            group = [first, *(rows[i] for i in some)]
            cost = sse(group, [1] * len(group)) + least_partition([rows[i] for i in others if i not in some], k)
            best = cost if best is None or cost < best else best
    return best


def sse(rows, weights):
    mass = sum(weights)
    total = Fraction(0)
    for column in zip(*rows, strict=True):
        mean = Fraction(sum(w * x for w, x in zip(weights, column, strict=True)), mass)
        total += sum(w * (x - mean) ** 2 for w, x in zip(weights, column, strict=True))
    return total


def path(rows, first, close, sweeps):
    """A walk from nearest to nearest row, then shortened by turning stretches around."""
    order, left = [first], [i for i in range(len(rows)) if i != first]
    while left:
        order.append(min(left, key=lambda i: (gap(rows[i], rows[order[-1]]), i)))
        left.remove(order[-1])
    for _ in range(sweeps):
        if not turn(rows, order, close):
            break
    return order


def turn(rows, order, close):
    shorter = False
    for row in range(len(rows)):
        near = sorted((i for i in range(len(rows)) if i != row), key=lambda i: (gap(rows[i], rows[row]), i))
        for other in near[:close]:
            i, j = sorted((order.index(row), order.index(other)))
            if j + 1 >= len(rows) or j == i + 1:
                continue
            steps = [(i, i + 1), (j, j + 1), (i, j), (i + 1, j + 1)]
            a, b, c, d = (gap(rows[order[p]], rows[order[q]]) ** 0.5 for p, q in steps)
            if c + d < (a + b) * (1 - 1e-12):
                order[i + 1 : j + 1] = reversed(order[i + 1 : j + 1])
                shorter = True
    return shorter


def gap(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
