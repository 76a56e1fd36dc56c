"""Heavy groups: the few with most of the loss, searched again together with their neighbours.

Where there are outliers, a few groups have nearly all of the SSE, and a search that spends as much on every row spends
little on them. They are searched again, separately and longer.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.effort import search
from shoal.cluster.search.limits import Limits
from shoal.kernels.groups import centres, numbered
from shoal.model.progress import silently

SHARE, FEWEST, MOST = 0.03, 10, 300  # the share of groups considered heavy, and limits of their number
LEAST_SHARE = 0.15  # least share of SSE that makes it worthwhile
NEXT = 3  # neighbours of each that are included


def lightened(X: Floats, labels: Rows, k: int, effort: str, limits: Limits | None, seed: int, threads: int) -> Rows:
    """Return labels of lower or equal SSE, changed only in the heaviest groups and their neighbours.

    The labels given are of groups of at least k rows that meet the limits, numbered from 0 without gaps.
    """
    groups = int(labels.max()) + 1
    middle = centres(X, labels, groups)
    own = np.bincount(labels, ((X - middle[labels]) ** 2).sum(axis=1))
    heavy = np.argsort(-own, kind="stable")[: int(np.clip(SHARE * groups, FEWEST, MOST))]
    if groups <= heavy.size * (NEXT + 1) or own[heavy].sum() < LEAST_SHARE * own.sum():
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
    # Groups may have been created or dissolved.
    result[rows] = np.concatenate([names, np.arange(groups, groups + rows.size)])[found]
    return numbered(result)


def _with_next(middle: Floats, heavy: Rows) -> Rows:
    """Return these groups and those whose means are nearest to theirs."""
    found = [heavy]
    for group in heavy:
        squares = ((middle - middle[group]) ** 2).sum(axis=1)
        squares[group] = np.inf
        found.append(np.argsort(squares, kind="stable")[:NEXT])
    return np.unique(np.concatenate(found))
