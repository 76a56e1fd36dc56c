"""Distortion: what is lost between a table and its release, counted on cells, on classes and on labels.

1. **Minimal distortion**: the number of changed cells.
2. **Taxonomy information loss**: how far apart the values of a class are, by range, by tree or by number of categories.
3. **Discernibility** and **normalised average class size**: how large classes are. Bayardo and Agrawal (2005), LeFevre
   et al. (2006).
4. **Classification metric**: rows whose label is not the commonest of their class. Iyengar (2002).
5. **Trade-off score**: what classes reveal about the label against what they reveal about identity, after the score by
   which Fung, Wang and Yu (2005) choose a step of top-down specialization.
6. **Entropy loss**: what remains unknown about a cell, given its published value.

Moments of columns of numbers are in `moments`, what cells leave open in `cell_loss`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.prepare.hierarchy import Hierarchy
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.verdict.classes import Counts, classes
from shoal.privacy.verdict.values import Values, read_column
from shoal.utility.cell_loss import class_loss, text_loss

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]


def cells_changed(columns: Sequence[Pair]) -> int:
    """Return the number of changed cells: from 0 to rows x columns, low is good, needs the pair.

    A range, a set or a node with more than one value is a change. A missing cell that stays missing is not.
    """
    return sum(int(changed(column).sum()) for column in columns)


def changed(column: Pair) -> NDArray[np.bool_]:
    """Return which cells of a column were changed."""
    if column.truthful:
        gaps = np.asarray(pc.is_null(column.before).to_numpy()) != np.asarray(pc.is_null(column.after).to_numpy())
        return np.asarray(gaps | (text_loss(column) > 0))
    if column.ordered:
        before, after = column.numbers
        return np.asarray((before != after) & ~(np.isnan(before) & np.isnan(after)))
    first, second = column.codes
    return np.asarray(first != second)


def taxonomy_loss(columns: Sequence[Pair], labels: Labels, trees: Mapping[str, Hierarchy] | None = None) -> float:
    """Return how far apart the original values in a class are, summed over rows and columns.

    The sum over classes E of size(E) x the sum over columns of

    - (max - min in E) / (max - min of the column), for columns with an order;
    - height(lowest common ancestor of E) / height(tree), for categories with a tree;
    - (distinct in E - 1) / (distinct in the column - 1), for categories without one.

    From 0 to rows x columns, low is good, needs the pair. Missing is a category. Beside a tree it is below the root
    alone; beside numbers it costs what one value of all does, as in `cell_loss`. `labels` is the class of each row.
    """
    if not labels.size:
        return 0.0
    sizes, total = np.bincount(labels), 0.0
    for column in columns:
        tree = None if column.ordered else (trees or {}).get(column.name)
        lost = class_loss(column, labels) if tree is None else _climbed(column.before, labels, tree)
        total += float(sizes @ lost)
    return total


def _climbed(before: pa.ChunkedArray, labels: Labels, tree: Hierarchy) -> Floats:
    """Return the height of the lowest node above all values of each class, as a share of that of the tree."""
    names = pa.array(tree.names[: tree.leaves], pa.string())
    leaf = np.asarray(pc.index_in(before.cast(pa.string()), value_set=names).fill_null(-1).to_numpy(), np.int64)
    count = int(labels.max()) + 1
    known = leaf >= 0
    low, high = np.full(count, tree.leaves), np.full(count, -1)
    np.minimum.at(low, labels[known], leaf[known])
    np.maximum.at(high, labels[known], leaf[known])
    held = high >= 0
    # The leaves below a node are adjacent: the node above the first and the last is above all.
    levels, lost = tree.levels, np.zeros(count)
    levels_between = (levels[:, low[held]] != levels[:, high[held]]).sum(axis=0)
    lost[held] = levels_between / max(1, len(levels) - 1)
    lost[held & (np.bincount(labels[~known], minlength=count) > 0)] = 1.0
    return lost


def discernibility(sizes: Labels, k: int) -> float:
    """Return the sum over classes of size^2, and of n x size for a class of fewer than k rows.

    From n to n^2, low is good, needs the release. Each row is charged the rows that are like it.
    """
    return float(np.where(sizes >= k, sizes, sizes.sum()).astype(np.float64) @ sizes)


def average_size(sizes: Labels, k: int) -> float:
    """Return n / (classes x k): at least 1 / k, 1 is the best that k allows, low is good, needs the release."""
    return float(sizes.sum() / (sizes.size * k))


def classification_metric(labels: Labels, label: Labels, k: int) -> float:
    """Return the share of rows in classes of fewer than k rows, or without the commonest label of their class.

    From 0 to 1, low is good, needs the release. `labels` is the class of each row, and `label` what analysts predict,
    as codes from 0 up, one of them for a missing label.
    """
    counts = Counts.of(labels, Values(label))
    most = counts.most(counts.count.astype(np.float64))
    return float(np.where(counts.sizes >= k, counts.sizes - most, counts.sizes).sum() / max(1, labels.size))


def trade_off(labels: Labels, label: Labels) -> tuple[float, float, float]:
    """Return InfoGain / (AnonymLoss + 1), InfoGain and AnonymLoss, in bits, of at least one row.

    Before, all rows are one class; after, they are in the classes E of the release.

    - InfoGain = H(label) - sum over E of size(E)/n x H(label in E): what classes reveal about the label.
    - AnonymLoss = log2 n - sum over E of size(E)/n x log2 size(E): what classes reveal about identity. It is the
      entropy of the class of a row.

    Since InfoGain is at most AnonymLoss, the score is at least 0 and below 1. High is good, needs the release.
    """
    both = classes([labels, label], labels.size)
    lost = _entropy(labels)
    gain = max(0.0, _entropy(label) + lost - _entropy(both))
    return gain / (lost + 1), gain, lost


def entropy_loss(before: pa.ChunkedArray, after: pa.ChunkedArray) -> float:
    """Return H(X given X') in bits: from 0 to the log2 of the number of categories, low is good, needs the pair.

    Missing is a category.
    """
    known, released = read_column(before).codes, read_column(after).codes
    return max(0.0, _entropy(classes([known, released], known.size)) - _entropy(released))


def _entropy(codes: Labels) -> float:
    """Return the entropy of codes in bits."""
    counts = np.bincount(codes)
    share = counts[counts > 0] / max(1, codes.size)
    return float(-(share @ np.log2(share)))
