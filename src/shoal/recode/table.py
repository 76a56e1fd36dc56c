"""Recode: classes into values. One published value a group and column, made once and given to every row.

1. By mean, median and mode, a group that is missing in half of its rows or more is published as missing in a
   quasi-identifier; else the rows that have a value decide. The medoid is one of the rows, gaps and all.
2. By range, set and tree, what is published is true of every row of the group, missing values too.
3. A name or level that fewer than k rows of the table hold is never published by mode or median: the
   group's other rows decide, or it is published as missing. The medoid is one of the rows with the fewest gaps and
   values that fewer than k rows hold; the latter cells of it are published by mean, median or mode.
4. Sensitive and kept columns go out as they are; identifiers do not go out at all.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.model.partition import Partition
from shoal.model.policy import FORMS, Column, Policy
from shoal.model.release import Change
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.prepare.hierarchy import Hierarchy
from shoal.recode.groups import Groups, Rows, middle, ranks_of
from shoal.recode.numbers import EXACT, day_column, means, medians
from shoal.recode.truthful import nodes, ranges, sets

__all__ = ["Recoded", "recode"]


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
        The matrix, by which the medoid of a group is found, and the row weights.

    Returns
    -------
    Recoded
    """
    rare = _rare(table, policy)
    shy = np.sum([cells.astype(np.int64) for cells in rare.values()], axis=0) if rare else None
    groups = Groups(partition, policy.constraints.k, encoded.weights, encoded.X, encoded.columns, shy)
    labels = pa.array(partition.labels)
    columns, ledger = {}, []
    for name in table.names:
        given = policy.columns[name]
        if given.role == "identifier":
            continue
        column = table.column(name)
        if given.role == "quasi":
            form = given.form or "mode"
            tree = encoded.trees.get(name) if form == "tree" else None
            values = _publish(column, form, given.kind or "nominal", given.order, groups, tree)
            if form == "medoid":
                values = _without_rare(values, column, rare[name], given, groups)
            columns[name] = pa.chunked_array([values.take(labels)])
            ledger.append(_change(column, columns[name], name, form))
        else:
            columns[name] = column
            ledger.append(Change(name, given.role, "as it is", 0, 0, 0))
    return Recoded(pa.table(columns), tuple(ledger))


def _rare(table: Table, policy: Policy) -> dict[str, NDArray[np.bool_]]:
    """Return for each column with the form medoid the cells whose value fewer than k rows hold, or that have none."""
    found = {}
    for name in policy.names("quasi"):
        if policy.columns[name].form == "medoid":
            ranks, values = ranks_of(table.column(name), None)
            counts = np.bincount(ranks[ranks >= 0], minlength=len(values) + 1)
            found[name] = counts[ranks] < policy.constraints.k  # at -1 there is a count of 0
    return found


def _without_rare(
    values: pa.Array, column: pa.ChunkedArray, rare: NDArray[np.bool_], given: Column, groups: Groups
) -> pa.Array:
    """Return medoids in which rare values are replaced by what the usual form of the column gives for their groups."""
    hidden = rare[groups.medoids]
    if not hidden.any():
        return values
    kind = given.kind or "nominal"
    usual = _publish(column, FORMS[kind][0], kind, given.order, groups, None)
    # A group with one value beside gaps has this value as its mean.
    ranks, known = ranks_of(column, None)
    low, high = groups.limits(ranks, len(known), np.flatnonzero(ranks >= 0))
    usual = pc.if_else(pa.array(low == high), pa.scalar(None, usual.type), usual)
    return pc.if_else(pc.and_(pa.array(hidden), pc.is_valid(values)), usual, values)


def _publish(
    column: pa.ChunkedArray,
    form: str,
    kind: str,
    order: tuple[str, ...] | None,
    groups: Groups,
    tree: Hierarchy | None,
) -> pa.Array:
    """Return the published value of each group."""
    if form == "medoid":
        return column.take(pa.array(groups.medoids)).combine_chunks()
    missing = np.asarray(pc.is_null(column).to_numpy(), dtype=bool)
    rows, empty = groups.held(missing)
    if not rows.size:
        return pa.nulls(groups.count, column.type)
    if form == "mean" and kind == "numeric":
        return _typed_back(means(column, rows, groups), empty, column.type)
    if kind == "date" and form in ("mean", "median"):
        return day_column(column, form, rows, empty, groups)
    ranks, values = ranks_of(column, order)
    if form == "mode":
        return _pick(values, _modes(ranks, len(values), rows, groups), empty)
    if form == "median" and kind == "numeric":
        return _typed_back(medians(column, ranks, rows, groups), empty, column.type)
    if form == "median":
        return _pick(values, _middle_levels(ranks, len(values), rows, groups), empty)
    gaps = groups.holding(missing)
    if tree is not None:
        return nodes(column, tree, rows, gaps, groups)
    return (ranges if form == "range" else sets)(values, ranks, rows, gaps, groups)


def _modes(ranks: Rows, size: int, rows: Rows, groups: Groups) -> Rows:
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


def _middle_levels(ranks: Rows, size: int, rows: Rows, groups: Groups) -> Rows:
    """Return the lower median level of each group among those that k rows hold, -1 where there is none."""
    common = rows[np.bincount(ranks[rows], minlength=size)[ranks[rows]] >= groups.k]
    low, _ = middle(ranks, common, groups)
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
