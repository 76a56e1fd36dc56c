"""Mean or median of numbers and dates by group, rounded once to a multiple of the column's step.

Integers, decimals and days are counted in their smallest units, without intermediate rounding.
"""

from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.prepare.encode import microseconds
from shoal.recode.groups import Groups, Rows, middle, ranks_of
from shoal.recode.steps import DAY, in_units

EXACT = Context(prec=100)
MOST_DIGITS = 15  # decimals to which floats are rounded
COUNTED = 2.0**50  # units of the last decimal up to which a multiple of a step is computed exactly
# Days since 1970 that dates and timestamps in nanoseconds can hold: those of the years 1 to 9999, and 1677 to 2262.
CALENDAR, NANOSECONDS = (-719_162, 2_932_896), (-106_750, 106_750)

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Centres:
    """The rounded mean or median of each group.

    `numbers` are in units of the column (ones, last places of decimals, days; floats as they are), and mean nothing
    where `missing` is set. They are multiples of `step`, in the same units, unless it is None.
    """

    numbers: NDArray[Any]
    missing: Flags
    step: Any
    kind: pa.DataType

    def values(self, shift: int = 0) -> pa.Array:
        """Return the published values, moved by `shift` steps; missing where that leaves the range of the type."""
        if pa.types.is_floating(self.kind):
            there = _moved(self.numbers, shift, self.step)
            return pa.array(there, pa.float64(), mask=self.missing | np.isnan(there)).cast(self.kind, safe=False)
        moved = self.numbers + shift * self.step
        if pa.types.is_decimal(self.kind):
            most = 10**self.kind.precision
            inside = ~self.missing & (moved > -most) & (moved < most)
            each = zip(moved.tolist(), inside.tolist(), strict=True)
            scaled = [Decimal(one).scaleb(-self.kind.scale, EXACT) if held else None for one, held in each]
            return pa.array(scaled, self.kind)
        low, high = _limits(self.kind)
        outside = self.missing | (moved < low) | (moved > high)
        inner = np.where(outside, 0, moved)
        if pa.types.is_temporal(self.kind):
            return _as_dates(pa.array(inner, pa.int64(), mask=outside), self.kind)
        return pa.array(inner, self.kind, mask=outside)


def centres(
    column: pa.ChunkedArray,
    form: str,
    rows: Rows,
    empty: Flags,
    groups: Groups,
    step: float | None = None,
    shifts: Rows | None = None,
) -> Centres:
    """Return the mean or median ("mean" or "median" as `form`) of each group, halves rounded up.

    `column` has numbers, dates or timestamps, `rows` are those with a value, at least one, and groups flagged in
    `empty` are published as missing. Results are multiples of `step`, in days for dates; without it, floats are rounded
    to one decimal more than the values have. `shifts` says by how many steps each result is moved.
    """
    kind = column.type
    cells = _days(column) if pa.types.is_temporal(kind) else column
    units = _whole_numbers(cells)
    moves = np.zeros(groups.count, np.int64) if shifts is None else shifts
    if units is None:
        found = _moved(_float_centres(cells, form, rows, groups, step), moves, step)
        return Centres(found, empty | np.isnan(found), step, kind)
    own = (in_units(step, kind, "") if step is not None else None) or 1
    units = units if _fits(units, groups, own) else units.astype(object)
    if form == "mean":
        weights = _positive_weights(groups, rows)
        whole = _whole_means(units[rows], groups.labels[rows], weights, groups.count, own)
    else:
        low, high = middle(ranks_of(cells, None)[0], rows, groups)
        whole = _nearest(units[low] + units[high], 2, own)
    without = np.bincount(groups.labels[rows], minlength=groups.count) == 0
    return Centres(_inside(whole + moves.astype(whole.dtype) * own, own, kind), empty | without, own, kind)


def _float_centres(column: pa.ChunkedArray, form: str, rows: Rows, groups: Groups, step: float | None) -> Floats:
    """Return means or medians of floats, NaN where a group has no value."""
    values = column.take(pa.array(rows)).cast(pa.float64(), safe=False).to_numpy()
    found = _float_means(values, rows, groups) if form == "mean" else _float_medians(column, rows, groups)
    if step is not None:
        return _multiples(found, step)
    digits = _decimals(values)
    return found if digits is None else np.round(found, digits + 1) + 0.0


def _multiples(numbers: Floats, step: float) -> Floats:
    """Return the multiples of a step that are nearest to numbers, with as many decimals as the step has.

    NaN remains NaN, and numbers whose last digit is worth more than a step remain themselves.
    """
    written = Decimal(str(step))
    digits = max(0, -int(written.as_tuple().exponent))
    with np.errstate(over="ignore", invalid="ignore"):
        times = np.floor(numbers / step + 0.5)
        found = times * step
        found = np.where(np.isinf(found), np.trunc(numbers / step) * step, found)
        if 0 < digits <= MOST_DIGITS:
            units = times * float(written.scaleb(digits))
            few = np.abs(units) < COUNTED  # then the quotient is the float nearest to the decimal number
            rest = np.flatnonzero(~few & np.isfinite(found))
            rounded = [round(one, digits) for one in found[rest].tolist()]
            found = np.where(few, units / 10.0**digits, found)
            found[rest] = rounded
        return np.where(np.abs(numbers) < 2**52 * step, found + 0.0, numbers)


def _moved(numbers: Floats, shift: Rows | int, step: float | None) -> Floats:
    """Return multiples of a step moved by `shift` steps; NaN where they leave the range of floats."""
    if step is None or not np.any(shift):
        return numbers
    with np.errstate(over="ignore"):
        there = numbers + shift * step
    there[np.isinf(there)] = np.nan
    return np.where(np.asarray(shift) == 0, numbers, _multiples(there, step))


def _float_means(values: Floats, rows: Rows, groups: Groups) -> Floats:
    """Return the mean of each group, NaN where it has no value."""
    labels, weights = groups.labels[rows], _positive_weights(groups, rows)
    largest = np.zeros(groups.count)
    np.maximum.at(largest, labels, np.abs(values))
    exponent = np.frexp(largest)[1]  # a group's sum of numbers below 1 cannot overflow
    scaled = np.ldexp(values, -exponent[labels])
    least = np.full(groups.count, 1.0)
    np.minimum.at(least, labels, scaled)
    sums = np.bincount(labels, (scaled - least[labels]) * _shares(labels, weights, groups.count), groups.count)
    held = np.bincount(labels, minlength=groups.count) > 0
    return np.where(held, np.ldexp(least + sums, exponent), np.nan)


def _float_medians(column: pa.ChunkedArray, rows: Rows, groups: Groups) -> Floats:
    """Return the middle value of each group, or the mean of the two in the middle; NaN where it has none."""
    low, high = middle(ranks_of(column, None)[0], rows, groups)
    cells = np.append(column.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(), np.nan)
    return np.where(low == high, cells[low], cells[low] / 2 + cells[high] / 2)


def _whole_numbers(column: pa.ChunkedArray) -> NDArray[Any] | None:
    """Return integers, and decimals as integers of their last place, so wide that sums cannot overflow."""
    if pa.types.is_decimal(column.type):
        scale = column.type.scale
        return np.array([0 if cell is None else int(cell.scaleb(scale, EXACT)) for cell in column.to_pylist()], object)
    if not pa.types.is_integer(column.type):
        return None
    least, most = (int(limit or 0) for limit in pc.min_max(column).as_py().values())
    narrow = (most - least + 1) * (len(column) + 1) < 2**61 and most < 2**63
    return np.asarray(column.fill_null(least).to_numpy()).astype(np.int64 if narrow else object)


def _fits(units: NDArray[Any], groups: Groups, step: int) -> bool:
    """Say whether 64 bits hold every number that means and medians of these integers are computed from."""
    if units.dtype == object:
        return False
    largest = max(abs(int(units.min(initial=0))), abs(int(units.max(initial=0))))
    return (8 * largest + 16 * step) * int(groups.sizes.max(initial=2)) < 2**62


def _whole_means(numbers: NDArray[Any], labels: Rows, weights: Floats | None, count: int, step: int) -> NDArray[Any]:
    """Return the mean of the integers of each group, summed from its least one up."""
    least = np.full(count, numbers.max(), numbers.dtype)
    np.minimum.at(least, labels, numbers)
    excess = numbers - least[labels]
    if weights is None:
        sizes = np.maximum(np.bincount(labels, minlength=count), 1).astype(numbers.dtype)
        sums = np.zeros(count, numbers.dtype)
        np.add.at(sums, labels, excess)
        return _nearest(least * sizes + sums, sizes, step)
    shares = _shares(labels, weights, count)
    more = np.floor(np.bincount(labels, excess.astype(np.float64) * shares, minlength=count) + 0.5)
    whole = more.astype(np.int64) if numbers.dtype != object else np.array([int(one) for one in more], object)
    return _nearest(least + whole, 1, step)


def _nearest(totals: NDArray[Any], sizes: Any, step: int) -> NDArray[Any]:
    """Return the multiples of a step that are nearest to means, the upper one of two."""
    return np.asarray((2 * totals + sizes * step) // (2 * sizes * step) * step)


def _inside(numbers: NDArray[Any], step: int, kind: pa.DataType) -> NDArray[Any]:
    """Return multiples of the step that the type of the column can hold."""
    if pa.types.is_decimal(kind):
        return numbers
    low, high = _limits(kind)
    below = np.where(numbers < low, -(-low // step) * step, numbers)
    return np.where(numbers > high, high // step * step, below)


def _limits(kind: pa.DataType) -> tuple[int, int]:
    """Return the least and the greatest number of an integer type, or day of a type of dates."""
    if pa.types.is_temporal(kind):
        moment = pa.types.is_timestamp(kind)
        low, high = NANOSECONDS if moment and kind.unit == "ns" else CALENDAR
        margin = int(moment and kind.tz is not None)  # the day may be another one elsewhere
        return low + margin, high - margin
    bounds = np.iinfo(str(kind))  # the type has the same name in numpy
    return int(bounds.min), int(bounds.max)


def _positive_weights(groups: Groups, rows: Rows) -> Floats | None:
    """Return the weights of rows; in a group of weight 0 all rows count equally."""
    if groups.weights is None:
        return None
    labels, weights = groups.labels[rows], groups.weights[rows]
    total = np.bincount(labels, weights, minlength=groups.count)
    return np.where(total[labels] > 0, weights, 1.0)


def _shares(labels: Rows, weights: Floats | None, count: int) -> Floats:
    """Return the share of each row in the weight of its group."""
    own = np.ones(labels.size) if weights is None else weights
    return np.asarray(own / np.bincount(labels, own, minlength=count)[labels])


def _decimals(values: Floats) -> int | None:
    """Return how many decimals the values have, None if they are large or have more than six."""
    if np.abs(values).max() < 1e9:
        for digits in range(7):
            if (np.round(values, digits) == values).all():
                return digits
    return None


def _days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the days since 1970 of dates, and of timestamps in their own time zone."""
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    moments = microseconds(pc.local_timestamp(column) if zone else column)
    return pa.chunked_array([pa.array(moments.fill_null(0).to_numpy() // DAY, mask=pc.is_null(moments).to_numpy())])


def _as_dates(published: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return days since 1970 as dates, or as timestamps of their start in their own time zone."""
    if not pa.types.is_timestamp(kind):
        return published.cast(pa.int32()).cast(pa.date32()).cast(kind)
    local = pc.multiply(published, DAY).cast(pa.timestamp("us"))
    if kind.tz:
        local = pc.assume_timezone(local, kind.tz, ambiguous="earliest", nonexistent="latest")
    return local.cast(kind, safe=False)
