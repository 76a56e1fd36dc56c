"""Sets in a table as the verifier counts them: every combination of items, row by row, in a dictionary.

(k, k^m)-anonymity (Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos 2013): inside every class, each combination of
at most m items that occurs in a row occurs in k rows or more.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import InfeasibleError
from shoal.model.findings import Verdict

MOST, MOST_A_ROW = 3e7, 200  # limits on the combinations counted, per table and per row
MOST_DISTINCT = 4e6  # distinct combinations of a class, which are held in memory

Set = tuple[str, ...]


def recount_sets(
    name: str, column: pa.ChunkedArray, separator: str, label: NDArray[np.int64], k: int, m: int
) -> Verdict:
    """Judge whether every combination of at most m items of a class is in k of its rows.

    The column has lists, or text with a separator between the items; a missing cell is an empty set. `label` has the
    class of each row. `found` is the number of rows of a class that have its rarest combination; k if there are no
    items.
    """
    checked, wrong, least, work = 0, 0, len(label), 0
    most = max(MOST, MOST_A_ROW * len(label))
    for sets in _classes(column, separator, label):
        work += sum(_combinations(len(items), m) for items in sets)
        if work > most:
            raise InfeasibleError(
                f"verify: combinations of at most m={m} items occur some {work:.0e} times; at most {most:.0e} are "
                "counted. Lower m, or split long sets."
            )
        # A class that passes has every combination at least k times, and no more than its items allow.
        own = sum(rows * _combinations(len(items), m) for items, rows in sets.items())
        distinct = min(own / k, _combinations(len(set().union(*sets)), m))
        if distinct > MOST_DISTINCT:
            raise InfeasibleError(
                f"verify: a class may have {distinct:.0e} different combinations of at most m={m} items; at most "
                f"{MOST_DISTINCT:.0e} are counted. Lower m, or split long sets."
            )
        for size in range(1, min(m, max(map(len, sets))) + 1):
            held: Counter[Set] = Counter()
            for items, rows in sets.items():
                for combination in combinations(items, size):
                    held[combination] += rows
            checked += len(held)
            wrong += sum(rows < k for rows in held.values())
            least = min(least, *held.values())
    note = f"{wrong} of {checked} combinations of at most {m} items fail" if wrong else ""
    return Verdict("(k,k^m)-anonymity", name, float(k), float(least if checked else k), wrong == 0, note)


def _combinations(items: int, m: int) -> int:
    """Return the number of non-empty sets of at most m items."""
    return sum(comb(items, size) for size in range(1, min(m, items) + 1))


def _classes(column: pa.ChunkedArray, separator: str, label: NDArray[np.int64]) -> Iterator[Counter[Set]]:
    """Yield the distinct sets of each class that has any, items in ascending order, and the rows of each."""
    cells = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        cells = pc.split_pattern(cells, separator)
    order = np.argsort(label, kind="stable")
    sizes = np.bincount(label)
    texts = cells.take(pa.array(order)).cast(pa.list_(pa.string())).to_pylist()
    for start, end in zip(np.cumsum(sizes) - sizes, np.cumsum(sizes), strict=True):
        whole = ({item for item in cell or () if item} for cell in texts[start:end])
        sets = Counter(tuple(sorted(items)) for items in whole if items)
        if sets:
            yield sets
