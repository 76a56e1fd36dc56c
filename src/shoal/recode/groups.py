"""The rows of each group, and the rank of each cell among the values of its column."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.model.partition import Partition
from shoal.prepare.encode import microseconds

if TYPE_CHECKING:
    from shoal.kernels.columns import Columns

Rows = NDArray[np.int64]


class Groups:
    """A partition with what is needed to find the published value of each group.

    `rare_cells` counts, for each row, the cells that must not be published as they are.
    """

    def __init__(
        self,
        partition: Partition,
        k: int,
        weights: NDArray[np.float64] | None,
        X: NDArray[np.float64],
        columns: "Columns | None" = None,
        rare_cells: Rows | None = None,
    ) -> None:
        self.k = k
        self.X = X
        self.columns = columns
        self.rare_cells = np.zeros(partition.n, np.int64) if rare_cells is None else rare_cells
        self.weights = weights
        self.labels = partition.labels
        self.count = partition.groups
        self.sizes = partition.sizes

    def held(self, missing: NDArray[np.bool_]) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the rows that have a value, and the groups that are to be published as missing."""
        gaps = np.bincount(self.labels[missing], minlength=self.count)
        return np.flatnonzero(~missing).astype(np.int64), gaps * 2 >= self.sizes

    def holding(self, missing: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the groups that have a missing value."""
        return np.bincount(self.labels[missing], minlength=self.count) > 0

    def limits(self, ranks: Rows, size: int, rows: Rows) -> tuple[Rows, Rows]:
        """Return the least and the greatest rank of each group among these rows; -1 as the latter if it has none."""
        low, high = np.full(self.count, size, np.int64), np.full(self.count, -1, np.int64)
        np.minimum.at(low, self.labels[rows], ranks[rows])
        np.maximum.at(high, self.labels[rows], ranks[rows])
        return low, high

    @cached_property
    def medoids(self) -> Rows:
        """The row that represents each group: the nearest to the mean, the first among equals.

        In a mixed table, which has no means, it is the row nearest to all others by Gower's distance. Only the rows of
        a group with the lowest count of `rare_cells` are eligible.
        """
        if self.columns is not None:
            from shoal.kernels.gower import medoids

            return medoids(self.columns, self.labels, self.rare_cells)
        X = self.X
        order = np.argsort(self.labels, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        means = np.add.reduceat(X[order], starts, axis=0) / self.sizes[:, None] if X.shape[1] else X[:0]
        squares = ((X - means[self.labels]) ** 2).sum(axis=1) if X.shape[1] else np.zeros(len(X))
        nearest = np.lexsort((np.arange(len(X)), squares, self.rare_cells, self.labels))
        return np.asarray(nearest[starts], dtype=np.int64)


def middle(ranks: Rows, rows: Rows, groups: Groups) -> tuple[Rows, Rows]:
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


def ranks_of(column: pa.ChunkedArray, order: tuple[str, ...] | None) -> tuple[Rows, pa.Array]:
    """Return the rank of each cell among the sorted distinct values, -1 where it is missing, and those values."""
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


def as_places(values: pa.Array, counts: Rows, kind: str, order: tuple[str, ...] | None) -> NDArray[np.float64]:
    """Return where distinct values lie, in standard deviations of their column; 0 for categories.

    `counts` are the rows that have each value. The result has one entry more, for a missing value: NaN if there is an
    order.
    """
    found = np.zeros(len(values) + 1)
    if kind == "ordinal":
        found[:-1] = pc.index_in(values.cast(pa.string()), value_set=pa.array(order, pa.string())).to_numpy()
    elif kind in ("numeric", "date"):
        numbers = microseconds(values) if pa.types.is_temporal(values.type) else values
        found[:-1] = numbers.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    else:
        return found
    found[-1] = np.nan
    rows = counts > 0
    largest = float(np.abs(found[:-1]).max(initial=0.0)) or 1.0  # the squares of huge numbers would overflow
    scaled = found[:-1] / largest
    middle = np.average(scaled[rows], weights=counts[rows]) if rows.any() else 0.0
    spread = np.sqrt(np.average((scaled[rows] - middle) ** 2, weights=counts[rows])) if rows.any() else 0.0
    found[:-1] = scaled / spread if spread > 0 else 0.0
    return found
