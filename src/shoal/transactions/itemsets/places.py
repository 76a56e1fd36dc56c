"""Places: where each item of disassociated data occurs, and counts of itemsets based on them.

A *seat* is an item in a chunk: a run of the item's sub-records, since sub-records are numbered chunk by chunk. A
*place* is a seat as a cluster sees it; a seat in a shared chunk is a place in every cluster of the joint.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop, loop
from shoal.model.disassociated import Disassociated

Whole = NDArray[np.int64]
Numbers = NDArray[np.int32]
Floats = NDArray[np.float64]
Slots = TypeVar("Slots", np.int64, np.float64)


class Places(NamedTuple):
    """Sub-records by item (posts), chunks by item (seats), clusters by item (places), and what these point to.

    The posts of item i are `post_sub[post_ptr[i]:post_ptr[i + 1]]`, its places those from `place_ptr[i]` to
    `place_ptr[i + 1]`, by cluster. A seat has the posts `seat_from` to `seat_to`.
    """

    post_ptr: Whole
    post_sub: Whole
    seat_chunk: Whole
    seat_from: Whole
    seat_to: Whole
    seat_support: Whole
    place_ptr: Whole
    place_cluster: Whole
    place_seat: Whole
    slots: Whole
    sub_chunk: Whole
    sub_ptr: Whole
    items: Numbers
    counts: Whole
    shared: NDArray[np.bool_]
    sizes: Whole


def places_of(published: Disassociated) -> Places:
    """Find the sub-records and chunks of every item, and the clusters that see these."""
    n_items = len(published.labels)
    sub_chunk = np.repeat(np.arange(published.chunks), np.diff(published.chunk_ptr))
    order = np.argsort(published.items, kind="stable")
    item = published.items[order].astype(np.int64)
    post_sub = np.repeat(np.arange(published.counts.size), np.diff(published.sub_ptr))[order]
    chunk = sub_chunk[post_sub]
    seat_from = np.flatnonzero((np.diff(item, prepend=-1) != 0) | (np.diff(chunk, prepend=-1) != 0))
    seat_to = np.append(seat_from[1:], item.size)[: seat_from.size]
    heads = np.concatenate(([0], np.cumsum(published.counts[post_sub])))
    seat_chunk = chunk[seat_from]
    joint = published.chunk_joint[seat_chunk].astype(np.int64)
    width = np.where(joint >= 0, np.diff(published.joint_ptr, append=0)[joint], 1)
    place_seat = np.repeat(np.arange(seat_from.size), width)
    rank = np.arange(place_seat.size) - np.repeat(np.cumsum(width) - width, width)
    cluster = published.chunk_cluster[seat_chunk].astype(np.int64)[place_seat]
    among = joint[place_seat] >= 0
    cluster[among] = published.joint_clusters[published.joint_ptr[joint[place_seat[among]]] + rank[among]]
    place_item = item[seat_from][place_seat]
    by_cluster = np.lexsort((cluster, place_item))
    return Places(
        _heads(item, n_items),
        post_sub,
        seat_chunk,
        seat_from,
        seat_to,
        heads[seat_to] - heads[seat_from],
        _heads(place_item, n_items),
        cluster[by_cluster],
        place_seat[by_cluster],
        chunk_slots(published, published.sizes),
        sub_chunk,
        published.sub_ptr,
        published.items,
        published.counts,
        published.chunk_joint >= 0,
        published.sizes,
    )


def chunk_slots(published: Disassociated, slots: NDArray[Slots]) -> NDArray[Slots]:
    """Return the number of slots of each chunk's cluster or joint, given the slots of the clusters."""
    sums = np.concatenate((np.zeros(1, slots.dtype), np.cumsum(slots[published.joint_clusters])))
    joints = np.append(np.diff(sums[published.joint_ptr]), sums[:1])
    return np.where(
        published.chunk_joint >= 0, joints[published.chunk_joint], np.append(slots, sums[:1])[published.chunk_cluster]
    )


def _heads(item: Whole, n_items: int) -> Whole:
    """Return where the entries of each item begin and end."""
    return np.concatenate(([0], np.cumsum(np.bincount(item, minlength=n_items)))).astype(np.int64)


@inner_loop
def _holds(items: Numbers, begin: int, end: int, wanted: Numbers, size: int) -> bool:
    """Return whether a sub-record holds the first `size` wanted items; both ascend."""
    at = begin
    for a in range(size):
        while at < end and items[at] < wanted[a]:
            at += 1
        if at == end or items[at] != wanted[a]:
            return False
    return True


@loop
def within(places: Places, ptr: Whole, flat: Numbers, weights: Floats) -> Floats:
    """Return the weight of the sub-records that hold each itemset; 0 for an empty one."""
    found = np.zeros(ptr.size - 1)
    for one in range(ptr.size - 1):
        wanted = flat[ptr[one] : ptr[one + 1]]
        if wanted.size == 0:
            continue
        rarest = wanted[0]
        for item in wanted:
            if (
                places.post_ptr[item + 1] - places.post_ptr[item]
                < places.post_ptr[rarest + 1] - places.post_ptr[rarest]
            ):
                rarest = item
        for a in range(places.post_ptr[rarest], places.post_ptr[rarest + 1]):
            sub = places.post_sub[a]
            if _holds(places.items, places.sub_ptr[sub], places.sub_ptr[sub + 1], wanted, wanted.size):
                found[one] += weights[sub]
    return found


@inner_loop
def _meet(places: Places, wanted: Numbers, at: Whole, cluster: int) -> int:
    """Move to the next cluster from `cluster` on that sees all wanted items, and return it, or -1."""
    agreed = 0
    a = 0
    while agreed < wanted.size:
        item = wanted[a]
        while at[a] < places.place_ptr[item + 1] and places.place_cluster[at[a]] < cluster:
            at[a] += 1
        if at[a] == places.place_ptr[item + 1]:
            return -1
        if places.place_cluster[at[a]] == cluster:
            agreed += 1
        else:
            cluster, agreed = places.place_cluster[at[a]], 1
        a = (a + 1) % wanted.size
    return cluster


@inner_loop
def _first(places: Places, wanted: Numbers, at: Whole) -> int:
    """Move to the first cluster that sees all wanted items, and return it, or -1."""
    for a in range(wanted.size):
        at[a] = places.place_ptr[wanted[a]]
    return _meet(places, wanted, at, 0)


@inner_loop
def _parts(places: Places, wanted: Numbers, at: Whole, chunks: Whole, supports: Whole, part: Numbers) -> int:
    """Split the wanted items at these places by chunk; write chunk and support of each part, return their number."""
    parts = 0
    for a in range(wanted.size):
        seat = places.place_seat[at[a]]
        chunk = places.seat_chunk[seat]
        known = False
        for b in range(parts):
            known = known or chunks[b] == chunk
        if known:
            continue
        size, shortest = 0, seat
        for b in range(a, wanted.size):
            other = places.place_seat[at[b]]
            if places.seat_chunk[other] == chunk:
                part[size] = wanted[b]
                size += 1
                if (
                    places.seat_to[other] - places.seat_from[other]
                    < places.seat_to[shortest] - places.seat_from[shortest]
                ):
                    shortest = other
        support = places.seat_support[seat]
        if size > 1 and size < wanted.size:
            support = 0
            for b in range(places.seat_from[shortest], places.seat_to[shortest]):
                sub = places.post_sub[b]
                if _holds(places.items, places.sub_ptr[sub], places.sub_ptr[sub + 1], part, size):
                    support += places.counts[sub]
        chunks[parts], supports[parts] = chunk, support
        parts += 1
    return parts


@loop
def across(places: Places, ptr: Whole, flat: Numbers, slots: Floats) -> Floats:
    """Return the expected support of each itemset in clusters of this many slots that have it in several chunks."""
    found = np.zeros(ptr.size - 1)
    longest = max(1, np.max(np.diff(ptr))) if ptr.size > 1 else 1
    at, chunks, supports = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    part = np.empty(longest, np.int32)
    for one in range(ptr.size - 1):
        wanted = flat[ptr[one] : ptr[one + 1]]
        if wanted.size < 2:
            continue
        cluster = _first(places, wanted, at)
        while cluster >= 0:
            parts = _parts(places, wanted, at, chunks, supports, part)
            if parts > 1:
                share = slots[cluster]
                for a in range(parts):
                    share *= supports[a] / places.slots[chunks[a]]
                found[one] += share
            cluster = _meet(places, wanted, at, cluster + 1)
    return found


@loop
def between(places: Places, ptr: Whole, flat: Numbers, extra: Whole) -> tuple[Whole, Whole]:
    """Return the least and greatest support of each itemset in clusters that have it in several chunks.

    A part of a chunk may have up to `extra` records more than its support.
    """
    low, high = np.zeros(ptr.size - 1, np.int64), np.zeros(ptr.size - 1, np.int64)
    longest = max(1, np.max(np.diff(ptr))) if ptr.size > 1 else 1
    at, chunks, supports = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    part = np.empty(longest, np.int32)
    # What the other parts leave in all clusters of a joint, by the shared chunk that spans it.
    n_chunks = places.slots.size
    spanned, least, most = np.empty(n_chunks, np.int64), np.zeros(n_chunks, np.int64), np.zeros(n_chunks, np.int64)
    span_support = np.full(n_chunks, -1, np.int64)
    for one in range(ptr.size - 1):
        wanted = flat[ptr[one] : ptr[one + 1]]
        if wanted.size < 2:
            continue
        spans = 0
        cluster = _first(places, wanted, at)
        while cluster >= 0:
            parts = _parts(places, wanted, at, chunks, supports, part)
            if parts > 1:
                size, widest = places.sizes[cluster], -1
                for a in range(parts):
                    chunk = chunks[a]
                    if places.shared[chunk] and (widest < 0 or places.slots[chunk] > places.slots[chunks[widest]]):
                        widest = a
                down, up, others = 0, size, 0
                for a in range(parts):
                    if a != widest:
                        down += max(0, supports[a] - (places.slots[chunks[a]] - size))
                        up = min(up, supports[a] + extra[chunks[a]])
                        others += 1
                down = max(0, down - (others - 1) * size)
                if widest < 0:
                    low[one] += down
                    high[one] += up
                else:
                    chunk = chunks[widest]
                    if span_support[chunk] < 0:
                        span_support[chunk] = supports[widest]
                        spanned[spans] = chunk
                        spans += 1
                    least[chunk] += down
                    most[chunk] += up
            cluster = _meet(places, wanted, at, cluster + 1)
        for a in range(spans):
            chunk = spanned[a]
            low[one] += max(0, least[chunk] + span_support[chunk] - places.slots[chunk])
            high[one] += min(most[chunk], span_support[chunk])
            least[chunk], most[chunk], span_support[chunk] = 0, 0, -1
    return low, high
