"""A heap of items by their counts, which can only fall: stale keys are updated when they reach the top."""

import numpy as np

from shoal.kernels.loops import inner_loop
from shoal.transactions.lexical import Places

SHIFT = 32  # bits of an item number in a key
MASK = (np.int64(1) << np.int64(SHIFT)) - np.int64(1)


@inner_loop
def heap_key(count: int, item: int) -> int:
    """Return a number that is larger for larger counts, and for lower items among equal counts."""
    return (count << SHIFT) - item


@inner_loop
def heaped(heap: Places, filled: int) -> None:
    """Heapify the first `filled` keys."""
    for place in range(filled // 2 - 1, -1, -1):
        _sink(heap, place, filled)


@inner_loop
def most_frequent(heap: Places, filled: int, count: Places) -> int:
    """Return the item with the largest count, the lowest among ties, or -1 if there is none."""
    if filled == 0:
        return -1
    while True:
        item = -heap[0] & MASK
        key = heap_key(count[item], item)
        if heap[0] == key:
            return int(item)
        heap[0] = key
        _sink(heap, 0, filled)


@inner_loop
def _sink(heap: Places, place: int, filled: int) -> None:
    """Sift a key down."""
    key = heap[place]
    below = 2 * place + 1
    while below < filled:
        if below + 1 < filled and heap[below + 1] > heap[below]:
            below += 1
        if heap[below] <= key:
            break
        heap[place] = heap[below]
        place, below = below, 2 * below + 1
    heap[place] = key
