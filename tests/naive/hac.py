"""Constrained hierarchical clustering from its definition: every pair of groups is compared at every step.

Distances and linkages are fractions wherever they can be; square roots are floats. Single and complete
linkage of Euclidean distances are compared by their squares, which are whole.
"""

from fractions import Fraction
from itertools import product

from naive.mdav import mdav

ROUND = {"euclidean", "mahalanobis"}


def hac(rows, k, linkage="ward", metric="euclidean", cap="none", priority="distance", leftover="merge"):
    """Return the group of each row; groups are numbered in the order of their first rows."""
    n = len(rows)
    if n < 2 * k:
        return [0] * n
    tree = Tree(rows, linkage, metric, priority)
    most = {"k": k, "2k-1": 2 * k - 1, "none": n}[cap]
    tree.merge(lambda a, b: min(a, b) < k and a + b <= most)
    if leftover == "deal":
        deal(tree.groups, k)
    else:
        tree.merge(lambda a, b: max(a, b) < k and a + b <= 2 * k - 1)
        tree.merge(lambda a, b: min(a, b) < k and a + b <= 2 * k - 1)
        tree.merge(lambda a, b: min(a, b) < k)
    groups = []
    for group in map(sorted, tree.groups):
        parts = mdav([rows[i] for i in group], k) if len(group) >= 2 * k else [0] * len(group)
        groups += [[i for i, p in zip(group, parts, strict=True) if p == part] for part in set(parts)]
    return numbered(groups, n)


class Tree:
    """Groups as lists of rows, in the order in which they were last changed."""

    def __init__(self, rows, linkage, metric, priority):
        self.rows, self.linkage, self.metric, self.priority = rows, linkage, metric, priority
        self.groups = [(i,) for i in range(len(rows))]
        self.known = {}

    def merge(self, allowed):
        while True:
            pairs = [
                (self.between(a, b), a[0], b[0], a, b)
                for a, b in product(self.groups, self.groups)
                if a[0] < b[0] and allowed(len(a), len(b))
            ]
            if not pairs:
                return
            _, _, _, a, b = min(pairs)
            self.groups = [group for group in self.groups if group not in (a, b)]
            self.groups.append(tuple(sorted(a + b)))

    def between(self, a, b):
        if (a, b) not in self.known:
            far = link(self.linkage, self.metric, [self.rows[i] for i in a], [self.rows[i] for i in b])
            if self.priority == "size":
                squares = self.metric in ROUND and self.linkage in ("single", "complete", "centroid")
                size = len(a) + len(b)
                far = over(far, size**2 if squares else size)
            self.known[a, b] = far
        return self.known[a, b]


def link(linkage, metric, A, B):
    """How far two groups are apart; its square where only the order counts and roots would be rounded."""
    if linkage == "centroid":
        return sum((x - y) ** 2 for x, y in zip(mean(A), mean(B), strict=True))
    if linkage == "ward":
        return scatter(A + B) - scatter(A) - scatter(B)
    if linkage == "average":
        return over(sum(distance(metric, x, y) for x, y in product(A, B)), len(A) * len(B))
    if linkage == "energy":
        between, inside, within = expected(metric, A, B), expected(metric, A, A), expected(metric, B, B)
        return over((2 * between - inside - within) * len(A) * len(B), len(A) + len(B))
    square = "squared" if metric in ROUND else metric
    return (min if linkage == "single" else max)(distance(square, x, y) for x, y in product(A, B))


def distance(metric, x, y):
    gaps = [abs(a - b) for a, b in zip(x, y, strict=True)]
    if metric == "manhattan":
        return sum(gaps)
    if metric == "maximum":
        return max(gaps, default=0)
    if metric == "hamming":
        return sum(gap != 0 for gap in gaps)
    square = sum(gap * gap for gap in gaps)
    return square if metric == "squared" else square**0.5


def mean(A):
    return [Fraction(sum(column), len(A)) for column in zip(*A, strict=True)]


def scatter(A):
    """Sum of squared distances to the mean."""
    middle = mean(A)
    return sum((a - m) ** 2 for x in A for a, m in zip(x, middle, strict=True))


def expected(metric, A, B):
    return over(sum(distance(metric, x, y) for x, y in product(A, B)), len(A) * len(B))


def over(value, by):
    return value / by if isinstance(value, float) else Fraction(value) / by


def deal(groups, k):
    """Take the smallest group apart while it is below k; each of its rows goes to the group then smallest."""
    groups[:] = [list(group) for group in groups]
    while len(min(groups, key=len)) < k:
        taken = min(groups, key=len)
        groups.remove(taken)
        for row in sorted(taken):
            smallest = min(groups, key=len)
            groups.remove(smallest)
            groups.append([*smallest, row])


def numbered(groups, n):
    labels = [0] * n
    for number, group in enumerate(sorted(groups, key=min)):
        for i in group:
            labels[i] = number
    return labels
