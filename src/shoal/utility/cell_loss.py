"""Cell loss: how much a published cell leaves open, from 0 (one value) to 1 (any value of its column).

1. A **range** loses its width, as a share of that of the column. If a column has missing values, a range that allows
   for them loses one more value, of as many as there are, and its width counts that much less.
2. A **set** loses (categories - 1) / (all categories - 1), missing being a category.
3. A **node** loses (leaves below it - 1) / (all leaves - 1). This is what ARX calls granularity.
4. A cell of another form is one value, but not a true one. It counts as the range or the set of the original values of
   its class; one that is published as missing, although its class had values, could be any.

All of it is read from the released text and the original cells, not from the groups that a method made.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.model.findings import Finding
from shoal.model.sentences import Sentence
from shoal.prepare.encode import microseconds, offsets
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.measures.published import Published
from shoal.privacy.verdict.classes import classes
from shoal.privacy.verdict.values import read_column

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def cell_losses(columns: Sequence[Pair]) -> tuple[Finding, ...]:
    """Measure how much is left open: by what is published, the same weighted as in ARX, and by the classes."""
    if not columns or not len(columns[0].before):
        return ()
    labels = classes((read_column(column.after).codes for column in columns), len(columns[0].before))
    of_classes, published = [], []
    for column in columns:
        lost = class_loss(column, labels)[labels]
        of_classes.append(float(lost.mean()))
        published.append(float((text_loss(column) if column.truthful else _emptied(column, labels, lost)).mean()))
    weights = np.array([1 - 1 / max(1, _values(column)) for column in columns])
    by_arx = float(weights @ published / weights.sum()) if weights.any() else 0.0
    return (
        Finding(
            "cell loss %",
            100 * float(np.mean(published)),
            Sentence("mean imprecision of a cell, from 0 (exact) to 100 (any value)"),
            "pair",
            unit="%",
        ),
        Finding(
            "cell loss % as in ARX",
            100 * by_arx,
            Sentence("the same, columns of L values weighted by 1 - 1/L"),
            "pair",
            unit="%",
        ),
        Finding(
            "class loss %",
            100 * float(np.mean(of_classes)),
            "width of the classes' ranges and sets (NCP)",
            "pair",
            unit="%",
        ),
    )


def _emptied(column: Pair, labels: Labels, lost: Floats) -> Floats:
    """Return the losses of cells, 1 where one is published as missing although its class had values."""
    valued = np.bincount(labels, np.asarray(pc.is_valid(column.before).to_numpy(), np.float64)) > 0
    gone = np.asarray(pc.is_null(column.after).to_numpy(), np.bool_)
    return np.where(gone & valued[labels], 1.0, lost)


def text_loss(column: Pair) -> Floats:
    """Return what each published cell of a truthful form loses."""
    coded = column.after.cast(pa.string()).combine_chunks().dictionary_encode()
    texts = [*coded.dictionary.to_pylist(), None]
    published = [column.published_as(text) for text in texts]
    if column.form == "tree":
        each = _of_nodes(column, published)
    elif column.form == "range":
        each = _of_ranges(column, published)
    else:
        whole = _values(column) + (column.before.null_count > 0)
        each = [max(0, len(one.values) + one.missing - 1) / max(1, whole - 1) for one in published]
    places = coded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)
    return np.array(each, np.float64)[np.asarray(places, np.int64)]


def _of_nodes(column: Pair, published: list[Published]) -> list[float]:
    """Return what nodes lose."""
    if column.tree is None:
        return [0.0] * len(published)
    tree = column.tree
    below = dict(zip(tree.names, (tree.last - tree.first).tolist(), strict=True))
    # A value with others below it is in the tree twice: as a leaf, and as the node above it, which is found last.
    return [below[one.values[0]] / max(1, tree.leaves - 1) if one.values else 0.0 for one in published]


def _of_ranges(column: Pair, published: list[Published]) -> list[float]:
    """Return what ranges lose; limits beyond the values of the column lose no more than those values."""
    places, missing = _places(column)
    whole, toll = _width(column, places, missing)
    numbers = column.numbers_before
    least, most = (float(np.nanmin(numbers)), float(np.nanmax(numbers))) if not missing.all() else (0.0, 0.0)
    if column.kind == "ordinal":
        least, most = 0.0, float(max(1, len(column.order or ())) - 1)
    found = []
    for one in published:
        wide = 0.0
        if len(one.values) > 1 and whole > 0:
            low, high = (_limit(value, column) for value in (one.values[0], one.values[-1]))
            wide = (min(high, most) / 2 - max(low, least) / 2) / (most / 2 - least / 2)  # halves, to avoid overflow
        found.append(max(0.0, wide) * (1 - toll) + (toll if one.missing and one.values else 0.0))
    return found


def _limit(text: str, column: Pair) -> float:
    """Return the limit of a range as a number."""
    try:
        if column.kind == "ordinal":
            return float((column.order or ()).index(text))
        if column.kind == "numeric":
            return float(text)
        cell = pa.chunked_array([pa.array([text]).cast(column.before.type)])
        return float(microseconds(cell)[0].as_py())
    except (ValueError, pa.ArrowInvalid):
        pass
    raise DataError(
        f"measure: ranges of column {column.name!r} have limits that cannot be read as its values. Write them as in "
        "the table."
    )


def class_loss(column: Pair, labels: Labels) -> Floats:
    """Return what the range or the set of the original values of each class loses."""
    count = int(labels.max()) + 1
    if not column.ordered:
        codes = read_column(column.before).codes
        size = int(codes.max()) + 1
        owner = np.unique(labels * size + codes) // size
        return np.asarray((np.bincount(owner, minlength=count) - 1) / max(1, size - 1))
    places, missing = _places(column)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, labels[~missing], places[~missing])
    np.maximum.at(high, labels[~missing], places[~missing])
    whole, toll = _width(column, places, missing)
    held = high >= low
    lost = np.zeros(count)
    if whole > 0:
        lost[held] = (high[held] - low[held]) / whole * (1 - toll)
    return lost + toll * (held & (np.bincount(labels[missing], minlength=count) > 0))


def _places(column: Pair) -> tuple[Floats, NDArray[np.bool_]]:
    """Return where the cells of a column with an order lie, and which are missing."""
    if column.kind == "ordinal":
        numbers = column.numbers_before
        return numbers, np.isnan(numbers)
    moments = pa.types.is_temporal(column.before.type)
    return offsets(microseconds(column.before) if moments else column.before, column.name)


def _width(column: Pair, places: Floats, missing: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the width of a column, and the cost of missing values; for levels, all that are declared count."""
    held = np.arange(len(column.order or ())) if column.kind == "ordinal" else places[~missing]
    if not held.size:
        return 0.0, 0.0
    return float(held.max() - held.min()), 1 / (np.unique(held).size + 1) if missing.any() else 0.0


def _values(column: Pair) -> int:
    """Return the number of values: the leaves of its tree, or those that occur."""
    return column.distinct if column.tree is None else column.tree.leaves
