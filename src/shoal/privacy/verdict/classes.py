"""Classes: rows that agree in every quasi-identifier, and their sensitive values, counted in one pass.

Every model of `privacy.verdict.models` is a function of these counts, so a release is grouped once for all of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.privacy.verdict.values import Values

COUNTED = 4  # times the number of rows: the largest number up to which counting is faster than sorting

Labels = NDArray[np.int64]
Figures = NDArray[np.float64]


def classes(columns: Iterable[NDArray[np.int64]], n: int) -> Labels:
    """Return the class of each row: rows with equal codes in every column belong together."""
    labels = np.zeros(n, np.int64)
    for codes in columns:
        if n:
            labels = renumbered(labels * (int(codes.max()) + 1) + codes)
    return labels


def renumbered(numbers: Labels) -> Labels:
    """Return the place of each number, from 0 up, among the distinct ones; small numbers are counted, not sorted."""
    size = int(numbers.max(initial=-1)) + 1
    if size > COUNTED * numbers.size or numbers.min(initial=0) < 0:
        return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64)
    there = np.zeros(size, np.bool_)
    there[numbers] = True
    return (np.cumsum(there) - 1)[numbers]


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each value of a sensitive column occurs in each class.

    `owner`, `value` and `count` are the class, value and number of rows of every pair that occurs, by class, then by
    value.
    """

    owner: Labels
    value: Labels
    count: Labels
    sizes: Labels  # rows of each class
    base: Figures  # share of each value in the whole release
    column: Values  # for its order or its tree

    @classmethod
    def of(cls, labels: Labels, column: Values, whole: Values | None = None) -> "Counts":
        """Count the values of each class; `whole` is the entire column if `column` has only some of its rows."""
        every = whole or column
        width = every.distinct or 1
        pairs, count = np.unique(labels * width + column.codes, return_counts=True)
        return cls(pairs // width, pairs % width, count.astype(np.int64), np.bincount(labels), every.shares, every)

    @cached_property
    def share(self) -> Figures:
        """The share of each pair's value in its class."""
        return self.count / self.sizes[self.owner]

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """Whether a pair is the first one of its class."""
        return np.append(True, self.owner[1:] != self.owner[:-1])[: self.owner.size]

    def most(self, figures: Figures) -> Figures:
        """Return the largest of the pairs' figures, class by class."""
        return np.asarray(np.maximum.reduceat(figures, np.flatnonzero(self.first))) if figures.size else figures
