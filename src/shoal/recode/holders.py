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
        self._whole = np.unique(whole, return_counts=True)
        self._without = [np.unique(whole - one, return_counts=True) for one in marks]

    def of(self, sums: Sums) -> Whole:
        """Return how many rows have each combination."""
        return _found(self._whole, sums)

    def beside(self, sums: Sums, marks: Sequence[Sums]) -> Whole:
        """Return how many rows differ from each combination in one cell; `marks` are the numbers of its cells."""
        equal = self.of(sums)
        found = np.zeros(sums.size, np.int64)
        for known, one in zip(self._without, marks, strict=True):
            found += _found(known, sums - one) - equal
        return found


def _found(known: tuple[Sums, Whole], sums: Sums) -> Whole:
    """Return the number known for each sum, 0 if there is none."""
    place = np.minimum(np.searchsorted(known[0], sums), known[0].size - 1)
    return np.where(known[0][place] == sums, known[1][place], 0)
