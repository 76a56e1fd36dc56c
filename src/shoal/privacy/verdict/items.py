"""Sets in a table: whether within every class each combination of at most m items is shared by k rows.

A row of a release has quasi-identifiers and, if the policy says so, a set of items. An attacker who knows the
quasi-identifiers of a person and m items of the set looks for rows of one class with these items. (k, k^m)-anonymity
says that there are k such rows, or none (Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos, 2013). It is counted
from the released cells.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.catalogue import model
from shoal.model.findings import Verdict
from shoal.privacy.verdict.km_counts import family, itemsets

Ints = NDArray[np.int64]


def read_items(column: pa.ChunkedArray, separator: str) -> tuple[Ints, Ints]:
    """Return the row and the item number of every item of a column of sets.

    The cells are lists, or text with a separator between the items; a missing cell is an empty set. Items are numbered
    from 0.
    """
    cells = column.combine_chunks()
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        cells = pc.split_pattern(cells, separator)
    rows = pc.list_parent_indices(cells).to_numpy().astype(np.int64)
    words = pc.list_flatten(cells).cast(pa.string())
    there = pc.and_(pc.is_valid(words), pc.not_equal(words.fill_null(""), ""))
    kept = np.asarray(there.to_numpy(zero_copy_only=False), bool)
    items = words.filter(there).dictionary_encode().indices.to_numpy().astype(np.int64)
    return rows[kept], items


@model(
    "(k,k^m)-anonymity",
    about="items",
    asks=lambda asked: asked.k,
    high=True,
    set_by=("k", "m"),
    promise=(
        "Anyone who knows all quasi-identifiers of a person and some items of the person's set, at most m "
        "(as the policy states), finds at least {asked} rows with these items, or none."
    ),
    leaves_open=(
        "It does not protect items that all rows of a class have in common: if everyone in a class has "
        "the same diagnosis, it is known of each of them. l-diversity and t-closeness do not apply to "
        "columns of items."
    ),
)
def item_verdict(name: str, column: pa.ChunkedArray, separator: str, labels: Ints, k: int, m: int) -> Verdict:
    """Say whether every combination of at most m items of a class is in k of its rows.

    `found` of the verdict is the number of rows of a class with its rarest combination; k if there are no items.
    """
    rows, items = read_items(column, separator)
    order = np.lexsort((items, rows, labels[rows]))
    rows, items = rows[order], items[order]
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]])) if rows.size else np.empty(0, np.int64)
    owner = np.unique(labels[rows[starts]], return_inverse=True)[1].reshape(-1).astype(np.int64)
    held = family(
        np.append(starts, rows.size), items, owner, np.ones(starts.size, np.int64), int(items.max(initial=0)) + 1
    )
    checked, wrong, least = 0, 0, labels.size if rows.size else k
    for counted in itemsets(held, m) if rows.size else ():
        checked += counted.support.size
        wrong += int((counted.support < k).sum())
        least = min(least, int(counted.support.min()))
    note = f"{wrong} of {checked} combinations of at most {m} items fail" if wrong else ""
    return Verdict("(k,k^m)-anonymity", name, float(k), float(least), wrong == 0, note)
