"""Chunks as published: sub-records by chunk, in an order that reveals nothing.

1. The records of a cluster, or of a joint, are projected onto the items of each chunk; the results are sorted and
   counted.
2. Clusters are ordered by content: by (size, chunks) as nested tuples, where a chunk is a tuple of pairs (items,
   count), one for each sub-record. Joints are ordered by their clusters.
3. Items that are published nowhere lose their number.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.kernels.loops import inner_loop, loop
from shoal.transactions.disassociation.shared import Shared
from shoal.transactions.disassociation.vertical import Chunked
from shoal.transactions.lexical import Places, Whole, gathered, lexical_order, sort_numbers, sort_rows


@dataclass(frozen=True, eq=False)
class Chunks:
    """The chunks of clusters and joints, in their published order.

    `rank` is the published number of each cluster of the partition; `cluster` and `joint` are the published cluster of
    a chunk, or -1 and its joint. `chunk_ptr`, `sub_ptr`, `counts` and `items` are as in
    `model.disassociated.Disassociated`, but with the item numbers of the input. `joint_clusters` are the published
    clusters of each joint, ascending.
    """

    rank: Places
    cluster: Whole
    joint: Whole
    chunk_ptr: Places
    sub_ptr: Places
    counts: Places
    items: Whole
    joint_ptr: Places
    joint_clusters: Whole


def chunks(indptr: Places, items: Whole, n_items: int, cuts: Places, chunked: Chunked, joined: Shared) -> Chunks:
    """Project records onto their chunks, sort and count the results, and put everything in order.

    The records, cluster by cluster, and `cuts` are as in `vertical`.

    Guarantee
    ---------
    The result depends on the records of each cluster as a multiset, not on their order. Sub-records are distinct and in
    lexicographic order, chunks in the order of their smallest items, clusters in the order of their content.

    Cost
    ----
    O(occurrences · log delta) time, at most 40 bytes per occurrence.
    """
    clusters = cuts.size - 1
    # Clusters and joints are both scopes: records from low to high, and the chunk of each of their items.
    scope, chunk_ptr, sub_ptr, counts, kept = _project(
        indptr,
        items,
        n_items,
        np.concatenate([cuts[:-1], cuts[joined.low]]),
        np.concatenate([cuts[1:], cuts[joined.high]]),
        np.concatenate([chunked.ptr, chunked.ptr[-1] + joined.ptr[1:]]),
        np.concatenate([chunked.item, joined.item]),
        np.concatenate([chunked.chunk, joined.chunk]),
    )
    own = int(np.searchsorted(scope, clusters))
    first = np.searchsorted(scope, np.arange(clusters + 1)).astype(np.int64)
    order = lexical_order(*_content(np.diff(cuts), first, chunk_ptr, sub_ptr, counts, kept))
    rank = np.empty(clusters, np.int64)
    rank[order] = np.arange(clusters)
    joint_ptr, joint_clusters = _members(joined.low, joined.high, rank)
    joint_order = lexical_order(joint_ptr, joint_clusters)
    joint_rank = np.empty(joint_order.size, np.int64)
    joint_rank[joint_order] = np.arange(joint_order.size)
    place = np.concatenate([rank[scope[:own]], clusters + joint_rank[scope[own:] - clusters]])
    chunk_order = np.argsort(place, kind="stable")
    place = place[chunk_order]
    new_ptr, subs = gathered(chunk_ptr, np.arange(counts.size, dtype=np.int64), chunk_order)
    new_sub_ptr, new_items = gathered(sub_ptr, kept, subs)
    of_joint = place >= clusters
    return Chunks(
        rank,
        np.where(of_joint, -1, place).astype(np.int32),
        np.where(of_joint, place - clusters, -1).astype(np.int32),
        new_ptr,
        new_sub_ptr,
        counts[subs],
        new_items,
        *gathered(joint_ptr, joint_clusters, joint_order),
    )


class _Parts(NamedTuple):
    """Working arrays, reused for every scope: its parts chunk by chunk."""

    place: Places  # the chunk of each item
    last: Places  # the record in which a chunk was last seen
    item_at: Places  # where the items of a chunk begin
    sub_at: Places  # where its sub-records begin
    part_ptr: Places
    part: Whole
    order: Places  # of the sub-records


@loop
def _project(
    indptr: Places, items: Whole, n_items: int, low: Places, high: Places, ptr: Places, entry: Whole, number: Whole
) -> tuple[Places, Places, Places, Places, Whole]:
    """Return the chunks of all scopes: their scope, their sub-records, the count of each, and its items."""
    most_items, most_chunks, all_chunks = 0, 0, 0
    for scope in range(low.size):
        most_items = max(most_items, indptr[high[scope]] - indptr[low[scope]])
        here = 0
        for e in range(ptr[scope], ptr[scope + 1]):
            here = max(here, number[e] + 1)
        most_chunks, all_chunks = max(most_chunks, here), all_chunks + here
    scopes, chunk_ptr = np.empty(all_chunks, np.int64), np.zeros(all_chunks + 1, np.int64)
    # Every occurrence is in at most one chunk, which bounds the number of items and sub-records.
    sub_ptr, counts, out = np.zeros(items.size + 1, np.int64), np.empty(items.size, np.int64), np.empty_like(items)
    place, last = np.full(n_items, -1, np.int64), np.empty(most_chunks, np.int64)
    item_at, sub_at = np.empty(most_chunks + 1, np.int64), np.empty(most_chunks + 1, np.int64)
    part_ptr, part = np.empty(most_items + 1, np.int64), np.empty(most_items, np.int32)
    order, buffer = np.empty(most_items, np.int64), np.empty(most_items, np.int64)
    parts = _Parts(place, last, item_at, sub_at, part_ptr, part, order)
    made, subs = 0, 0
    for scope in range(low.size):
        here = 0
        for e in range(ptr[scope], ptr[scope + 1]):
            place[entry[e]] = number[e]
            here = max(here, number[e] + 1)
        _measure(indptr, items, low[scope], high[scope], here, parts)
        _scatter(indptr, items, low[scope], high[scope], here, parts)
        for e in range(ptr[scope], ptr[scope + 1]):
            place[entry[e]] = -1
        start = 0
        for c in range(here):
            sort_rows(part_ptr, part, order, start, sub_at[c], buffer, 0)
            subs = _distinct(parts, start, sub_at[c], subs, sub_ptr, counts, out)
            start = sub_at[c]
            scopes[made] = scope
            made += 1
            chunk_ptr[made] = subs
    return scopes, chunk_ptr, sub_ptr[: subs + 1].copy(), counts[:subs].copy(), out[: sub_ptr[subs]].copy()


@inner_loop
def _measure(indptr: Places, items: Whole, low: int, high: int, chunks: int, parts: _Parts) -> None:
    """Find where the items and the sub-records of each chunk of a scope begin."""
    place, last, item_at, sub_at, _, _, _ = parts
    for c in range(chunks):
        last[c], item_at[c], sub_at[c] = -1, 0, 0
    item_at[chunks], sub_at[chunks] = 0, 0
    for row in range(low, high):
        for at in range(indptr[row], indptr[row + 1]):
            c = place[items[at]]
            if c >= 0:
                item_at[c + 1] += 1
                if last[c] != row:
                    last[c] = row
                    sub_at[c + 1] += 1
    for c in range(chunks):
        item_at[c + 1] += item_at[c]
        sub_at[c + 1] += sub_at[c]


@inner_loop
def _scatter(indptr: Places, items: Whole, low: int, high: int, chunks: int, parts: _Parts) -> None:
    """Write the sub-records chunk by chunk; start positions become end positions."""
    place, last, item_at, sub_at, part_ptr, part, order = parts
    for c in range(chunks):
        last[c] = -1
    for row in range(low, high):
        for at in range(indptr[row], indptr[row + 1]):
            c = place[items[at]]
            if c >= 0:
                if last[c] != row:
                    last[c] = row
                    part_ptr[sub_at[c]] = item_at[c]
                    sub_at[c] += 1
                part[item_at[c]] = items[at]
                item_at[c] += 1
    if chunks > 0:
        part_ptr[sub_at[chunks - 1]] = item_at[chunks - 1]
        for sub in range(sub_at[chunks - 1]):
            order[sub] = sub


@inner_loop
def _distinct(parts: _Parts, start: int, stop: int, subs: int, sub_ptr: Places, counts: Places, out: Whole) -> int:
    """Write each distinct sub-record of a sorted chunk once, with its count; return the total number written."""
    _, _, _, _, part_ptr, part, order = parts
    for at in range(start, stop):
        begin, length = part_ptr[order[at]], part_ptr[order[at] + 1] - part_ptr[order[at]]
        before, filled = sub_ptr[max(subs - 1, 0)], sub_ptr[subs]
        same = at > start and length == filled - before
        if same:
            for step in range(length):
                if part[begin + step] != out[before + step]:
                    same = False
                    break
        if same:
            counts[subs - 1] += 1
            continue
        for step in range(length):
            out[filled + step] = part[begin + step]
        counts[subs] = 1
        subs += 1
        sub_ptr[subs] = filled + length
    return subs


@loop
def _content(
    sizes: Places, first: Places, chunk_ptr: Places, sub_ptr: Places, counts: Places, items: Whole
) -> tuple[Places, Whole]:
    """Return the content of each cluster as a row of numbers that compares as the nested tuples do.

    Items count from 1, and 0 ends the items of a sub-record or the sub-records of a chunk.
    """
    ptr = np.zeros(sizes.size + 1, np.int64)
    last = first[-1]
    out = np.empty(sizes.size + last + 2 * chunk_ptr[last] + sub_ptr[chunk_ptr[last]], np.int32)
    filled = 0
    for cluster in range(sizes.size):
        out[filled] = sizes[cluster]
        filled += 1
        for chunk in range(first[cluster], first[cluster + 1]):
            for sub in range(chunk_ptr[chunk], chunk_ptr[chunk + 1]):
                for at in range(sub_ptr[sub], sub_ptr[sub + 1]):
                    out[filled] = items[at] + 1
                    filled += 1
                out[filled], out[filled + 1] = 0, counts[sub]
                filled += 2
            out[filled] = 0
            filled += 1
        ptr[cluster + 1] = filled
    return ptr, out


@loop
def _members(low: Places, high: Places, rank: Places) -> tuple[Places, Whole]:
    """Return the published clusters of each joint, ascending."""
    ptr = np.zeros(low.size + 1, np.int64)
    for joint in range(low.size):
        ptr[joint + 1] = ptr[joint] + high[joint] - low[joint]
    out = np.empty(ptr[-1], np.int32)
    for joint in range(low.size):
        for step in range(high[joint] - low[joint]):
            out[ptr[joint] + step] = rank[low[joint] + step]
        sort_numbers(out, ptr[joint], ptr[joint + 1])
    return ptr, out
