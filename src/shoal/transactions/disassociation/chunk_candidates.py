"""Candidates for the chunks of a cluster: their order, and which of them are equivalent."""

import numpy as np

from shoal.kernels.loops import inner_loop, loop
from shoal.transactions.disassociation.bits import ONE, Words, ones
from shoal.transactions.lexical import Places, Whole, sort_numbers

LARGE = 1 << 31
LOW = LARGE - 1
EVERY = ~np.uint64(0)


@inner_loop
def falling(count: int, number: int) -> int:
    """Return a key that orders by falling count, then by number; its low bits are the number."""
    return ((LARGE - int(count)) << 32) | int(number)


@loop
def queue_candidates(
    bits: Words,
    wide: int,
    q: int,
    support: Whole,
    where: Places,
    place: Whole,
    rule_ptr: Places,
    rule_items: Whole,
    k: int,
    keys: Places,
    queue: Places,
    queued: Places,
) -> None:
    """Queue the candidates of a cluster: those of rules that at least k records hold, then by falling support."""
    into, fulfilled = 0, 0
    for c in range(q):
        queued[c] = 0
    for rule in range(rule_ptr.size - 1):
        records = _fulfilled(bits, wide, place, rule_items, rule_ptr[rule], rule_ptr[rule + 1])
        if records >= k:
            keys[fulfilled] = falling(records, rule)
            fulfilled += 1
    if fulfilled > 0:
        sort_numbers(keys, 0, fulfilled)
    for f in range(fulfilled):
        rule = keys[f] & LOW
        for at in range(rule_ptr[rule], rule_ptr[rule + 1]):
            c = place[rule_items[at]]
            if queued[c] == 0:
                queued[c] = 1
                queue[into] = c
                into += 1
    left = 0
    for c in range(q):
        if queued[c] == 0:
            keys[left] = falling(support[where[c]], c)
            left += 1
    sort_numbers(keys, 0, left)
    for t in range(left):
        queue[into + t] = keys[t] & LOW


@inner_loop
def _fulfilled(bits: Words, wide: int, place: Whole, rule_items: Whole, start: int, stop: int) -> int:
    """Return how many records of a cluster hold all items of a rule, or 0 if one of these is not a candidate."""
    for at in range(start, stop):
        if place[rule_items[at]] < 0:
            return 0
    records = 0
    for w in range(wide):
        both = EVERY
        for at in range(start, stop):
            both &= bits[place[rule_items[at]] * wide + w]
        records += ones(both)
    return records


@inner_loop
def find_twins(bits: Words, wide: int, q: int, queue: Places, twin: Places, table: Places) -> None:
    """Record for each candidate the first one in the queue that is held by the same records."""
    size = 1
    while size < 2 * q:
        size *= 2
    for at in range(size):
        table[at] = -1
    for t in range(q):
        c = queue[t]
        at = _mixed(bits, c * wide, wide, size - 1)
        while table[at] >= 0 and not _same(bits, c * wide, table[at] * wide, wide):
            at = (at + 1) & (size - 1)
        if table[at] < 0:
            table[at] = c
        twin[c] = table[at]


@inner_loop
def _mixed(bits: Words, start: int, wide: int, mask: int) -> int:
    """Return the hash of some words, a position in a table."""
    mixed = np.uint64(0)
    for w in range(wide):
        mixed ^= bits[start + w] >> np.uint64(w % 13)
    mixed ^= mixed >> np.uint64(29)
    mixed ^= mixed >> np.uint64(17)
    mixed ^= mixed >> np.uint64(7)
    return np.int64(mixed & np.uint64(mask))  # type: ignore[return-value]


@inner_loop
def _same(bits: Words, one: int, two: int, wide: int) -> bool:
    """Return whether the words at two positions are equal."""
    w = 0
    while w < wide and bits[one + w] == bits[two + w]:
        w += 1
    return w == wide


@inner_loop
def mark(indptr: Places, items: Whole, low: int, high: int, place: Whole, bits: Words, wide: int, q: int) -> None:
    """Set the bits of the records that hold each candidate."""
    for w in range(q * wide):
        bits[w] = 0
    for row in range(high - low):
        bit = ONE << np.uint64(row % 64)
        for at in range(indptr[low + row], indptr[low + row + 1]):
            c = place[items[at]]
            if c >= 0:
                bits[c * wide + row // 64] |= bit


@inner_loop
def pick_representatives(
    q: int, size: int, queue: Places, support: Whole, where: Places, twin: Places, chunk_of: Places, todo: Places
) -> int:
    """Queue the candidates that are first among their twins, except those of all records; return their number."""
    waiting = 0
    for t in range(q):
        c = queue[t]
        chunk_of[c] = 0
        if support[where[c]] < size and twin[c] == c:
            todo[waiting] = c
            waiting += 1
    return waiting
