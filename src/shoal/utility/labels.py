"""Columns that decide the label by themselves, at one cut or value by value.

Such a column makes every measure of separability look good: it is the label under another name, or was computed from
it. How many classes disclose the label of their rows is a measure, in `fidelity_measures`.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.privacy.verdict.values import read_column

SURE = 0.99  # share of the rows that a column gets right
BETTER = 0.1  # share of the errors of the commonest label that it may leave
ROWS, CLASSES = 20_000, 100  # rows that suffice, and classes of a label above which none is sought
MOST_VALUES = 0.05  # categories of a column, as a share of the rows, up to which it is tried value by value

Codes = NDArray[np.int64]


def columns_that_decide_label(table: Table, policy: Policy) -> tuple[str, ...]:
    """Return the quasi-identifiers that decide the label alone: at one cut, or category by category.

    The table is arranged, and the policy names every column.
    """
    if policy.label is None:
        return ()
    some = table.data.slice(0, ROWS)  # arranged rows are in random order
    label = read_column(some.column(policy.label)).codes
    if not label.size or not 0 < int(label.max()) < CLASSES:
        return ()
    most = float(np.bincount(label).max()) / label.size
    found = []
    for name in policy.names("quasi"):
        given = policy.columns[name]
        values = read_column(some.column(name), given.kind, given.order)
        right = _by_cut(values.codes, label) if values.ordered else _by_name(values.codes, label)
        if right >= SURE and 1 - right <= BETTER * (1 - most):
            found.append(name)
    return tuple(found)


def _by_cut(codes: Codes, label: Codes) -> float:
    """Return the share of labels that the best cut gets right, each side predicting its commonest label."""
    counts = np.zeros((int(codes.max()) + 1, int(label.max()) + 1), np.int64)
    np.add.at(counts, (codes, label), 1)
    below = np.cumsum(counts, axis=0)
    return float((below.max(axis=1) + (below[-1] - below).max(axis=1)).max() / label.size)


def _by_name(codes: Codes, label: Codes) -> float:
    """Return the share of labels right if each category predicts its commonest label; 0 for very many categories."""
    names = int(codes.max()) + 1
    if names > max(2, MOST_VALUES * label.size):
        return 0.0
    counts = np.bincount(codes * (int(label.max()) + 1) + label, minlength=names * (int(label.max()) + 1))
    return float(counts.reshape(names, -1).max(axis=1).sum() / label.size)
