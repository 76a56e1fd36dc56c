"""Recount: whether a release meets each constraint of its policy, counted by the verifier alone.

1. Rows are grouped by the cells of every column that the policy does not call sensitive, kept or items: classes.
2. Sensitive cells become meanings (`meanings`), and classes and meanings are grouped once more: a `Tally`.
3. Each model that the policy asks for gives a figure for each class (`recounted_models`); the worst class decides.
4. Sets are counted by `recounted_sets`.

Nothing is shared with the code that makes releases, nor with the judge, which that code uses: a fault in the judge is
found here. An import rule keeps them apart.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.certify.meanings import ascending, meanings, plain
from shoal.certify.recounted_models import Asked, Cells, Tally, asked_models
from shoal.certify.recounted_sets import recount_sets
from shoal.errors import DataError
from shoal.model.column import Column
from shoal.model.findings import Verdict
from shoal.model.policy import MOST_KNOWN, SEPARATOR, Policy

Labels = NDArray[np.int64]


def recount(data: pa.Table, policy: Policy) -> tuple[Verdict, ...]:
    """Return a verdict for each constraint of the policy: k-anonymity, then each sensitive column, then sets.

    `data` are the released values: typed, or the text of a file. A column that the policy does not name counts as a
    quasi-identifier. `DataError` is raised if a column of the policy is absent, or cells have a type that cannot be
    counted. The cost is O(n log n) per column.
    """
    try:
        return tuple(_verdicts(data, policy))
    except MemoryError:
        raise
    except pa.ArrowException as problem:
        kind = type(problem).__name__
    raise DataError(f"verify: a column has cells of a type that cannot be counted ({kind}).")


def _verdicts(data: pa.Table, policy: Policy) -> Iterator[Verdict]:
    """Yield the verdicts one by one."""
    asked = policy.constraints
    others = {name for name, column in policy.columns.items() if column.role in ("sensitive", "keep", "items")}
    cells = dict(zip(data.column_names, data.columns, strict=True))  # a lookup by name in a table is linear
    label, sizes = _classes([plain(column) for name, column in cells.items() if name not in others], data)
    rows = sizes.astype(np.float64)
    yield _verdict(Asked("k-anonymity", asked.k, lambda _: rows, high=True), None, rows)
    models = asked_models(asked)
    for name in policy.names("sensitive"):
        _check_there(cells, name, f"the sensitive column {name!r}")
        if models:
            counts = tally(_cells(cells[name], policy.columns[name], name), label)
            for model in models:
                yield _verdict(model, name, model.figures(counts) if data.num_rows else np.empty(0))
    for name in policy.names("items"):
        _check_there(cells, name, f"the column {name!r} of items")
        separator = policy.columns[name].separator or SEPARATOR
        yield recount_sets(name, cells[name], separator, label, asked.k, asked.m or MOST_KNOWN)


def _check_there(cells: Mapping[str, pa.ChunkedArray], name: str, who: str) -> None:
    """Refuse a column that the policy names and the release lacks."""
    if name not in cells:
        raise DataError(f"verify: {who} is not in the release.")


def _verdict(model: Asked, column: str | None, figures: NDArray[np.float64]) -> Verdict:
    """Compare the worst class with the constraint."""
    if not figures.size:
        return Verdict(model.name, column, float(model.asked), 0.0, holds=False, note="the release has no rows")
    failing = int((~model.holds(figures)).sum())
    note = f"{failing:,} of {figures.size:,} classes fail" if failing else ""
    worst = float(figures.min() if model.high else figures.max())
    return Verdict(model.name, column, float(model.asked), worst, failing == 0, note)


def _classes(columns: list[pa.Array], data: pa.Table) -> tuple[Labels, Labels]:
    """Return the class of each row, and the size of each class: rows with equal cells are together."""
    label = np.zeros(data.num_rows, np.int64)
    if not columns or not label.size:
        return label, np.bincount(label)
    names = [str(number) for number in range(len(columns))]
    table = pa.table([*columns, np.arange(label.size)], names=[*names, "row"])
    rows = table.group_by(names, use_threads=False).aggregate([("row", "list")]).column("row_list").combine_chunks()
    sizes = pc.list_value_length(rows).to_numpy().astype(np.int64)
    label[pc.list_flatten(rows).to_numpy()] = np.repeat(np.arange(sizes.size), sizes)
    return label, sizes


def tally(cells: Cells, label: Labels) -> Tally:
    """Count the values of a sensitive column in each class; `label` has the class of each row."""
    pairs = pa.table({"owner": label, "value": cells.codes}).group_by(["owner", "value"], use_threads=False)
    found = pairs.aggregate([([], "count_all")])
    owner, value, count = (found.column(name).to_numpy() for name in ("owner", "value", "count_all"))
    order = np.lexsort((value, owner))
    return Tally(owner[order], value[order], count[order], np.bincount(label), np.bincount(cells.codes), cells)


def _cells(column: pa.ChunkedArray, given: Column, name: str) -> Cells:
    """Return a sensitive column as numbers, with its order or its tree.

    If spellings of one value have different positions in the order or different parents in the tree, all distances are
    equal: that is never less than what an order or a tree would give.
    """
    exact = given.spelling == "exact"
    if isinstance(given.hierarchy, Mapping):
        text = plain(column).cast(pa.string())
        value = meanings(pa.chunked_array([text]), exact=exact)
        known = value.unique()
        above = _above(_spellings(text, value, dict(_nodes(given.hierarchy)), f"column {name!r}", "hierarchy"))
        return Cells(_codes(value, known), tree=None if above is None else _levels(known.to_pylist(), above))
    value = meanings(column, exact=exact)
    if given.kind == "ordinal" and given.order is not None:
        place = {level: number for number, level in enumerate(given.order)}
        pairs = _spellings(plain(column).cast(pa.string()), value, place, f"column {name!r}", "order")
        pairs.sort(key=lambda pair: len(place) if pair[0] is None else pair[0])
        runs = [one for one, _ in groupby(one for _, one in pairs)]
        return Cells(_codes(value, pa.array(dict.fromkeys(runs), value.type)), len(runs) == len(set(runs)))
    known, ordered = value.unique(), given.kind in ("numeric", "date", "ordinal")
    if ordered:
        gap = [pa.nulls(1, value.type)] if value.null_count else []
        known = pa.concat_arrays([ascending(known.drop_null(), given.kind, exact=exact), *gap])
    return Cells(_codes(value, known), ordered)


def _codes(value: pa.Array, known: pa.Array) -> Labels:
    """Return the index of each cell among the known ones; missing is one of them."""
    return np.asarray(pc.index_in(value, value_set=known).to_numpy(), np.int64)


def _spellings(text: pa.Array, value: pa.Array, place: Mapping[str, Any], who: str, what: str) -> list[tuple[Any, Any]]:
    """Return the position of every spelling that occurs, None for a missing cell, and its meaning."""
    both = pa.table({"text": text, "value": value}).group_by(["text", "value"], use_threads=False).aggregate([])
    pairs = list(zip(both.column("text").to_pylist(), both.column("value").to_pylist(), strict=True))
    unexpected = sum(one is not None and one not in place for one, _ in pairs)
    if unexpected:
        raise DataError(f"verify: {unexpected} values of {who} have no place in its {what}.")
    return [(None if one is None else place[one], meant) for one, meant in pairs]


def _nodes(nested: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each value of nested tables with the nodes above it, the highest first."""
    for node, inside in nested.items():
        here = (*above, str(node))
        for one in inside if isinstance(inside, list | tuple) else (inside,):
            yield from _nodes(one, here) if isinstance(one, Mapping) else ((str(one), here),)


def _above(pairs: list[tuple[Any, Any]]) -> dict[Any, tuple[str, ...]] | None:
    """Return the nodes above each value, none above a missing one; None if a value has several positions."""
    above: dict[Any, tuple[str, ...]] = {}
    for nodes, value in pairs:
        if above.setdefault(value, nodes or ()) != (nodes or ()):
            return None
    return above


def _levels(values: list[Any], above: Mapping[Any, tuple[str, ...]]) -> Labels:
    """Return the node of each value at each level, the values first; a short branch repeats its value."""
    depth = max((len(nodes) for nodes in above.values()), default=0)
    rows = [[*range(len(values))]]
    for level in range(depth, 0, -1):
        ends = [above[value] for value in values]
        nodes = [end[:level] if len(end) >= level else (number,) for number, end in enumerate(ends)]
        number = {node: place for place, node in enumerate(dict.fromkeys(nodes))}
        rows.append([number[node] for node in nodes])
    return np.array([*rows, [0] * len(values)], np.int64)
