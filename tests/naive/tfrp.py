"""TFRP from its definition: lists, `sorted`, and fractions that are never rounded."""

from naive.mdav import numbered, squared
from naive.vmdav import joined, mean, split


def tfrp(rows, k, second=True):
    """Return the group of each row; groups are numbered in the order of their first rows."""
    points = [[min(column) for column in zip(*rows, strict=True)], [max(column) for column in zip(*rows, strict=True)]]
    free = list(range(len(rows)))
    groups = []
    while len(free) >= k:
        point = points[len(groups) % 2]
        seed = sorted(free, key=lambda i: (-squared(rows[i], point), i))[0]
        free.remove(seed)
        group = [seed, *sorted(free, key=lambda i: (squared(rows[i], rows[seed]), i))[: k - 1]]
        free = [i for i in free if i not in group]
        groups.append(group)
    groups = joined(rows, groups, free)
    if second:
        groups = fewer(rows, groups)
    return numbered(split(rows, groups, k), len(rows))


def fewer(rows, groups):
    """Dissolve groups, in falling order of their SSE, wherever the SSE of the whole is lower without them."""
    for number in sorted(range(len(groups)), key=lambda g: (-sse(rows, groups[g]), g)):
        others = [group if g != number else [] for g, group in enumerate(groups)]
        kept = [g for g, group in enumerate(others) if group]
        if not kept:
            break
        changed = dict(zip(kept, joined(rows, [others[g] for g in kept], groups[number]), strict=True))
        if sum(sse(rows, group) for group in changed.values()) < sum(sse(rows, group) for group in groups):
            groups = [changed.get(g, []) for g in range(len(groups))]
    return [group for group in groups if group]


def sse(rows, group):
    return sum(squared(rows[i], mean(rows, group)) for i in group) if group else 0
