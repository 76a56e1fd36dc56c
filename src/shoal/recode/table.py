"""Recode: from classes to values. One published value per group and column, made once and given to every row.

1. By mean, median and mode, a group that is missing in half of its rows or more is published as missing in a
   quasi-identifier; otherwise the rows with a value decide. Means and medians are multiples of the column's step.
2. The representative of a group is its medoid: among the rows with the fewest cells that are missing or have a value
   of fewer than k rows, the one nearest to all others. Its cells with such a value are published by mean, median or
   mode.
3. No combination of mean, median, mode and representative columns is published that some rows of the table have, but
   fewer than k (`recode.combinations`). The form `medoid` is a real row, and exempt.
4. A category or level that fewer than k rows of the table have is never published, nor is a limit of a range that
   would reveal such a value (`recode.limits`).
5. By range, set and tree, what is published is true of every row of the group, including missing values.
6. Sensitive and kept columns are published unchanged; identifiers are dropped.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.model.partition import Partition
from shoal.model.policy import FORMS, TRUTHFUL_FORMS, Column, Policy
from shoal.model.release import Change
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.prepare.hierarchy import Hierarchy
from shoal.recode.combinations import Cells, without_small_combinations
from shoal.recode.groups import Groups, Rows, middle, ranks_of
from shoal.recode.limits import level_ends, number_ends
from shoal.recode.moving import moves
from shoal.recode.numbers import centres
from shoal.recode.steps import as_numbers, with_steps
from shoal.recode.truthful import guarded, nodes, ranges, sets

MEDOIDS = ("medoid", "representative")
COMBINED = ("mean", "median", "mode", "representative")  # forms whose combinations are checked
SHIFTS = (-1, 1, -2, 2, -3, 3)  # steps by which a mean may be moved

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Recoded:
    """The released columns, row by row as in the arranged table, and what was changed in each."""

    data: pa.Table
    ledger: tuple[Change, ...]
    policy: Policy  # with the steps that numbers were rounded to
    exchanged: int = 0  # classes with a cell replaced because fewer than k rows have their combination


def recode(table: Table, partition: Partition, policy: Policy, encoded: Encoded) -> Recoded:
    """Give every row the values of its group.

    The table is arranged, and the policy names every column. The medoid of a group is found from the matrix of
    `encoded`.
    """
    policy = with_steps(policy, table)
    rare = _rare(table, policy)
    rare_cells = np.sum([cells.astype(np.int64) for cells in rare.values()], axis=0) if rare else None
    groups = Groups(partition, policy.constraints.k, encoded.weights, encoded.X, encoded.columns, rare_cells)
    moved = {} if encoded.weights is not None else _moved(table, policy, partition.labels)
    found: dict[str, Cells] = {}
    for name in policy.names("quasi"):
        given, column = policy.columns[name], table.column(name)
        found[name] = _cells(column, given, groups, encoded.trees.get(name), rare.get(name), moved.get(name))
    combined = [name for name in found if policy.columns[name].form in COMBINED]
    distinct = policy.constraints.delta is not None  # a union may miss delta-disclosure though its parts do not
    values, exchanged = without_small_combinations([found[name] for name in combined], groups, keep_distinct=distinct)
    published = {name: cells.published for name, cells in found.items()} | dict(zip(combined, values, strict=True))
    labels = pa.array(partition.labels)
    columns, ledger = {}, []
    for name in table.names:
        given = policy.columns[name]
        if given.role == "identifier":
            continue
        column = columns[name] = table.column(name)
        if given.role == "quasi":
            columns[name] = pa.chunked_array([published[name].take(labels)])
            ledger.append(_change(column, columns[name], name, given.form or "mode"))
        else:
            ledger.append(Change(name, given.role, "unchanged", 0, 0, 0))
    return Recoded(pa.table(columns), tuple(ledger), policy, exchanged)


def _rare(table: Table, policy: Policy) -> dict[str, Flags]:
    """Flag, in each column published by medoids, the cells that are missing or whose value fewer than k rows have."""
    found = {}
    for name in policy.names("quasi"):
        if policy.columns[name].form in MEDOIDS:
            ranks, values = ranks_of(table.column(name), None)
            counts = np.bincount(ranks[ranks >= 0], minlength=len(values) + 1)
            found[name] = counts[ranks] < policy.constraints.k  # at -1 there is a count of 0
    return found


def _moved(table: Table, policy: Policy, labels: Rows) -> dict[str, Rows]:
    """Return by how many steps the mean of each class is moved, column by column."""
    numbers = {
        name: as_numbers(table.column(name))
        for name in policy.names("quasi")
        if policy.columns[name].form == "mean" and policy.columns[name].step
    }
    if not numbers:
        return {}
    steps = np.array([policy.columns[name].step for name in numbers], np.float64)
    found = moves(np.column_stack([*numbers.values()]), labels, steps)
    return dict(zip(numbers, found.T, strict=True))


def _cells(
    column: pa.ChunkedArray,
    given: Column,
    groups: Groups,
    tree: Hierarchy | None,
    rare: Flags | None,
    shifts: Rows | None = None,
) -> Cells:
    """Return the published value of each group, and its alternatives."""
    form, kind = given.form or "mode", given.kind or "nominal"
    missing = np.asarray(pc.is_null(column).to_numpy(), dtype=bool)
    rows, empty = groups.held(missing)
    if not rows.size:
        kept = column.type if form not in TRUTHFUL_FORMS else pa.string()
        return Cells(column, pa.nulls(groups.count, kept))
    if rare is not None:
        medoids = column.take(pa.array(groups.medoids)).combine_chunks()
        return Cells(column, _without_rare(medoids, column, rare, given, groups), kind, given.order)
    if form in ("mean", "median") and kind in ("numeric", "date"):
        middles = centres(column, form, rows, empty, groups, given.step, shifts)
        shifted = [partial(middles.values, shift) for shift in SHIFTS] if middles.step else []
        return Cells(column, middles.values(), kind, given.order, shifted)
    ranks, values = ranks_of(column, given.order)
    if form == "mode":
        return Cells(column, _pick(values, _modes(ranks, len(values), rows, groups), empty), kind, given.order)
    if form == "median":
        return Cells(column, _pick(values, _middle_levels(ranks, len(values), rows, groups), empty), kind, given.order)
    gaps = groups.holding(missing)
    if form == "tree" and tree is not None:
        return Cells(column, nodes(column, tree, rows, gaps, groups))
    if form == "set":
        return Cells(column, sets(values, ranks, rows, gaps, groups))
    counts = np.bincount(ranks[rows], minlength=len(values))
    if kind == "ordinal":
        ends = level_ends(guarded(values.cast(pa.string()).to_pylist()), counts, groups.k)
    else:
        ends = number_ends(values, counts, groups.k, given.step)
    return Cells(column, ranges(ends, ranks, rows, gaps, groups))


def _without_rare(values: pa.Array, column: pa.ChunkedArray, rare: Flags, given: Column, groups: Groups) -> pa.Array:
    """Return medoids in which rare values are replaced by what the column's usual form gives for their groups."""
    hidden = rare[groups.medoids]
    if not hidden.any():
        return values
    kind = given.kind or "nominal"
    tamed = _without_outliers(column, groups.k) if kind in ("numeric", "date") else column
    usual = _cells(tamed, given.model_copy(update={"form": FORMS[kind][0]}), groups, None, None).published
    # A group with one value beside missing ones has this value as its mean.
    ranks, known = ranks_of(column, None)
    low, high = groups.limits(ranks, len(known), np.flatnonzero(ranks >= 0))
    usual = pc.if_else(pa.array(low == high), pa.scalar(None, usual.type), usual)
    return pc.if_else(pc.and_(pa.array(hidden), pc.is_valid(values)), usual, values)


def _without_outliers(column: pa.ChunkedArray, k: int) -> pa.ChunkedArray:
    """Return numbers or dates whose far outliers are pulled in, since they would show in the mean of their class.

    A value may lie beyond the k-th greatest one by at most the distance from there to the 2k-th greatest, and likewise
    at the other end. The limit itself is not anyone's value.
    """
    kind = column.type
    cells = column.cast(pa.int64()) if pa.types.is_timestamp(kind) or pa.types.is_date64(kind) else column
    cells = cells.cast(pa.int32()) if pa.types.is_date32(kind) else cells
    order = pc.sort_indices(cells)[: len(column) - column.null_count]
    if len(order) < 2 * k:
        return column
    places = order.take([0, k - 1, 2 * k - 1, -2 * k % len(order), len(order) - k, len(order) - 1])
    least, low, lower, higher, high, greatest = cells.take(places).to_pylist()
    low, high = max(least, low - (lower - low)), min(greatest, high + (high - higher))
    inside = pc.max_element_wise(cells, pa.scalar(low, cells.type), skip_nulls=False)
    return pc.min_element_wise(inside, pa.scalar(high, cells.type), skip_nulls=False).cast(kind)


def _modes(ranks: Rows, size: int, rows: Rows, groups: Groups) -> Rows:
    """Return the most frequent value of each group among those that k rows have, -1 where there is none.

    Ties go to the value that is more frequent in the table, then to the smaller one.
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
    """Return the lower median level of each group among those that k rows have, -1 where there is none."""
    common = rows[np.bincount(ranks[rows], minlength=size)[ranks[rows]] >= groups.k]
    low, _ = middle(ranks, common, groups)
    return np.where(low < 0, -1, ranks[low])


def _pick(values: pa.Array, place: Rows, empty: NDArray[np.bool_]) -> pa.Array:
    """Return the values at these places, missing where there is none or the group is published as missing."""
    gap = empty | (place < 0)
    return values.take(pa.array(np.where(gap, 0, place), mask=gap))


def _change(before: pa.ChunkedArray, after: pa.ChunkedArray, name: str, form: str) -> Change:
    """Count the changed cells of a column."""
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
