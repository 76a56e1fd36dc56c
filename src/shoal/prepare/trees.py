"""Trees made from the values of a column, where nobody gives a hierarchy.

| word | of | levels |
| --- | --- | --- |
| `equal-width` | numbers | bins of equal width, two joined at each level |
| `equal-frequency` | numbers | bins of about as many values each, two joined at each level |
| `round` | numbers | bins between round numbers: of 5, 10, 50, 100 ... |
| `calendar` | dates | month, quarter, year, decade |
| `prefix` | codes | one sign less at each level, `I21*` |
| `mask` | codes of equal length | one sign masked at each level, `130**` |
| `auto` | any | `round`, `calendar`, `mask` or `prefix`; of other names, all at once |

Names of bins tell their limits. They are made from the values of the table, but name none that is not a limit.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, PolicyError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.hierarchy import ROOT, Hierarchy, from_lines

__all__ = ["WORDS", "build", "hierarchies", "leaf_of"]

WORDS = ("auto", "equal-width", "equal-frequency", "round", "calendar", "prefix", "mask")
MOST_BINS = 64
FEWEST = 3  # signs that codes to be masked must have
EXACT = Context(prec=120)


def build(word: str, values: Sequence[Any], texts: Sequence[str], who: str) -> Hierarchy:
    """Return a tree of the values of a column.

    Parameters
    ----------
    word : str
        One of `WORDS`.
    values : sequence
        The distinct values, ascending: numbers, dates or texts.
    texts : sequence of str
        The same as they are published.
    who : str
        What to call the column in messages.

    Examples
    --------
    >>> build("round", [18, 19, 23, 41], ["18", "19", "23", "41"], "age").names[4:]
    ('15–19', '10–19', '*', '20–24', '20–29', '40–44', '40–49')
    """
    if not texts:
        return from_lines([[ROOT]], who)
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    dates = all(isinstance(value, date | datetime) for value in values)
    kind = _usual(texts, numeric=numeric, dates=dates) if word == "auto" else word
    if (kind in ("equal-width", "equal-frequency", "round") and not numeric) or (kind == "calendar" and not dates):
        needed = "dates" if kind == "calendar" else "numbers"
        raise PolicyError(
            f"{who}: a hierarchy of the kind {kind!r} is for {needed}, and this column has others. "
            "Say of which kind the column is, or take another hierarchy."
        )
    if kind == "mask" and len({len(text) for text in texts}) > 1:
        raise PolicyError(
            f"{who}: codes to be masked must have the same length. Take 'prefix' for those that have not, and name "
            "words that stand for a missing value in missing_codes."
        )
    make: dict[str, Callable[[Sequence[Any], Sequence[str]], list[list[str]]]] = {
        "equal-width": _equal_width,
        "equal-frequency": _equal_frequency,
        "round": _round,
        "calendar": _calendar,
        "prefix": _prefix,
        "mask": _mask,
        "flat": lambda _, names: [[name, ROOT] for name in names],
    }
    return from_lines(make[kind](values, texts), who)


def hierarchies(table: Table, policy: Policy, files: Mapping[str, Hierarchy]) -> dict[str, Hierarchy]:
    """Return the tree of each column that is published by one, made from its values where only a word is given.

    Parameters
    ----------
    table : Table
        Typed and arranged.
    policy : Policy
        With every column named.
    files : mapping of str to Hierarchy
        Those that were given.
    """
    found = dict(files)
    for name in policy.names("quasi"):
        given = policy.columns[name]
        if name in files and given.form == "tree":
            leaf_of(table.column(name), name, files[name])
        if name in found or (given.hierarchy not in WORDS and given.form != "tree"):
            continue
        column = table.column(name)
        values = pc.unique(column.drop_null())
        order = values.take(pc.array_sort_indices(values))
        word = given.hierarchy if isinstance(given.hierarchy, str) else "auto"
        plain = order.cast(pa.float64()) if pa.types.is_decimal(order.type) else order
        found[name] = build(word, plain.to_pylist(), order.cast(pa.string()).to_pylist(), f"policy: column {name!r}")
    return found


def leaf_of(column: pa.ChunkedArray, name: str, tree: Hierarchy) -> pa.ChunkedArray:
    """Return the leaf of each cell, missing where it is missing, or refuse cells that have none."""
    text = column.cast(pa.string())
    place = pc.index_in(text, value_set=pa.array(tree.names[: tree.leaves], pa.string()))
    strange = text.filter(pc.and_(pc.is_null(place), pc.is_valid(text)))
    if len(strange):
        raise DataError(
            f"encode: {len(strange)} cells of column {name!r}, with {len(pc.unique(strange))} different values, have "
            "no place in its hierarchy. Add a line for each of these values, or name them in missing_codes."
        )
    return place


def _usual(texts: Sequence[str], *, numeric: bool, dates: bool) -> str:
    """Return which kind of tree suits a column."""
    if numeric or dates:
        return "round" if numeric else "calendar"
    lengths = {len(text) for text in texts}
    coded = sum(any(sign.isdigit() for sign in text) for text in texts) * 2 > len(texts)
    if coded and len(lengths) == 1 and min(lengths) >= FEWEST:
        return "mask"
    return "prefix" if coded else "flat"


def _binned(texts: Sequence[str], edges: list[int]) -> list[list[str]]:
    """Return lines of values in bins that begin at these places, two bins joined at each level."""
    levels = [edges]
    while len(levels[-1]) > 1:
        levels.append(levels[-1][::2])
    lines = []
    for place, text in enumerate(texts):
        line = [text]
        for starts in levels[:-1]:
            bin_ = int(np.searchsorted(starts, place, side="right")) - 1
            last = (starts[bin_ + 1] if bin_ + 1 < len(starts) else len(texts)) - 1
            low, high = texts[starts[bin_]], texts[last]
            line.append(low if low == high else f"{low}–{high}")
        lines.append([*line, ROOT])
    return lines


def _equal_width(values: Sequence[Any], texts: Sequence[str]) -> list[list[str]]:
    """Return lines of bins of equal width."""
    # From the least one, so that large whole numbers keep their last digits; floats in quarters, so that the difference
    # of the widest is finite.
    whole = all(isinstance(value, int) for value in values)
    numbers = np.array([value - values[0] for value in values] if whole else values, np.float64) / 4
    bins = min(MOST_BINS, 1 << max(len(numbers) - 1, 1).bit_length() - 1)
    width = (numbers[-1] - numbers[0]) / bins if np.isfinite(numbers).all() else 0.0
    place = np.zeros(len(numbers), int)
    if width > 0:
        place = np.minimum((numbers - numbers[0]) / width, bins - 1).astype(int)
    return _binned(texts, np.unique(place, return_index=True)[1].tolist())


def _equal_frequency(values: Sequence[Any], texts: Sequence[str]) -> list[list[str]]:
    """Return lines of bins of about as many values each."""
    bins = min(MOST_BINS, max(1, len(values) // 2))
    edges = sorted({int(share * len(values) / bins) for share in range(bins)})
    return _binned(texts, edges)


def _round(_values: Sequence[Any], texts: Sequence[str]) -> list[list[str]]:
    """Return lines of bins between round numbers."""
    # In decimals, as the values are published: a float next to a limit would come into the wrong bin.
    with localcontext(EXACT):
        numbers = [Decimal(text) for text in texts]
        if not all(number.is_finite() for number in numbers):
            return [[text, ROOT] for text in texts]
        span = max(numbers) - min(numbers)
        whole = all(number == number.to_integral_value() for number in numbers)
        steps, step = [], Decimal(1).scaleb((span / 100).adjusted())
        while step < span:
            for width in (step, 5 * step):
                if span / MOST_BINS <= width < span and not (whole and width <= 1):
                    steps.append(width)
            step *= 10
        lines = []
        for number, text in zip(numbers, texts, strict=True):
            lows = [(width, (number / width).to_integral_value(ROUND_FLOOR) * width) for width in steps]
            bins = [f"{_plain(low)}–{_plain(low + width - (1 if whole else 0))}" for width, low in lows]
            lines.append([text, *bins, ROOT])
        return lines


def _plain(number: Decimal) -> str:
    """Return a number as it is usually written, if that is not too long."""
    short = number.normalize()
    return f"{short + 0:f}" if -7 < short.adjusted() < 21 else str(short)


def _calendar(values: Sequence[Any], texts: Sequence[str]) -> list[list[str]]:
    """Return lines of month, quarter, year and decade."""
    return [
        [
            text,
            f"{day.year:04d}-{day.month:02d}",
            f"{day.year:04d}-Q{(day.month + 2) // 3}",
            f"{day.year:04d}",
            f"{day.year // 10 * 10:04d}s",
            ROOT,
        ]
        for day, text in zip(values, texts, strict=True)
    ]


def _prefix(_values: Sequence[Any], texts: Sequence[str]) -> list[list[str]]:
    """Return lines of ever shorter beginnings; an empty text is right below the root."""
    longest = max(map(len, texts), default=0)
    lines = []
    for text in texts:
        shorter = (f"{text[:length]}*" if length < len(text) else text or ROOT for length in range(longest - 1, 0, -1))
        lines.append([text, *shorter, ROOT])
    return lines


def _mask(_values: Sequence[Any], texts: Sequence[str]) -> list[list[str]]:
    """Return lines with ever more signs masked."""
    size = len(texts[0]) if texts else 0
    return [
        [text, *(text[:length] + "*" * (size - length) for length in range(size - 1, 0, -1)), ROOT] for text in texts
    ]
