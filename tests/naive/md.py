"""MD from its definition: all pairs of rows, `sorted`, and whole numbers that are never rounded."""

from itertools import combinations


def md(rows, k):
    """Return the group of each row; groups are numbered in the order of their first rows."""
    left = list(range(len(rows)))
    groups = []
    while len(left) >= 3 * k:
        one, two = farthest_pair(rows, left)
        left.remove(one)
        left.remove(two)
        first = [one, *nearest(rows, left, one, k - 1)]
        left = [i for i in left if i not in first]
        second = [two, *nearest(rows, left, two, k - 1)]
        left = [i for i in left if i not in second]
        groups += [first, second]
    if len(left) >= 2 * k:
        one, _ = farthest_pair(rows, left)
        left.remove(one)
        first = [one, *nearest(rows, left, one, k - 1)]
        left = [i for i in left if i not in first]
        groups.append(first)
    groups.append(left)
    return numbered(groups, len(rows))


def farthest_pair(rows, left):
    """Return the two rows farthest from each other; of several pairs the lowest rows."""
    return sorted(combinations(left, 2), key=lambda pair: (-squared(rows[pair[0]], rows[pair[1]]), pair))[0]


def nearest(rows, left, seed, count):
    return sorted(left, key=lambda i: (squared(rows[i], rows[seed]), i))[:count]


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def numbered(groups, n):
    labels = [0] * n
    for number, group in enumerate(sorted(groups, key=min)):
        for i in group:
            labels[i] = number
    return labels
