"""Columns of numbers as seen by an attacker who knows how a mean is made and rounded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair

Floats = NDArray[np.float64]
DAY = 86_400_000_000.0  # microseconds
DIGITS = 9  # decimals; numbers with more are compared to about nine digits
CLOSE = 1e-9  # relative to the largest number
SINGLE = 2.0**-23  # relative precision of 32-bit floats


@dataclass(frozen=True, eq=False)
class Average:
    """A quasi-identifier of numbers or dates that is published as values of its own type.

    `before` and `after` are the original and published cells, dates in days, NaN where one is missing.
    """

    name: str
    form: str
    before: Floats
    after: Floats
    tolerance: float  # two numbers closer than this are written alike in the original column
    step: float  # the published numbers are multiples of this; 0 if they are not rounded

    @property
    def spread(self) -> float:
        """The standard deviation of the original column."""
        held = self.before[np.isfinite(self.before)]
        return float(held.std()) if held.size and np.ptp(held) > 0 else 0.0

    @property
    def slack(self) -> float:
        """The possible rounding error of sums of these numbers."""
        return CLOSE * float(np.nanmax(np.abs(self.before), initial=0.0))


def averages(case: Case, known: Sequence[str]) -> list[Average]:
    """Return the known columns of numbers and dates that vary and are published as values of their own type.

    The step is that of the policy, or else the last decimal with which the whole column is published.
    """
    found = []
    for column in case.columns:
        if column.name not in known or column.truthful or column.kind not in ("numeric", "date"):
            continue
        before, after = numbers_of(column)
        largest = float(np.nanmax(np.abs(before), initial=0.0))
        step = case.policy.columns[column.name].step if column.kind == "numeric" else None
        if step is None:
            step = max(unit_of(after), SINGLE * largest if _single(column) else 0.0)
        tolerance = max(unit_of(before) / 2, CLOSE * largest)
        one = Average(column.name, column.form, before, after, tolerance, step)
        found += [one] if one.spread > 0 else []
    return found


def numbers_of(column: Pair) -> tuple[Floats, Floats]:
    """Return the cells of a column before and after as numbers, dates as days; NaN where one is not finite."""
    before, after = (np.where(np.isfinite(cells), cells, np.nan) for cells in column.numbers)
    if _single(column):  # as they are written: 1.1, not 1.10000002384
        before, after = (cells.astype(np.float32).astype(str).astype(np.float64) for cells in (before, after))
    return (before / DAY, after / DAY) if column.kind == "date" else (before, after)


def _single(column: Pair) -> bool:
    """Say whether the cells have single precision."""
    return bool(pa.types.is_float32(column.before.type) or pa.types.is_float16(column.before.type))


def unit_of(values: Floats) -> float:
    """Return the last decimal place with which all values are written: 1, 0.1, down to 1e-9; 0 if there is none.

    Examples
    --------
    >>> unit_of(np.array([1.5, 2.25])), unit_of(np.array([3.0, np.nan])), unit_of(np.array([1 / 3]))
    (0.01, 1.0, 0.0)
    """
    held = values[np.isfinite(values)]
    for digits in range(DIGITS + 1):
        if (np.round(held, digits) == held).all():
            return float(10.0**-digits)
    return 0.0
