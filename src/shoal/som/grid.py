"""The grid of a map: units on a hexagonal or rectangular lattice, and the distances between them.

1. A map has about 5 sqrt(n) units (Vesanto); its sides are in the ratio of the table's variation along its first two
   principal axes.
2. Hexagonal units are in rows sqrt(3)/2 apart, every second one shifted by half a unit.
3. Distances are Euclidean, or the number of steps from one unit to the other.

How near two units are depends on how many rows apart they are, whether the first row is shifted, and their columns: the
table of distances has 4 rows x columns^2 entries and not (rows x columns)^2.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows

UNITS = 5.0  # times the root of the number of rows
HEIGHT = sqrt(0.75)  # of a row of hexagons
REACH, LOWEST = 400.0, -200.0  # squared deviations at which a unit is negligible, and the exponent there
MOST = 5  # units per row of the table


@dataclass(frozen=True, eq=False)
class Grid:
    """A lattice of rows x columns units, numbered row by row.

    A hexagonal unit has six neighbours, a rectangular one eight, including those at its corners. With `steps`,
    distances are counted in steps along the lattice, otherwise they are Euclidean.
    """

    rows: int
    columns: int
    hexagonal: bool = True
    steps: bool = False

    @property
    def units(self) -> int:
        """The number of units."""
        return self.rows * self.columns

    @cached_property
    def places(self) -> Floats:
        """The position of each unit: (row, column), in units of a picture."""
        row, column = np.divmod(np.arange(self.units), self.columns)
        if not self.hexagonal:
            return np.column_stack([row, column]).astype(np.float64)
        return np.column_stack([row * HEIGHT, column + 0.5 * (row % 2)])

    @cached_property
    def squared(self) -> Floats:
        """Squared distances of shape (2, columns, 2 rows - 1, columns).

        From a unit in an even or an odd row and this column, this many rows away (the middle entry is its own), to this
        column.
        """
        odd = np.arange(2)[:, None, None, None]
        up = np.arange(1 - self.rows, self.rows)[None, None, :, None]
        across = np.arange(self.columns)[None, None, None, :] - np.arange(self.columns)[None, :, None, None]
        if not self.hexagonal:
            steps_between = np.maximum(np.abs(up), np.abs(across)) if self.steps else np.hypot(up, across)
            return np.asarray(steps_between**2.0 + 0.0 * odd)
        there = (odd + up) % 2
        if not self.steps:
            return np.asarray((up * HEIGHT) ** 2 + (across + 0.5 * (there - odd)) ** 2)
        # On axes 120 degrees apart, the steps are the largest of three differences.
        along = across - (up + odd - there) // 2
        return np.asarray(np.maximum(np.maximum(np.abs(along), np.abs(up)), np.abs(along + up)) ** 2.0)

    def kernel(self, sigma: float) -> Floats:
        """Return exp(-d^2 / (2 sigma^2)) for the distances of `squared`, 0 where it is negligible."""
        # Arithmetic with denormal numbers is slow.
        return np.exp(np.maximum(self.squared / (-2.0 * sigma * sigma), LOWEST)) * (
            self.squared < REACH * sigma * sigma
        )

    def spread(self, kernel: Floats, sums: Floats) -> Floats:
        """Return for every unit the sum over all units of `sums`, shape (units, figures), weighted by the kernel."""
        result = np.empty_like(sums)
        for row in range(self.rows):
            first = self.rows - 1 - row
            near = kernel[row % 2, :, first : first + self.rows].reshape(self.columns, self.units)
            result[row * self.columns : (row + 1) * self.columns] = near @ sums
        return result

    def near(self, kernel: Floats, unit: int) -> Floats:
        """Return the kernel between every unit and this one."""
        row, column = divmod(unit, self.columns)
        first = self.rows - 1 - row
        return np.ascontiguousarray(kernel[row % 2, column, first : first + self.rows]).reshape(-1)

    @cached_property
    def neighbours(self) -> Rows:
        """The neighbours of each unit, padded with -1; shape (units, 6 or 8)."""
        around = 6 if self.hexagonal else 8
        found = np.full((self.units, around), -1, np.int64)
        distances = self.squared if not self.steps else Grid(self.rows, self.columns, self.hexagonal).squared
        for unit in range(self.units):
            close = np.flatnonzero(self.near(distances, unit) < self._adjacent)
            others = close[close != unit]
            found[unit, : others.size] = others
        return found

    @property
    def _adjacent(self) -> float:
        """A squared distance between those of neighbours and of other units."""
        return 1.2 if self.hexagonal else 2.2

    def adjacent(self, one: Rows, two: Rows) -> NDArray[np.bool_]:
        """Return for pairs of units whether they are neighbours or identical."""
        gaps = self.places[one] - self.places[two]
        return np.asarray((gaps**2).sum(axis=1) < self._adjacent)


def grid_for(X: Floats, units: int = 0, *, hexagonal: bool = True, steps: bool = False) -> Grid:
    """Return the grid that suits a table, its longer side first.

    About `units` units, at most five per row; 5 sqrt(n) if 0.

    Examples
    --------
    >>> grid_for(np.arange(100.0).reshape(50, 2)).units
    36
    """
    wanted = min(units or ceil(UNITS * sqrt(len(X))), MOST * len(X))
    if (X[0] == X).all():
        return Grid(1, 1, hexagonal, steps)
    spread = np.linalg.eigvalsh(np.cov(X.T, ddof=0)) if X.shape[1] > 1 else np.array([0.0, X.var()])
    most, next_ = float(max(spread[-1], 0.0)), float(max(spread[-2], 0.0))
    ratio = 1.0 if most == 0 or next_ * wanted < most else sqrt(most / next_)
    columns = min(wanted, max(1, round(sqrt(wanted / ratio * (HEIGHT if hexagonal else 1.0)))))
    rows = min(wanted, max(1, round(wanted / columns)))
    return Grid(max(rows, columns), min(rows, columns), hexagonal, steps)
