"""Holders: how many rows of a table have a combination of values, and how many differ from it in one cell.

Combinations are compared by a sum of random 64-bit numbers, one per value (Zobrist, A new hashing method with
application for game playing, 1970). Two different combinations with the same sum would be taken for the same one, which
hardly ever happens and costs a cell at worst.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SALT = 1970

Whole = NDArray[np.int64]
Sums = NDArray[np.uint64]


def marks_of(size: int, number: int) -> Sums:
    """Return a random number for each of the `size` values of column `number`, the same in every run."""
    return np.random.default_rng((SALT, number)).integers(0, 2**64, size, np.uint64)


def total(marks: Sequence[Sums]) -> Sums:
    """Return the sum of the random numbers of each row, modulo 2^64."""
    found = np.zeros(marks[0].size, np.uint64)
    for one in marks:
        found += one
    return found


class Holders:
    """The combinations of a table, from the random number of the value of each row, column by column."""

    def __init__(self, marks: Sequence[Sums]) -> None:
        whole = total(marks)
        self._whole = _Counted(whole)
        self._without = [_Counted(whole - one) for one in marks]

    def of(self, sums: Sums) -> Whole:
        """Return how many rows have each combination."""
        return self._whole.of(sums)

    def beside(self, sums: Sums, marks: Sequence[Sums]) -> Whole:
        """Return how many rows differ from each combination in one cell; `marks` are the numbers of its cells."""
        equal = self.of(sums)
        found = np.zeros(sums.size, np.int64)
        for known, one in zip(self._without, marks, strict=True):
            found += known.of(sums - one) - equal
        return found


class _Counted:
    """How often each sum occurs. Sums are evenly spread, so their first bits tell nearly where they are in order."""

    def __init__(self, sums: Sums) -> None:
        self._sums, counts = np.unique(sums, return_counts=True)
        self._counts = counts.astype(np.int32)
        bits = max(1, self._sums.size.bit_length() - 1)
        self._shift = np.uint64(64 - bits)
        edges = np.arange(2**bits, dtype=np.uint64) << self._shift
        self._starts = np.searchsorted(self._sums, edges).astype(np.int32)

    def of(self, sums: Sums) -> Whole:
        """Return how often these sums occur."""
        place = self._starts[sums >> self._shift].astype(np.int64)
        last = self._sums.size - 1
        behind = np.flatnonzero((place <= last) & (self._sums[np.minimum(place, last)] < sums))
        while behind.size:
            place[behind] += 1
            there = place[behind]
            behind = behind[(there <= last) & (self._sums[np.minimum(there, last)] < sums[behind])]
        place = np.minimum(place, last)
        return np.where(self._sums[place] == sums, self._counts[place], 0)
