"""The grid of a map: units on a hexagonal or rectangular lattice, and how far they are from each other.

1. A map has about 5 sqrt(n) units (Vesanto), as much longer than wide as the table varies more along its first
   principal axis than along its second.
2. Hexagonal units stand in rows that are sqrt(3)/2 apart, every second one moved by half a unit.
3. Distances are those between the places of units, or the number of steps from one to the other.

How near two units are depends on how many rows apart they are, whether the first row is moved, and their columns:
the table of distances has 4 rows x columns^2 entries and not (rows x columns)^2.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows

__all__ = ["Grid", "grid_for"]

UNITS = 5.0  # times the root of the number of rows
HEIGHT = sqrt(0.75)  # of a row of hexagons
REACH, LOWEST = 400.0, -200.0  # squared deviations at which a unit is out of sight, and the exponent there
MOST = 5  # units a row of the table


@dataclass(frozen=True, eq=False)
class Grid:
    """A lattice of rows x columns units, numbered row by row.

    Parameters
    ----------
    rows, columns : int
    hexagonal : bool
        Six neighbours a unit, or eight (those that share a corner count).
    steps : bool
        Whether distances are counted in steps along the lattice; else they are straight lines.
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
        """Where each unit stands: (row, column), in the lengths of a picture."""
        row, column = np.divmod(np.arange(self.units), self.columns)
        if not self.hexagonal:
            return np.column_stack([row, column]).astype(np.float64)
        return np.column_stack([row * HEIGHT, column + 0.5 * (row % 2)])

    @cached_property
    def squared(self) -> Floats:
        """Squared distances of shape (2, columns, 2 rows - 1, columns).

        From a unit in an even or an odd row and this column, so many rows away (the middle one is its own), to this
        column.
        """
        odd = np.arange(2)[:, None, None, None]
        away = np.arange(1 - self.rows, self.rows)[None, None, :, None]
        across = np.arange(self.columns)[None, None, None, :] - np.arange(self.columns)[None, :, None, None]
        if not self.hexagonal:
            apart = np.maximum(np.abs(away), np.abs(across)) if self.steps else np.hypot(away, across)
            return np.asarray(apart**2.0 + 0.0 * odd)
        there = (odd + away) % 2
        if not self.steps:
            return np.asarray((away * HEIGHT) ** 2 + (across + 0.5 * (there - odd)) ** 2)
        # On axes that are 120 degrees apart, the steps are the largest of three differences.
        along = across - (away + odd - there) // 2
        return np.asarray(np.maximum(np.maximum(np.abs(along), np.abs(away)), np.abs(along + away)) ** 2.0)

    def kernel(self, sigma: float) -> Floats:
        """Return exp(-d^2 / (2 sigma^2)) for the distances of `squared`, nothing where it is next to nothing."""
        # Numbers that are all but zero are slow to count with.
        return np.exp(np.maximum(self.squared / (-2.0 * sigma * sigma), LOWEST)) * (
            self.squared < REACH * sigma * sigma
        )

    def spread(self, kernel: Floats, sums: Floats) -> Floats:
        """Return for every unit the sum of all units' figures, those of near ones counting more.

        Parameters
        ----------
        kernel : array
            What `kernel` gives.
        sums : float64 array of shape (units, columns of figures)
        """
        result = np.empty_like(sums)
        for row in range(self.rows):
            first = self.rows - 1 - row
            near = kernel[row % 2, :, first : first + self.rows].reshape(self.columns, self.units)
            result[row * self.columns : (row + 1) * self.columns] = near @ sums
        return result

    def near(self, kernel: Floats, unit: int) -> Floats:
        """Return how near every unit is to this one."""
        row, column = divmod(unit, self.columns)
        first = self.rows - 1 - row
        return np.ascontiguousarray(kernel[row % 2, column, first : first + self.rows]).reshape(-1)

    @cached_property
    def neighbours(self) -> Rows:
        """The units next to each unit, filled up with -1; shape (units, 6 or 8)."""
        around = 6 if self.hexagonal else 8
        found = np.full((self.units, around), -1, np.int64)
        reach = 1.2 if self.hexagonal else 2.2
        apart = self.squared if not self.steps else Grid(self.rows, self.columns, self.hexagonal).squared
        for unit in range(self.units):
            close = np.flatnonzero(self.near(apart, unit) < reach)
            others = close[close != unit]
            found[unit, : others.size] = others
        return found

    def adjacent(self, one: Rows, two: Rows) -> NDArray[np.bool_]:
        """Say for pairs of units whether they are next to each other, or the same."""
        gaps = self.places[one] - self.places[two]
        return np.asarray((gaps**2).sum(axis=1) < (1.2 if self.hexagonal else 2.2))


def grid_for(X: Floats, units: int = 0, *, hexagonal: bool = True, steps: bool = False) -> Grid:
    """Return the grid that suits a table, its longer side first.

    Parameters
    ----------
    units : int
        About how many units, at most five a row; 5 sqrt(n) if 0.
    hexagonal, steps : bool
        As in Grid.

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
