"""Privacy models of sensitive values: one figure for each class, counted on what is released alone.

P_E(s) is the share of a value s in a class E, and P(s) its share in the whole release.

1. (alpha, k)-anonymity: the largest P_E(s). Wong et al. (2006).
2. l-diversity: the number of values of a class; exp of their entropy; and, recursive, the c of r_1 = c (r_l + r_l+1 +
   ...) with r the counts of a class from the largest on. Machanavajjhala et al. (2007).
3. t-closeness: the earth mover's distance of P_E from P: ordered for numbers, dates and levels, along the tree for a
   column that has one, and equal for other categories. Li et al. (2007).
4. beta-likeness: the largest (P_E(s) - P(s)) / P(s); enhanced, each bounded by -ln P(s). Cao and Karras (2012).
5. delta-disclosure: the largest |ln P_E(s) / P(s)| over values that the class has. Brickell and Shmatikov (2008).
"""

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue.model_card import SLACK
from shoal.privacy.verdict.classes import Counts, Figures, Labels


def alpha(counts: Counts) -> Figures:
    """Return the largest share of a value in each class: above 0, at most 1, low is good."""
    return counts.most(counts.share)


def distinct(counts: Counts) -> Figures:
    """Return the number of values of each class: at least 1, high is good."""
    return np.bincount(counts.owner).astype(np.float64)


def entropy(counts: Counts) -> Figures:
    """Return exp of the entropy of the values of each class: l equally frequent values give l; high is good."""
    return np.asarray(np.exp(-np.bincount(counts.owner, counts.share * np.log(counts.share))))


def recursive(counts: Counts, l: int) -> Figures:  # noqa: E741
    """Return r_1 / (r_l + r_l+1 + ...) of each class: a class is (c, l)-diverse for every c above it; low is good.

    A class of fewer than l values is so for no c, and its figure is infinite.
    """
    order = np.lexsort((-counts.count, counts.owner))
    start = np.flatnonzero(counts.first)
    falling = counts.count[order].astype(np.float64)
    place = np.arange(order.size) - start[counts.owner]
    tail = np.bincount(counts.owner, np.where(place >= l - 1, falling, 0.0))
    with np.errstate(divide="ignore"):
        return np.asarray(falling[start] / tail)


def closeness(counts: Counts) -> Figures:
    """Return how far the values of each class are from those of the whole release: 0 to 1, low is good.

    Equal distance: half the sum of the absolute differences of shares. Ordered distance: the sum over the sorted values
    of the absolute difference of cumulative shares, divided by the distinct values less one. Along a tree of height H,
    what moves between the children of a node of height h costs h / H.
    """
    if counts.base.size > 1 and counts.column.tree is not None:
        return _along_tree(counts, counts.column.tree)
    if counts.base.size > 1 and counts.column.ordered:
        return _ordered(counts)
    rise = np.maximum(counts.share - counts.base[counts.value], 0.0)
    return np.asarray(np.bincount(counts.owner, rise), dtype=np.float64)


def likeness(counts: Counts, *, enhanced: bool = False) -> Figures:
    """Return the largest relative rise of a share in each class, 0 if none rises; low is good.

    Enhanced, the rise of a value s counts at most -ln P(s).
    """
    base = counts.base[counts.value]
    rise = np.maximum((counts.share - base) / base, 0.0)
    return counts.most(np.minimum(rise, -np.log(base)) if enhanced else rise)


def unbounded(counts: Counts) -> NDArray[np.bool_]:
    """Return which classes have a value whose share rises by more than -ln P(s), which no enhanced beta allows."""
    base = counts.base[counts.value]
    return counts.most((counts.share - base) / base + np.log(base)) > SLACK


def disclosure(counts: Counts) -> Figures:
    """Return the largest |ln P_E(s) / P(s)| of each class over the values that it has: at least 0, low is good."""
    return counts.most(np.abs(np.log(counts.share / counts.base[counts.value])))


def lacking(counts: Counts) -> NDArray[np.bool_]:
    """Return which classes lack a value of the release: strictly, their delta-disclosure is infinite."""
    return np.asarray(np.bincount(counts.owner) < np.count_nonzero(counts.base))


def _ordered(counts: Counts) -> Figures:
    """Return the ordered distance of each class, from the stretches between its values.

    On a stretch the cumulative share of the class is constant and that of the release only grows, so their difference
    changes its sign at one point, and prefix sums give both sides.
    """
    owner, value, count, first, n = counts.owner, counts.value, counts.count, counts.first, counts.column.codes.size
    # Rows are added up, not shares, so that nothing is rounded, however many values or classes there are.
    whole, rows = np.cumsum(counts.column.rows), np.cumsum(count)
    prefix = np.concatenate([[0], np.cumsum(whole)])
    level = (rows - (rows - count)[first][owner]) / counts.sizes[owner]
    last = np.concatenate([first[1:], [True]])
    end = np.where(last, whole.size, np.concatenate([value[1:], [0]]))
    # The stretch before a class's first value has level 0: the difference is the release's own share.
    total = prefix[value[first]] / n
    turn = np.clip(np.searchsorted(whole / n, level), value, end)
    below = level * (turn - value) - (prefix[turn] - prefix[value]) / n
    above = (prefix[end] - prefix[turn]) / n - level * (end - turn)
    return np.asarray((total + np.bincount(owner, below + above)) / (whole.size - 1))


def _along_tree(counts: Counts, tree: Labels) -> Figures:
    """Return the distance of each class along a tree: one row per level, the values themselves first, the root last.

    Below a node, the surplus of its children goes to those with a deficit, at the cost of its height; the rest goes up.
    A node without rows of the class has only children with a deficit, and costs nothing.
    """
    height = len(tree) - 1
    owner, node, share = counts.owner, tree[0][counts.value], counts.share
    base = np.bincount(tree[0], counts.base)
    total = np.zeros(counts.sizes.size)
    for level in range(1, height + 1):
        parent = _parents(tree[level - 1], tree[level])
        width = int(parent.max()) + 1
        pairs, place = np.unique(owner * width + parent[node], return_inverse=True)
        gap, above = share - base[node], np.bincount(parent, base)
        more = np.bincount(place, np.maximum(gap, 0.0))
        less = np.bincount(place, np.maximum(-gap, 0.0) - base[node]) + above[pairs % width]
        total += np.bincount(pairs // width, level * np.minimum(more, less))
        owner, node = pairs // width, pairs % width
        share, base = np.asarray(np.bincount(place, share), np.float64), np.asarray(above, np.float64)
    return np.maximum(total, 0.0) / height


def _parents(below: Labels, above: Labels) -> Labels:
    """Return the node above each node."""
    found = np.zeros(int(below.max()) + 1, np.int64)
    found[below] = above
    return found
