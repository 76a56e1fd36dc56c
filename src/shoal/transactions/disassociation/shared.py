"""Shared chunks: neighbouring clusters are joined, and items too rare in each of them share a chunk.

For levels 1, 2, ... the clusters are joined by 2, 4, ... neighbours:

1. Of the items in term sets of the joint, those are admitted that are in no chunk of any of its clusters, including
   shared ones of lower levels, and in k of its records.
2. They are split into chunks as those of a single cluster are.
3. A cluster whose term set becomes empty must meet the cover condition by its own chunks. Where it does not, the rarest
   of its newly placed items returns to the term sets of the joint.

An admitted item was too rare for the previous level, so it is in few records: the itemsets that contain it are found by
scanning these alone.

This is the refining step of Terrovitis, Mamoulis, Liagouris and Skiadopoulos, PVLDB 5 (2012) 944-955, over clusters in
the order of the partition.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop, loop
from shoal.model.progress import tick
from shoal.transactions.disassociation.chunk_candidates import falling
from shoal.transactions.disassociation.joint_chunks import Asked, Rest, fill
from shoal.transactions.disassociation.vertical import LOOKS, Chunked
from shoal.transactions.lexical import Places, Whole, sort_numbers


@dataclass(frozen=True, eq=False)
class Shared:
    """The chunks shared by joints of clusters.

    Joint j consists of the clusters from `low[j]` up to, but not including, `high[j]`; from `ptr[j]` to `ptr[j + 1]`
    there are the items of its chunks, ascending, and the chunk of each, numbered by smallest item. `left` flags the
    items of clusters, as listed in `Chunked`, that are still in a term set.
    """

    low: Places
    high: Places
    ptr: Places
    item: Whole
    chunk: Whole
    left: NDArray[np.bool_]


def shared(
    indptr: Places,
    items: Whole,
    n_items: int,
    cuts: Places,
    chunked: Chunked,
    k: int,
    m: int,
    levels: int,
    *,
    looks: int = LOOKS,
) -> Shared:
    """Let neighbouring clusters share chunks of items that are too rare for one cluster.

    The records and `cuts` are as in `vertical`. Clusters are joined two by two, `levels` times. After `looks` itemsets
    have been examined in a joint, every further item gets a chunk of its own.

    Guarantee
    ---------
    In every shared chunk, each set of at most m items is in no record or in at least k, and none of its items is in
    another chunk of a cluster of its joint. Clusters without a term set meet the cover condition by their own chunks.

    Cost
    ----
    O(items in term sets + items in chunks) for each level, as long as few items of a record are rare; 16 bytes for each
    occurrence of an item in a term set.
    """
    taken = chunked.chunk >= 0
    rest = _occurrences(indptr, items, n_items, cuts, chunked, taken)
    depth = max(1, min(m - 1, int(np.diff(rest.ptr).max(initial=0))))
    found = []
    for level in range(1, levels + 1):
        tick(level - 1, levels)
        if 2 ** (level - 1) >= cuts.size - 1:
            break
        found.append(_join(cuts, chunked, taken, rest, n_items, 2**level, Asked(k, m, depth, looks)))
        rest = _without(rest, taken)
    if not found:
        none = np.zeros(0, np.int64)
        return Shared(none, none, np.zeros(1, np.int64), none.astype(np.int32), none.astype(np.int32), ~taken)
    low, high, sizes, item, chunk = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Shared(low, high, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]), item, chunk, ~taken)


@loop
def _occurrences(
    indptr: Places, items: Whole, n_items: int, cuts: Places, chunked: Chunked, taken: NDArray[np.bool_]
) -> Rest:
    """Return for each record the positions of its items in the term sets of their clusters."""
    n = indptr.size - 1
    place = np.full(n_items, -1, np.int64)
    rest_ptr, rest = np.zeros(n + 1, np.int64), np.empty(items.size, np.int64)
    filled = 0
    for cluster in range(cuts.size - 1):
        for e in range(chunked.ptr[cluster], chunked.ptr[cluster + 1]):
            place[chunked.item[e]] = -1 if taken[e] else e
        for row in range(cuts[cluster], cuts[cluster + 1]):
            for at in range(indptr[row], indptr[row + 1]):
                if place[items[at]] >= 0:
                    rest[filled] = place[items[at]]
                    filled += 1
            rest_ptr[row + 1] = filled
    return Rest(rest_ptr, rest[:filled].copy())


@loop
def _without(rest: Rest, taken: NDArray[np.bool_]) -> Rest:
    """Return for each record the positions of its items that are still in term sets."""
    new_ptr, filled = np.zeros_like(rest.ptr), 0
    for row in range(rest.ptr.size - 1):
        for at in range(rest.ptr[row], rest.ptr[row + 1]):
            if not taken[rest.place[at]]:
                rest.place[filled] = rest.place[at]
                filled += 1
        new_ptr[row + 1] = filled
    return Rest(new_ptr, rest.place[:filled])


@loop
def _join(
    cuts: Places, chunked: Chunked, taken: NDArray[np.bool_], rest: Rest, n_items: int, width: int, asked: Asked
) -> tuple[Places, Places, Places, Whole, Whole]:
    """Join this many clusters at a time, mark placed items as taken, and return the joints with their chunks."""
    ptr, entry, _, support, covered = chunked
    clusters = cuts.size - 1
    joints = (clusters + width - 1) // width
    lows, highs, sizes = np.empty(joints, np.int64), np.empty(joints, np.int64), np.empty(joints, np.int64)
    free = 0
    for e in range(taken.size):
        free += not taken[e]
    out_item, out_chunk, out, made = np.empty(free, np.int32), np.empty(free, np.int32), 0, 0
    banned, count = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    place, admitted = np.full(n_items, -1, np.int64), np.empty(n_items, np.int64)
    for joint in range(joints):
        low, high = joint * width, min((joint + 1) * width, clusters)
        # A last joint with no more clusters than on the previous level would be the same again.
        if high - low <= width // 2:
            continue
        q = _admit(ptr[low], ptr[high], entry, support, taken, joint + 1, asked.k, banned, count, admitted)
        if q == 0:
            continue
        sort_numbers(admitted, 0, q)
        records, keys, number = np.empty(q, np.int64), np.empty(q, np.int64), np.zeros(q, np.int64)
        for c in range(q):
            place[admitted[c]] = c
            records[c] = count[admitted[c]]
            keys[c] = falling(records[c], c)
            count[admitted[c]] = 0
        sort_numbers(keys, 0, q)
        if asked.m > 1:
            fill(cuts[low], cuts[high], entry, rest, place, keys, records, asked, number)
        for cluster in range(low, high):
            if not covered[cluster]:
                _keep_open(ptr[cluster], ptr[cluster + 1], entry, taken, place, records, number)
        _take(ptr[low], ptr[high], entry, taken, place, number)
        written = _write(admitted, q, number, place, keys, out_item, out_chunk, out)
        if written > out:
            lows[made], highs[made], sizes[made] = low, high, written - out
            made, out = made + 1, written
    return lows[:made], highs[:made], sizes[:made], out_item[:out], out_chunk[:out]


@inner_loop
def _admit(
    start: int,
    stop: int,
    entry: Whole,
    support: Whole,
    taken: NDArray[np.bool_],
    mark: int,
    k: int,
    banned: Places,
    count: Places,
    admitted: Places,
) -> int:
    """Find the items of a joint that are in no chunk of it and in k of its records; return their number."""
    seen, q = 0, 0
    for e in range(start, stop):
        if taken[e]:
            banned[entry[e]] = mark
    for e in range(start, stop):
        item = entry[e]
        if banned[item] != mark:
            if count[item] == 0:
                admitted[seen] = item
                seen += 1
            count[item] += support[e]
    for t in range(seen):
        item = admitted[t]
        if count[item] >= k:
            admitted[q] = item
            q += 1
        else:
            count[item] = 0
    return q


@inner_loop
def _take(start: int, stop: int, entry: Whole, taken: NDArray[np.bool_], place: Places, number: Places) -> None:
    """Remove the placed items of a joint from the term sets of its clusters."""
    for e in range(start, stop):
        c = place[entry[e]]
        if c >= 0 and number[c] >= 0:
            taken[e] = True


@inner_loop
def _write(
    admitted: Places, q: int, number: Places, place: Places, new: Places, out_item: Whole, out_chunk: Whole, out: int
) -> int:
    """Write the placed items of a joint with their chunks, numbered by smallest item; return where it ends."""
    chunks = 0
    for c in range(q):
        place[admitted[c]] = -1
        new[c] = -1
    for c in range(q):
        if number[c] >= 0:
            if new[number[c]] < 0:
                new[number[c]] = chunks
                chunks += 1
            out_item[out], out_chunk[out] = admitted[c], new[number[c]]
            out += 1
    return out


@inner_loop
def _keep_open(
    start: int, stop: int, entry: Whole, taken: NDArray[np.bool_], place: Places, records: Places, number: Places
) -> None:
    """Return the rarest placed item of a cluster to its term set if nothing else would be left there."""
    rarest = -1
    for e in range(start, stop):
        if not taken[e]:
            c = place[entry[e]]
            if c < 0 or number[c] < 0:
                return
            if rarest < 0 or records[c] < records[rarest]:
                rarest = c
    if rarest >= 0:
        number[rarest] = -1
