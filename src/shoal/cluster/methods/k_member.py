"""k-member: groups of k rows, each grown by the row that raises its SSE least.

1. The first seed is the row farthest from the mean of all rows.
2. A group starts with its seed and grows to k rows: the free row that raises the group's SSE least joins, which is the
   one nearest to the group's mean.
3. While k rows or more are free, the next seed is the free row farthest from the last seed.
4. The remaining rows, fewer than k, join one after the other the group whose SSE they raise least.

Byun, Kamra, Bertino and Li, Efficient k-anonymization using clustering techniques, DASFAA 2007. Their loss is that of
generalized cells; here it is SSE, the rise being m / (m + 1) |x - c|^2 for a group of m rows with mean c. They begin at
a random row; here nothing is random.

While more than MANY rows are free, a group grows among the NEAR (or 4k) free rows nearest to its seed.

With `diverse`, a group that would not meet its limits on sensitive values prefers rows with another value, in the
spirit of Loukides and Shao, Capturing data usefulness and privacy protection in k-anonymisation, SAC 2007:

- for its last place, those with which it would meet the limits;
- before, those whose sensitive values do not occur in it yet, as soon as it needs as many of them as it has places: l
  less those it has; all, if t, alpha or entropy is required and it does not meet the limits as it is.
- Of these the one that raises SSE least joins, if it raises it at most TOLERANCE times as much as the best row of all;
  otherwise the best row does, and merging will serve the group better (`enforce`).

The remaining rows are stored in blocks, outermost first, and searched by the loops of `search.layout`.
"""

import numpy as np

from shoal.catalogue import Flag, Growth
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.layout import WIDTH, Layout, drop, farthest_from_mean, laid_out, look_around, measure
from shoal.cluster.search.limits import NONE, Limits, Rules, meets
from shoal.errors import MethodError
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick

MANY = 5000  # free rows beyond which only near ones may join a group
NEAR = 256  # how many these are, or 4k if that is more
TOLERANCE = 6.0  # times as much as the best row: what a row with another sensitive value may cost
PIECE = 1 << 28  # differences of cells between two progress ticks
ANY = -1  # instead of a number of values: new ones are wanted until the limits are met

Diversity = tuple[Rules, Rows, int, Rows]


@numeric_method(
    "k_member",
    ensures={"k"},
    params={"diverse": Flag(help="Whether groups prefer rows with other sensitive values until they meet l and t.")},
    uses={"limits"},
    growth=Growth(1.7, seconds=0.13, k_power=-0.5),
    suits={"categories", "numbers"},
    in_cells=True,
)
def k_member(X: Floats, k: int, diverse: bool, *, run: Run) -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows, grown by the rows that raise SSE least.

    Limits are considered only if `diverse`. If they require neither l nor t, two different values are sought.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X, k and, if `diverse`, on the limits alone: ties
    go to the lowest row number. `diverse` is a preference: it guarantees neither l nor t.

    Cost
    ----
    O(n^2 d) time up to 5,000 rows and O(n^2 d / k) beyond, O(n) memory besides a copy of X.

    Examples
    --------
    >>> k_member([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    n, d = X.shape
    diversity = _diversity(run.limits) if diverse else (NONE, np.zeros(0, np.int64), 0, np.zeros(0, np.int64))
    labels = np.full(n, -1, np.int64)
    groups, seed = 0, -1
    while (rows := np.flatnonzero(labels < 0)).size >= k:
        layout = laid_out(X, rows)
        rows, left = layout.rows, rows.size
        least = max(k, 3 * left // 4)
        place = farthest_from_mean(layout, left)
        if seed >= 0:
            place = int(np.flatnonzero(rows == seed)[0])
        while left >= least:
            tick(n * n - left * left, n * n)
            stop = max(least, left - max(k, PIECE // (left * d)) + 1)
            groups, left, place = _grow_groups(
                layout, labels, k, groups, left, stop, place, MANY, NEAR, diversity, TOLERANCE
            )
        seed = int(rows[place])
    _place_rest(X, labels, groups)
    return Partition.of(labels)


def _diversity(limits: Limits | None) -> Diversity:
    """Return the rules, the sensitive values of a row as one number, how many a group needs, and a cache."""
    if limits is None:
        raise MethodError(
            "k_member: diverse needs a sensitive column, and there is none. "
            'Give a column the role "sensitive" in the policy, or leave diverse out.'
        )
    rules = limits.rules if limits.binding else limits.rules._replace(asked=np.array([2.0, 0.0, 2.0, 2.0]))
    values = np.unique(limits.codes, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    least, entropy, _, _ = rules.asked
    wanted = ANY if entropy or limits.sized else int(np.ceil(least - 1e-9))
    return rules, values, wanted, np.zeros(values.size, np.int64)


@loop
def _grow_groups(
    layout: Layout,
    labels: Rows,
    k: int,
    group: int,
    left: int,
    least: int,
    seed: int,
    many: int,
    near: int,
    diversity: Diversity,
    tolerance: float,
) -> tuple[int, int, int]:
    """Label groups while `least` rows are left; return the numbers of groups and remaining rows, and the seed."""
    blocks, rows = layout.blocks, layout.rows
    everywhere = np.arange(rows.size)
    while left >= least:
        point = blocks[seed // WIDTH, :, seed % WIDTH].copy()
        count = min(left - 1, max(near, 4 * k)) if left > many else 1
        drop(layout, seed, labels, group)
        places, far = look_around(layout, seed, point, count, True)
        pool = blocks
        if left > many:
            pool = _gathered(blocks, places)
        else:
            places = everywhere
        _grow(layout, pool, places, labels, k, group, seed, point, diversity, tolerance)
        group += 1
        left -= k
        if labels[rows[far]] >= 0 and left > 0:
            # The group has taken the farthest row itself: search again among those that are left.
            _, far = look_around(layout, seed, point, 1, True)
        seed = far
    return group, left, seed


@loop
def _grow(
    layout: Layout,
    pool: Floats,
    places: Rows,
    labels: Rows,
    k: int,
    group: int,
    seed: int,
    point: Floats,
    diversity: Diversity,
    tolerance: float,
) -> None:
    """Grow a group from its seed to k rows of the pool, which are at these places of the layout."""
    blocks, rows = layout.blocks, layout.rows
    members, own = np.empty(k, np.int64), point.copy()
    members[0] = rows[seed]
    numbers = np.empty(places.size, np.int64)
    for i in range(places.size):
        numbers[i] = rows[places[i]]
    for size in range(1, k):
        chosen = _choose(pool, numbers, members, size, own, group * k + size, diversity, tolerance)
        place = places[chosen]
        for j in range(own.size):
            own[j] += blocks[place // WIDTH, j, place % WIDTH]
        members[size] = rows[place]
        pool[chosen // WIDTH, 0, chosen % WIDTH] = np.nan
        drop(layout, place, labels, group)


@loop
def _choose(
    pool: Floats, rows: Rows, members: Rows, size: int, own: Floats, stamp: int, diversity: Diversity, tolerance: float
) -> int:
    """Return the place in the pool of the row that joins next."""
    place, cost = _cheapest(pool, rows, members, size, own, np.inf, 0, diversity)
    rules, values, wanted, _ = diversity
    if values.size == 0:
        return place
    slots = members.size - size
    if slots == 1:
        insist = not _adds_diversity(int(rows[place]), members, size, stamp, diversity)
    elif wanted == ANY:
        insist = not meets(rules, members, size)
    else:
        insist = wanted - _different(values, members, size) >= slots
    if insist:
        other, _ = _cheapest(pool, rows, members, size, own, tolerance * cost, stamp, diversity)
        if other >= 0:
            return other
    return place


@loop
def _cheapest(
    pool: Floats, rows: Rows, members: Rows, size: int, own: Floats, limit: float, stamp: int, diversity: Diversity
) -> tuple[int, float]:
    """Return the place of the row nearest to the group's mean, or -1; with a stamp, of those that add diversity."""
    best, found = limit, -1
    squares = np.empty(WIDTH)
    for b in range(len(pool)):
        if not measure(pool[b], float(size), own, best, squares):
            continue
        for w in range(WIDTH):
            place = b * WIDTH + w
            if (
                squares[w] <= best
                and (squares[w] < best or found < 0 or rows[place] < rows[found])
                and (stamp == 0 or _adds_diversity(int(rows[place]), members, size, stamp, diversity))
            ):
                best, found = squares[w], place
    return found, best


@loop
def _adds_diversity(row: int, members: Rows, size: int, stamp: int, diversity: Diversity) -> bool:
    """Return whether the row brings what the group lacks; cached for all rows with the same values."""
    rules, values, _, answers = diversity
    value = values[row]
    if answers[value] // 2 != stamp:
        yes = True
        if size + 1 == members.size:
            members[size] = row
            yes = meets(rules, members, size + 1)
        else:
            for i in range(size):
                yes = yes and values[members[i]] != value
        answers[value] = 2 * stamp + yes
    return bool(answers[value] % 2 == 1)


@loop
def _different(values: Rows, members: Rows, size: int) -> int:
    """Return how many different values the first `size` members have."""
    different = 0
    for i in range(size):
        new = True
        for j in range(i):
            new = new and values[members[j]] != values[members[i]]
        different += new
    return different


@loop
def _gathered(blocks: Floats, places: Rows) -> Floats:
    """Return the rows at these places, in blocks of their own."""
    pool = np.full((-(-places.size // WIDTH), blocks.shape[1], WIDTH), np.nan)
    for i in range(places.size):
        for j in range(blocks.shape[1]):
            pool[i // WIDTH, j, i % WIDTH] = blocks[places[i] // WIDTH, j, places[i] % WIDTH]
    return pool


@loop
def _place_rest(X: Floats, labels: Rows, groups: int) -> None:
    """Let each row without a group join the one whose SSE it raises least."""
    sums, sizes = np.zeros((groups, X.shape[1])), np.zeros(groups, np.int64)
    rest = []
    for row in range(len(X)):
        if labels[row] < 0:
            rest.append(row)
        else:
            _join(X, row, int(labels[row]), sums, sizes)
    for row in rest:
        best, least = 0, np.inf
        for group in range(groups):
            size, square = sizes[group], 0.0
            for j in range(X.shape[1]):
                gap = size * X[row, j] - sums[group, j]
                square += gap * gap
            # m / (m + 1) |x - S / m|^2, with a single division.
            rise = square / (size * (size + 1))
            if rise < least:
                best, least = group, rise
        labels[row] = best
        _join(X, row, best, sums, sizes)


@loop
def _join(X: Floats, row: int, group: int, sums: Floats, sizes: Rows) -> None:
    """Add a row to the sums of a group."""
    sizes[group] += 1
    for j in range(X.shape[1]):
        sums[group, j] += X[row, j]
