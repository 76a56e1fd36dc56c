"""A partition: which group each row belongs to."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.model.findings import Finding
from shoal.model.read_only import read_only
from shoal.model.sketches import Sketch


@dataclass(frozen=True, eq=False)
class Partition:
    """The rows of a table, each in exactly one group.

    Parameters
    ----------
    labels : int64 array of shape (n,)
        The group of each row: integers from 0, without gaps.
    notes : tuple of str
        What the method reports, such as what it chose, in sentences without cell values.
    findings : tuple of Finding
        What the method measured, such as a proved bound.
    sketches : tuple of Sketch
        Figures for pictures of what the method saw, for the holder only.
    """

    labels: NDArray[np.int64]
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    sketches: tuple[Sketch, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", read_only(self.labels))

    @classmethod
    def of(
        cls,
        labels: ArrayLike,
        notes: tuple[str, ...] = (),
        findings: tuple[Finding, ...] = (),
        sketches: tuple[Sketch, ...] = (),
    ) -> "Partition":
        """Number the groups in the order of their first rows, so that the same partition always has the same labels."""
        given = np.asarray(labels)
        if given.dtype != np.int64 or (given.size and not 0 <= given.min() <= given.max() <= given.size):
            given = np.unique(given, return_inverse=True)[1].reshape(-1)
        rows = np.arange(given.size)
        first = np.full(int(given.max(initial=-1)) + 1, given.size)
        first[given[::-1]] = rows[::-1]  # the last assignment wins: the first row of each group
        rank = np.empty(first.size, np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(first.size)
        return cls(rank[given], notes, findings, sketches)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.labels.size)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return np.bincount(self.labels).astype(np.int64)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.labels.max()) + 1 if self.labels.size else 0

    def members(self) -> list[NDArray[np.int64]]:
        """Return the row numbers of each group, ascending."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order.astype(np.int64), np.cumsum(self.sizes)[:-1])
