"""Finishing from its definition: lists of rows, every partner looked at, and MDAV's own twin for what is too large.

Means and counts are brought up merge by merge, one operation after the other as in the method, so that they are
rounded as its own and ties are the same.
"""

from naive.mdav import mdav, numbered


def finished(rows, cells, k):
    """Return the group of each row before any search; groups are numbered in the order of their first rows."""
    groups = cut([[i for i, own in enumerate(cells) if own == cell] for cell in sorted(set(cells))], rows, k)
    return numbered(cut(merged(rows, groups, k), rows, k), len(rows))


def cut(groups, rows, k):
    """Groups of fewer than 2k rows. The first part of what is cut stays in its place, the others stand at the end."""
    kept, behind = [], []
    for group in groups:
        parts = mdav([rows[i] for i in group], k) if len(group) >= 2 * k else [0] * len(group)
        found = [[i for i, own in zip(group, parts, strict=True) if own == part] for part in range(max(parts) + 1)]
        kept.append(found[0])
        behind += found[1:]
    return kept + behind


def merged(rows, groups, k):
    """Groups of at least k rows: the smallest, of several the first, goes where SSE rises least."""
    groups = [list(group) for group in groups]
    middle = [mean([rows[i] for i in group]) for group in groups]
    while True:
        left = [g for g, group in enumerate(groups) if group]
        small = [g for g in left if len(groups[g]) < k]
        if not small or len(left) == 1:
            return [sorted(groups[g]) for g in left]
        one = min(small, key=lambda g: (len(groups[g]), g))
        others = [g for g in left if g != one]
        other = min(others, key=lambda g: (rise(middle[one], len(groups[one]), middle[g], len(groups[g])), g))
        share = len(groups[one]) / (len(groups[one]) + len(groups[other]))
        middle[other] = [b + share * (a - b) for a, b in zip(middle[one], middle[other], strict=True)]
        groups[other] += groups[one]
        groups[one] = []


def mean(rows):
    """The first row, and the mean of how far the others are from it."""
    found = []
    for column in zip(*rows, strict=True):
        offset = 0.0
        for value in column:
            offset += value - column[0]
        found.append(column[0] + offset / len(rows))
    return found


def rise(a, size_a, b, size_b):
    """What merging adds to SSE."""
    square = 0.0
    for x, y in zip(a, b, strict=True):
        square += (x - y) * (x - y)
    return size_a * size_b / (size_a + size_b) * square
