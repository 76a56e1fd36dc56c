"""Crossing from its definition: sets of rows, joined as long as a group of either partition lies across two of them."""

from naive.anneal import squares


def better_of_both(rows, one, two, weights):
    """Return the groups, as a set of frozen sets."""
    first, second = groups_of(one), groups_of(two)
    parts = []
    for group in first + second:
        touched = [part for part in parts if part & group]
        parts = [part for part in parts if not part & group]
        parts.append(group.union(*touched))
    chosen = set()
    for part in parts:
        here = [[group for group in some if group <= part] for some in (first, second)]
        costs = [sum(cost(rows, weights, group) for group in some) for some in here]
        chosen.update(here[1] if costs[1] < costs[0] * (1 - 1e-12) else here[0])
    return chosen


def groups_of(labels):
    return [frozenset(i for i, label in enumerate(labels) if label == group) for group in sorted(set(labels))]


def cost(rows, weights, group):
    some = sorted(group)
    return squares([rows[i] for i in some], [weights[i] for i in some])
