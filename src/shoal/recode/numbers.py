"""Mean or median of numbers and dates by group, rounded once to a multiple of the column's step.

Integers, decimals and days are counted in their smallest units, without intermediate rounding.
"""

import math
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
# Days since 1970 that dates and timestamps in nanoseconds can hold: those of the years 1 to 9999, and 1677 to 2262.
CALENDAR, NANOSECONDS = (-719_162, 2_932_896), (-106_750, 106_750)

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Centres:
    """The rounded mean or median of each group.

    `numbers` are in units of the column (ones, last places of decimals, days; floats as they are), None where there is
    no value. They are multiples of `step`, in the same units, unless it is None.
    """

    numbers: list[Any]
    step: Any
    kind: pa.DataType

    def values(self, shift: int = 0) -> pa.Array:
        """Return the published values, moved by `shift` steps; missing where that leaves the range of the type."""
        if pa.types.is_floating(self.kind):
            there = [_moved(one, shift, self.step) for one in self.numbers]
            return pa.array(there, pa.float64()).cast(self.kind, safe=False)
        moved: list[int | None] = [None if one is None else one + shift * self.step for one in self.numbers]
        if pa.types.is_decimal(self.kind):
            most = 10**self.kind.precision
            inside = [None if one is None or not -most < one < most else one for one in moved]
            scaled = [None if one is None else Decimal(one).scaleb(-self.kind.scale, EXACT) for one in inside]
            return pa.array(scaled, self.kind)
        low, high = _limits(self.kind)
        inside = [None if one is None or not low <= one <= high else one for one in moved]
        return _as_dates(inside, self.kind) if pa.types.is_temporal(self.kind) else pa.array(inside, self.kind)


def centres(
    column: pa.ChunkedArray,
    form: str,
    rows: Rows,
    empty: Flags,
    groups: Groups,
    step: float | None = None,
    shifts: NDArray[np.int64] | None = None,
) -> Centres:
    """Return the mean or median ("mean" or "median" as `form`) of each group, halves rounded up.

    `column` has numbers, dates or timestamps, `rows` are those with a value, at least one, and groups flagged in
    `empty` are published as missing. Results are multiples of `step`, in days for dates; without it, floats are rounded
    to one decimal more than the values have. `shifts` says by how many steps each result is moved.
    """
    kind = column.type
    cells = _days(column) if pa.types.is_temporal(kind) else column
    units = _whole_numbers(cells)
    moves = [0] * groups.count if shifts is None else shifts.tolist()
    if units is None:
        found = _float_centres(cells, form, rows, groups, step)
        each = zip(found, moves, empty, strict=True)
        return Centres([None if gap else _moved(one, shift, step) for one, shift, gap in each], step, kind)
    own = (in_units(step, kind, "") if step is not None else None) or 1
    if form == "mean":
        weights = _positive_weights(groups, rows)
        whole = _whole_means(units[rows], groups.labels[rows], weights, groups.count, own)
    else:
        whole = _whole_medians(cells, units, rows, groups, own)
    every = zip(whole, moves, empty, strict=True)
    numbers = [None if gap or one is None else _inside(one + shift * own, own, kind) for one, shift, gap in every]
    return Centres(numbers, own, kind)


def _float_centres(column: pa.ChunkedArray, form: str, rows: Rows, groups: Groups, step: float | None) -> list[Any]:
    """Return means or medians of floats."""
    values = column.take(pa.array(rows)).cast(pa.float64(), safe=False).to_numpy()
    found = _float_means(values, rows, groups) if form == "mean" else _float_medians(column, rows, groups)
    if step is not None:
        return [None if np.isnan(one) else _multiple(one, step) for one in found.tolist()]
    digits = _decimals(values)
    rounded = found if digits is None else np.round(found, digits + 1) + 0.0
    return [None if np.isnan(one) else one for one in rounded.tolist()]


def _multiple(number: float, step: float) -> float:
    """Return the multiple of a step that is nearest to a number, with as many decimals as the step has."""
    if not abs(number) < 2**52 * step:
        return number  # its last digit is worth more than a step
    digits = max(0, -int(Decimal(str(step)).as_tuple().exponent))
    found = math.floor(number / step + 0.5) * step
    if math.isinf(found):
        found = math.trunc(number / step) * step
    return (round(found, digits) if digits <= MOST_DIGITS else found) + 0.0


def _moved(number: float | None, shift: int, step: float | None) -> float | None:
    """Return a multiple of a step moved by `shift` steps; None if it leaves the range of floats."""
    if number is None or step is None or not shift:
        return number
    there = number + shift * step
    return _multiple(there, step) if math.isfinite(there) else None


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


def _whole_medians(cells: pa.ChunkedArray, units: NDArray[Any], rows: Rows, groups: Groups, step: int) -> list[Any]:
    """Return the same for integers."""
    low, high = middle(ranks_of(cells, None)[0], rows, groups)
    numbers = units.tolist()
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return [None if a < 0 else _nearest(numbers[a] + numbers[b], 2, step) for a, b in pairs]


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


def _whole_means(
    numbers: NDArray[Any], labels: Rows, weights: Floats | None, count: int, step: int
) -> list[int | None]:
    """Return the mean of the integers of each group, summed from its least one up."""
    least = np.full(count, numbers.max(), numbers.dtype)
    np.minimum.at(least, labels, numbers)
    excess = numbers - least[labels]
    sizes = np.bincount(labels, minlength=count).tolist()
    if weights is None:
        sums = np.zeros(count, numbers.dtype)
        np.add.at(sums, labels, excess)
        parts = zip(least.tolist(), sums.tolist(), sizes, strict=True)
        return [None if not size else _nearest(low * size + total, size, step) for low, total, size in parts]
    shares = _shares(labels, weights, count)
    more = np.floor(np.bincount(labels, excess.astype(np.float64) * shares, minlength=count) + 0.5)
    return [
        None if not size else _nearest(int(low) + int(shift), 1, step)
        for low, shift, size in zip(least, more, sizes, strict=True)
    ]


def _nearest(total: int, size: int, step: int) -> int:
    """Return the multiple of a step that is nearest to a mean, the upper one of two."""
    return (2 * int(total) + size * step) // (2 * size * step) * step


def _inside(number: int, step: int, kind: pa.DataType) -> int:
    """Return a multiple of the step that the type of the column can hold."""
    if pa.types.is_decimal(kind):
        return number
    low, high = _limits(kind)
    return high // step * step if number > high else -(-low // step) * step if number < low else number


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


def _as_dates(days: list[int | None], kind: pa.DataType) -> pa.Array:
    """Return days as dates, or as timestamps of their start in their own time zone."""
    published = pa.array(days, pa.int64())
    if not pa.types.is_timestamp(kind):
        return published.cast(pa.int32()).cast(pa.date32()).cast(kind)
    local = pc.multiply(published, DAY).cast(pa.timestamp("us"))
    if kind.tz:
        local = pc.assume_timezone(local, kind.tz, ambiguous="earliest", nonexistent="latest")
    return local.cast(kind, safe=False)
