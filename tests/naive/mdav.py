"""MDAV from its definition: lists, `sorted`, and numbers that are never rounded."""

from fractions import Fraction


def mdav(rows, k, leftover="group"):
    """Return the group of each row; groups are numbered in the order of their first rows."""
    if leftover == "nearest":
        return mdav_with_nearest(rows, k)
    left = list(range(len(rows)))
    groups = []
    while len(left) >= 3 * k:
        first = farthest_from_mean(rows, left)
        left = take(rows, left, first, k, groups)
        second = farthest(left, lambda i, seed=first: squared(rows[i], rows[seed]))
        left = take(rows, left, second, k, groups)
    if len(left) >= 2 * k:
        left = take(rows, left, farthest_from_mean(rows, left), k, groups)
    groups.append(left)
    return numbered(groups, len(rows))


def mdav_with_nearest(rows, k):
    """The older form: pairs of groups while 2k rows are left, and fewer than k rows left over join groups."""
    left = list(range(len(rows)))
    groups = []
    while len(left) >= 2 * k:
        first = farthest_from_mean(rows, left)
        left = take(rows, left, first, k, groups)
        second = farthest(left, lambda i, seed=first: squared(rows[i], rows[seed]))
        left = take(rows, left, second, k, groups)
    if len(left) >= k:
        return numbered([*groups, left], len(rows))
    groups.sort(key=min)
    while left:
        _, i, g = min((from_mean(rows, i, group), i, g) for i in left for g, group in enumerate(groups))
        groups[g].append(i)
        left.remove(i)
    return numbered(groups, len(rows))


def from_mean(rows, i, group):
    means = [Fraction(sum(rows[j][c] for j in group), len(group)) for c in range(len(rows[0]))]
    return squared(rows[i], means)


def farthest_from_mean(rows, left):
    """The mean is S / m; m times each side keeps whole numbers whole."""
    m = len(left)
    total = [sum(rows[i][j] for i in left) for j in range(len(rows[0]))]
    return farthest(left, lambda i: squared([m * x for x in rows[i]], total))


def farthest(left, distance):
    return sorted(left, key=lambda i: (-distance(i), i))[0]


def take(rows, left, seed, k, groups):
    """Group the seed with its k - 1 nearest rows; return the rows then left."""
    others = [i for i in left if i != seed]
    nearest = sorted(others, key=lambda i: (squared(rows[i], rows[seed]), i))[: k - 1]
    groups.append([seed, *nearest])
    return [i for i in others if i not in nearest]


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def numbered(groups, n):
    labels = [0] * n
    for number, group in enumerate(sorted(groups, key=min)):
        for i in group:
            labels[i] = number
    return labels
