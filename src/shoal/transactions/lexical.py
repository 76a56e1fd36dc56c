"""Lexicographic order of rows of integers stored one after another in a flat array.

1. The first numbers of each row are packed into one 64-bit word, and the rows sorted by their words.
2. Rows with equal words are sorted by the remaining numbers, by merging.

A row precedes every longer row that begins with it. Equal rows keep their order.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop, loop

Places = NDArray[np.int64]
Whole = NDArray[np.int32]
Kind = TypeVar("Kind", np.int32, np.int64)

WORD = 63  # bits of a key, so that it stays positive


def lexical_order(ptr: Places, values: Whole) -> Places:
    """Return the row numbers in lexicographic order of the rows, equal rows by their number.

    Row i is `values[ptr[i]:ptr[i + 1]]`; values are at least 0. O(n log n) comparisons, most of them of single words.
    """
    if ptr.size < 2:
        return np.zeros(0, np.int64)
    bits = max(1, int(values.max(initial=0) + 1).bit_length())
    packed = WORD // bits
    keys = _keys(ptr, values, bits, packed)
    order = np.argsort(keys, kind="stable").astype(np.int64, copy=False)
    _sort_ties(ptr, values, keys, order, packed)
    return order


def gathered(ptr: Places, values: NDArray[Kind], order: Places) -> tuple[Places, NDArray[Kind]]:
    """Return the rows in the given order, as new flat arrays."""
    lengths = np.diff(ptr)[order]
    into = np.zeros(order.size + 1, np.int64)
    np.cumsum(lengths, out=into[1:])
    out = np.empty(int(into[-1]), values.dtype)
    _gather(ptr, values, order, into, out)
    return into, out


@loop
def by_item(items: Whole, count: int) -> tuple[Places, Places]:
    """Return where each item's occurrences begin and end in the second array, which lists occurrences by item."""
    ends = np.zeros(count + 1, np.int64)
    for item in items:
        ends[item + 1] += 1
    for item in range(count):
        ends[item + 1] += ends[item]
    index, filled = np.empty(items.size, np.int64), ends[:-1].copy()
    for at in range(items.size):
        index[filled[items[at]]] = at
        filled[items[at]] += 1
    return ends, index


@loop
def _gather(ptr: Places, values: NDArray[Kind], order: Places, into: Places, out: NDArray[Kind]) -> None:
    """Copy rows one after another."""
    for place in range(order.size):
        start = ptr[order[place]]
        for step in range(into[place + 1] - into[place]):
            out[into[place] + step] = values[start + step]


@loop
def _keys(ptr: Places, values: Whole, bits: int, packed: int) -> Places:
    """Return the first numbers of each row packed into one number, a missing one below all others."""
    keys = np.empty(ptr.size - 1, np.int64)
    for row in range(keys.size):
        key = np.int64(0)
        start, length = ptr[row], ptr[row + 1] - ptr[row]
        for step in range(packed):
            key <<= bits
            if step < length:
                key |= np.int64(values[start + step]) + 1
        keys[row] = key
    return keys


@loop
def _sort_ties(ptr: Places, values: Whole, keys: Places, order: Places, packed: int) -> None:
    """Sort each run of rows with equal keys by the numbers that are not in the key."""
    buffer = np.empty(order.size, np.int64)
    start = 0
    while start < order.size:
        stop = start + 1
        while stop < order.size and keys[order[stop]] == keys[order[start]]:
            stop += 1
        row = order[start]
        if stop - start > 1 and ptr[row + 1] - ptr[row] >= packed:
            sort_rows(ptr, values, order, start, stop, buffer, packed)
        start = stop


@inner_loop
def sort_rows(ptr: Places, values: Whole, order: Places, start: int, stop: int, buffer: Places, skip: int) -> None:
    """Sort a range of row numbers by their rows without the first `skip` numbers, by merging runs."""
    width = 8
    for low in range(start, stop, width):
        for place in range(low + 1, min(low + width, stop)):
            row, hole = order[place], place
            while hole > low and _before(ptr, values, row, order[hole - 1], skip):
                order[hole] = order[hole - 1]
                hole -= 1
            order[hole] = row
    while width < stop - start:
        for low in range(start, stop - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, stop)
            if not _before(ptr, values, order[middle], order[middle - 1], skip):
                continue
            for place in range(low, middle):
                buffer[place] = order[place]
            left, right, into = low, middle, low
            while left < middle:
                if right < high and _before(ptr, values, order[right], buffer[left], skip):
                    order[into] = order[right]
                    right += 1
                else:
                    order[into] = buffer[left]
                    left += 1
                into += 1
        width *= 2


@inner_loop
def sort_numbers(values: NDArray[Kind], start: int, stop: int) -> None:
    """Sort a range of numbers, by Shell sort; NumPy's `sort` takes a second to compile."""
    gap = 1
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(start + gap, stop):
            value, hole = values[place], place
            while hole >= start + gap and values[hole - gap] > value:
                values[hole] = values[hole - gap]
                hole -= gap
            values[hole] = value
        gap //= 3


@inner_loop
def _before(ptr: Places, values: Whole, one: int, two: int, skip: int) -> bool:
    """Return whether a row strictly precedes another."""
    a, b = ptr[one] + skip, ptr[two] + skip
    end_a, end_b = ptr[one + 1], ptr[two + 1]
    while a < end_a and b < end_b:
        if values[a] != values[b]:
            return bool(values[a] < values[b])
        a += 1
        b += 1
    return bool(end_a - a < end_b - b)
