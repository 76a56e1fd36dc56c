"""V-MDAV: groups that grow up to 2k - 1 rows, as long as their neighbours are nearer to them than to others.

1. While k rows or more are free: take the free row farthest from the mean of all rows, and group it with its k - 1
   nearest free rows.
2. While the group has fewer than 2k - 1 rows: let e be the free row nearest to any row of the group. It joins if that
   distance is below gamma times its distance to the nearest other free row; otherwise the group is closed.
3. The remaining rows, fewer than k of them, join the group with the nearest mean.
4. A group that then has 2k rows or more is split by MDAV.

Solanas and Martinez-Balleste, V-MDAV: a multivariate microaggregation with variable group size, Compstat 2006. Step 4
is not in the paper.

The mean of all rows is fixed, so the rows are sorted once by their distance from it. Free rows are stored in the blocks
of `search.layout`. The nearest free row of every row of a group is remembered: when one joins, only those rows search
again that had it as theirs.
"""

import numpy as np

from shoal.catalogue import Growth, Number
from shoal.cluster.declaring import numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.joining import joined
from shoal.cluster.search.layout import WIDTH, Layout, gather, laid_out, look_around, piece, places_of, take
from shoal.cluster.search.sizes import capped
from shoal.kernels.distance import squared
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick
from shoal.utility.loss import sse

GAMMAS = (0.0, 0.2, 1.1)  # what "auto" tries: groups of k rows, scattered data, clustered data


@numeric_method(
    "vmdav",
    ensures={"k"},
    growth=Growth(1.9, seconds=0.34, k_power=-0.2),
    params={
        "gamma": Number(
            0,
            10,
            default="auto",
            words=("auto",),
            help="How readily a group grows beyond k rows: 0 never, 0.2 for scattered data, 1.1 for clustered data. "
            "auto tries these three and keeps the result of lowest SSE.",
        )
    },
    in_cells=True,
)
def vmdav(X: Floats, k: int, gamma: float | str) -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows whose sizes follow the density of the data.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X, k and gamma alone: ties go to the lowest row
    number, and between groups to the one made first.

    Cost
    ----
    O(n^2 d / k) time with gamma = 0 and O(n^2 d) with any other, O(n) memory besides two copies of X.

    Examples
    --------
    >>> vmdav([[0.0], [1.0], [2.0], [8.0], [9.0]], k=2, gamma=1.1).labels
    array([0, 0, 0, 1, 1])
    """
    Z = X - X.min(axis=0)
    # |n x - S| instead of |x - S / n|: on integers nothing is rounded, so ties are recognized.
    outermost = np.argsort(-((len(Z) * Z - Z.sum(axis=0)) ** 2).sum(axis=1), kind="stable")
    tried = GAMMAS if gamma == "auto" else (float(gamma),)
    found = [_grouped(Z, outermost, k, tried, number) for number in range(len(tried))]
    if len(tried) == 1:
        return Partition.of(found[0])
    losses = [sse(Z, labels) for labels in found]
    best = losses.index(min(losses))
    note = f"vmdav: gamma = {tried[best]:g} gave the lowest SSE of {', '.join(f'{one:g}' for one in tried)}."
    return Partition.of(found[best], notes=(note,))


def _grouped(Z: Floats, outermost: Rows, k: int, gammas: tuple[float, ...], number: int) -> Rows:
    """Return the group of each row for one of the gammas."""
    n, d = Z.shape
    gamma = gammas[number]
    labels = np.full(n, -1, np.int64)
    groups = 0
    while (left := outermost[labels[outermost] < 0]).size >= k:
        tick((number + 1) * n * n - left.size**2, len(gammas) * n * n)
        layout = laid_out(Z, np.sort(left))
        count = piece(left.size, d * (k if gamma else 1), k)
        groups = _carve(layout, Z, places_of(left, layout.rows, n), labels, k, gamma * gamma, groups, count)
    return capped(Z, joined(Z, labels), k)


@loop
def _carve(layout: Layout, Z: Floats, order: Rows, labels: Rows, k: int, factor: float, group: int, count: int) -> int:
    """Label `count` groups, or fewer if the rows do not suffice; return the number of groups made so far."""
    rows = layout.rows
    members = np.empty(2 * k - 1, np.int64)
    first, left = 0, rows.size
    for _ in range(count):
        if left < k:
            break
        while labels[rows[order[first]]] >= 0:
            first += 1
        gather(layout, Z, order[first], members[:k])
        size = k
        if factor > 0:
            size = _extend(layout, Z, members, k, factor, left - k)
        for i in range(size):
            labels[rows[members[i]]] = group
        left -= size
        group += 1
    return group


@loop
def _extend(layout: Layout, Z: Floats, members: Rows, k: int, factor: float, left: int) -> int:
    """Let free rows join a group of k rows as long as they are near enough; return its final size."""
    blocks, rows = layout.blocks, layout.rows
    near, squares = np.full(2 * k - 1, -1, np.int64), np.empty(2 * k - 1)
    size = k
    while size < 2 * k - 1 and left > 0:
        best = 0
        for i in range(size):
            if near[i] < 0:
                near[i], squares[i] = _neighbour(layout, Z, members[i])
            if squares[i] < squares[best] or (squares[i] == squares[best] and rows[near[i]] < rows[near[best]]):
                best = i
        joining, inside = near[best], squares[best]
        take(layout, joining)
        left -= 1
        beyond, outside = -1, np.inf
        if left > 0:
            beyond, outside = _neighbour(layout, Z, joining)
        if not inside < factor * outside:
            blocks[joining // WIDTH, 0, joining % WIDTH] = Z[rows[joining], 0]
            break
        for i in range(size):
            if near[i] == joining:
                near[i] = -1
        members[size], near[size], squares[size] = joining, beyond, outside
        size += 1
    return size


@loop
def _neighbour(layout: Layout, Z: Floats, place: int) -> tuple[int, float]:
    """Return the place of the free row nearest to one that is not free, and its squared distance."""
    rows = layout.rows
    near = int(look_around(layout, place, Z[rows[place]], 1, False)[0][0])
    return near, squared(Z, rows[place], Z, rows[near])
