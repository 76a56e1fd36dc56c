"""Set columns beside quasi-identifiers: parts of sets are reshuffled within each group.

1. Rows of a large group that have items in common are put into clusters (`partition`); a small group is one cluster.
2. The items of a cluster are split into chunks in which every m items are in k rows or none (`vertical`); items held by
   fewer than k rows of the cluster are left out.
3. The parts of each chunk are assigned to rows of the cluster at random, which breaks the link between parts of
   different chunks.
4. Accidental combinations held by fewer than k rows of the group are broken up (`harden`).

This is disassociation within the groups of microaggregation; the result is (k, k^m)-anonymous together with the
quasi-identifiers (Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos, 2013).
"""

import numpy as np
from numpy.typing import NDArray

from shoal.model.transactions import Transactions
from shoal.transactions.disassociation.partition import recursive
from shoal.transactions.disassociation.vertical import vertical
from shoal.transactions.lexical import gathered, lexical_order
from shoal.transactions.reassociation.harden import harden_km

DELTA, DELTA_PER_K = 60, 10  # the most rows of a cluster: the larger of DELTA and DELTA_PER_K * k

Longs = NDArray[np.int64]


def exchanged(data: Transactions, labels: Longs, k: int, m: int, seed: int = 0) -> tuple[Longs, Longs]:
    """Exchange parts of sets within groups; return which row gets which item, by row and item.

    `labels` is the group of each of the `data.inputs` rows; rows without items are those that `data.rows` leaves out.

    Guarantee
    ---------
    Within every group, each combination of at most m items is in no row or in at least k rows. The result depends on
    the rows, their groups and the seed alone. The cost is that of `vertical` and `harden_km`.
    """
    # Every row of a group is a slot, including those without items.
    lengths = np.zeros(data.inputs, np.int64)
    lengths[data.rows] = data.lengths
    whole = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    n_items = max(1, len(data.labels))
    slots, cuts = _clusters(whole, data.items, n_items, labels, k)
    indptr, items = gathered(whole, data.items, slots)
    chunked = vertical(indptr, items, n_items, cuts, k, m)
    slot = np.repeat(np.arange(data.inputs), np.diff(indptr))
    cluster = np.repeat(np.arange(cuts.size - 1), np.diff(cuts))[slot]
    seat = np.repeat(np.arange(cuts.size - 1), np.diff(chunked.ptr)) * n_items + chunked.item
    chunk = chunked.chunk[np.searchsorted(seat, cluster * n_items + items)]
    kept = chunk >= 0
    slot, cluster, item, chunk = slot[kept], cluster[kept], items[kept].astype(np.int64), chunk[kept]
    rng = np.random.default_rng(seed)
    moved = _moved(slot, cluster, chunk, cuts, rng)
    return _hardened(moved, item, labels[slots], n_items, k, m, labels, rng)


def _clusters(indptr: Longs, items: NDArray[np.int32], n_items: int, labels: Longs, k: int) -> tuple[Longs, Longs]:
    """Return the rows cluster by cluster, and where clusters begin: a group, or parts of a large one."""
    delta = max(DELTA, DELTA_PER_K * k)
    order, sizes = [], []
    for rows in np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1]):
        inner = np.array([0, rows.size])
        if rows.size > delta:
            own = gathered(indptr, items, rows)
            sorted_ = lexical_order(*own)
            among, inner = recursive(*gathered(*own, sorted_), n_items, k, delta)
            rows = rows[sorted_[among]]  # noqa: PLW2901
        order.append(rows)
        sizes.append(np.diff(inner))
    return np.concatenate(order).astype(np.int64), np.concatenate(([0], np.cumsum(np.concatenate(sizes)))).astype(
        np.int64
    )


def _moved(slot: Longs, cluster: Longs, chunk: NDArray[np.int32], cuts: Longs, rng: np.random.Generator) -> Longs:
    """Return the slot that each occurrence goes to: parts of a chunk stay together and go to different slots."""
    order = np.lexsort((slot, chunk, cluster))
    change = (np.diff(cluster[order], prepend=-1) != 0) | (np.diff(chunk[order], prepend=-1) != 0)
    starts = np.append(np.flatnonzero(change), order.size)
    moved = np.empty(slot.size, np.int64)
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        places = order[first:last]
        begin, end = cuts[cluster[places[0]]], cuts[cluster[places[0]] + 1]
        moved[places] = begin + rng.permutation(end - begin)[slot[places] - begin]
    return moved


def _hardened(
    slot: Longs, item: Longs, group_of: Longs, n_items: int, k: int, m: int, labels: Longs, rng: np.random.Generator
) -> tuple[Longs, Longs]:
    """Break rare combinations group by group, and assign the remaining sets to rows of their group at random."""
    order = np.lexsort((item, slot))
    slot = slot[order]
    # Items are numbered separately for each group, so that no combination spans several groups.
    names, number = np.unique(group_of[slot] * n_items + item[order], return_inverse=True)
    starts = np.flatnonzero(np.diff(slot, prepend=-1) != 0)
    spelt = tuple(str(name) for name in names.tolist())
    ends = np.append(starts, slot.size).astype(np.int64)
    hard = harden_km(Transactions(ends, number.astype(np.int32), spelt, slot[starts], group_of.size), k, m).data
    left = np.array([int(label) for label in hard.labels], np.int64)[hard.items]
    owner = left[hard.indptr[:-1]] // n_items
    by_owner = np.argsort(owner, kind="stable")
    heads = np.concatenate(([0], np.cumsum(np.bincount(labels))))
    turn = np.arange(owner.size) - np.searchsorted(owner[by_owner], owner[by_owner])
    takers = np.lexsort((rng.random(labels.size), labels))
    row = np.empty(owner.size, np.int64)
    row[by_owner] = takers[heads[owner[by_owner]] + turn]
    rows, items = np.repeat(row, hard.lengths), left % n_items
    order = np.lexsort((items, rows))
    return rows[order], items[order]
