"""The final step of the methods on mixed tables: groups are rebuilt, as long as the effort allows.

First, groups of 2k rows or more are cut: rows sorted by all columns, k at a time, which never raises the loss. Of rows
that are all equal, all but k to 2k - 1 are set aside and not rebuilt.
"""

import numpy as np

from shoal.catalogue import Choice
from shoal.cluster.inputs import Rows
from shoal.cluster.mixed.closest import Near, closest, sorted_by
from shoal.cluster.mixed.rebuild import costs_of, rebuild
from shoal.cluster.search.limits import Limits
from shoal.kernels.columns import Columns
from shoal.kernels.groups import numbered
from shoal.model.progress import part

STEPS = {"none": 0.0, "quick": 6.0, "normal": 30.0, "thorough": 150.0}  # pools rebuilt per row
EFFORT = Choice(
    tuple(STEPS), "quick", "Duration of rebuilding: none, or about 2, 6 or 30 s of CPU time for 30,000 rows."
)
LONGER = {"none": 0.33, "quick": 1.0, "normal": 2.8, "thorough": 12.0}  # time of `grow` and `cover` as a multiple
LIMITED = 2.0  # times as many under limits, where the start is poor
HEAT = 0.05  # first temperature, relative to the mean cost of a group
LEAST, MOST = 8, 32  # closest rows that a row keeps


def keeping(k: int) -> int:
    """Return how many of its closest rows a row keeps."""
    return max(LEAST, min(k + 2, MOST))


def improved(
    columns: Columns,
    labels: Rows,
    k: int,
    effort: str,
    limits: Limits | None,
    near: Near | None,
    seed: int,
    threads: int,
    share: float = 1.0,
) -> Rows:
    """Return labels of lower or equal cost, by rebuilding groups for `share` of what the effort allows."""
    steps = share * STEPS[effort] * (1 if limits is None else LIMITED)
    if steps == 0 or len(labels) < 2 * k:
        return labels
    labels, aside = _cut(columns, labels, k, limits)
    rows = np.flatnonzero(~aside)
    if rows.size < 2 * k:
        return labels
    some = rows.size < labels.size
    mine = columns._replace(codes=np.ascontiguousarray(columns.codes[rows])) if some else columns
    if near is None or some:
        with part(0, 10):
            near = closest(mine, keeping(k), (seed, 1), limits and limits.part(rows), threads)[0]
    own = numbered(labels[rows])
    with part(1, 10):
        found = rebuild(
            mine,
            own,
            k,
            near,
            steps=steps,
            heat=HEAT,
            limits=limits.part(rows) if limits is not None and some else limits,
            seed=(seed, 2),
            threads=threads,
        )
    result = labels + int(found.max()) + 1
    result[rows] = found
    return numbered(result)


def _cut(columns: Columns, labels: Rows, k: int, limits: Limits | None) -> tuple[Rows, np.ndarray]:
    """Return labels of groups of fewer than 2k rows, as far as the limits allow, and which rows are set aside."""
    sizes = np.bincount(labels)
    aside = np.zeros(labels.size, bool)
    if sizes.max() < 2 * k:
        return labels, aside
    rank = np.empty(labels.size, np.int64)
    rank[sorted_by(columns, np.arange(columns.codes.shape[1]))] = np.arange(labels.size)
    order = np.lexsort((rank, labels))
    starts = np.cumsum(sizes) - sizes
    place = np.empty(labels.size, np.int64)
    place[order] = np.arange(labels.size) - starts[labels[order]]
    large, equal = sizes >= 2 * k, costs_of(columns, labels) == 0
    piece = np.minimum(place // k, np.maximum(sizes[labels] // k - 1, 0))
    # Of equal rows, the first piece has k to 2k - 1, and the second all others.
    first = k + sizes[labels] % k
    piece = np.where(equal[labels], place >= first, piece)
    piece[~large[labels]] = 0
    found = numbered(labels * labels.size + piece)
    if limits is not None:
        for group in np.flatnonzero(large):
            rows = order[starts[group] : starts[group] + sizes[group]]
            if not all(limits.met(rows[found[rows] == one]) for one in np.unique(found[rows])):
                found[rows], piece[rows] = found[rows[0]], 0
        found = numbered(found)
    aside = equal[labels] & (piece > 0)
    return found, aside
