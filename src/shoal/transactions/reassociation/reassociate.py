"""Re-association: draw one of the data sets that a disassociated data set may stand for.

1. Every cluster has as many slots as records. The sub-records of a chunk are assigned to different slots of its
   cluster, those of a shared chunk to different slots of its joint, all assignments being equally likely.
2. Items that are in no chunk are left out, or each is assigned to one slot: of its cluster if that is known, otherwise
   of any cluster that has such items.
3. The records are output in lexicographic order, which reveals nothing about the clusters. Slots that stayed empty are
   counted.

The result is drawn from the publication alone, so it reveals nothing that was not published. As plain data it is not
k^m-anonymous; `harden` makes it so.

Awad, Couchot, Al Bouna and Philippe, Publishing anonymized set-valued data via disassociation towards analysis, Future
Internet 12 (2020) 71. Their wheel of percentages is a uniform choice of slots.
"""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, MethodError, shortened
from shoal.kernels.loops import inner_loop, loop
from shoal.kernels.random_streams import stream, uniform
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions
from shoal.transactions.disassociation.terms import terms_as_chunks
from shoal.transactions.lexical import Places, Whole, gathered, lexical_order, sort_numbers

TERMS = ("omit", "once")


def reassociate(
    published: Disassociated,
    seed: int = 0,
    terms: Literal["omit", "once"] = "omit",
    nonempty: bool = False,
    keep_empty: bool = False,
) -> Transactions:
    """Draw one data set that the published chunks may stand for, in lexicographic order.

    `terms` says whether items that are in no chunk are left out ("omit") or each assigned to one slot ("once").
    `nonempty` moves sub-records from slots that have several to empty ones; expected supports then differ from those of
    a uniform draw. `keep_empty` keeps empty slots as records without items, first in order; otherwise they are only
    counted, by `empty` of the result.

    Guarantee
    ---------
    Every sub-record of a chunk is in a record of its own, so an item of one chunk only keeps its support. The result
    depends on the publication and on the seed alone. With `nonempty`, no slot stays empty in a cluster that has as many
    sub-records of its own as slots.

    Cost
    ----
    O(occurrences + slots of all chunks' clusters and joints) time plus sorting the records, linear memory.

    Examples
    --------
    >>> from shoal.model.transactions import Transactions
    >>> from shoal.transactions.disassociation.disassociate import disassociate
    >>> data = Transactions.of([["beer", "bread"], ["beer", "bread"], ["beer", "milk"], ["beer"], ["milk", "tea"]])
    >>> reassociate(disassociate(data, k=2, m=2, delta=5).published, seed=7)
    <Transactions: 5 records, 3 items, 8 occurrences>
    """
    if terms not in TERMS:
        raise MethodError(f"reassociate: terms must be 'omit' or 'once'; got {shortened(terms)}.")
    whole = _with_terms(published) if terms == "once" and published.n else published
    joint_size = _joint_sizes(whole)
    _check(whole, joint_size)
    starts = np.concatenate(([0], np.cumsum(whole.sizes))).astype(np.int64)
    slotted = _Slotted(whole.joint_ptr, whole.joint_clusters, starts, np.arange(whole.n, dtype=np.int64), stream(seed))
    shared = np.empty(int(joint_size.max(initial=0)), np.int64)
    subs, slot = _dealt(slotted, whole.chunk_cluster, whole.chunk_joint, whole.chunk_ptr, whole.counts, shared)
    if nonempty:
        chunk = np.searchsorted(whole.chunk_ptr, subs, side="right") - 1
        cluster, joint = whole.chunk_cluster[chunk], whole.chunk_joint[chunk]
        _spread(slotted, cluster, joint, slot)
    indptr, items = _joined(whole.sub_ptr, whole.items, subs, slot, whole.n)
    twice = int((np.diff(whole.sub_ptr) * whole.counts).sum()) - items.size
    order = lexical_order(indptr, items)
    if not keep_empty:
        order = order[np.diff(indptr)[order] > 0]
    indptr, items = gathered(indptr, items, order)
    # Empty slots come first in lexicographic order.
    rows = np.arange(order.size, dtype=np.int64) + (whole.n - order.size)
    return Transactions(indptr, items, whole.labels, rows, whole.n, twice)


def _with_terms(published: Disassociated) -> Disassociated:
    """Return the data with a chunk of one sub-record for every item that is in no chunk."""
    # An item listed without its cluster occurs in some cluster whose records have items outside their chunks.
    hosts = np.flatnonzero(published.opened) if published.opened.any() else np.arange(published.clusters)
    return replace(
        terms_as_chunks(published, np.ones(published.term_item.size, np.bool_), joint=published.joint_ptr.size - 1),
        joint_ptr=np.append(published.joint_ptr, published.joint_ptr[-1] + hosts.size),
        joint_clusters=np.concatenate((published.joint_clusters, hosts.astype(np.int32))),
    )


def _joint_sizes(published: Disassociated) -> NDArray[np.int64]:
    """Return the number of slots of each joint."""
    total = np.concatenate(([0], np.cumsum(published.sizes[published.joint_clusters])))
    return np.diff(total[published.joint_ptr]).astype(np.int64)


def _check(published: Disassociated, joint_size: NDArray[np.int64]) -> None:
    """Refuse chunks that have more sub-records than there are slots for them."""
    total = np.concatenate(([0], np.cumsum(published.counts)))
    needed = np.diff(total[published.chunk_ptr])
    own = published.chunk_cluster >= 0
    offered = np.zeros(published.chunks, np.int64)
    offered[own] = published.sizes[published.chunk_cluster[own]]
    offered[~own] = joint_size[published.chunk_joint[~own]]
    wrong = int(np.count_nonzero(needed > offered))
    if wrong:
        raise DataError(
            f"reassociate: {wrong} of {published.chunks} chunks hold more sub-records than their cluster or joint has "
            "records. This is not valid disassociated data; check its source."
        )


@inner_loop
def _draw(state: NDArray[np.uint64], below: int) -> int:
    """Return a random integer from 0 up to, but not including, `below`."""
    return int(uniform(state) * below)


class _Slotted(NamedTuple):
    """The clusters of each joint, where the slots of each cluster begin and end, all slots, and the random state."""

    joint_ptr: Places
    joint_clusters: Whole
    starts: Places
    slots: Places
    state: NDArray[np.uint64]


@loop
def _dealt(
    slotted: _Slotted, chunk_cluster: Whole, chunk_joint: Whole, chunk_ptr: Places, counts: Places, shared: Places
) -> tuple[Places, Places]:
    """Assign every sub-record, as often as it occurs, to a slot; return the sub-records and their slots."""
    joint_ptr, joint_clusters, starts, slots, state = slotted
    pieces = counts.sum()
    subs, slot = np.empty(pieces, np.int64), np.empty(pieces, np.int64)
    piece, present, size = 0, -1, 0
    for chunk in range(chunk_cluster.size):
        cluster, joint = chunk_cluster[chunk], chunk_joint[chunk]
        # Reshuffling a shuffled list is as good as shuffling a new one, so each list of slots is built once.
        if cluster >= 0:
            among, first, last = slots, starts[cluster], starts[cluster + 1]
        else:
            if joint != present:
                size = 0
                for other in joint_clusters[joint_ptr[joint] : joint_ptr[joint + 1]]:
                    for at in range(starts[other], starts[other + 1]):
                        shared[size] = at
                        size += 1
                present = joint
            among, first, last = shared, 0, size
        for sub in range(chunk_ptr[chunk], chunk_ptr[chunk + 1]):
            for _ in range(counts[sub]):
                other = first + _draw(state, last - first)
                among[first], among[other] = among[other], among[first]
                subs[piece], slot[piece] = sub, among[first]
                piece += 1
                first += 1
    return subs, slot


@loop
def _spread(slotted: _Slotted, cluster: Whole, joint: Whole, slot: Places) -> None:
    """Move sub-records, in random order, from slots with several of them to empty slots of their cluster or joint."""
    joint_ptr, joint_clusters, starts, slots, state = slotted
    parts = np.zeros(slots.size, np.int64)
    for at in slot:
        parts[at] += 1
    order = np.arange(slot.size)
    for place in range(slot.size):
        other = place + _draw(state, slot.size - place)
        order[place], order[other] = order[other], order[place]
    # The slots of a cluster are in random order, and no slot becomes empty: one scan finds all empty ones.
    walked, visited = starts[:-1].copy(), joint_ptr[:-1].copy()
    for shared in (False, True):
        for place in range(order.size):
            piece = order[place]
            if parts[slot[piece]] < 2 or (cluster[piece] < 0) != shared:
                continue
            found = -1
            if not shared:
                found = _empty(slotted, cluster[piece], parts, walked)
            else:
                here = joint[piece]
                while found < 0 and visited[here] < joint_ptr[here + 1]:
                    found = _empty(slotted, joint_clusters[visited[here]], parts, walked)
                    if found < 0:
                        visited[here] += 1
            if found >= 0:
                parts[slot[piece]] -= 1
                parts[found] += 1
                slot[piece] = found


@inner_loop
def _empty(slotted: _Slotted, cluster: int, parts: Places, walked: Places) -> int:
    """Return the next empty slot of a cluster, or -1."""
    while walked[cluster] < slotted.starts[cluster + 1]:
        at = slotted.slots[walked[cluster]]
        if parts[at] == 0:
            return int(at)
        walked[cluster] += 1
    return -1


@loop
def _joined(sub_ptr: Places, sub_items: Whole, subs: Places, slot: Places, n: int) -> tuple[Places, Whole]:
    """Return the record of each slot: the items of its sub-records, ascending, without repetition."""
    indptr = np.zeros(n + 1, np.int64)
    for piece in range(slot.size):
        indptr[slot[piece] + 1] += sub_ptr[subs[piece] + 1] - sub_ptr[subs[piece]]
    for record in range(n):
        indptr[record + 1] += indptr[record]
    items, end = np.empty(indptr[n], np.int32), indptr[:-1].copy()
    for piece in range(slot.size):
        record = slot[piece]
        for at in range(sub_ptr[subs[piece]], sub_ptr[subs[piece] + 1]):
            items[end[record]] = sub_items[at]
            end[record] += 1
    kept = 0
    for record in range(n):
        first, last = indptr[record], end[record]
        sort_numbers(items, first, last)
        # Preceding records can only shrink, so writing never overtakes reading.
        indptr[record] = kept
        for at in range(first, last):
            if at == first or items[at] != items[kept - 1]:
                items[kept] = items[at]
                kept += 1
    indptr[n] = kept
    return indptr, items[:kept].copy()
