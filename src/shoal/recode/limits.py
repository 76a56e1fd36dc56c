"""Limits: where a published range may begin and end, so that no limit reveals the value of a few people.

A range from the least to the greatest value of its class would reveal both, and an extreme value is often one person's.
So ranges begin and end at limits that are fixed for the whole column:

1. A value that k rows of the table have is a limit.
2. Between two neighbouring values there may be a limit if at least k rows lie between it and the previous limit, and as
   many between it and the next. It is the roundest number, or the first day of a year or month, between the two
   values; if the policy sets a step for the column, a multiple of it.
3. If fewer than k rows have the least or the greatest value, the outermost limit is a round number beyond it, about as
   far away as the next limit on the other side; for dates, the first day of a year or month.

An arbitrary day would look like someone's date of birth. So a limit within a month is allowed for timestamps only, on a
day on which k rows fall. Only levels that k rows have can be limits. Where no limit is left, or none between the years
1 and 9999, the range is open, `*`.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.prepare.encode import microseconds
from shoal.recode.steps import DAY, in_units

OPEN = "*"
HEADS = (5, 2, 1)  # first digits of the round numbers that are tried, in this order
ROUND_SPANS = ("Y", "M")  # periods whose first day may be a limit of dates, the roundest first
FINE_SPANS = ("D", "h", "m", "s", "us")  # further periods, on days on which k rows fall
CALENDAR = tuple(np.array(["0001-01-01", "9999-12-31"], "M8[us]").astype(np.int64).tolist())
WIDE = 2**61  # integers from here on are held as objects, lest sums overflow
LARGEST = float(np.finfo(np.float64).max)
FINE, FINE_SINGLE = 1e-12, 1e-5  # relative distance of two floats, double and single, that leaves room for a number

Whole = NDArray[np.int64]
Numbers = NDArray[Any]  # of float64 or int64


@dataclass(frozen=True)
class Ends:
    """What is published as the beginning and the end of a range, for each value in ascending order."""

    low: list[str]
    high: list[str]


def level_ends(texts: list[str], counts: Whole, k: int) -> Ends:
    """Return the limits of ranges of levels, given lowest first with the number of rows that have each.

    Examples
    --------
    >>> level_ends(["low", "mid", "high"], np.array([9, 1, 2]), k=3)
    Ends(low=['low', 'low', 'low'], high=['low', '*', '*'])
    """
    allowed = (counts >= k).tolist()
    low, high = [], []
    last = OPEN
    for text, fine in zip(texts, allowed, strict=True):
        last = text if fine else last
        low.append(last)
    last = OPEN
    for text, fine in zip(reversed(texts), reversed(allowed), strict=True):
        last = text if fine else last
        high.append(last)
    return Ends(low, high[::-1])


def number_ends(values: pa.Array, counts: Whole, k: int, step: float | None, name: str = "") -> Ends:
    """Return the limits of ranges of numbers, dates or timestamps.

    `values` are distinct and ascending, at least one, and `counts` the rows that have each. Limits that are not values
    of the table are multiples of `step`, in days for dates. `name` is the column, for messages.

    Examples
    --------
    >>> ends = number_ends(pa.array([3, 17, 18, 41, 97]), np.array([1, 5, 1, 2, 1]), k=3, step=None)
    >>> ends.low, ends.high
    (['0', '17', '17', '17', '17'], ['17', '17', '100', '100', '100'])
    """
    places = _places(values)
    between = _Between(values.type, None if step is None else _step(step, values.type, name), _busy(places, counts, k))
    limits = _inner(places, counts, k, between)
    ends = []
    for below in (True, False):
        edge = places[0] if below else places[-1]
        if counts[0 if below else -1] < k:
            other = (limits[0] if below else limits[-1]) if limits.size else (places[-1] if below else places[0])
            ends.append(between.beyond(edge, other, below=below))
    found = np.unique(np.concatenate([limits, np.array([end for end in ends if end is not None], places.dtype)]))
    texts = [*_texts(found, values.type), OPEN]  # before the first limit, at -1, and after the last, ranges are open
    low = np.searchsorted(found, places, "right") - 1
    high = np.searchsorted(found, places, "left")
    return Ends([texts[at] for at in low], [texts[at] for at in high])


def _busy(places: Numbers, counts: Whole, k: int) -> Whole:
    """Return the days on which k rows or more fall, if the places are timestamps."""
    if places.dtype != np.int64:
        return np.zeros(0, np.int64)
    days, owner = np.unique(places // DAY, return_inverse=True)
    return np.asarray(days[np.bincount(owner.reshape(-1), counts) >= k], np.int64)


def _inner(places: Numbers, counts: Whole, k: int, between: "_Between") -> Numbers:
    """Return the limits from the least to the greatest value."""
    common, free = (counts >= k).tolist(), [*between.possible(places[:-1], places[1:]).tolist(), False]
    cuts: list[int] = []  # the value before each round limit
    rows, last_is_cut = 0, False
    for at, count in enumerate(counts.tolist()):
        if common[at]:
            rows, last_is_cut = 0, False
            continue
        rows += count
        if rows >= k and free[at]:
            cuts.append(at)
            rows, last_is_cut = 0, True
    if 0 < rows < k and last_is_cut:
        cuts.pop()
    after = np.array(cuts, np.int64)
    return np.sort(np.concatenate([places[counts >= k], between.roundest(places[after], places[after + 1])]))


class _Between:
    """How a number between two others is found, in the units of a column."""

    def __init__(self, kind: pa.DataType, step: Any, busy: Whole) -> None:
        self.temporal, self.whole = pa.types.is_temporal(kind), not pa.types.is_floating(kind)
        self.step = step
        self.busy = busy if pa.types.is_timestamp(kind) else busy[:0]
        self.fine = FINE if not pa.types.is_float32(kind) else FINE_SINGLE
        self.unit = DAY if pa.types.is_date(kind) else 1 if self.whole else 0

    def possible(self, low: Numbers, high: Numbers) -> NDArray[np.bool_]:
        """Say whether there is a number between two others, both excluded."""
        if self.step is not None:
            return np.asarray(self._multiples(low, self.step) < high, np.bool_)
        if self.temporal:
            return self._roundest(low, high)[1]
        if self.whole:
            return np.asarray(high - low > self.unit, np.bool_)
        return np.asarray(high / 2 - low / 2 > self.fine * np.maximum(np.abs(low), np.abs(high)), np.bool_)

    def roundest(self, low: Numbers, high: Numbers) -> Numbers:
        """Return the roundest number between two others, both excluded; there must be one."""
        if self.step is not None or not low.size:
            return low if not low.size else self._multiples(low, self.step)
        return self._roundest(low, high)[0]

    def _roundest(self, low: Numbers, high: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return a number between two others, and whether a round one was found."""
        found, done = (low / 2 + high / 2 if not self.whole else low + self.unit), np.zeros(low.size, np.bool_)
        for made in self._moments(low) if self.temporal else self._round(low, high):
            fits = ~done & (made > low) & (made < high)
            found[fits] = made[fits]
            done |= fits
        return found, done

    def beyond(self, edge: Any, other: Any, *, below: bool) -> Any:
        """Return a round number beyond an edge, about as far from it as the nearest limit on the other side.

        If the policy sets a step, the next multiple is taken. None if it lies outside the calendar.
        """
        if self.step is not None:
            return -(-edge // self.step) * self.step - self.step if below else (edge // self.step + 1) * self.step
        if not self.whole:
            edge, other = float(edge), float(other)
            width = min(abs(edge / 2 - other / 2) * 2, LARGEST - abs(edge)) or min(abs(edge) / 10, LARGEST - abs(edge))
        else:
            edge, width = int(edge), abs(int(edge) - int(other))
        width = max(width or 1, 2 * self.unit)
        ends = (edge - width, edge) if below else (edge, edge + width)
        kind = np.float64 if not self.whole else np.int64 if max(map(abs, ends)) < WIDE else object
        low, high = (np.array([end], kind) for end in ends)
        found, done = self._roundest(low, high)
        if self.temporal and not done[0]:
            found = _month(low[0] if not below else high[0] - 1, later=not below)
        inside = not self.temporal or CALENDAR[0] <= found[0] <= CALENDAR[1]
        return found[0] if inside else None

    def _multiples(self, low: Numbers, step: Any) -> Numbers:
        """Return the least multiple of a step above each number."""
        return np.asarray((low // step + 1) * step)

    def _round(self, low: Numbers, high: Numbers) -> Any:
        """Return multiples of 5, 2 and 1 times powers of ten above each number, the largest powers first."""
        largest = max(1.0, float(np.abs(low).max()), float(np.abs(high).max()))
        top = min(int(np.ceil(np.log10(largest))), 307)
        narrowest = float((high / 2 - low / 2).min()) if not self.whole else 1.0
        least = 0 if self.whole else max(int(np.floor(np.log10(max(narrowest, 1e-300)))) - 1, -300)
        for power in range(top, least - 1, -1):
            for head in HEADS:
                if self.whole and head * 10**power < WIDE:
                    yield self._multiples(low, head * 10**power)
                elif self.whole:
                    continue
                else:
                    size = head * 10.0**power
                    with np.errstate(over="ignore", invalid="ignore"):
                        yield np.round((np.floor(low / size) + 1) * size, max(0, -power)) + 0.0

    def _moments(self, low: Numbers) -> Any:
        """Return the start of the next year and month after each timestamp, and of smaller spans on busy days."""
        moments = low.astype("M8[us]")
        for span in ROUND_SPANS + FINE_SPANS * bool(self.busy.size):
            made = (moments.astype(f"M8[{span}]") + 1).astype("M8[us]").astype(np.int64)
            # The end of a busy day is the start of the next one.
            busy = np.isin(made // DAY, self.busy) | np.isin((made - 1) // DAY, self.busy)
            yield made if span in ROUND_SPANS else np.where(busy, made, low)


def _month(moment: int, *, later: bool) -> Whole:
    """Return the start of the month of a timestamp, or of the month after it."""
    month = np.array([moment]).astype("M8[us]").astype("M8[M]")
    return np.asarray((month + int(later)).astype("M8[us]").astype(np.int64))


def _places(values: pa.Array) -> Numbers:
    """Return values as integers in their units, timestamps in microseconds, or as floats."""
    if pa.types.is_temporal(values.type):
        return np.asarray(microseconds(pa.chunked_array([values])).to_numpy(), np.int64)
    if pa.types.is_decimal(values.type):
        scale = values.type.scale
        return np.array([int(cell.scaleb(scale)) for cell in values.to_pylist()], object)
    if pa.types.is_floating(values.type):
        return np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    cells = values.to_pylist()
    return np.array(cells, object if max(map(abs, (cells[0], cells[-1]))) >= WIDE else np.int64)


def _step(step: float, kind: pa.DataType, name: str) -> Any:
    """Return a step in the units of a column."""
    units = in_units(step, kind, name)
    return step if units is None else units * (DAY if pa.types.is_temporal(kind) else 1)


def _texts(limits: Numbers, kind: pa.DataType) -> list[str]:
    """Return limits in the notation of the column."""
    if pa.types.is_temporal(kind):
        moments = pa.array(limits.astype(np.int64)).cast(pa.timestamp("us"))
        if pa.types.is_timestamp(kind) and kind.tz:
            moments = moments.cast(pa.timestamp("us", tz=kind.tz))
        return list(moments.cast(kind, safe=False).cast(pa.string()).to_pylist())
    if pa.types.is_decimal(kind):
        return [str(Decimal(int(limit)).scaleb(-kind.scale)) for limit in limits]
    if pa.types.is_floating(kind):
        return list(pa.array(limits).cast(kind, safe=False).cast(pa.string()).to_pylist())
    return [str(int(limit)) for limit in limits]
