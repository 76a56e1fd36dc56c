"""What is true of every row of a group: a range, a set, or a node of a tree.

A group whose rows are all missing is published as missing. If some are, `or missing` is added; the root of a tree
covers missing values by itself. Characters of a value that could be read as part of the form, and an `or missing` that
belongs to a value, are escaped with a backslash.

Ranges begin and end at the limits of `recode.limits`. In a set, categories that fewer than k rows of the table have are
written as one `*`; so that it never stands for a single rare category, it includes the rarest of the others until k
rows have one of its categories.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.prepare.hierarchy import Hierarchy
from shoal.recode.groups import Groups, Rows
from shoal.recode.limits import OPEN, Ends

OR_MISSING = " or missing"
MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\,{}–"})

Flags = NDArray[np.bool_]


def ranges(ends: Ends, ranks: Rows, rows: Rows, gaps: Flags, groups: Groups) -> pa.Array:
    """Return `low–high` for each group, or its only value.

    `ends` are indexed by the `ranks` of cells; levels are escaped. `rows` have a value, and `gaps` flags groups with a
    missing value.
    """
    low, high = groups.limits(ranks, len(ends.low), rows)
    found = [
        None if b < 0 else ends.low[a] if ends.low[a] == ends.high[b] else f"{ends.low[a]}–{ends.high[b]}"
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
    return _texts(found, gaps)


def sets(values: pa.Array, ranks: Rows, rows: Rows, gaps: Flags, groups: Groups) -> pa.Array:
    """Return `{A, B}` for each group, or its only value."""
    texts = guarded(values.cast(pa.string()).to_pylist())
    rare = hidden_categories(np.bincount(ranks[rows], minlength=len(texts)), groups.k)
    pairs = np.unique(groups.labels[rows] * max(len(texts), 1) + ranks[rows])
    owner, value = pairs // max(len(texts), 1), pairs % max(len(texts), 1)
    ends = np.cumsum(np.bincount(owner, minlength=groups.count))
    found: list[str | None] = []
    for start, end in zip(np.concatenate([[0], ends[:-1]]), ends, strict=True):
        names = [texts[rank] for rank in value[start:end] if not rare[rank]]
        names += [OPEN] if rare[value[start:end]].any() else []
        found.append(None if not names else names[0] if len(names) == 1 else "{" + ", ".join(names) + "}")
    return _texts(found, gaps)


def hidden_categories(counts: Rows, k: int) -> Flags:
    """Flag the categories written as `*`: those that fewer than k rows have, and others until k rows do."""
    rare = counts < k
    rows = int(counts[rare].sum())
    for name in np.argsort(counts, kind="stable"):
        if not 0 < rows < k:
            break
        if not rare[name]:
            rare[name] = True
            rows += int(counts[name])
    return rare


def nodes(column: pa.ChunkedArray, tree: Hierarchy, rows: Rows, gaps: Flags, groups: Groups) -> pa.Array:
    """Return the name of the lowest node above all rows of each group."""
    leaves = pa.array(tree.names[: tree.leaves], pa.string())
    ranks = pc.index_in(column.cast(pa.string()), value_set=leaves).fill_null(-1).to_numpy().astype(np.int64)
    low, high = groups.limits(ranks, tree.leaves, rows)
    root = tree.names[int(np.flatnonzero(tree.parent < 0)[0])]
    known: dict[tuple[int, int], str] = {}
    found: list[str | None] = []
    for a, b, gap in zip(low.tolist(), high.tolist(), gaps, strict=True):
        if b < 0:
            found.append(None)
        elif gap:
            found.append(root)
        else:
            if (a, b) not in known:
                known[a, b] = tree.names[tree.above(a, b)]
            found.append(known[a, b])
    return pa.array(found, pa.string())


def guarded(texts: list[str]) -> list[str]:
    """Return values as text, escaped so that it cannot be read as anything else."""
    plain = (f"\\{text}" if text == OPEN else text.translate(MARKS) for text in texts)
    return [f"{text.removesuffix(OR_MISSING)}\\{OR_MISSING}" if text.endswith(OR_MISSING) else text for text in plain]


def _texts(found: list[str | None], gaps: Flags) -> pa.Array:
    """Add `or missing` to the texts of groups with missing values."""
    texts = [text + OR_MISSING if text is not None and gap else text for text, gap in zip(found, gaps, strict=True)]
    return pa.array(texts, pa.string())
