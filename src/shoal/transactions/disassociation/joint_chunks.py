"""Chunks of a joint: its items are rare, so each is tested by scanning the few records that hold it."""

from typing import NamedTuple

import numpy as np

from shoal.kernels.loops import inner_loop, loop
from shoal.transactions.disassociation.bits import CLEAR, ONE, RARE, SPENT, Looking, rare
from shoal.transactions.disassociation.chunk_candidates import LOW
from shoal.transactions.lexical import Places, Whole


class Asked(NamedTuple):
    """The requirements on chunks, the size of the itemsets combined with an item, and how many may be examined."""

    k: int
    m: int
    depth: int
    looks: int


class Rest(NamedTuple):
    """The items of each record that are in term sets, as positions in the lists of their clusters."""

    ptr: Places
    place: Places


class Mates(NamedTuple):
    """The items of the chunk that each record holds, from `row_ptr` to `filled`."""

    row_ptr: Places
    filled: Places
    mates: Places


class Notes(NamedTuple):
    """For each item seen in a test: its slot, the last test that saw it, and by slot the records in common."""

    slot: Places
    stamp: Places
    common: Places


@loop
def fill(  # noqa: PLR0912 - copies are written out: slices take seconds to compile
    first: int,
    last: int,
    entry: Whole,
    rest: Rest,
    place: Places,
    keys: Places,
    records: Places,
    asked: Asked,
    number: Places,
) -> None:
    """Assign each candidate of a joint to a chunk, in the order of the keys."""
    k, m, depth, looks = asked
    q = records.size
    tid_ptr = np.zeros(q + 1, np.int64)
    for c in range(q):
        tid_ptr[c + 1] = tid_ptr[c] + records[c]
    head, tids = tid_ptr[:-1].copy(), np.empty(tid_ptr[-1], np.int64)
    row_ptr = np.zeros(last - first + 1, np.int64)
    for row in range(last - first):
        held = 0
        for at in range(rest.ptr[first + row], rest.ptr[first + row + 1]):
            c = place[entry[rest.place[at]]]
            if c >= 0:
                tids[head[c]] = row
                head[c] += 1
                held += 1
        row_ptr[row + 1] = row_ptr[row] + held
    most_wide, most_words = 1, 1
    for c in range(q):
        near = 0
        for at in range(tid_ptr[c], tid_ptr[c + 1]):
            near += row_ptr[tids[at] + 1] - row_ptr[tids[at]]
        wide = (records[c] + 63) // 64
        most_wide, most_words = max(most_wide, wide), max(most_words, min(near, q) * wide)
    mates, filled = np.empty(tid_ptr[-1], np.int64), row_ptr[:-1].copy()
    slot, stamp, common = np.empty(q, np.int64), np.full(q, -1, np.int64), np.empty(q, np.int64)
    words = np.empty(most_words if m > 2 else 1, np.uint64)
    path, meets = np.empty(2 * depth + 2, np.int64), np.empty((depth + 1) * most_wide, np.uint64)
    looking = Looking(k, m, depth, words, path, meets, np.full(1, looks, np.int64))
    chunkmates, notes = Mates(row_ptr, filled, mates), Notes(slot, stamp, common)
    todo, waiting, chunk, tests = keys & LOW, q, 0, 0
    while waiting > 0:
        left = 0
        if chunk > 0:
            for row in range(filled.size):
                filled[row] = row_ptr[row]
        for t in range(waiting):
            c = todo[t]
            tests += 1
            found = CLEAR
            if t > 0:
                found = _fits(looking, tids[tid_ptr[c] : tid_ptr[c + 1]], chunkmates, notes, tests)
            if found == CLEAR:
                number[c] = chunk
                for at in range(tid_ptr[c], tid_ptr[c + 1]):
                    mates[filled[tids[at]]] = c
                    filled[tids[at]] += 1
            else:
                todo[left] = c
                left += 1
        waiting = left
        chunk += 1


@inner_loop
def _fits(looking: Looking, tids: Places, chunkmates: Mates, notes: Notes, test: int) -> int:
    """Return whether the item of these records makes no rare itemset with the chunk, or the budget is exhausted."""
    k, m, _, words, _, _, budget = looking
    row_ptr, filled, mates = chunkmates
    slot, stamp, common = notes
    if budget[0] < 0:
        return SPENT
    wide, slots = (tids.size + 63) // 64, 0
    for bit in range(tids.size):
        row = tids[bit]
        for at in range(row_ptr[row], filled[row]):
            mate = mates[at]
            if stamp[mate] != test:
                stamp[mate], slot[mate], common[slots] = test, slots, 0
                if m > 2:
                    for w in range(wide):
                        words[slots * wide + w] = 0
                slots += 1
            common[slot[mate]] += 1
            if m > 2:
                words[slot[mate] * wide + bit // 64] |= ONE << np.uint64(bit % 64)
    budget[0] -= slots
    kept = 0
    for s in range(slots):
        if common[s] < k:
            return RARE
        if common[s] < tids.size and m > 2:
            for w in range(wide):
                words[kept * wide + w] = words[s * wide + w]
            kept += 1
    if kept < 2:
        return CLEAR
    return rare(looking, kept, wide)
