"""A case: what is measured, and what most measures need of it, counted once.

A measure that needs the release alone reads `released` and counts derived from it. One that needs the pair or the
groups also reads `columns` or `original`, which only the data holder has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.model.findings import Finding
from shoal.model.policy import Policy
from shoal.model.read_only import read_only
from shoal.model.table import Table
from shoal.prepare.hierarchy import Hierarchy
from shoal.privacy.measures.pairs import Pair, pairs
from shoal.privacy.verdict.classes import Counts, Labels, classes
from shoal.privacy.verdict.values import Values, quasi_columns, read_column, sensitive_columns

Kept = TypeVar("Kept")


@dataclass(frozen=True, eq=False)
class Case:
    """A release, and the table that it was made from if the data holder gives it.

    Its arrays cannot be written to: measures of plug-ins receive them, and `release.data` is made from the same ones.
    """

    released: pa.Table
    policy: Policy  # with every column named
    original: Table | None = None  # row by row as the release
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)  # of columns that are published by one
    population: pa.Table | None = None  # with quasi-identifiers as they are released
    fraction: float | None = None  # share of the population that the release is a sample of
    control: Table | None = None  # similar people who are not in the release
    other: pa.Table | None = None  # another release of the same people, row by row as this one
    places: NDArray[np.int64] | None = None  # position of each row in the released file; as here if not given
    seed: int = 0  # random seed of measures and attacks
    groups: Labels | None = None  # group of each row as the method made it; if unknown, its class is used
    matrix: NDArray[np.float64] | None = None  # the original as the method saw it; encoded again if not given
    # Repeats the run on this table with the sensitive values of row `origin[i]` at row i and another random seed:
    # takes `origin` and the seed, returns the class of each row.
    regroup: Callable[[Labels, int], Labels] | None = None
    taken: dict[str, tuple[Finding, ...]] = field(default_factory=dict, init=False, repr=False)
    faults: dict[str, str] = field(default_factory=dict, init=False, repr=False)  # of plug-in measures that failed

    def __post_init__(self) -> None:
        for name in ("places", "groups", "matrix"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n(self) -> int:
        """The number of released rows."""
        return int(self.released.num_rows)

    @cached_property
    def labels(self) -> Labels:
        """The class of each released row."""
        return read_only(classes([column.codes for column in self.quasi], self.n))

    @cached_property
    def sizes(self) -> Labels:
        """The rows of each class."""
        return read_only(np.bincount(self.labels))

    @cached_property
    def quasi(self) -> list[Values]:
        """The released quasi-identifiers; a column that the policy does not name is one."""
        return read_only(quasi_columns(self.released, self.policy))

    @cached_property
    def sensitive(self) -> dict[str, Values]:
        """The released sensitive columns."""
        return read_only(sensitive_columns(self.released, self.policy))

    @cached_property
    def counts(self) -> dict[str, Counts]:
        """How often each sensitive value occurs in each class, by column."""
        return {name: read_only(Counts.of(self.labels, column)) for name, column in self.sensitive.items()}

    @cached_property
    def columns(self) -> list[Pair]:
        """The quasi-identifiers before and after; only the data holder has them."""
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
        label = self.policy.label
        return None if label is None else read_only(read_column(self.released.column(label)).codes)


def once_per_case(function: Callable[[Case], Kept]) -> Callable[[Case], Kept]:
    """Return a function that computes its result once per case, for what several measures need."""
    known: WeakKeyDictionary[Case, Kept] = WeakKeyDictionary()

    @wraps(function)
    def found(case: Case) -> Kept:
        if case not in known:
            known[case] = function(case)
        return known[case]

    return found
