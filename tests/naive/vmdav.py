"""V-MDAV from its definition: lists, `sorted`, and whole numbers that are never rounded."""

from fractions import Fraction

from naive.mdav import mdav, numbered, squared


def vmdav(rows, k, gamma):
    """Return the group of each row; groups are numbered in the order of their first rows."""
    n = len(rows)
    total = [sum(column) for column in zip(*rows, strict=True)]
    free = list(range(n))
    groups = []
    while len(free) >= k:
        seed = sorted(free, key=lambda i: (-squared([n * x for x in rows[i]], total), i))[0]
        free.remove(seed)
        group = [seed, *sorted(free, key=lambda i: (squared(rows[i], rows[seed]), i))[: k - 1]]
        free = [i for i in free if i not in group]
        while len(group) < 2 * k - 1 and free and gamma > 0:
            inside = {e: min(squared(rows[e], rows[i]) for i in group) for e in free}
            e = sorted(free, key=lambda e: (inside[e], e))[0]
            outside = min((squared(rows[e], rows[i]) for i in free if i != e), default=float("inf"))
            if not inside[e] < gamma * gamma * outside:
                break
            group.append(e)
            free.remove(e)
        groups.append(group)
    return numbered(split(rows, joined(rows, groups, free), k), n)


def joined(rows, groups, left):
    """Each row left over joins the group with the nearest mean."""
    means = [mean(rows, group) for group in groups]
    grown = [list(group) for group in groups]
    for i in left:
        grown[sorted(range(len(means)), key=lambda g: (squared(rows[i], means[g]), g))[0]].append(i)
    return grown


def mean(rows, group):
    return [Fraction(sum(rows[i][j] for i in group), len(group)) for j in range(len(rows[0]))]


def split(rows, groups, k):
    """Groups of 2k rows or more are split by MDAV."""
    parts = []
    for group in map(sorted, groups):
        labels = mdav([rows[i] for i in group], k) if len(group) >= 2 * k else [0] * len(group)
        parts += [[i for i, label in zip(group, labels, strict=True) if label == part] for part in set(labels)]
    return parts
