"""Privacy models from their definitions: a release is a list of rows (quasi-identifiers, sensitive value).

Every function returns the figure of the worst class. Shares are fractions, so that nothing is rounded.
"""

import math
from collections import Counter, defaultdict
from fractions import Fraction


def classes(rows):
    """The sensitive values of each class."""
    found = defaultdict(list)
    for quasi, value in rows:
        found[quasi].append(value)
    return list(found.values())


def shares(values):
    """The share of each value."""
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def everyone(rows):
    return shares([value for _, value in rows])


def k(rows):
    return min(map(len, classes(rows)))


def distinct(rows):
    return min(len(set(values)) for values in classes(rows))


def entropy(rows):
    return min(math.exp(-sum(p * math.log(p) for p in shares(values).values())) for values in classes(rows))


def recursive(rows, l):
    worst = 0
    for values in classes(rows):
        r = sorted(Counter(values).values(), reverse=True)
        worst = max(worst, Fraction(r[0], sum(r[l - 1 :])) if len(r) >= l else math.inf)
    return worst


def alpha(rows):
    return max(max(shares(values).values()) for values in classes(rows))


def rises(rows):
    """The relative rise of each value in each class, and its share in the whole."""
    whole = everyone(rows)
    return [[((p - whole[s]) / whole[s], whole[s]) for s, p in shares(values).items()] for values in classes(rows)]


def beta(rows):
    return max(0, *(rise for each in rises(rows) for rise, _ in each))


def enhanced_beta(rows):
    found = [(rise, -math.log(share)) for each in rises(rows) for rise, share in each]
    return math.inf if any(rise > bound + 1e-9 for rise, bound in found) else max(0, *(rise for rise, _ in found))


def delta(rows):
    whole = everyone(rows)
    return max(abs(math.log(p / whole[s])) for values in classes(rows) for s, p in shares(values).items())


def equal_t(rows):
    """Half the sum of |P_E - P|."""
    whole = everyone(rows)
    return max(sum(abs(shares(values).get(s, 0) - whole[s]) for s in whole) / 2 for values in classes(rows))


def ordered_t(rows):
    """The sum of the absolute cumulative differences, over the number of values less one."""
    whole, worst = everyone(rows), 0
    for values in classes(rows):
        own, level, total = shares(values), 0, 0
        for s in sorted(whole):
            level += own.get(s, 0) - whole[s]
            total += abs(level)
        worst = max(worst, total / max(1, len(whole) - 1))
    return worst


def tree_t(rows, families):
    """Along a tree of two levels: what a family has too much of moves inside it at half the cost."""
    whole, worst = everyone(rows), 0
    for values in classes(rows):
        own = shares(values)
        extra = {s: own.get(s, 0) - whole[s] for s in whole}
        inside, between = 0, []
        for family in families:
            here = [extra[s] for s in family if s in extra]
            inside += min(sum(max(e, 0) for e in here), sum(max(-e, 0) for e in here))
            between.append(sum(here))
        worst = max(worst, inside / 2 + sum(max(e, 0) for e in between))
    return worst
