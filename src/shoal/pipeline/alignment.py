"""Refuse a table in another row order where rows must be in the order of the original.

`release.data` and the data file of a release folder are sorted by their own values. Compared row by row with the
original they would give figures about rows of different people. They are recognized by

1. the index that `release.data` has as a pandas frame;
2. the certificate beside a data file;
3. their content: rows in the published order, and a column with the values of the original in another order, or no
   association between the classes and any column of the original.

Another order of the original is recognized by the labels of two pandas frames.
"""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.certify.certificate import CERTIFICATE, data_files
from shoal.errors import DataError
from shoal.io.frames import has_published_index, in_another_order
from shoal.model.asking import option
from shoal.model.release import Release
from shoal.model.table import Table, canonical

FEWEST = 30  # rows in which an association can be found
CHANCE = 0.01  # p below which there is one


def refuse_published_order(given: Any, released: Table, original: Table, what: str = "release") -> None:
    """Refuse a release, given as a path or frame and read as `released`, unless its rows may be those of the original.

    `what` begins the message.
    """
    if not (has_published_index(given) or _is_data_file(given) or _is_permuted(released, original)):
        return
    raise DataError(
        f"{what}: its rows are in the published order, not in the order of the original. Give the release folder and "
        f"the private folder written with it ({option('private', 'FOLDER')}); in Python also the Release, or its "
        "`aligned()`."
    )


def refuse_other_labels(given: Any, original: Any, what: str = "release") -> None:
    """Refuse a pandas frame whose labels are those of the original in another order; `what` begins the message."""
    if in_another_order(given, original):
        raise DataError(
            f"{what}: its index has the labels of the original in another order; reorder it with "
            f"{what}.loc[original.index]."
        )


def refuse_shuffled(release: Release, original: Any) -> None:
    """Refuse an original, as a pandas frame, whose labels show that its rows are no longer where the release has them.

    Labels that were 0 to n - 1 when the release was made are known as well: a frame that was shuffled keeps them.
    """
    if in_another_order(release._making.aligned, original, release.rows):
        raise DataError(
            "original: its index shows that its rows are in another order than when the release was made. Give it in "
            "its former order."
        )


def other_rows(name: str) -> DataError:
    """Return the error for a column that should be unchanged and is not."""
    return DataError(
        f"original: column {name!r} was published unchanged, but differs from the release row by row. It is "
        "another table, or its rows are in another order."
    )


def _is_data_file(given: Any) -> bool:
    """Return whether a path is that of the data file of a release folder."""
    if not isinstance(given, str | PathLike):
        return False
    path = Path(given)
    return path.name in data_files() and (path.parent / CERTIFICATE).is_file()


def _is_permuted(released: Table, original: Table) -> bool:
    """Return whether the rows are in the published order, and no other order of the original explains the release."""
    if released.n != original.n or not np.array_equal(canonical(released.data), np.arange(released.n)):
        return False
    shared = [name for name in released.names if name in original.names]
    return any(_permuted(original.column(name), released.column(name)) for name in shared) or (
        bool(shared) and not _is_associated(released.data, original.data.select(shared))
    )


def _permuted(before: pa.ChunkedArray, after: pa.ChunkedArray) -> bool:
    """Return whether two columns have the same values in different orders."""
    one, two = _plain(before), _plain(after)
    if one.type != two.type or pa.types.is_nested(one.type) or one.equals(two):
        return False
    return bool(one.take(pc.sort_indices(one)).equals(two.take(pc.sort_indices(two))))


def _is_associated(released: pa.Table, original: pa.Table) -> bool:
    """Return whether a column of the original differs between the classes of the release, or too few rows can tell.

    The rows of the release are sorted, so that those of a class follow each other. The test is that of Kruskal and
    Wallis, with the F distribution.
    """
    from scipy.stats import f

    n, new = released.num_rows, np.zeros(released.num_rows, bool)
    for column in map(_plain, released.columns):
        if not pa.types.is_nested(column.type):
            codes = column.dictionary_encode(null_encoding="encode").indices.to_numpy()
            new[1:] |= codes[1:] != codes[:-1]
    classes = np.cumsum(new)
    groups = int(classes[-1]) + 1 if n else 0
    if n < FEWEST or not 1 < groups < n:
        return True
    for column in map(_plain, original.columns):
        if pa.types.is_nested(column.type):
            continue
        ranks = pc.rank(column, tiebreaker="dense").to_numpy().astype(np.float64)
        means = np.bincount(classes, ranks) / np.bincount(classes)
        within, whole = float(np.square(ranks - means[classes]).sum()), float(np.square(ranks - ranks.mean()).sum())
        between = (whole - within) / (groups - 1)
        if whole > 0 and f.sf(between / max(within / (n - groups), 1e-300), groups - 1, n - groups) < CHANCE:
            return True
    return False


def _plain(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without categories and in the widest type of its kind."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    wide = (
        pa.string()
        if pa.types.is_null(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        else pa.int64()
        if pa.types.is_signed_integer(kind)
        else kind
    )
    return column.cast(kind).cast(wide).combine_chunks()
