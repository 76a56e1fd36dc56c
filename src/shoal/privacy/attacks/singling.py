"""Singling out: statements made from the release alone that are true of exactly one original row.

1. About one column: the cell equals a rare released value (one that at most 2k - 1 released rows have), or lies at or
   beyond the smallest or the largest released one.
2. About several: the cells of a released row in two or more random columns, numbers with as much tolerance as
   possible without including other released rows.

A statement about one column stays true if the columns of a release are shuffled independently, so it says nothing about
how values are combined. The baseline is the same attack on such a release. A statement that holds for one row in n on
average isolates a person by chance with probability (1 - 1/n)^(n-1), about 0.37, and this is allowed for statements
about several columns. Cohen and Nissim (2020).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.errors import DataError
from shoal.model.findings import Attack
from shoal.model.sentences import Rows, Sentence
from shoal.privacy.attacks.attack import Clock, Profile, concluded, sampled
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.measures.space import blocks, places
from shoal.privacy.verdict.classes import Labels, classes

MOST = 1_000  # statements of each kind
TOLERANCES = (0.3, 0.1, 0.03, 0.01)  # standard deviations of the released column
SHUFFLES = 3
ROUNDING = 1e-9  # standard deviations

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


def limits(case: Case, column: Pair) -> tuple[Floats, Floats, Floats]:
    """Return a column with an order as numbers: its original cells, and the limits of each released one.

    The two limits are equal unless the column is published by ranges or by a tree; then all are in standard deviations.
    NaN where a cell is missing.
    """
    if not column.truthful:
        before, after = (np.where(np.isfinite(cells), cells, np.nan) for cells in column.numbers)
        return before, after, after
    (own,), (published,) = places(case, [column.name])
    cells, middle = (np.where(one.gone, np.nan, one.points[:, 0])[one.codes] for one in (own, published))
    reach = published.reach[published.codes] + ROUNDING
    return cells, middle - reach, middle + reach


def raw(case: Case) -> Case:
    """Return the case of a release that is the original table itself."""
    columns = {name: given.model_copy(update={"form": None}) for name, given in case.policy.columns.items()}
    policy = case.policy.model_copy(update={"columns": columns})
    return replace(case, released=case.before.data, policy=policy)


def control_case(case: Case) -> tuple[Case, int]:
    """Return a case whose targets are the control rows, and their number, 0 without any."""
    rows = case.control
    if rows is None or not rows.n or not case.n:
        return case, 0
    for name in case.policy.names("quasi"):
        if name not in rows.names:
            raise DataError(f"attack: the control rows have no column {name!r}. Give them every quasi-identifier.")
    return replace(case, original=rows, control=None), rows.n


@dataclass(frozen=True, eq=False)
class Column:
    """A column as the basis of statements."""

    codes: Labels  # the released cells; equal ones have equal codes
    cells: NDArray[np.float64] | Labels  # the original ones: numbers, or codes of categories
    low: Floats | None = None  # limits of each released cell, if the column has an order
    high: Floats | None = None
    meant: Truths | None = None  # the categories that each released code may mean; None if a code means itself

    @classmethod
    def of(cls, case: Case, column: Pair) -> "Column":
        """Read a column of a case."""
        if column.ordered:
            cells, low, high = limits(case, column)
            ends = [np.unique(end, return_inverse=True)[1].reshape(-1) for end in (low, high)]
            return cls(classes(ends, low.size), cells, low, high)
        if not column.truthful:
            return cls(column.codes[1], column.codes[0])
        (before,), (after,) = places(case, [column.name])
        return cls(after.codes, before.codes, meant=after.points > 0)

    def some(self, rows: Labels) -> "Column":
        """Return the column with some of its original cells."""
        return replace(self, cells=self.cells[rows])

    def shown(self) -> "Column":
        """Return the column with the released cells in place of the original ones."""
        middle = self.codes if self.low is None or self.high is None else (self.low + self.high) / 2
        return replace(self, cells=middle, meant=None)

    def shuffled(self, order: Labels) -> "Column":
        """Return the column with its released cells in another order."""
        low, high = (None if end is None else end[order] for end in (self.low, self.high))
        return replace(self, codes=self.codes[order], low=low, high=high)

    @property
    def spread(self) -> float:
        """The standard deviation of what is released; 0 for categories."""
        if self.low is None or self.high is None:
            return 0.0
        middle = (self.low + self.high) / 2
        finite = middle[np.isfinite(middle)]
        return float(finite.std()) if finite.size else 0.0

    def holds(self, rows: Labels, tolerance: Floats) -> Truths:
        """Return for which original rows the cells of these released rows are true, within a tolerance."""
        if self.low is not None and self.high is not None:
            slack = tolerance * self.spread
            low, high = (self.low[rows] - slack)[:, None], (self.high[rows] + slack)[:, None]
            return ((low <= self.cells) & (self.cells <= high)) | (np.isnan(low) & np.isnan(self.cells))
        if self.meant is not None:
            return np.asarray(self.meant[self.codes[rows]][:, self.cells.astype(np.int64)])
        return np.asarray(self.codes[rows][:, None] == self.cells)


@dataclass(frozen=True, eq=False)
class Statements:
    """Statements, given by the released rows whose cells they are about."""

    column: Labels  # of statements about one column
    row: Labels
    rows: Labels  # of statements about several
    chosen: Truths  # their columns
    tolerance: Floats


def stated(columns: Sequence[Column], k: int, rng: np.random.Generator, clock: Clock) -> Statements:
    """Return statements made from a release of at least one row and column.

    A value that at most 2k - 1 rows have is rare. If the time is up, statements have no tolerance.
    """
    rare = []
    for j, column in enumerate(columns):
        first, count = np.unique(column.codes, return_index=True, return_counts=True)[1:]
        few = count <= 2 * k - 1
        rare.append(np.column_stack([np.full(few.sum(), j), first[few], count[few]]))
    found = rng.permutation(np.vstack(rare))
    found = found[np.argsort(found[:, 2], kind="stable")][:MOST]
    d, n = len(columns), columns[0].codes.size
    rows = rng.integers(n, size=MOST)
    order = rng.random((MOST, d)).argsort(axis=1).argsort(axis=1)
    chosen = order < rng.integers(min(2, d), d + 1, size=MOST)[:, None]
    tolerance = _widest(columns, rows, chosen, clock)
    codes = np.column_stack([column.codes[rows] for column in columns])
    # Identical statements count once.
    words = np.column_stack([np.where(chosen, codes, -1), (1000 * tolerance).astype(np.int64)])
    once = np.sort(np.unique(words, axis=0, return_index=True)[1])
    return Statements(found[:, 0], found[:, 1], rows[once], chosen[once], tolerance[once])


def isolating(columns: Sequence[Column], statements: Statements, clock: Clock) -> tuple[Truths, Truths]:
    """Return which statements about one column, and which about several, are true of exactly one original row.

    Statements for which there is no time are left out.
    """
    m = columns[0].cells.size
    one: list[Truths] = []
    for j, column in enumerate(columns):
        for rows in blocks(statements.row[statements.column == j], m):
            if one and clock.over:
                break
            one.append(column.holds(rows, np.zeros(rows.size)).sum(axis=1) == 1)
        if column.low is not None and column.high is not None and np.isfinite(column.low).any():
            ends = (column.cells <= np.nanmin(column.low)).sum(), (column.cells >= np.nanmax(column.high)).sum()
            one.append(np.array(ends) == 1)
    several: list[Truths] = []
    for block in blocks(np.arange(statements.rows.size), m):
        if several and clock.over:
            break
        several.append(
            _true_of(columns, statements.rows[block], statements.chosen[block], statements.tolerance[block]) == 1
        )
    return np.concatenate([np.zeros(0, bool), *one]), np.concatenate([np.zeros(0, bool), *several])


@attack("singling out", control=True)
def singling_out(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Make statements that follow from the release, and count those true of exactly one original row.

    Success: a statement holds for one original row. Trials: up to 1,000 statements about one column and up to 1,000
    about several. Baseline: the same on a release whose columns are shuffled independently. Allowed: for statements
    about several columns (1 - 1/n)^(n-1), the success by chance of one that holds for one row in n. Control: the same
    statements about the control rows. Power: the attack on an unprotected copy.
    """
    name, n = "singling out", case.n
    if not n or not profile.known:
        return concluded(name, profile, np.zeros(0), baseline=0.0, note="there is nothing to state")
    k = case.policy.constraints.k
    columns = _columns(case, profile)
    statements = stated(columns, k, np.random.default_rng((case.seed, 61)), clock)
    one, several = isolating(columns, statements, clock)
    rng = np.random.default_rng((case.seed, 62))
    by_luck, about_several = [], replace(statements, row=statements.row[:0], column=statements.column[:0])
    for _ in range(SHUFFLES):
        mixed = [column.shuffled(rng.permutation(n)) for column in columns]
        by_luck.append(float(isolating(mixed, about_several, clock)[1].mean()))
    right = np.concatenate([one, several]).astype(np.float64)
    baseline, allowed = (
        float(one.sum() + several.size * luck) / right.size for luck in (np.mean(by_luck), (1 - 1 / n) ** (n - 1))
    )
    notes = [
        Sentence("{some} of {all} statements about one column are true of one row", some=Rows(one.sum()), all=one.size),
        Sentence("{some} of {all} about several", some=Rows(several.sum()), all=several.size),
    ]
    others, m = control_case(case)
    control, outside = None, np.zeros(0, bool)
    if m:
        people = sampled(m, n, np.random.default_rng((case.seed, 64)))
        there = [column.some(people) for column in _columns(others, profile)]
        outside = np.concatenate(isolating(there, statements, clock))
        control = float(outside.mean())
        notes += [Sentence("there are {m} control rows for {n}", m=Rows(m), n=n)] if m < n else []
    copy = _columns(raw(case), profile)
    known = stated(copy, k, np.random.default_rng((case.seed, 63)), clock)
    power = float(np.concatenate(isolating(copy, known, clock)).mean())
    ended = clock.over
    if ended:
        notes.append(Sentence("time ran out after {tried} statements", tried=right.size))
    return concluded(
        name,
        profile,
        right,
        baseline=baseline,
        control=control,
        power=power,
        allowed=allowed,
        note=Sentence.joined(list(notes)),
        ended=ended,
        baseline_of=right.size,
        control_of=outside.size,
    )


def _true_of(columns: Sequence[Column], rows: Labels, chosen: Truths, tolerance: Floats) -> Labels:
    """Return how many original rows each statement about several columns is true of."""
    true = np.ones((rows.size, columns[0].cells.size), bool)
    for j, column in enumerate(columns):
        about = chosen[:, j]
        true[about] &= column.holds(rows[about], tolerance[about])
    return np.asarray(true.sum(axis=1))


def _widest(columns: Sequence[Column], rows: Labels, chosen: Truths, clock: Clock) -> Floats:
    """Return the largest tolerance with which each statement is true of no more released rows than without."""
    shown = [column.shown() for column in columns]
    found = np.zeros(rows.size)
    for block in blocks(np.arange(rows.size), shown[0].cells.size):
        if clock.over:
            break
        least = _true_of(shown, rows[block], chosen[block], np.zeros(block.size))
        for width in TOLERANCES:
            open_ = block[found[block] == 0]
            alone = _true_of(shown, rows[open_], chosen[open_], np.full(open_.size, width)) == least[found[block] == 0]
            found[open_[alone]] = width
    return found


def _columns(case: Case, profile: Profile) -> list[Column]:
    """Return the columns that the attacker knows."""
    return [Column.of(case, column) for column in case.columns if column.name in profile.known]
