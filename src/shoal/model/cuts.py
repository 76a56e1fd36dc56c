"""Cuts: a tree of parts of a table, each cut into two or left whole."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cuts"]

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cuts:
    """The parts that a table was cut into, and how they came about.

    Parameters
    ----------
    rows : int64 array of shape (n,)
        Row numbers, in an order in which every part is a stretch.
    low, high : int64 arrays of shape (parts,)
        Where the stretch of each part begins and ends. The first part is the whole table.
    first : int64 array of shape (parts,)
        The first half of each part; the second half is the part after it. -1 for a part that was not cut.
    """

    rows: Rows
    low: Rows
    high: Rows
    first: Rows

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.rows.size)

    def part(self, number: int) -> Rows:
        """Return the rows of a part."""
        return self.rows[self.low[number] : self.high[number]]

    def halves(self, number: int) -> tuple[int, int] | None:
        """Return the two parts that a part was cut into, or None if it was not cut."""
        first = int(self.first[number])
        return None if first < 0 else (first, first + 1)
