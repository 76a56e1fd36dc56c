"""Vertical partitioning: the items of a cluster are split into chunks that are k^m-anonymous by themselves.

1. An item of fewer than k records of the cluster goes to its term set.
2. The others are taken by falling support, those of rules that at least k records hold first. An item joins the chunk
   if every set of at most m items that it makes with items of the chunk is in no record or in at least k of them.
3. Items that could not join wait for the next chunk.
4. If the term set is empty and the chunks are too small to hide which parts belong to one record (the cover condition),
   then the rarest item goes to the term set.

The records that hold an item are the bits of words, so that a set of items costs a few instructions. Items of the same
records are interchangeable, and items of all records never conflict.

Terrovitis, Mamoulis, Liagouris and Skiadopoulos, Privacy Preservation by Disassociation, PVLDB 5 (2012) 944-955.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MethodError
from shoal.kernels.loops import inner_loop, loop
from shoal.transactions.disassociation.bits import CLEAR, Looking, Words, fits
from shoal.transactions.disassociation.chunk_candidates import find_twins, mark, pick_representatives, queue_candidates
from shoal.transactions.lexical import Places, Whole, sort_numbers

Rules = tuple[Places, Whole]
NO_RULES: Rules = (np.zeros(1, np.int64), np.zeros(0, np.int32))

LOOKS = 10_000_000  # itemsets examined in one cluster before its chunks are closed
MOST = 1 << 27  # words of bits of one cluster


class Chunked(NamedTuple):
    """The items of each cluster, ascending, with their chunks and supports.

    The items of cluster c are those from `ptr[c]` to `ptr[c + 1]`; `chunk` is numbered by smallest item within the
    cluster, -1 for its term set, and `support` counts records of the cluster. `covered` says of each cluster whether
    its chunks meet the cover condition without the help of a term set.
    """

    ptr: Places
    item: Whole
    chunk: Whole
    support: Whole
    covered: NDArray[np.bool_]


def vertical(
    indptr: Places,
    items: Whole,
    n_items: int,
    cuts: Places,
    k: int,
    m: int,
    rules: Rules = NO_RULES,
    *,
    looks: int = LOOKS,
) -> Chunked:
    """Split the items of each cluster into chunks and a term set.

    The records come cluster by cluster, cluster c from `cuts[c]` to `cuts[c + 1]`, their items ascending and below
    `n_items`. `rules` are flat arrays of itemsets that should stay together, items ascending. After `looks` itemsets
    have been examined in a cluster, every further item gets a chunk of its own.

    Guarantee
    ---------
    In every chunk, each set of at most m items is in no record or in at least k. A cluster without a term set has
    chunks C of which the sum of |C| is at least |P| + k (min(m, v) - 1), for its v chunks and |P| records.

    Cost
    ----
    O(q^m · |P| / 64) for a cluster of q items at worst; at most 16 bytes per occurrence.
    """
    distinct, words, candidates = _sizes(indptr, items, n_items, cuts, k)
    if words > MOST:
        raise MethodError(
            f"disassociate: a cluster of up to {int(np.diff(cuts).max())} records would need {words * 8 >> 20} MB of "
            f"bits; at most {MOST * 8 >> 20} MB are used. Lower delta."
        )
    ptr = np.zeros(cuts.size, np.int64)
    np.cumsum(distinct, out=ptr[1:])
    longest = int(np.diff(indptr).max(initial=0))
    depth = max(1, min(m - 1, longest))
    widest, largest = int(distinct.max(initial=0)), -(-int(np.diff(cuts).max(initial=0)) // 64)
    item, chunk, support, covered = _split_clusters(
        indptr, items, n_items, cuts, k, m, depth, ptr, widest, largest, words, candidates, *rules, looks
    )
    return Chunked(ptr, item, chunk, support, covered)


@loop
def _sizes(indptr: Places, items: Whole, n_items: int, cuts: Places, k: int) -> tuple[Places, int, int]:
    """Return the number of items of each cluster, and the most words and candidates that a cluster needs."""
    distinct = np.zeros(cuts.size - 1, np.int64)
    last, count = np.full(n_items, -1, np.int64), np.zeros(n_items, np.int64)
    words, most = 1, 1
    for cluster in range(cuts.size - 1):
        candidates = 0
        for at in range(indptr[cuts[cluster]], indptr[cuts[cluster + 1]]):
            item = items[at]
            if last[item] != cluster:
                last[item], count[item] = cluster, 0
                distinct[cluster] += 1
            count[item] += 1
            if count[item] == k:
                candidates += 1
        words = max(words, candidates * ((cuts[cluster + 1] - cuts[cluster] + 63) // 64))
        most = max(most, candidates)
    return distinct, words, most


@loop
def _split_clusters(
    indptr: Places,
    items: Whole,
    n_items: int,
    cuts: Places,
    k: int,
    m: int,
    depth: int,
    ptr: Places,
    widest: int,
    largest: int,
    words: int,
    candidates: int,
    rule_ptr: Places,
    rule_items: Whole,
    looks: int,
) -> tuple[Whole, Whole, Whole, NDArray[np.bool_]]:
    """Return the items of all clusters, their chunks and supports, and which clusters meet the cover condition."""
    total = ptr[-1]
    entry, chunk, support = np.empty(total, np.int32), np.full(total, -1, np.int32), np.empty(total, np.int32)
    covered = np.zeros(cuts.size - 1, np.bool_)
    count, place = np.zeros(n_items, np.int32), np.full(n_items, -1, np.int32)
    where, queue = np.empty(candidates, np.int64), np.empty(candidates, np.int64)
    chunk_of, twin = np.empty(candidates, np.int64), np.empty(candidates, np.int64)
    members, todo = np.empty(candidates, np.int64), np.empty(candidates, np.int64)
    table, new = np.empty(4 * candidates, np.int64), np.empty(widest, np.int64)
    keys = np.empty(max(widest, rule_ptr.size), np.int64)
    bits, held = np.empty(words, np.uint64), np.empty(words, np.uint64)
    path, meets = np.empty(2 * depth + 2, np.int64), np.empty((depth + 1) * largest, np.uint64)
    looking = Looking(k, m, depth, held, path, meets, np.empty(1, np.int64))
    for cluster in range(cuts.size - 1):
        low, high, base, stop = cuts[cluster], cuts[cluster + 1], ptr[cluster], ptr[cluster + 1]
        wide = (high - low + 63) // 64
        _list(indptr, items, low, high, entry, base, count)
        sort_numbers(entry, base, stop)
        q = _choose(entry, base, stop, k, count, support, where, place)
        if m == 1 or k == 1:
            for c in range(q):
                chunk[where[c]] = 0
        else:
            mark(indptr, items, low, high, place, bits, wide, q)
            queue_candidates(bits, wide, q, support, where, place, rule_ptr, rule_items, k, keys, queue, chunk_of)
            find_twins(bits, wide, q, queue, twin, table)
            waiting = pick_representatives(q, high - low, queue, support, where, twin, chunk_of, todo)
            looking.budget[0] = looks
            number = 0
            while waiting > 0:
                waiting = _fill(looking, todo, waiting, number, chunk_of, bits, wide, members)
                number += 1
            for c in range(q):
                chunk[where[c]] = chunk_of[twin[c]]
        for c in range(q):
            place[entry[where[c]]] = -1
        covered[cluster] = _covers(indptr, items, low, high, entry, chunk, base, stop, place, new, k, m)
        if not covered[cluster] and q == stop - base and q > 0:
            # The term set is empty, so nothing could account for a record in no chunk: the rarest item must go there.
            rarest = base
            for e in range(base + 1, stop):
                rarest = e if support[e] < support[rarest] else rarest
            chunk[rarest] = -1
            covered[cluster] = _covers(indptr, items, low, high, entry, chunk, base, stop, place, new, k, m)
    return entry, chunk, support, covered


@inner_loop
def _list(indptr: Places, items: Whole, low: int, high: int, entry: Whole, base: int, count: Whole) -> None:
    """List the items of a cluster and count them."""
    for at in range(indptr[low], indptr[high]):
        item = items[at]
        if count[item] == 0:
            entry[base] = item
            base += 1
        count[item] += 1


@inner_loop
def _choose(
    entry: Whole, base: int, stop: int, k: int, count: Whole, support: Whole, where: Places, place: Whole
) -> int:
    """Store the supports of a cluster's items, number those of k records or more, and return how many there are."""
    q = 0
    for e in range(base, stop):
        item = entry[e]
        support[e] = count[item]
        if count[item] >= k:
            where[q] = e
            place[item] = q
            q += 1
        count[item] = 0
    return q


@inner_loop
def _fill(
    looking: Looking, todo: Places, waiting: int, number: int, chunk_of: Places, bits: Words, wide: int, members: Places
) -> int:
    """Add to a chunk the items that can join it, in the order of the queue; return how many are still waiting."""
    joined, left = 0, 0
    for t in range(waiting):
        c = todo[t]
        if joined == 0 or fits(looking, bits, wide, c, members, joined) == CLEAR:
            chunk_of[c] = number
            members[joined] = c
            joined += 1
        else:
            todo[left] = c
            left += 1
    return left


@inner_loop
def _covers(
    indptr: Places,
    items: Whole,
    low: int,
    high: int,
    entry: Whole,
    chunk: Whole,
    base: int,
    stop: int,
    place: Whole,
    new: Places,
    k: int,
    m: int,
) -> bool:
    """Number the chunks of a cluster by smallest item, and return whether they meet the cover condition."""
    chunks, parts = 0, 0
    for e in range(base, stop):
        new[e - base] = -1
    for e in range(base, stop):
        if chunk[e] >= 0:
            if new[chunk[e]] < 0:
                new[chunk[e]] = chunks
                chunks += 1
            chunk[e] = new[chunk[e]]
        place[entry[e]] = chunk[e]
    for c in range(chunks):
        new[c] = -1
    for row in range(low, high):
        for at in range(indptr[row], indptr[row + 1]):
            c = place[items[at]]
            if c >= 0 and new[c] != row:
                new[c] = row
                parts += 1
    for e in range(base, stop):
        place[entry[e]] = -1
    return bool(chunks > 0 and parts >= high - low + k * (min(m, chunks) - 1))
