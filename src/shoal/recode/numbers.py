"""Numbers and dates of a group: their mean and their median, to the last digit."""

from decimal import Context
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.prepare.encode import microseconds
from shoal.recode.groups import Groups, Rows, middle, ranks_of

__all__ = ["EXACT", "day_column", "means", "medians"]

DAY = 86_400_000_000  # microseconds
EXACT = Context(prec=100)


def means(column: pa.ChunkedArray, rows: Rows, groups: Groups) -> list[Any]:
    """Return the mean of each group; whole numbers are summed exactly and rounded once, halves up."""
    labels = groups.labels[rows]
    weights = groups.weights[rows] if groups.weights is not None else None
    if weights is not None:
        total = np.bincount(labels, weights, minlength=groups.count)
        # A group without any weight is averaged as if all its rows weighed the same.
        weights = np.where(total[labels] > 0, weights, 1.0)
    present = column.take(pa.array(rows))
    whole = _whole_numbers(present)
    if whole is not None:
        return _whole_means(whole, labels, weights, groups.count)
    values = present.cast(pa.float64(), safe=False).to_numpy()
    largest = np.zeros(groups.count)
    np.maximum.at(largest, labels, np.abs(values))
    exponent = np.frexp(largest)[1]  # a group's sum of numbers below 1 cannot overflow
    scaled = np.ldexp(values, -exponent[labels])
    shares = _shares(labels, weights, groups.count)
    least = np.full(groups.count, 1.0)
    np.minimum.at(least, labels, scaled)
    found = np.ldexp(least + np.bincount(labels, (scaled - least[labels]) * shares, minlength=groups.count), exponent)
    digits = _decimals(values)
    return list(found if digits is None else np.round(found, digits + 1) + 0.0)


def _whole_numbers(column: pa.ChunkedArray) -> NDArray[Any] | None:
    """Return whole numbers, and decimals as whole numbers of their last place, so wide that sums cannot overflow."""
    if pa.types.is_decimal(column.type):
        scale = column.type.scale
        return np.array([0 if cell is None else int(cell.scaleb(scale, EXACT)) for cell in column.to_pylist()], object)
    if not pa.types.is_integer(column.type):
        return None
    least, most = (int(limit or 0) for limit in pc.min_max(column).as_py().values())
    narrow = (most - least + 1) * (len(column) + 1) < 2**61 and most < 2**63
    return np.asarray(column.fill_null(least).to_numpy()).astype(np.int64 if narrow else object)


def _whole_means(numbers: NDArray[Any], labels: Rows, weights: NDArray[np.float64] | None, count: int) -> list[int]:
    """Return the mean of the whole numbers of each group, counted from the least one up, halves up."""
    least = np.full(count, numbers.max(), numbers.dtype)
    np.minimum.at(least, labels, numbers)
    away = numbers - least[labels]
    if weights is None:
        sums = np.zeros(count, numbers.dtype)
        np.add.at(sums, labels, away)
        sizes = np.maximum(np.bincount(labels, minlength=count), 1).astype(numbers.dtype)
        more = (2 * sums + sizes) // (2 * sizes)
    else:
        shares = _shares(labels, weights, count)
        more = np.floor(np.bincount(labels, away.astype(np.float64) * shares, minlength=count) + 0.5)
    return [int(low) + int(shift) for low, shift in zip(least, more, strict=True)]


def _shares(labels: Rows, weights: NDArray[np.float64] | None, count: int) -> NDArray[np.float64]:
    """Return what each row weighs in its group; the shares of a group add up to 1."""
    own = np.ones(labels.size) if weights is None else weights
    return np.asarray(own / np.bincount(labels, own, minlength=count)[labels])


def _decimals(values: NDArray[np.float64]) -> int | None:
    """Return with how many decimals the values are written, if all of them are with the same few."""
    if np.abs(values).max() < 1e9:
        for digits in range(7):
            if (np.round(values, digits) == values).all():
                return digits
    return None


def medians(column: pa.ChunkedArray, ranks: Rows, rows: Rows, groups: Groups) -> list[Any]:
    """Return the middle value of each group, or the mean of the two in the middle."""
    low, high = middle(ranks, rows, groups)
    numbers = _whole_numbers(column)
    whole = numbers is not None
    cells = column.to_pylist() if numbers is None else numbers.tolist()
    found: list[Any] = []
    for a, b in zip(low, high, strict=True):
        if a < 0:
            found.append(None)
        elif whole:
            found.append((cells[a] + cells[b]) // 2)
        else:
            found.append(cells[a] / 2 + cells[b] / 2 if a != b else cells[a])
    return found


def day_column(column: pa.ChunkedArray, form: str, rows: Rows, empty: NDArray[np.bool_], groups: Groups) -> pa.Array:
    """Return the mean or median day of each group, in the column's own time zone and type."""
    kind = column.type
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    moments = microseconds(pc.local_timestamp(column) if zone else column)
    whole = pa.chunked_array([pa.array(moments.fill_null(0).to_numpy() // DAY, mask=pc.is_null(moments).to_numpy())])
    found = means(whole, rows, groups) if form == "mean" else medians(whole, ranks_of(whole, None)[0], rows, groups)
    published = pa.array([None if gap else int(day) for day, gap in zip(found, empty, strict=True)], pa.int64())
    if not pa.types.is_timestamp(kind):
        return published.cast(pa.int32()).cast(pa.date32()).cast(kind)
    local = pc.multiply(published, DAY).cast(pa.timestamp("us"))
    if zone:
        local = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
    return local.cast(kind, safe=False)
