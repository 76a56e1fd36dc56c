"""One-pass k-means from its definition: lists, `sorted`, and fractions that are never rounded."""

from naive.mdav import numbered, squared
from naive.vmdav import mean


def one_pass(rows, k, seeds):
    """Return the group of each row; `seeds` are places in the sorted order of the rows, ascending."""
    order = sorted(range(len(rows)), key=lambda i: (rows[i], i))
    table = [rows[i] for i in order]
    groups = [[seed] for seed in seeds]
    for i in range(len(table)):
        if i not in seeds:
            nearest(table, i, groups).append(i)
    leaving = []
    for group in groups:
        centre = mean(table, group)
        farthest = sorted(group, key=lambda i: (-squared(table[i], centre), i))
        leaving += farthest[: max(0, len(group) - k)]
    groups = [[i for i in group if i not in leaving] for group in groups]
    for i in sorted(leaving):
        small = [group for group in groups if len(group) < k]
        nearest(table, i, small or groups).append(i)
    return numbered([[order[i] for i in group] for group in groups], len(rows))


def nearest(table, i, groups):
    return sorted(groups, key=lambda group: squared(table[i], mean(table, group)))[0]
