"""A case: what is measured, and what most measures ask of it, counted once.

A measure that needs the release alone looks at `released` and what is counted on it. One that needs the pair or the
groups looks at `columns` or `original` too, which only the holder has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.model.findings import Finding
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.hierarchy import Hierarchy
from shoal.privacy.measures.pairs import Pair, pairs
from shoal.privacy.verdict.classes import Counts, Labels, classes
from shoal.privacy.verdict.values import Values, quasi_columns, read_column, sensitive_columns

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """A release, and the table that it was made from if the holder gives it.

    Parameters
    ----------
    released : pyarrow.Table
    policy : Policy
        With every column named.
    original : Table, optional
        Row by row as the release.
    trees : mapping of str to Hierarchy
        Of columns that are published by one.
    population : pyarrow.Table, optional
        The people that the rows of the release come from, with its quasi-identifiers as they are released.
    fraction : float, optional
        The share of the population that the release is a sample of.
    control : Table, optional
        Rows of people like those of the table, who are not in the release.
    other : pyarrow.Table, optional
        Another release of the same people, row by row as this one.
    places : int64 array, optional
        Where each row stands in the released file; as here if not given.
    seed : int
        Random seed of measures and attacks.
    groups : int64 array, optional
        The group of each row that the method made; where that is not known, its class stands for it.
    matrix : float64 array, optional
        The original as the method saw it, row by row as the release; encoded anew where it is needed and not given.
    regroup : callable, optional
        Repeats the run on this table, with the sensitive values of row `origin[i]` at row i and another random seed:
        takes `origin` and the seed, gives the class of each row.
    """

    released: pa.Table
    policy: Policy
    original: Table | None = None
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: pa.Table | None = None
    fraction: float | None = None
    control: Table | None = None
    other: pa.Table | None = None
    places: NDArray[np.int64] | None = None
    seed: int = 0
    groups: Labels | None = None
    matrix: NDArray[np.float64] | None = None
    regroup: Callable[[Labels, int], Labels] | None = None
    taken: dict[str, tuple[Finding, ...]] = field(default_factory=dict, init=False, repr=False)

    @property
    def n(self) -> int:
        """The number of released rows."""
        return int(self.released.num_rows)

    @cached_property
    def labels(self) -> Labels:
        """The class of each released row."""
        return classes([column.codes for column in self.quasi], self.n)

    @cached_property
    def sizes(self) -> Labels:
        """The rows of each class."""
        return np.bincount(self.labels)

    @cached_property
    def quasi(self) -> list[Values]:
        """The released quasi-identifiers; a column that the policy does not name is one."""
        return quasi_columns(self.released, self.policy)

    @cached_property
    def sensitive(self) -> dict[str, Values]:
        """The released sensitive columns."""
        return sensitive_columns(self.released, self.policy)

    @cached_property
    def counts(self) -> dict[str, Counts]:
        """How often each sensitive value occurs in each class, by column."""
        return {name: Counts.of(self.labels, column) for name, column in self.sensitive.items()}

    @cached_property
    def columns(self) -> list[Pair]:
        """The quasi-identifiers before and after; the holder's alone."""
        return pairs(self.before, self.released, self.policy, self.trees)

    @property
    def before(self) -> Table:
        """The original table, or an error that says that it is needed."""
        if self.original is None:
            raise DataError("measure: this figure needs the original table beside the release. Give both.")
        return self.original

    @cached_property
    def label(self) -> NDArray[np.int64] | None:
        """The class that analysts predict, row by row, if the policy names one."""
        return None if self.policy.label is None else read_column(self.released.column(self.policy.label)).codes
