"""Recode: classes into values. One published value a group and column, made once and given to every row.

1. In each quasi-identifier, a group that is missing in half of its rows or more is published as missing.
2. Else the rows that have a value decide: mean, median, mode, medoid, range or set, as the policy says.
3. A name or level that fewer than k rows of the table hold is never published by mode or median: the
   group's other rows decide, or it is published as missing.
4. Sensitive and kept columns go out as they are; identifiers do not go out at all.
"""

from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.release import Change
from shoal.model.table import Table
from shoal.prepare.encode import Encoded, days

__all__ = ["Recoded", "recode"]

Rows = NDArray[np.int64]
DAY = 86_400_000_000  # microseconds
EXACT = Context(prec=100)


@dataclass(frozen=True, eq=False)
class Recoded:
    """The released columns, row by row as in the arranged table, and what was changed in each."""

    data: pa.Table
    ledger: tuple[Change, ...]


def recode(table: Table, partition: Partition, policy: Policy, encoded: Encoded) -> Recoded:
    """Give every row the values of its group.

    Parameters
    ----------
    table : Table
        Arranged.
    partition : Partition
        Of its rows.
    policy : Policy
        With every column named.
    encoded : Encoded
        The matrix, by which the medoid of a group is found.

    Returns
    -------
    Recoded
    """
    groups = _Groups(partition, policy.constraints.k, _weights(table, policy))
    labels = pa.array(partition.labels)
    columns, ledger = {}, []
    for name in table.names:
        given = policy.columns[name]
        if given.role == "identifier":
            continue
        column = table.column(name)
        if given.role == "quasi":
            form = given.form or "mode"
            values = _publish(column, form, given.kind or "nominal", given.order, groups, encoded)
            columns[name] = pa.chunked_array([values.take(labels)])
            ledger.append(_change(column, columns[name], name, form))
        else:
            columns[name] = column
            ledger.append(Change(name, given.role, "as it is", 0, 0, 0))
    return Recoded(pa.table(columns), tuple(ledger))


class _Groups:
    """The rows of each group one after the other, for sums over stretches."""

    def __init__(self, partition: Partition, k: int, weights: NDArray[np.float64] | None) -> None:
        self.k = k
        self.weights = weights
        self.labels = partition.labels
        self.count = partition.groups
        self.sizes = partition.sizes

    def held(self, missing: NDArray[np.bool_]) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the rows that have a value, and the groups that are to be published as missing."""
        gaps = np.bincount(self.labels[missing], minlength=self.count)
        return np.flatnonzero(~missing).astype(np.int64), gaps * 2 >= self.sizes

    def medoids(self, X: NDArray[np.float64]) -> Rows:
        """Return the row of each group that is nearest to the group's mean, the first of equals."""
        order = np.argsort(self.labels, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        means = np.add.reduceat(X[order], starts, axis=0) / self.sizes[:, None] if X.shape[1] else X[:0]
        away = ((X - means[self.labels]) ** 2).sum(axis=1) if X.shape[1] else np.zeros(len(X))
        nearest = np.lexsort((np.arange(len(X)), away, self.labels))
        return np.asarray(nearest[starts], dtype=np.int64)


def _weights(table: Table, policy: Policy) -> NDArray[np.float64] | None:
    """Return the row weights, if the policy names a column of them."""
    if policy.weight is None:
        return None
    weights = np.asarray(table.column(policy.weight).cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy())
    wrong = int((~(np.isfinite(weights) & (weights >= 0))).sum())
    if wrong:
        raise DataError(
            f"recode: {wrong} cells of the weight column {policy.weight!r} are missing, negative or infinite. "
            "A weight is a number of at least 0."
        )
    # Only shares count, so the largest weight may as well be 1: sums cannot overflow then.
    return weights / weights.max() if weights.max() > 0 else weights


def _publish(
    column: pa.ChunkedArray,
    form: str,
    kind: str,
    order: tuple[str, ...] | None,
    groups: _Groups,
    encoded: Encoded,
) -> pa.Array:
    """Return the published value of each group."""
    if form == "medoid":
        return column.take(pa.array(groups.medoids(encoded.X))).combine_chunks()
    missing = np.asarray(pc.is_null(column).to_numpy(), dtype=bool)
    rows, empty = groups.held(missing)
    if not rows.size:
        return pa.nulls(groups.count, column.type)
    if form == "mean" and kind == "numeric":
        return _typed_back(_means(column, rows, groups), empty, column.type)
    if kind == "date" and form in ("mean", "median"):
        return _dates(column, form, rows, empty, groups)
    ranks, values = _ranks(column, order)
    if form == "mode":
        return _pick(values, _modes(ranks, len(values), rows, groups), empty)
    if form == "median" and kind == "numeric":
        return _typed_back(_medians(column, ranks, rows, groups), empty, column.type)
    if form == "median":
        return _pick(values, _middle_levels(ranks, len(values), rows, groups), empty)
    if form == "range":
        return _ranges(values, ranks, rows, empty, groups)
    return _sets(values, ranks, rows, empty, groups)


def _means(column: pa.ChunkedArray, rows: Rows, groups: _Groups) -> list[Any]:
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
    means = np.ldexp(least + np.bincount(labels, (scaled - least[labels]) * shares, minlength=groups.count), exponent)
    digits = _decimals(values)
    return list(means if digits is None else np.round(means, digits + 1) + 0.0)


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


def _medians(column: pa.ChunkedArray, ranks: Rows, rows: Rows, groups: _Groups) -> list[Any]:
    """Return the middle value of each group, or the mean of the two in the middle."""
    low, high = _middle(ranks, rows, groups)
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


def _middle(ranks: Rows, rows: Rows, groups: _Groups) -> tuple[Rows, Rows]:
    """Return the lower and upper middle row of each group, -1 where it has no value."""
    order = rows[np.lexsort((ranks[rows], groups.labels[rows]))]
    counts = np.bincount(groups.labels[rows], minlength=groups.count)
    starts = np.cumsum(counts) - counts
    low, high = starts + (counts - 1) // 2, starts + counts // 2
    none = counts == 0
    last = max(order.size - 1, 0)
    found = np.concatenate([order, [-1]])
    return (
        np.where(none, -1, found[np.minimum(low, last)]),
        np.where(none, -1, found[np.minimum(high, last)]),
    )


def _dates(column: pa.ChunkedArray, form: str, rows: Rows, empty: NDArray[np.bool_], groups: _Groups) -> pa.Array:
    """Return the mean or median day of each group, as the type that the column had."""
    moments = days(column)
    whole = pa.chunked_array([pa.array(moments.fill_null(0).to_numpy() // DAY, mask=pc.is_null(moments).to_numpy())])
    middle = _means(whole, rows, groups) if form == "mean" else _medians(whole, _ranks(whole, None)[0], rows, groups)
    found = pa.array([None if gap else int(day) for day, gap in zip(middle, empty, strict=True)], pa.int64())
    if pa.types.is_timestamp(column.type):
        zone = column.type.tz
        return pc.multiply(found, DAY).cast(pa.timestamp("us", tz=zone)).cast(column.type, safe=False)
    return found.cast(pa.int32()).cast(pa.date32()).cast(column.type)


def _ranks(column: pa.ChunkedArray, order: tuple[str, ...] | None) -> tuple[Rows, pa.Array]:
    """Return the place of each cell among the sorted distinct values, -1 where it is missing, and those values."""
    if order is not None:
        text = column.cast(pa.string())
        place = pc.index_in(text, value_set=pa.array(order, pa.string())).fill_null(-1).to_numpy().astype(np.int64)
        return place, pa.array(order, pa.string()).cast(column.type)
    coded = column.combine_chunks().dictionary_encode()
    sort = pc.array_sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(len(sort) + 1, np.int64)
    rank[sort] = np.arange(len(sort))
    rank[-1] = -1
    codes = coded.indices.fill_null(len(sort)).to_numpy(zero_copy_only=False).astype(np.int64)
    return rank[codes], coded.dictionary.take(pa.array(sort))


def _modes(ranks: Rows, size: int, rows: Rows, groups: _Groups) -> Rows:
    """Return the most frequent value of each group among those that k rows hold, -1 where there is none.

    Equals go to the value that is more frequent in the table, then to the smaller one.
    """
    overall = np.bincount(ranks[rows], minlength=size)
    common = rows[overall[ranks[rows]] >= groups.k]
    pairs, counts = np.unique(groups.labels[common] * max(size, 1) + ranks[common], return_counts=True)
    owner, value = pairs // max(size, 1), pairs % max(size, 1)
    best = np.lexsort((value, -overall[value], -counts, owner))
    found = np.full(groups.count, -1, np.int64)
    found[owner[best][::-1]] = value[best][::-1]
    return found


def _middle_levels(ranks: Rows, size: int, rows: Rows, groups: _Groups) -> Rows:
    """Return the lower median level of each group among those that k rows hold, -1 where there is none."""
    common = rows[np.bincount(ranks[rows], minlength=size)[ranks[rows]] >= groups.k]
    low, _ = _middle(ranks, common, groups)
    return np.where(low < 0, -1, ranks[low])


def _pick(values: pa.Array, place: Rows, empty: NDArray[np.bool_]) -> pa.Array:
    """Return the values at these places, missing where there is none or the group is to be empty."""
    gap = empty | (place < 0)
    return values.take(pa.array(np.where(gap, 0, place), mask=gap))


def _typed_back(found: list[Any], empty: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """Return published numbers as the type that the column had."""
    cells = [None if gap else cell for cell, gap in zip(found, empty, strict=True)]
    if pa.types.is_integer(kind):
        return pa.array(cells, kind)
    if pa.types.is_decimal(kind):
        return pa.array([None if cell is None else Decimal(cell).scaleb(-kind.scale, EXACT) for cell in cells], kind)
    numbers = pa.array(cells, pa.float64())
    return numbers.cast(kind, safe=False)


def _ranges(values: pa.Array, ranks: Rows, rows: Rows, empty: NDArray[np.bool_], groups: _Groups) -> pa.Array:
    """Return «low–high» for each group, or the one value that it has."""
    texts = values.cast(pa.string()).to_pylist()
    low = np.full(groups.count, len(values), np.int64)
    high = np.full(groups.count, -1, np.int64)
    np.minimum.at(low, groups.labels[rows], ranks[rows])
    np.maximum.at(high, groups.labels[rows], ranks[rows])
    return pa.array(
        [
            None if gap or b < 0 else texts[a] if a == b else f"{texts[a]}–{texts[b]}"
            for a, b, gap in zip(low, high, empty, strict=True)
        ],
        pa.string(),
    )


def _sets(values: pa.Array, ranks: Rows, rows: Rows, empty: NDArray[np.bool_], groups: _Groups) -> pa.Array:
    """Return «{A, B}» for each group, or the one value that it has; a backslash stands before , { } and itself."""
    texts = values.cast(pa.string()).to_pylist()
    marks = str.maketrans({sign: f"\\{sign}" for sign in "\\,{}"})
    owned: list[set[int]] = [set() for _ in range(groups.count)]
    for label, rank in zip(groups.labels[rows], ranks[rows], strict=True):
        owned[label].add(int(rank))
    found = []
    for gap, ones in zip(empty, owned, strict=True):
        names = [texts[rank].translate(marks) for rank in sorted(ones)]
        found.append(None if gap or not names else names[0] if len(names) == 1 else "{" + ", ".join(names) + "}")
    return pa.array(found, pa.string())


def _change(before: pa.ChunkedArray, after: pa.ChunkedArray, name: str, form: str) -> Change:
    """Count the cells of a column that are not what they were."""
    had, has = pc.is_valid(before), pc.is_valid(after)
    if after.type != before.type:
        before = before.cast(pa.string())
        after = after.cast(pa.string())
    other = pc.not_equal(before, after).fill_null(False)
    counts = [
        int(pc.sum(mask.cast(pa.int64())).as_py() or 0)
        for mask in (other, pc.and_(pc.invert(had), has), pc.and_(had, pc.invert(has)))
    ]
    return Change(name, "quasi", form, *counts)
