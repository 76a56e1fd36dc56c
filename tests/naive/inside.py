"""(k, k^m)-anonymity from its definition: classes, rows and items as plain Python."""

from itertools import combinations


def least_support(classes, sets, m):
    """Return the fewest rows of a class that have a combination of 1 to m items which a row of this class has."""
    found = None
    for name in set(classes):
        rows = [set(items) for one, items in zip(classes, sets, strict=True) if one == name]
        for row in rows:
            for size in range(1, m + 1):
                for some in combinations(sorted(row), size):
                    count = sum(set(some) <= other for other in rows)
                    found = count if found is None else min(found, count)
    return found
