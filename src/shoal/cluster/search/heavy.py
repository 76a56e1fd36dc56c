"""Heavy groups: the few that hold most of the loss, searched once more with those next to them.

Where some rows lie far out, a few groups hold nearly all SSE, and a search that spends as much on every row spends
little on them. They are searched again, by themselves and long.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.effort import search
from shoal.cluster.search.limits import Limits
from shoal.kernels.groups import centres, numbered
from shoal.model.progress import silently

__all__ = ["lightened"]

SHARE, FEWEST, MOST = 0.03, 10, 300  # of the groups that are looked at, and their number
MUCH = 0.15  # of SSE that they must hold to be worth it
NEXT = 3  # groups beside each that join in


def lightened(X: Floats, labels: Rows, k: int, effort: str, limits: Limits | None, seed: int, threads: int) -> Rows:
    """Return labels of lower or equal SSE, changed in the heaviest groups and those next to them alone.

    Parameters
    ----------
    labels : int64 array of shape (n,)
        Groups of at least k rows that meet the limits, numbered from 0 without gaps.
    effort : str
        How long the search takes.
    """
    groups = int(labels.max()) + 1
    middle = centres(X, labels, groups)
    own = np.bincount(labels, ((X - middle[labels]) ** 2).sum(axis=1))
    heavy = np.argsort(-own, kind="stable")[: int(np.clip(SHARE * groups, FEWEST, MOST))]
    if groups <= heavy.size * (NEXT + 1) or own[heavy].sum() < MUCH * own.sum():
        return labels
    rows = np.flatnonzero(np.isin(labels, _with_next(middle, heavy)))
    names, part = np.unique(labels[rows], return_inverse=True)
    with silently():
        found = search(
            np.ascontiguousarray(X[rows]),
            part.reshape(-1).astype(np.int64),
            k,
            effort,
            np.ones(rows.size),
            None if limits is None else limits.part(rows),
            seed,
            threads,
        )
    result = labels.copy()
    # Some groups may be new, and some gone.
    result[rows] = np.concatenate([names, np.arange(groups, groups + rows.size)])[found]
    return numbered(result)


def _with_next(middle: Floats, heavy: Rows) -> Rows:
    """Return some groups and those whose means are nearest to theirs."""
    found = [heavy]
    for group in heavy:
        away = ((middle - middle[group]) ** 2).sum(axis=1)
        away[group] = np.inf
        found.append(np.argsort(away, kind="stable")[:NEXT])
    return np.unique(np.concatenate(found))
