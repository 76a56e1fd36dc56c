"""Mixed: the quasi-identifiers as columns of codes, each with the algebra that suits it.

1. A column with a hierarchy becomes a tree. A missing value is a leaf of its own below the root.
2. Other numbers, dates and levels become ranges, and other categories sets; missing values are kept separate.
3. More than 1,000 categories are a range in alphabetical order: sets of so many would be unreadable.
4. Columns are weighted by their importance.

The way back, from the codes of a group to the published value, is in `recode`.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.kernels.columns import Columns, Range, Set, Shape, Tree, columns_of
from shoal.model.policy import Column, Policy
from shoal.model.table import Table
from shoal.prepare.encode import microseconds, offsets
from shoal.prepare.hierarchy import Hierarchy
from shoal.prepare.trees import leaf_of

MOST_CATEGORIES = 1_000  # of a set; more become a range


def mixed_columns(table: Table, policy: Policy, trees: Mapping[str, Hierarchy]) -> tuple[Columns, tuple[str, ...]]:
    """Return the quasi-identifiers of an arranged table as columns of codes, and notes on them."""
    names = policy.names("quasi")
    # Filled in place: separate columns of codes would double the memory.
    codes = np.empty((table.n, len(names)), np.int32)
    shapes: list[Shape] = []
    notes, weights = [], []
    for place, name in enumerate(names):
        given = policy.columns[name]
        column = table.column(name)
        shape: Shape
        if name in trees:
            cells, shape = _leaves(column, name, trees[name])
        elif given.kind in ("nominal", "boolean"):
            cells, shape = _categories(column)
            if isinstance(shape, Range):
                many = f"more than {MOST_CATEGORIES:,} categories"
                notes.append(f"column {name!r}: {many}, which are treated as alphabetical ranges")
        else:
            cells, shape = _places(column, name, given)
        codes[:, place] = cells
        shapes.append(shape)
        weights.append(given.importance or 1.0)
    pa.default_memory_pool().release_unused()  # frees the text of the cells; methods need memory of their own
    return columns_of(codes, shapes, np.array(weights)), tuple(notes)


def _leaves(column: pa.ChunkedArray, name: str, tree: Hierarchy) -> tuple[NDArray[np.integer], Tree]:
    """Return the leaf of each cell, and the tree; missing cells are one additional leaf."""
    place = leaf_of(column, name, tree)
    steps, levels = tree.steps, tree.levels
    if column.null_count:
        # The leaf of missing values is directly below the root, which then has one more leaf and still loses all.
        steps = np.append(np.where(steps < 1, steps * (tree.leaves - 1) / tree.leaves, 1.0), 1.0)
        below = levels[:-1] if len(levels) > 1 else levels
        below = np.column_stack([below, np.full(len(below), levels.max() + 1)])
        levels = np.vstack([below, np.zeros(tree.leaves + 1, np.int64)])
    numbers = place.fill_null(tree.leaves).to_numpy()
    return numbers, Tree(steps, np.vstack([np.unique(level, return_inverse=True)[1].reshape(-1) for level in levels]))


def _categories(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], Shape]:
    """Return each cell's category as a number, in alphabetical order; a missing value is a category."""
    coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary).to_numpy()
    rank = np.empty(len(order) + 1, np.int64)
    rank[order], rank[-1] = np.arange(len(order)), len(order)
    codes = rank[coded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)]
    gaps = bool(column.null_count)
    if len(order) > MOST_CATEGORIES:
        return codes, Range(np.arange(len(order), dtype=np.float64), gaps)
    return codes, Set(len(order) + gaps)


def _places(column: pa.ChunkedArray, name: str, given: Column) -> tuple[NDArray[np.int64], Range]:
    """Return the rank of each cell among the values of its column, and the positions of these values."""
    if given.kind == "ordinal":
        ranks = pc.index_in(column.cast(pa.string()), value_set=pa.array(given.order, pa.string()))
        levels = len(given.order or ())
        codes = ranks.fill_null(levels).to_numpy().astype(np.int64)
        return codes, Range(np.arange(levels, dtype=np.float64), bool(column.null_count))
    if pa.types.is_temporal(column.type):
        column = microseconds(column)
    numbers, missing = offsets(column, name)
    places, codes = np.unique(numbers[~missing], return_inverse=True)
    found = np.full(numbers.size, places.size, np.int64)
    found[~missing] = codes.reshape(-1)
    return found, Range(places, bool(missing.any()))
