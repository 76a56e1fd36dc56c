"""Cuts: a tree of parts of a table, each cut into two or left whole."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cuts:
    """The parts that a table was cut into, as a binary tree; the first part is the whole table."""

    rows: Rows  # row numbers, in an order in which every part is contiguous
    low: Rows  # where each part begins
    high: Rows  # where each part ends
    first: Rows  # the first half of each part; the second half is the part after it. -1 if it was not cut

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
