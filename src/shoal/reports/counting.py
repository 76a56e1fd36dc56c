"""Counting for pictures: the distribution of a column, in bins that contain either no rows or at least k.

1. Numbers and dates are counted in bins with round limits, which depend on the released column alone: on what remains
   of it without the 2k smallest and the 2k largest cells. The first and the last bin are open: they include everything
   beyond, so that no extreme value can be read off a picture. Numbers that differ by rounding alone share a bin.
2. Neighbouring bins are merged until each contains no rows or at least k, before and after.
3. Categories are shown if at least k rows have them, before and after; all others are combined, together with the
   rarest shown category if they are too few.
4. A published range is spread evenly over its values. Of a set or a hierarchy level, a category is counted only where
   it is written alone.
5. Our own labels such as "missing" are distinguished from the same words in a table, which are shown in quotes.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.model.policy import Column
from shoal.privacy.measures.published import Published, read_published

PARTS = 16  # approximate number of bins
SHOWN = 12  # categories at most
OR_ANOTHER = " or another value"
DAY = 86_400.0
NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
LARGE, SMALL, NOISE = 1e300, 1e-300, 1e-12  # the largest limit; absolute and relative rounding error


class Own(Enum):
    """Our own labels, which are not categories of the table, in the order in which they are shown."""

    OTHERS = "other values"
    SEVERAL = "one of several"
    BETWEEN = "a range of levels"
    GAPS = "missing"


Floats = NDArray[np.float64]
Counts = dict[str | Own, float]


def of_column(
    after: pa.ChunkedArray, given: Column, k: int, before: pa.ChunkedArray | None = None
) -> dict[str, Any] | None:
    """Return the distribution of a released column, as a picture of kind "steps" or "bars" for `drawing.draw`.

    `before`, the original cells, is for the data holder's report only. None if every value is too rare to be shown.

    Guarantee
    ---------
    Every number of rows in it is 0 or at least k. Limits and categories depend on the released column alone, except for
    categories that fewer than k rows had before, which are combined with others.
    """
    old = None if before is None else _plain(before)
    if given.kind in ("numeric", "date"):
        spans = _spans(_plain(after), given)
        values = None if old is None else _spans(old, given.model_copy(update={"form": "median"}))
        if spans is not None and (old is None or values is not None):
            return _steps(spans, values, k, dates=given.kind == "date")
    return _bars(_plain(after), old, given, k)


def middles(column: pa.ChunkedArray, given: Column) -> Floats | None:
    """Return the midpoint of each published range; NaN where a cell is missing, None if the column has no ranges."""
    spans = _spans(_plain(column), given)
    with np.errstate(over="ignore", invalid="ignore"):
        return None if spans is None else np.asarray(spans.mean(axis=1))


def joined(counts: Sequence[Floats], k: int) -> list[tuple[int, int]]:
    """Return runs (start, end) of neighbouring bins that contain no rows or at least k in every one of the counts.

    Examples
    --------
    >>> joined([np.array([1.0, 6, 0, 2, 9])], 5)
    [(0, 2), (2, 3), (3, 5)]
    """
    runs: list[tuple[int, int]] = []
    start = 0
    for end in range(1, counts[0].size + 1):
        if all(_enough(float(one[start:end].sum()), k) for one in counts):
            runs.append((start, end))
            start = end
    while start < counts[0].size and runs:
        start = runs.pop()[0]
        if all(_enough(float(one[start:].sum()), k) for one in counts):
            runs.append((start, counts[0].size))
            break
    return runs


def round_limits(low: float, high: float, *, whole: bool, parts: int = PARTS) -> Floats:
    """Return a few equidistant round numbers from below `low` to above `high`, both finite and at most 1e300.

    Examples
    --------
    >>> round_limits(17.3, 64.9, whole=True, parts=5).tolist()
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    """
    several = high - low > max(NOISE * max(abs(low), abs(high)), SMALL)
    width = high - low if several else max(abs(low), 1.0) / 4
    exact = width / parts
    power = 10.0 ** np.floor(np.log10(exact))
    step = float(next(power * times for times in (1, 2, 5, 10) if power * times >= exact * 0.999))
    step = max(step, 1.0) if whole else step
    first, last = np.floor(low / step), np.floor(high / step) + 1
    return np.asarray(np.arange(first, last + 1) * step, np.float64)


def names_of(
    counts: Sequence[Mapping[str | Own, float]], k: int, most: int = SHOWN
) -> tuple[list[str | Own], list[Floats]]:
    """Return the labels that may be shown, most frequent category first and the combined rest last, and their rows.

    `counts` has the rows of each category after and, if known, before; at most `most` categories are shown.

    Examples
    --------
    >>> names_of([{"a": 9, "b": 7, "c": 2}], 5)[0]
    ['a', 'b or another value']
    """
    own = [word for word in Own if word in counts[0] or word in counts[-1]]
    own = [word for word in own if _may_be_shown([one.get(word, 0.0) for one in counts], k)]
    names = {name for one in counts for name in one if isinstance(name, str)}
    every = sorted(names, key=lambda name: (-counts[0].get(name, 0), name))
    fit = [name for name in every if counts[0].get(name, 0.0) >= k and _enough(counts[-1].get(name, 0.0), k)]
    rows = [np.array([one.get(name, 0.0) for name in fit[:most]]) for one in counts]
    added = [np.array([one.get(word, 0.0) for word in own]) for one in counts]
    left = [
        sum(one.values()) - float(some.sum() + more.sum()) for one, some, more in zip(counts, rows, added, strict=True)
    ]
    shown: list[str | Own] = [_quoted(name) for name in fit[:most]]
    if not all(_enough(one, k) for one in left) and shown:
        # Too few to be shown by themselves: add them to the rarest category.
        for some, more in zip(rows, left, strict=True):
            some[-1] += more
        shown, left = [*shown[:-1], f"{shown[-1]}{OR_ANOTHER}"], [0.0] * len(left)
    if any(one >= 0.5 for one in left):
        shown, rows = [*shown, Own.OTHERS], [np.append(one, more) for one, more in zip(rows, left, strict=True)]
    return [*shown, *own], [np.append(one, more) for one, more in zip(rows, added, strict=True)]


def _quoted(name: str) -> str:
    """Return a category, in quotes if it could be mistaken for one of our own labels."""
    bare = name.strip("“”")
    return f"“{name}”" if bare.endswith(OR_ANOTHER) or bare in {word.value for word in Own} else name


def _enough(rows: float, k: int) -> bool:
    """Return whether a number of rows may be shown."""
    return rows < 1e-6 or rows >= k - 1e-6


def _may_be_shown(gaps: Sequence[float], k: int) -> bool:
    """Return whether missing values after and before may be shown, and so their difference: cells filled or emptied."""
    return all(_enough(gap, k) for gap in (*gaps, abs(gaps[0] - gaps[-1])))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionary encoding."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _steps(spans: Floats, values: Floats | None, k: int, *, dates: bool) -> dict[str, Any] | None:
    """Return numbers or dates counted in bins with round limits."""
    known = np.clip(spans[np.isfinite(spans).all(axis=1)], -LARGE, LARGE)
    if len(known) < k:
        return None
    middles = np.sort(known.mean(axis=1))
    cut = min(2 * k, middles.size // 4)
    low, high = middles[cut], middles[middles.size - 1 - cut]
    whole = bool((known == np.round(known)).all())
    limits = _days(low, high) if dates else round_limits(low, high, whole=whole)
    both = [_counted(np.clip(one, -LARGE, LARGE), limits) for one in (spans, values) if one is not None]
    counts, gaps = [one for one, _ in both], [gap for _, gap in both]
    shown = _may_be_shown(gaps, k)
    if not shown:  # too few to be shown: add them to the last bin
        for one, gap in both:
            one[-1] += gap
    runs = joined(counts, k)
    if not runs:
        return None
    ends = [limits[first] for first, _ in runs] + [limits[-1]]
    rows = [[round(float(one[first:last].sum())) for first, last in runs] for one in counts]
    return {
        "kind": "steps",
        "dates": dates,
        "limits": [str(np.datetime64(int(end), "D")) if dates else float(end) for end in ends],
        "after": rows[0],
        "before": rows[1] if len(rows) > 1 else None,
        "missing": [round(gap) for gap in gaps] if shown and any(gaps) else None,
    }


def _counted(spans: Floats, limits: Floats) -> tuple[Floats, float]:
    """Return the rows in each bin, with a range spread evenly, and the number of missing values."""
    known = spans[np.isfinite(spans[:, 0])]
    inner = limits[1:-1]
    wide = known[:, 1] > known[:, 0]
    places = np.searchsorted(inner, known[~wide, 0], side="right")
    counts = np.bincount(places, minlength=inner.size + 1).astype(np.float64)
    edges = np.concatenate([[-np.inf], inner, [np.inf]])
    ranges, rows = np.unique(known[wide, 0] + 1j * known[wide, 1], return_counts=True)
    for start, end, times in zip(ranges.real, ranges.imag, rows, strict=True):
        share = np.clip(edges[1:], start, end) - np.clip(edges[:-1], start, end)
        counts += times * share / (end - start)
    return counts, float(len(spans) - len(known))


def _days(low: float, high: float) -> Floats:
    """Return the first days of equally spaced years, months or weeks, as days since 1970."""
    first, last = (np.datetime64(int(day), "D") for day in (low, high))
    if high - low < 90:
        return round_limits(low, high, whole=True)
    unit = "Y" if high - low > 365 * 6 else "M"
    spread = int(last.astype(f"datetime64[{unit}]").astype(int) - first.astype(f"datetime64[{unit}]").astype(int))
    step = next(s for s in (1, 2, 3, 5, 6, 10, 20, 50, 100, 1000, 10**6) if spread / s <= PARTS)
    start = int(first.astype(f"datetime64[{unit}]").astype(int)) // step * step
    places = np.arange(start, start + spread + 2 * step, step)
    return np.asarray(places.astype(f"datetime64[{unit}]").astype("datetime64[D]").astype(np.float64))


def _spans(column: pa.ChunkedArray, given: Column) -> Floats | None:
    """Return the limits of each cell as numbers or days, NaN where missing or uninformative; None if text."""
    if pa.types.is_temporal(column.type) and not pa.types.is_time(column.type):
        days = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)
        numbers = np.floor(np.asarray(days.fill_null(np.nan).to_numpy()) / 1e6 / DAY)
    elif any(is_kind(column.type) for is_kind in NUMBERS):
        numbers = np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy())
    elif given.form in ("range", "tree") and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return _read(column, dates=given.kind == "date", may_be_any=given.form == "tree")
    else:
        return None
    return np.column_stack([numbers, numbers])


def _read(column: pa.ChunkedArray, *, dates: bool, may_be_any: bool) -> Floats | None:
    """Return the limits of published ranges; None if one of the cells is not a range."""
    coded = column.combine_chunks().dictionary_encode()
    limits = np.full((len(coded.dictionary) + 1, 2), np.nan)
    for place, text in enumerate(coded.dictionary.to_pylist()):
        parts = read_published(text, "range").values
        if may_be_any and text == "*":
            continue
        try:
            ends = [_number(part, dates=dates) for part in (parts[0], parts[-1])]
        except ValueError:
            return None
        limits[place] = ends
    codes = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
    return np.asarray(limits[codes], np.float64)


def _number(text: str, *, dates: bool) -> float:
    """Parse a number, or a date as days since 1970."""
    return float(np.datetime64(text.replace("T", " ").split()[0], "D").astype(np.int64)) if dates else float(text)


def _bars(after: pa.ChunkedArray, before: pa.ChunkedArray | None, given: Column, k: int) -> dict[str, Any] | None:
    """Return categories and how many rows have each."""
    counts = [_named(after, given)]
    if before is not None:
        counts.append(_named(before, given.model_copy(update={"form": "mode"})))
    labels, rows = names_of(counts, k)
    if set(labels) <= set(Own) or not all(_enough(float(one), k) for side in rows for one in side):
        return None
    return {
        "kind": "bars",
        "labels": [one.value if isinstance(one, Own) else one for one in labels],
        "after": [round(float(one)) for one in rows[0]],
        "before": [round(float(one)) for one in rows[1]] if len(rows) > 1 else None,
    }


def _named(column: pa.ChunkedArray, given: Column) -> Counts:
    """Return how many rows have each category; of sets and ranges of levels only cells with a single one."""
    found: Counts = {}
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return {}  # lists and bytes are not categories
    tallied = pc.value_counts(column.cast(pa.string()).combine_chunks())
    for text, rows in zip(tallied.field("values").to_pylist(), tallied.field("counts").to_pylist(), strict=True):
        name = _alone(text, given)
        found[name] = found.get(name, 0.0) + rows
    return found


def _alone(text: str | None, given: Column) -> str | Own:
    """Return the one category of a cell, or one of our own labels."""
    if text is None:
        return Own.GAPS
    if given.form == "set" or (given.form == "range" and given.kind == "ordinal"):
        published = read_published(text, given.form)
        if len(published.values) == 1 and published == Published(published.values):
            return published.values[0]
        return Own.SEVERAL if given.form == "set" else Own.BETWEEN
    return text
