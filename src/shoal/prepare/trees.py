"""Trees built from the values of a column without a given hierarchy.

| word | of | levels |
| --- | --- | --- |
| `equal-width` | numbers | bins of about equal width, two merged at each level |
| `equal-frequency` | numbers | bins of about equal numbers of distinct values, two merged at each level |
| `round` | numbers | bins between round numbers: of 5, 10, 50, 100 ... |
| `calendar` | dates | month, quarter, year, decade |
| `prefix` | codes | one character less at each level, `I21*` |
| `mask` | codes of equal length | one character masked at each level, `130**` |
| `auto` | any | `round`, `calendar`, `mask` or `prefix`; for other categories, a single level |

A bin is named by its limits, which are round numbers or values that k rows have (`prepare.bins`). All other labels
cover whatever is below them, and a class is published by the lowest label above all its rows: at least k rows share it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, PolicyError, counted
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.bins import equal_frequency, equal_width, round_bins
from shoal.prepare.hierarchy import ROOT, Hierarchy, from_lines

WORDS = ("auto", "equal-width", "equal-frequency", "round", "calendar", "prefix", "mask")
FEWEST = 3  # characters that codes to be masked must have


def build(word: str, values: Sequence[Any], texts: Sequence[str], who: str, common: Collection[str] = ()) -> Hierarchy:
    """Return a tree of the values of a column; `word` is one of `WORDS`, and `who` names the column in messages.

    `values` are distinct and ascending: numbers, dates or texts; `texts` are the same as published. `common` are the
    texts that k rows have, which may be limits of bins.

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
            f"{who}: a hierarchy of the kind {kind!r} is for {needed}, and this column has other values. "
            "Set the kind of the column, or choose another hierarchy."
        )
    if kind == "mask" and len({len(text) for text in texts}) > 1:
        raise PolicyError(
            f"{who}: codes to be masked must have the same length. Use 'prefix' for codes of different lengths, and "
            "list codes for missing values in missing_codes."
        )
    make: dict[str, Callable[[Sequence[Any], Sequence[str]], list[list[str]]]] = {
        "equal-width": lambda _, names: equal_width(names, common),
        "equal-frequency": lambda _, names: equal_frequency(names, common),
        "round": lambda _, names: round_bins(names),
        "calendar": _calendar,
        "prefix": _prefix,
        "mask": _mask,
        "flat": lambda _, names: [[name, ROOT] for name in names],
    }
    return from_lines(make[kind](values, texts), who)


def hierarchies(table: Table, policy: Policy, files: Mapping[str, Hierarchy]) -> dict[str, Hierarchy]:
    """Return the tree of each column that is published by one: as given in `files`, or built from its values.

    No bin of such a tree has a limit that fewer than k rows have, unless it is a round number.
    """
    found = dict(files)
    for name in policy.names("quasi"):
        given = policy.columns[name]
        if name in files and given.form == "tree":
            leaf_of(table.column(name), name, files[name])
        if name in found or (given.hierarchy not in WORDS and given.form != "tree"):
            continue
        column = table.column(name)
        tally = pc.value_counts(column.drop_null())
        values, counts = tally.field("values"), tally.field("counts")
        by_value = pc.array_sort_indices(values)
        order, held = values.take(by_value), counts.take(by_value)
        word = given.hierarchy if isinstance(given.hierarchy, str) else "auto"
        plain = order.cast(pa.float64()) if pa.types.is_decimal(order.type) else order
        texts = order.cast(pa.string())
        common = texts.filter(pc.greater_equal(held, policy.constraints.k)).to_pylist()
        found[name] = build(word, plain.to_pylist(), texts.to_pylist(), f"policy: column {name!r}", common)
    return found


def leaf_of(column: pa.ChunkedArray, name: str, tree: Hierarchy) -> pa.ChunkedArray:
    """Return the leaf of each cell, missing where it is missing, or refuse cells that have none."""
    text = column.cast(pa.string())
    place = pc.index_in(text, value_set=pa.array(tree.names[: tree.leaves], pa.string()))
    unknown = text.filter(pc.and_(pc.is_null(place), pc.is_valid(text)))
    if len(unknown):
        different = len(pc.unique(unknown))
        raise DataError(
            f"encode: {counted(len(unknown), 'cell')} of column {name!r}, with {counted(different, 'distinct value')}, "
            "cannot be found in its hierarchy. Add a line for each of these values, or list them in missing_codes."
        )
    return place


def _usual(texts: Sequence[str], *, numeric: bool, dates: bool) -> str:
    """Return the kind of tree that suits a column."""
    if numeric or dates:
        return "round" if numeric else "calendar"
    lengths = {len(text) for text in texts}
    coded = sum(any(character.isdigit() for character in text) for text in texts) * 2 > len(texts)
    if coded and len(lengths) == 1 and min(lengths) >= FEWEST:
        return "mask"
    return "prefix" if coded else "flat"


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
    """Return lines of ever shorter prefixes; an empty text is directly below the root."""
    longest = max(map(len, texts), default=0)
    lines = []
    for text in texts:
        shorter = (f"{text[:length]}*" if length < len(text) else text or ROOT for length in range(longest - 1, 0, -1))
        lines.append([text, *shorter, ROOT])
    return lines


def _mask(_values: Sequence[Any], texts: Sequence[str]) -> list[list[str]]:
    """Return lines with ever more characters masked."""
    size = len(texts[0]) if texts else 0
    return [
        [text, *(text[:length] + "*" * (size - length) for length in range(size - 1, 0, -1)), ROOT] for text in texts
    ]
