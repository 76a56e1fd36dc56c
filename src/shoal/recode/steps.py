"""Steps: published means are multiples of a round number, so that k - 1 members do not give away the last one.

An attacker who knows all members of a class but one, and its exact mean, can compute the value of the last one. If the
mean of g rows is published as a multiple of a step s, the last value can lie anywhere in an interval of width g s.

1. The default step is the least round number (1, 1.1, 1.2, 1.4 and so on) for which that interval is at least a
   tenth of the column's standard deviation in every class. A class has at least k rows; where a column has
   missing values, more than half of them have one.
2. Integers and days have a step of at least 1, and decimals one of at least their last place. Every column has a
   step, except one without values, or of equal floating-point numbers, which are published unchanged.
3. A few extreme values should not make the step useless for everyone else: the standard deviation counts at most as
   twice that of the winsorized column, whose k least and k greatest values are replaced by the next ones.

A policy may set `step` for a column.
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import PolicyError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.encode import microseconds

ROUNDED = ("mean", "median", "representative")  # the forms that publish rounded numbers
WIDTH = Fraction(1, 10)  # of the standard deviation: the interval in which the last member of a class may lie
CAPPED = 2  # multiple of the standard deviation without extreme values that is counted at most
HEADS = (10, 11, 12, 14, 15, 16, 18, 20, 22, 25, 28, 30, 32, 34, 36, 40, 45, 50, 55, 60, 70, 80, 90)
ROUND = tuple(Fraction(head, 10) for head in HEADS)
FINEST = 4  # smallest step, in units in the last place of the largest number
NOTHING = 1e-9  # of the standard deviation: what rounding leaves of a spread of 0
DAY = 86_400_000_000  # microseconds

Floats = NDArray[np.float64]


def with_steps(policy: Policy, table: Table) -> Policy:
    """Return the policy with a step for every number and date that is published by mean, median or representative.

    The policy names every column, and the table is arranged.
    """
    columns = dict(policy.columns)
    for name in policy.names("quasi"):
        given = columns[name]
        column = table.column(name)
        if given.step is not None:
            if given.kind not in ("numeric", "date"):
                raise PolicyError(f"policy: column {name!r} is {given.kind}; a step is for numbers and dates.")
            in_units(given.step, column.type, name)
        if given.step is not None or given.kind not in ("numeric", "date") or given.form not in ROUNDED:
            continue
        step = _default(column, policy.constraints.k)
        if step is not None:
            columns[name] = given.model_copy(update={"step": step})
    return policy.model_copy(update={"columns": columns})


def in_units(step: float, kind: pa.DataType, name: str) -> int | None:
    """Return a step as a number of the column's smallest units (ones, last places or days); None for floats.

    `name` is the column, for messages.
    """
    if pa.types.is_floating(kind):
        return None
    units = Fraction(str(step)) / _unit(kind)
    if units.denominator != 1:
        least = float(_unit(kind))
        must = "a whole number" if least == 1 else f"a multiple of {least:g}"
        what = "days" if pa.types.is_temporal(kind) else "whole numbers" if least == 1 else f"multiples of {least:g}"
        raise PolicyError(
            f"policy: the step of column {name!r} is {step:g}, but the column is counted in {what}. Give {must}."
        )
    return int(units)


def _unit(kind: pa.DataType) -> Fraction:
    """Return the smallest difference between two values of a type; 0 for floats."""
    if pa.types.is_decimal(kind):
        return Fraction(1, 10**kind.scale) if kind.scale >= 0 else Fraction(10**-kind.scale)
    return Fraction(0) if pa.types.is_floating(kind) else Fraction(1)


def _default(column: pa.ChunkedArray, k: int) -> float | None:
    """Return the default step of a column; None for one without values or of equal floating-point numbers."""
    present = column.drop_null()
    if not len(present):
        return None
    numbers, unit = as_numbers(present), _unit(present.type)
    if not unit and numbers.min() == numbers.max():
        return None
    spread = _spread(numbers, k)
    rows = k if column.null_count == 0 else k // 2 + 1
    finest = 0.0 if unit else FINEST * float(np.spacing(np.abs(numbers).max()))
    return float(_round_up(max(Fraction(spread) * WIDTH / rows, Fraction(finest)), unit))


def as_numbers(column: pa.ChunkedArray) -> Floats:
    """Return numbers, and dates as days, as floats; NaN where one is missing."""
    cells = microseconds(column) if pa.types.is_temporal(column.type) else column
    numbers = cells.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy().astype(np.float64)
    return np.asarray(numbers / DAY if pa.types.is_temporal(column.type) else numbers)


def has_extremes(column: pa.ChunkedArray, k: int) -> bool:
    """Say whether the k - 1 least and greatest numbers or dates make up most of a column's standard deviation."""
    present = column.drop_null()
    if not len(present):
        return False
    whole, within = _spreads(as_numbers(present), k - 1)
    return whole > CAPPED * within


def _spread(numbers: Floats, k: int) -> float:
    """Return the standard deviation, at most twice that without extreme values."""
    whole, within = _spreads(numbers, k)
    return min(whole, CAPPED * within) if within > NOTHING * whole else whole


def _spreads(numbers: Floats, few: int) -> tuple[float, float]:
    """Return the standard deviation, and that after winsorizing the `few` least and greatest values."""
    largest = float(np.abs(numbers).max()) or 1.0
    scaled = np.sort(numbers / largest)  # squares of huge numbers would overflow
    whole = float(scaled.std())
    if scaled.size <= 2 * few:
        return whole * largest, whole * largest
    return whole * largest, float(scaled.clip(scaled[few], scaled[-few - 1]).std()) * largest


def _round_up(least: Fraction, unit: Fraction) -> Fraction:
    """Return the least round number that is not smaller, and a multiple of the unit if there is one."""
    least = max(least, unit)
    power = Fraction(10) ** (len(str(int(least))) - 1 if least >= 1 else -len(str(int(1 / least))))
    while True:
        for head in ROUND:
            step = head * power
            if step >= least and (not unit or (step / unit).denominator == 1):
                return step
        power *= 10
