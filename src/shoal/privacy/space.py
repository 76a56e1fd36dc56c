"""A space in which an attacker compares: original and released rows in the columns that the attacker knows.

1. Numbers, dates and levels are counted in standard deviations of the original column; a missing one lies at the mean,
   and whether it is missing is one more dimension. A range lies in its middle.
2. Names are a dimension each, at a distance of 1 from each other. A set, or a node of a tree, lies in the middle of the
   names that it may mean.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.privacy.case import Case
from shoal.privacy.pairs import Pair
from shoal.privacy.published import read_published

__all__ = ["blocks", "nearest_rows", "space"]

Floats = NDArray[np.float64]
MOST_NAMES = 200  # of a column; rarer ones are one name
BLOCK = 4_000_000  # distances that are held at once


def space(case: Case, known: Sequence[str]) -> tuple[Floats, Floats]:
    """Return original and released rows as two matrices of the same columns.

    Parameters
    ----------
    case : Case
        With the original table.
    known : sequence of str
        Quasi-identifiers.
    """
    parts = [_dimensions(column) for column in case.columns if column.name in known]
    n = case.n
    before = [np.zeros((n, 0)), *(part[0] for part in parts)]
    after = [np.zeros((n, 0)), *(part[1] for part in parts)]
    return np.hstack(before), np.hstack(after)


def nearest_rows(targets: Floats, rows: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Return, for a block of targets, which rows are nearest to each, ties included, and how far these are, squared.

    Parameters
    ----------
    targets : float64 array of shape (m, d)
        So few that m times the number of rows fits into memory; see `blocks`.
    rows : float64 array of shape (n, d)
    """
    away = np.zeros((len(targets), len(rows)))
    for j in range(targets.shape[1]):
        away += (targets[:, j, None] - rows[None, :, j]) ** 2
    least = away.min(axis=1)
    return away <= least[:, None] * (1 + 1e-9) + 1e-18, least


def blocks(targets: NDArray[np.int64], rows: int) -> list[NDArray[np.int64]]:
    """Return the targets in parts that can be compared with so many rows at once."""
    each = max(1, BLOCK // max(1, rows))
    return [targets[start : start + each] for start in range(0, targets.size, each)]


def _dimensions(column: Pair) -> tuple[Floats, Floats]:
    """Return a column before and after as dimensions."""
    if column.ordered:
        return _of_numbers(column)
    return _of_names(column)


def _of_numbers(column: Pair) -> tuple[Floats, Floats]:
    """Return a column with an order, in standard deviations from its mean, and whether cells are missing."""
    before = column.numbers[0]
    after = _middles(column) if column.truthful else column.numbers[1]
    known = before[~np.isnan(before)]
    spread = float(known.std()) if known.size else 0.0
    middle = float(known.mean()) if known.size else 0.0
    found = []
    for cells in (before, after):
        gone = np.isnan(cells)
        scaled = np.where(gone, 0.0, (np.where(gone, middle, cells) - middle) / (spread or 1.0))
        found.append(np.column_stack([scaled, gone.astype(np.float64)]))
    if not (found[0][:, 1].any() or found[1][:, 1].any()):
        return found[0][:, :1], found[1][:, :1]
    return found[0], found[1]


def _middles(column: Pair) -> Floats:
    """Return the middle of each published range; NaN for one that says missing only."""
    texts = column.before.cast(pa.string()).to_pylist()
    places = dict(zip(texts, column.numbers[0].tolist(), strict=True))
    coded = column.after.cast(pa.string()).combine_chunks().dictionary_encode()
    told = [read_published(text, "range") for text in [*coded.dictionary.to_pylist(), None]]
    each = [np.mean([places.get(value, np.nan) for value in one.values]) if one.values else np.nan for one in told]
    return np.array(each, np.float64)[np.asarray(coded.indices.fill_null(len(told) - 1).to_numpy(zero_copy_only=False))]


def _of_names(column: Pair) -> tuple[Floats, Floats]:
    """Return a dimension for each frequent name, missing being one; published sets lie between theirs."""
    texts = column.before.cast(pa.string()).combine_chunks().dictionary_encode()
    names = [*texts.dictionary.to_pylist(), None]
    codes = np.asarray(texts.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False))
    order = np.argsort(-np.bincount(codes, minlength=len(names)), kind="stable")[: MOST_NAMES - 1]
    place = {names[code]: number for number, code in enumerate(order)}
    width = len(place) + 1
    side = np.sqrt(0.5)  # two different names are 1 apart
    points = np.zeros((len(names), width))
    points[np.arange(len(names)), [place.get(name, width - 1) for name in names]] = side
    coded = column.after.cast(pa.string()).combine_chunks().dictionary_encode()
    published = [_meant(column, text) for text in [*coded.dictionary.to_pylist(), None]]
    after = np.zeros((len(published), width))
    for number, meant in enumerate(published):
        for name in meant:
            after[number, place.get(name, width - 1)] += side / len(meant)
    indices = np.asarray(coded.indices.fill_null(len(published) - 1).to_numpy(zero_copy_only=False))
    return points[codes], after[indices]


def _meant(column: Pair, text: str | None) -> list[str | None]:
    """Return the names that a released cell may mean."""
    if text is None or not column.truthful:
        return [text]
    if column.tree is not None and text in column.tree.names:
        node = len(column.tree.names) - 1 - list(reversed(column.tree.names)).index(text)
        first, last = int(column.tree.first[node]), int(column.tree.last[node])
        return list(column.tree.names[first : last + 1])
    told = read_published(text, column.form)
    return [*told.values, *([None] if told.missing else [])] or [None]
