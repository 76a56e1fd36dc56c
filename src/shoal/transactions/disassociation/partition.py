"""Horizontal partitioning: records that share frequent items are put into one cluster.

Recursive, for a segment of more than delta records:

1. Split off the records of its most frequent item; they are a segment of their own, which ignores that item.
2. Continue with the remaining records, until there are at most delta of them or no item is in k of them.
3. The remaining records are one cluster, or even blocks of at most delta.

Iterative: delta records of the most frequent item are a cluster; continue with the remaining records.

Finally, a cluster of fewer than k records is merged into the one before it, and cut evenly if that is too large.
Records are taken in the order given, and clusters numbered as they are found: neighbouring clusters have much in
common.

Terrovitis, Mamoulis, Liagouris and Skiadopoulos, Privacy Preservation by Disassociation, PVLDB 5 (2012) 944-955; the
iterative form is that of Awad, Couchot, Al Bouna and Philippe, Future Internet 12 (2020) 71.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop, loop
from shoal.transactions.disassociation.heap import heap_key, heaped, most_frequent
from shoal.transactions.lexical import Places, Whole


def recursive(indptr: Places, items: Whole, n_items: int, k: int, delta: int) -> tuple[Places, Places]:
    """Split records repeatedly by the most frequent item not yet used; return the records by cluster, and the cuts.

    The items of each record ascend and are below `n_items`; delta is at least 2k - 1. Cluster c is
    `order[cuts[c]:cuts[c + 1]]`.

    Guarantee
    ---------
    Every cluster holds k to delta records, or all of them if there are fewer than k. Ties go to the lowest item.

    Cost
    ----
    O(occurrences · log items) for each level of the recursion, of which there are a few; 12 bytes per occurrence.
    """
    order, starts = _recursive(indptr, items, n_items, k, delta)
    return order, guarded(np.append(np.flatnonzero(starts), order.size), k, delta)


def iterative(
    indptr: Places, items: Whole, n_items: int, k: int, delta: int, *, faithful: bool = False
) -> tuple[Places, Places]:
    """Take delta records of the most frequent item, repeatedly; inputs and result as of `recursive`.

    With `faithful`, clusters of fewer than k records stay as they are, as in the paper; all their items are then lost.
    Otherwise the guarantee of `recursive` holds. Ties go to the lowest item, then to the first records. Takes
    O(occurrences · log items) time, 8 bytes per occurrence.
    """
    order, starts, rest = _iterative(indptr, items, n_items, 1 if faithful else k, delta)
    cuts = np.append(np.flatnonzero(starts[:rest]), rest)
    cuts = np.concatenate([cuts[:-1], rest + even(order.size - rest, delta)])
    return order, cuts if faithful else guarded(cuts, k, delta)


def even(size: int, most: int) -> Places:
    """Return where to cut this many records into blocks of at most `most`, as even as possible, larger ones first."""
    blocks = -(-size // most)
    if blocks == 0:
        return np.zeros(1, np.int64)
    sizes = np.full(blocks, size // blocks, np.int64)
    sizes[: size % blocks] += 1
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def guarded(cuts: Places, k: int, delta: int) -> Places:
    """Merge clusters of fewer than k records into the preceding one, and cut evenly what is then too large.

    The first cluster is merged with the following one.
    """
    ends: list[int] = []
    for end in cuts[1:].tolist():
        before = ends[-1] if ends else 0
        if ends and (end - before < k or before < k):
            ends[-1] = end
        else:
            ends.append(end)
    found = [0]
    for end in ends:
        found.extend((found[-1] + even(end - found[-1], delta)[1:]).tolist())
    return np.array(found, np.int64)


@loop
def _recursive(indptr: Places, items: Whole, n_items: int, k: int, delta: int) -> tuple[Places, NDArray[np.bool_]]:
    """Return the records in the order of the recursion, and where in it clusters begin."""
    n = indptr.size - 1
    order, moved = np.arange(n), np.empty(n, np.int64)
    starts, alive = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    count, first, head = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    touched, heap = np.empty(n_items, np.int64), np.empty(n_items, np.int64)
    lists = np.empty(items.size, np.int32)
    pending = np.empty((n + 1, 2), np.int64)
    pending[0, 0], pending[0, 1] = 0, n
    waiting = 1 if n > 0 else 0
    while waiting > 0:
        waiting -= 1
        low, high = pending[waiting, 0], pending[waiting, 1]
        starts[low] = True
        if high - low <= delta:
            continue
        seen = _count(indptr, items, order, low, high, count, touched)
        filled = _candidates(high - low, k, touched, seen, count, first, head, heap)
        _list(indptr, items, order, low, high, head, lists, alive)
        heaped(heap, filled)
        into = low
        while high - into > delta:
            item = most_frequent(heap, filled, count)
            if item < 0 or count[item] < k:
                break
            start = into
            for at in range(first[item], head[item]):
                if alive[lists[at]]:
                    moved[into] = lists[at]
                    into += 1
                    _take(indptr, items, lists[at], alive, count)
            pending[waiting, 0], pending[waiting, 1] = start, into
            waiting += 1
        _leave(order, moved, alive, low, high, into, delta, starts)
        for t in range(seen):
            count[touched[t]] = 0
    return order, starts


@inner_loop
def _count(indptr: Places, items: Whole, order: Places, low: int, high: int, count: Places, touched: Places) -> int:
    """Count the items of a segment, list them, and return how many there are."""
    seen = 0
    for place in range(low, high):
        row = order[place]
        for at in range(indptr[row], indptr[row + 1]):
            item = items[at]
            if count[item] == 0:
                touched[seen] = item
                seen += 1
            count[item] += 1
    return seen


@inner_loop
def _candidates(
    size: int, k: int, touched: Places, seen: int, count: Places, first: Places, head: Places, heap: Places
) -> int:
    """Give each item that may split the segment a key and a place for its records; return how many there are.

    An item of all records is not among them: it was ignored before, or the next step would only ignore it.
    """
    filled, end = 0, 0
    for t in range(seen):
        item = touched[t]
        head[item] = -1
        if k <= count[item] < size:
            heap[filled] = heap_key(count[item], item)
            filled += 1
            first[item], head[item] = end, end
            end += count[item]
    return filled


@inner_loop
def _list(
    indptr: Places,
    items: Whole,
    order: Places,
    low: int,
    high: int,
    head: Places,
    lists: Whole,
    alive: NDArray[np.bool_],
) -> None:
    """Activate the records of a segment, and list them by the items that may split it."""
    for place in range(low, high):
        row = order[place]
        alive[row] = True
        for at in range(indptr[row], indptr[row + 1]):
            item = items[at]
            if head[item] >= 0:
                lists[head[item]] = row
                head[item] += 1


@inner_loop
def _take(indptr: Places, items: Whole, row: int, alive: NDArray[np.bool_], count: Places) -> None:
    """Remove a record, and its items from the counts."""
    alive[row] = False
    for at in range(indptr[row], indptr[row + 1]):
        count[items[at]] -= 1


@inner_loop
def _leave(
    order: Places,
    moved: Places,
    alive: NDArray[np.bool_],
    low: int,
    high: int,
    into: int,
    delta: int,
    starts: NDArray[np.bool_],
) -> None:
    """Put the remaining records behind those split off, and cut them into even blocks, larger ones first."""
    start, rest = into, high - into
    for place in range(low, high):
        if alive[order[place]]:
            moved[into] = order[place]
            into += 1
    for place in range(low, high):
        order[place] = moved[place]
    blocks = (rest + delta - 1) // delta
    for block in range(blocks):
        starts[start] = True
        start += rest // blocks + (1 if block < rest % blocks else 0)


@loop
def _iterative(indptr: Places, items: Whole, n_items: int, k: int, delta: int) -> tuple[Places, NDArray[np.bool_], int]:
    """Return the records cluster by cluster, where clusters begin, and how many records are in them."""
    n = indptr.size - 1
    order, into = np.arange(n), 0
    starts, alive = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    count, first, head = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    touched, heap = np.empty(n_items, np.int64), np.empty(n_items, np.int64)
    lists = np.empty(items.size, np.int32)
    seen = _count(indptr, items, order, 0, n, count, touched)
    filled = _candidates(n + 1, k, touched, seen, count, first, head, heap)
    _list(indptr, items, order, 0, n, head, lists, alive)
    heaped(heap, filled)
    while into < n:
        item = most_frequent(heap, filled, count)
        if item < 0 or count[item] < k:
            break
        starts[into] = True
        full = into + delta
        while into < full and first[item] < head[item]:
            row = lists[first[item]]
            first[item] += 1
            if alive[row]:
                order[into] = row
                into += 1
                _take(indptr, items, row, alive, count)
    rest = into
    for row in range(n):
        if alive[row]:
            order[into] = row
            into += 1
    return order, starts, rest
