"""Exact and near combinations, as obviously as can be."""


def distance(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


def matches(people, published):
    """Return for each person: holds a published combination, is one cell off, holds it alone."""
    nearest = [min(distance(person, other) for other in published) for person in people]
    alone = [sum(distance(person, other) == 0 for other in people) == 1 for person in people]
    return [away == 0 for away in nearest], [away == 1 for away in nearest], alone
