"""Finish: turn any cells into groups of k rows with little loss; the last step of every map and density method.

1. A cell of 2k rows or more is cut by MDAV.
2. The smallest group of fewer than k rows is merged with the one where SSE rises least, until there is none. Of very
   many groups, those near each other are merged first.
3. What has grown to 2k rows or more is cut again.
4. Groups that violate limits on sensitive values are merged until they meet them.
5. A search moves and swaps rows (`search.effort`), and once more in the groups with most of the loss (`search.heavy`).
"""

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import Choice
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.cells import cells_of_groups, in_cells_of_groups
from shoal.cluster.search.effort import FINISH, search
from shoal.cluster.search.heavy import lightened
from shoal.cluster.search.limited_start import mend
from shoal.cluster.search.limits import Limits
from shoal.cluster.search.sizes import capped
from shoal.errors import GuaranteeError
from shoal.kernels.groups import centres, cheapest, numbered
from shoal.kernels.loops import callable_inner_loop
from shoal.model.partition import Partition
from shoal.model.progress import silently

FINISHING = {
    "mode": Choice(
        ("strict", "printed"),
        "strict",
        "strict ensures k; printed runs the published algorithm unchanged, and refuses a result that does not meet k.",
    ),
    "effort": FINISH,
}
MANY = 1000  # groups among which each searches for its partner


def finished(
    X: Floats, cells: Rows, k: int, effort: str, *, limits: Limits | None = None, seed: int = 0, threads: int = 1
) -> Rows:
    """Return groups of at least k rows made of any cells, X being the space in which loss is measured.

    `cells` are numbered from 0 up; some may be empty.

    Guarantee
    ---------
    Every group holds at least k rows, and meets the limits if the whole table does; without limits it holds at most 2k
    - 1. The search does not raise SSE.
    """
    asked = limits if limits is not None and limits.binding else None
    labels = numbered(cells)
    labels = merged(X, capped(X, labels, k), k, seed, threads)
    labels = capped(X, labels, k) if asked is None else mend(X, labels, k, asked)
    if effort == "none":
        return labels
    found = search(X, labels, k, effort, np.ones(len(X)), asked, seed, threads)
    return lightened(X, found, k, effort, asked, seed, threads)


def as_printed(who: str, cells: Rows, k: int, limits: Limits | None, notes: tuple[str, ...] = ()) -> Partition:
    """Return cells as they are, or refuse them if one has fewer than k rows or violates the limits."""
    reached = int(np.bincount(cells)[np.bincount(cells) > 0].min())
    if reached < k:
        raise GuaranteeError(
            f"{who}: in the published form, the smallest group has {reached} row{'s' * (reached != 1)}, and k is {k}. "
            "Nothing is released. Set mode to 'strict'."
        )
    found = Partition.of(cells, (*notes, f"{who}: in the published form, the smallest group has {reached} rows."))
    if limits is not None and not all(limits.met(rows) for rows in found.members()):
        raise GuaranteeError(
            f"{who}: in the published form, a group does not meet l or t. Nothing is released. Set mode to 'strict'."
        )
    return found


def merged(X: Floats, labels: Rows, k: int, seed: int = 0, threads: int = 1) -> Rows:
    """Return labels in which no group has fewer than k rows, the smallest ones merged first."""
    groups = int(labels.max()) + 1
    if groups > MANY:
        cells = cells_of_groups(centres(X, labels, groups), MANY, np.random.default_rng((seed, 4)))
        with silently():
            labels = in_cells_of_groups(lambda _, rows, own: _merged(X[rows], own, k), labels, cells, threads)
    return _merged(X, labels, k)


def _merged(X: Floats, labels: Rows, k: int) -> Rows:
    """Return labels without groups of fewer than k rows, numbered from 0 without gaps."""
    sizes = np.bincount(labels).astype(np.float64)
    if sizes.min() >= k:
        return labels
    into = np.arange(sizes.size)
    _merge(centres(X, labels, sizes.size), sizes, sizes > 0, into, k)
    return numbered(into[labels])


@callable_inner_loop
def _merge(middle: Floats, sizes: Floats, alive: NDArray[np.bool_], into: Rows, k: int) -> None:
    """Write the group into which each group has been merged; means and sizes are updated."""
    groups = sizes.size
    # A merged group is larger than both, so groups are processed by size, and equal ones by number.
    for size in range(1, k):
        for group in range(groups):
            if alive[group] and sizes[group] == size:
                other, _ = cheapest(middle, sizes, alive, group)
                if other < 0:
                    continue
                share = sizes[group] / (sizes[group] + sizes[other])
                for j in range(middle.shape[1]):
                    middle[other, j] += share * (middle[group, j] - middle[other, j])
                sizes[other] += sizes[group]
                alive[group] = False
                into[group] = other
    for group in range(groups):
        top = group
        while into[top] != top:
            top = into[top]
        into[group] = top
