"""Whether rows ascend: then their order follows from their values, and reveals nothing about the original table.

Shoal sorts a release by its first column, then by the second, and so on; missing cells come last. In a CSV file the
types are gone, so that a column may ascend as text, as text without spreadsheet guards, as numbers, or as lists of
items.
"""

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def ascends(cells: pa.Table, separators: dict[str, str]) -> bool:
    """Return whether the rows of a table, typed or text, ascend; `separators` are those of columns of sets."""
    tied = np.ones(max(0, cells.num_rows - 1), bool)  # whether each row equals the next so far
    for name in cells.column_names:
        column = cells.column(name)
        if pa.types.is_null(column.type):
            continue
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        for ranks in _ranks(column, separators.get(name)):
            steps = np.diff(ranks)
            if not (steps[tied] < 0).any():
                tied &= steps == 0
                break
        else:
            return False
        if not tied.any():
            break
    return True


def _ranks(column: pa.ChunkedArray, separator: str | None) -> Iterator[Ints]:
    """Yield the rank of each cell, in each of the orders that the column may have."""
    if pa.types.is_nested(column.type):
        column = pa.chunked_array([pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()])])
    coded = column.combine_chunks().dictionary_encode()
    codes = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
    words = coded.dictionary
    if not pa.types.is_string(words.type):
        yield _ranked(words.take(pc.sort_indices(words)), words)[codes]
        return
    texts = words.to_pylist()
    for keys in _keys(texts, separator):
        places = {key: place for place, key in enumerate(sorted(set(keys)))}
        yield np.array([*(places[key] for key in keys), len(texts)], np.int64)[codes]


def _ranked(ascending: pa.Array, words: pa.Array) -> Ints:
    """Return the rank of typed values; 0.0 and -0.0 have the same rank."""
    new = np.ones(len(words), bool)
    if len(words) > 1 and not pa.types.is_null(words.type):
        new[1:] = pc.not_equal(ascending.slice(1), ascending.slice(0, len(words) - 1)).to_numpy(zero_copy_only=False)
    ranks = np.empty(len(words) + 1, np.int64)
    ranks[pc.sort_indices(words).to_numpy()] = np.cumsum(new)
    ranks[-1] = len(words) + 1
    return ranks


def _keys(texts: list[str], separator: str | None) -> Iterator[list[Any]]:
    """Yield the possible sort keys of texts."""
    yield texts
    yield [text[1:] if text.startswith("'") else text for text in texts]
    try:
        numbers = [Decimal(text) for text in texts]
        if all(number.is_finite() for number in numbers):
            yield numbers
    except InvalidOperation:
        pass
    if separator is not None:  # lists are sorted by their Python repr
        items = [text.split(separator) if text else [] for text in texts]
        yield [repr(each) for each in items]
        for number in (int, float):
            with suppress(ValueError):
                yield [repr([number(item) for item in each]) for each in items]
