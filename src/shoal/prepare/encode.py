"""Encode the quasi-identifiers as a matrix of numbers without missing values, in which distance means dissimilarity.

1. Numbers, days of dates and ranks of levels become z-scores by the population standard deviation. A column is first
   scaled by a power of two and shifted to its minimum, so that neither 1e300 nor a large offset loses digits, and
   z-scores are rounded to multiples of 2^-40, so that the unit does not decide ties.
2. Categories become one column each, 1/sqrt(2) in its rows: two different categories are at distance 1. Categories that
   fewer than k rows have, and those beyond the 100 most frequent, share one column: the former are not published by
   mode anyway.
3. A constant column is left out: it distinguishes nobody.
4. A missing number is imputed by the mean and gets an indicator column, 1 where it is missing; a missing category is a
   category.
5. The columns of a quasi-identifier are multiplied by the square root of its importance, so that squared distances in
   it count that many times.
6. Row weights, if the policy names a column of them, are kept beside the matrix.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError, counted
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.hierarchy import Hierarchy
from shoal.prepare.trees import hierarchies

if TYPE_CHECKING:
    from shoal.kernels.columns import Columns

Matrix = NDArray[np.float64]
MOST_CATEGORIES = 100  # of a quasi-identifier, with a column of their own
GRID = 2.0**40


@dataclass(frozen=True, eq=False)
class Encoded:
    """The matrix X of shape (n, d) that a method sees, and what belongs to it."""

    X: Matrix
    weights: Matrix | None = None  # of the rows, from 0 to 1; None if all count alike
    notes: tuple[str, ...] = ()  # what was left out or merged
    columns: "Columns | None" = None  # the quasi-identifiers as codes, for mixed methods; X has no columns then
    trees: "Mapping[str, Hierarchy]" = field(default_factory=dict)
    names: tuple[str, ...] = ()  # the column of the table behind each column of X
    view_of: NDArray[np.int64] | None = None  # the view of each column of X; None without views

    def rows(self, some: NDArray[np.int64] | None) -> Matrix:
        """Return these rows of X; all of them for None."""
        return self.X if some is None else self.X[some]


def encode(
    table: Table, policy: Policy, trees: "Mapping[str, Hierarchy] | None" = None, *, mixed: bool = False
) -> Encoded:
    """Encode the quasi-identifiers of an arranged table; the policy names every column.

    `trees` are the hierarchies that were given. With `mixed`, the method works on columns of any kind and not on a
    matrix.
    """
    weights, of_weights = row_weights(table, policy)
    known = hierarchies(table, policy, trees or {})
    if mixed:
        from shoal.prepare.mixed import mixed_columns

        columns, more = mixed_columns(table, policy, known)
        return Encoded(np.zeros((table.n, 0)), weights, (*more, *of_weights), columns, known)
    notes: list[str] = []
    names: list[str] = []
    made = list(matrix_columns(table, policy, notes, names))
    X = np.ascontiguousarray(np.column_stack(made)) if made else np.zeros((table.n, 0))
    view_of = _views(policy, names)
    return Encoded(X, weights, (*notes, *of_weights), trees=known, names=tuple(names), view_of=view_of)


def _views(policy: Policy, names: list[str]) -> NDArray[np.int64] | None:
    """Return the view of each column of the matrix, those without one together; None if there are no views."""
    views = [policy.columns[name].view or "" for name in names]
    if not any(views):
        return None
    return np.unique(np.array(views), return_inverse=True)[1].reshape(-1).astype(np.int64)


def matrix_columns(
    table: Table, policy: Policy, notes: list[str] | None = None, names: list[str] | None = None
) -> Iterator[Matrix]:
    """Yield the columns of the matrix one by one; append to `notes` and, the table's column behind each, to `names`.

    For a table with very many categories the whole matrix would not fit into memory, but group statistics can be
    computed column by column.
    """
    for name in policy.names("quasi"):
        given = policy.columns[name]
        root = 1.0 if given.importance is None else float(np.sqrt(given.importance))
        column = table.column(name)
        if given.kind in ("nominal", "boolean"):
            places, width, note = _categories(column, policy.constraints.k)
            made = (np.where(places == place, root * np.sqrt(0.5), 0.0) for place in range(width))
        else:
            blocks, note = _numbers(column, name, given.order if given.kind == "ordinal" else None)
            made = (root * block for block in blocks)
        if note and notes is not None:
            notes.append(f"column {name!r}: {note}")
        for block in made:
            if names is not None:
                names.append(name)
            yield block


def offsets(column: pa.ChunkedArray, name: str) -> tuple[Matrix, NDArray[np.bool_]]:
    """Return a numeric column shifted to its minimum and scaled by a power of two, and where it is missing.

    Differences are exact to the last digit: integers are shifted before they become floats, and the scale keeps every
    float between -2 and 2.
    """
    missing = np.asarray(pc.is_null(column).to_numpy(), dtype=bool)
    if pa.types.is_integer(column.type):
        least = pc.min(column)
        try:
            column = pc.subtract_checked(column, least)
        except pa.ArrowInvalid:
            column = column.cast(pa.float64(), safe=False)
    numbers = column.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy().astype(np.float64)
    infinite = int(np.isinf(numbers).sum())
    if infinite:
        raise DataError(
            f"encode: column {name!r} has {counted(infinite, 'infinite value')}, and so no mean. "
            "List inf or -inf in missing_codes, or replace the value."
        )
    present = numbers[~missing]
    if present.size:
        numbers = np.ldexp(numbers, -int(np.frexp(np.abs(present).max())[1]))
        numbers -= numbers[~missing].min()
    numbers[missing] = 0.0
    return numbers, missing


def microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return dates and timestamps as whole microseconds."""
    kind = column.type
    moments = column.cast(pa.timestamp("us", tz=kind.tz if pa.types.is_timestamp(kind) else None), safe=False)
    return moments.cast(pa.int64())


def row_weights(table: Table, policy: Policy) -> tuple[Matrix | None, tuple[str, ...]]:
    """Return the row weights, if the policy names a column of them, and notes on them."""
    if policy.weight is None:
        return None, ()
    weights = np.asarray(table.column(policy.weight).cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy())
    wrong = int((~(np.isfinite(weights) & (weights >= 0))).sum())
    if wrong:
        raise DataError(
            f"encode: the weight column {policy.weight!r} has {counted(wrong, 'cell')} missing, negative or infinite. "
            "A weight is a number of at least 0."
        )
    if not weights.any():
        return None, (f"column {policy.weight!r}: every weight is 0, so all rows count equally",)
    # Only ratios matter, so the largest weight is scaled to 1: sums cannot overflow then.
    return weights / weights.max(), ()


def _numbers(column: pa.ChunkedArray, name: str, order: tuple[str, ...] | None) -> tuple[list[Matrix], str]:
    """Return z-scores, with an indicator column for missing values if there are any."""
    if order is not None:
        column = pc.index_in(column.cast(pa.string()), value_set=pa.array(order, pa.string()))
    elif pa.types.is_temporal(column.type):
        column = microseconds(column)
    numbers, missing = offsets(column, name)
    present = numbers[~missing]
    blocks = []
    spread = present.std() if present.size else 0.0
    if present.size and present.min() != present.max() and spread > 0:
        scores = np.rint((numbers - present.mean()) / spread * GRID) / GRID
        scores[missing] = 0.0
        blocks.append(scores)
    if 0 < present.size < numbers.size:
        blocks.append(missing.astype(np.float64))
    return blocks, "" if blocks else "constant, left out of the distances"


def _categories(column: pa.ChunkedArray, k: int) -> tuple[NDArray[np.int64], int, str]:
    """Return the number of each cell's category among those with a column of their own, and how many there are."""
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    size = len(coded.dictionary)
    if size < 2:
        return codes, 0, "constant, left out of the distances"
    by_value = np.empty(size, np.int64)
    by_value[pc.array_sort_indices(coded.dictionary).to_numpy()] = np.arange(size)
    counts = np.bincount(codes, minlength=size)
    common = min(int((counts >= k).sum()), MOST_CATEGORIES)
    place = np.empty(size, np.int64)
    place[np.lexsort((by_value, -counts))] = np.minimum(np.arange(size), common)
    width = int(place.max()) + 1
    if width < 2:
        return codes, 0, f"no category has {k} rows; left out of the distances"
    rare = size - common
    return place[codes], width, f"{rare} rarer categories count as one in the distances" if rare > 1 else ""
