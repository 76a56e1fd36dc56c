"""Tree edit distance from its definition: forests, and every way to take off the last tree."""

from functools import cache


def paths(records):
    """Return the tree of sorted records: a node is (label, children); a root, and a path for every record."""
    return ("root", tuple(path(record) for record in sorted(tuple(sorted(r)) for r in records if r)))


def path(record):
    head, *rest = record
    return (head, (path(rest),) if rest else ())


def tree_distance(one, two):
    """Return (edits, renamings): the fewest edits, and the fewest renamings among the ways that need so few."""

    @cache
    def size(forest):
        return sum(1 + size(children) for _, children in forest)

    @cache
    def forests(first, second):
        if not first or not second:
            return size(first) + size(second), 0
        (label, below), (other, beneath) = first[-1], second[-1]
        ways = [
            plus(forests(first[:-1] + below, second), 1, 0),
            plus(forests(first, second[:-1] + beneath), 1, 0),
        ]
        changed = int(label != other)
        edits, renamings = forests(below, beneath)
        ways.append(plus(forests(first[:-1], second[:-1]), edits + changed, renamings + changed))
        return min(ways)

    return forests((one,), (two,))


def plus(pair, edits, renamings):
    return pair[0] + edits, pair[1] + renamings


def aligned(one, two):
    """Return the cost of the best alignment of two sequences of sorted records, by the textbook's tables."""
    one, two = (sorted(tuple(sorted(r)) for r in side if r) for side in (one, two))
    table = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) + 1):
        for j in range(len(two) + 1):
            ways = [0] if i == j == 0 else []
            if i:
                ways.append(table[i - 1][j] + len(one[i - 1]))
            if j:
                ways.append(table[i][j - 1] + len(two[j - 1]))
            if i and j:
                ways.append(table[i - 1][j - 1] + levenshtein(one[i - 1], two[j - 1]))
            table[i][j] = min(ways)
    return table[-1][-1]


@cache
def levenshtein(one, two):
    row = list(range(len(two) + 1))
    for i, item in enumerate(one, 1):
        above, row = row, [i]
        for j, other in enumerate(two, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (item != other)))
    return row[-1]
