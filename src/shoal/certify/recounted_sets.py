"""Sets in a table as the verifier counts them: every combination of items, row by row, in a dictionary.

(k, k^m)-anonymity (Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos 2013): inside every class, each combination of
at most m items that a row holds is held by k rows or more.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations
from math import comb

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InfeasibleError
from shoal.model.findings import Verdict

__all__ = ["recount_sets"]

MOST = 4e8  # combinations that are counted before the work is refused
MOST_DISTINCT = 4e6  # different ones of a class, which are held in memory

Set = tuple[str, ...]


def recount_sets(
    name: str, column: pa.ChunkedArray, separator: str, label: NDArray[np.int64], k: int, m: int
) -> Verdict:
    """Say whether every combination of at most m items of a class is in k of its rows.

    Parameters
    ----------
    name : str
        The column.
    column : pyarrow.ChunkedArray
        Lists, or text with a separator between the items. A missing cell is an empty set.
    separator : str
    label : int64 array
        The class of each row.
    k, m : int

    Returns
    -------
    Verdict
        `found` is the number of rows of a class that hold its rarest combination; k if there are no items.
    """
    checked, wrong, least, work = 0, 0, len(label), 0.0
    for sets in _classes(column, separator, label):
        work += sum(comb(len(items), size) for items in sets for size in range(1, min(m, len(items)) + 1))
        if work > MOST:
            raise InfeasibleError(
                f"verify: combinations of at most m={m} items occur some {work:.0e} times; at most {MOST:.0e} are "
                "counted. Lower m, or split long sets."
            )
        # A class that passes holds every combination k times at the least, so that it has no more than this.
        own = sum(comb(len(items), size) for items in sets for size in range(1, min(m, len(items)) + 1))
        if own / k > MOST_DISTINCT:
            raise InfeasibleError(
                f"verify: a class has some {own:.0e} combinations of at most m={m} items; at most "
                f"{MOST_DISTINCT * k:.0e} are counted. Lower m, or split long sets."
            )
        for size in range(1, min(m, max(map(len, sets))) + 1):
            held = Counter(chain.from_iterable(combinations(items, size) for items in sets)).values()
            checked += len(held)
            wrong += sum(rows < k for rows in held)
            least = min(least, *held)
    note = f"{wrong} of {checked} combinations of at most {m} items fail" if wrong else ""
    return Verdict("(k,k^m)-anonymity", name, float(k), float(least if checked else k), wrong == 0, note)


def _classes(column: pa.ChunkedArray, separator: str, label: NDArray[np.int64]) -> Iterator[list[Set]]:
    """Return the sets of the rows of each class that has any, items in ascending order and each once."""
    cells = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        cells = pc.split_pattern(cells, separator)
    order = np.argsort(label, kind="stable")
    sizes = np.bincount(label)
    texts = cells.take(pa.array(order)).cast(pa.list_(pa.string())).to_pylist()
    for start, end in zip(np.cumsum(sizes) - sizes, np.cumsum(sizes), strict=True):
        whole = ({item for item in cell or () if item} for cell in texts[start:end])
        sets = [tuple(sorted(items)) for items in whole if items]
        if sets:
            yield sets
