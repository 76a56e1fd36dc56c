"""Columns of tables into `Transactions`: a column of lists, or two columns of record and item.

Lists: one record per row. Its cell is a list of items or, in text, items with a separator between them. A missing cell
is a record without items.

Long form: each row gives one item of a record. Rows of one record need not be adjacent; records are numbered in order
of first appearance. A missing item says only that the record exists.

CSV is read as text throughout: a type would take 1,5 for a number. Where Arrow refuses the file, it is passed to
`csv_text`, which finds the faulty line.
"""

from collections.abc import Iterable
from csv import reader
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from shoal.errors import ReadError, counted
from shoal.io.csv_header import alike_cells
from shoal.io.csv_text import DELIMITERS, LARGEST_BLOCK, SEAL, parse
from shoal.io.csv_types import BLANKS, typed_together
from shoal.io.item_sets import check_text, gathered
from shoal.model.csv_style import MARK
from shoal.model.table import is_list, type_name
from shoal.model.transactions import Transactions

LOOKED_AT = 1000  # rows that a header is compared with
FAULTS = (pa.ArrowException, ValueError, OverflowError, TypeError)


def from_list_column(column: Any, called: str, separator: str | None = None) -> Transactions:
    """Convert a column of lists, or of text, to transactions; `called` names the source in messages.

    `separator` separates the items of a text cell; None means whitespace. Lists have no separator.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    cut = not is_list(column.type)
    if cut:
        column = _split(column, called, separator)
    elif separator is not None:
        raise ReadError(f"read: {called} contains lists; a separator is for cells of text. Leave it out.")
    lengths = pc.fill_null(pc.list_value_length(column), 0)
    values = pc.list_flatten(column)
    codes, words = _folded(pc.ascii_trim_whitespace(values) if cut else values, called)
    return gathered(codes, words, _numpy(lengths).astype(np.int64), called)


def from_long_columns(records: Any, items: Any, called: str) -> Transactions:
    """Convert a column of records and one of items, of equal length, to transactions.

    Records are numbered in order of first appearance; `called` names the source in messages.
    """
    if records.null_count:
        row = pc.index(pc.is_null(records), True).as_py() + 1
        raise ReadError(
            f"read: {called}, row {row}: the record is missing ({counted(records.null_count, 'such row')}). "
            "Fill in or drop these rows."
        )
    # Encoded again, so that its values are in order of first appearance.
    owner, inputs = _numbered(
        records.cast(records.type.value_type) if pa.types.is_dictionary(records.type) else records
    )
    codes, words = _folded(items, called)
    lengths = np.bincount(owner, minlength=len(inputs)).astype(np.int64)
    order = np.argsort(owner, kind="stable")
    return gathered(codes[order], words, lengths, called, "record")


def the_column(table: pa.Table, name: str, called: str) -> Any:
    """Return the column of a name, or say that there is none."""
    if table.column_names.count(name) == 1:
        return table.column(name)
    if name in table.column_names:
        raise ReadError(f"read: {called}: {name!r} is the name of two or more columns. Rename them.")
    # The names are not listed: the first line of a file without a header is a record.
    raise ReadError(
        f"read: {called} has {counted(table.num_columns, 'column')}, and none is called {name!r}. Check the name."
    )


def _split(column: Any, called: str, separator: str | None) -> Any:
    """Return text cells as lists of items without surrounding spaces."""
    text = _as_text(column, called)
    if separator == "":
        raise ReadError(
            "read: the separator is empty; expected the text between items. Leave it out if whitespace separates them."
        )
    if separator is None:
        return pc.ascii_split_whitespace(text)
    return pc.split_pattern(text, separator)


def _as_text(values: Any, called: str) -> Any:
    """Return values as text, or refuse types that have no text form."""
    kind, text = values.type, None
    if pa.types.is_dictionary(kind):
        values, kind = values.cast(kind.value_type), kind.value_type
    if not (pa.types.is_nested(kind) or pa.types.is_floating(kind)):
        try:
            text = values.cast(pa.large_string())
        except MemoryError:
            raise
        except FAULTS:
            text = None
    if text is None:
        raise ReadError(
            f"read: {called} has items that are {type_name(kind)}; expected text, or whole numbers. "
            "Turn them into text first."
        )
    return text


def _folded(values: Any, called: str) -> tuple[NDArray[np.int32], list[str]]:
    """Return the number of each value, -1 where it is missing, and the distinct values as text."""
    codes, words = _numbered(_as_text(values, called))
    return codes, words.to_pylist()


def _numbered(values: Any) -> tuple[NDArray[np.int32], Any]:
    """Return the number of each value, -1 where it is missing, and the distinct values in order of first appearance."""
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    folded = pa.chunked_array([pa.array([], values.type), *chunks]).dictionary_encode().unify_dictionaries()
    if not folded.num_chunks:
        return np.zeros(0, np.int32), pa.array([], values.type)
    codes = np.concatenate([_numpy(pc.fill_null(chunk.indices, -1)) for chunk in folded.chunks])
    return codes.astype(np.int32, copy=False), folded.chunk(0).dictionary


def _numpy(values: Any) -> NDArray[Any]:
    """Return Arrow numbers without missing values as an array of their own."""
    return np.array(values.to_numpy() if isinstance(values, pa.ChunkedArray) else values.to_numpy(zero_copy_only=False))


def read_cells(data: bytearray, name: str, wanted: Iterable[str] = (), *, tabs: bool = False) -> pa.Table:
    r"""Read the text of a CSV file, every cell as text; empty cells are missing.

    `data` is UTF-8 and is consumed; `name` is the file's name in messages. `wanted` are names that the header is known
    to contain; without them, it is compared with the rows below it. `tabs` fixes the delimiter; otherwise the header
    decides.

    Examples
    --------
    >>> read_cells(bytearray(b"id,item\n1,007\n"), "x.csv").to_pydict()
    {'id': ['1'], 'item': ['007']}
    """
    if data.startswith(MARK):
        del data[: len(MARK)]
    check_text(data, name)
    delimiter = "\t" if tabs else _delimiter(data)
    if not data.strip():
        raise ReadError(f"read: {name!r} is empty; expected a header line and rows. Check the file.")
    table = _parsed(data, delimiter)
    if table is None:
        parse(bytearray(data), name, ("",), header=True)
        raise ReadError(f"read: {name!r} cannot be read as CSV. Save it again as UTF-8 with comma and double quotes.")
    names = table.column_names
    if not set(wanted) & set(names) and table.num_rows:
        seen = typed_together(table.slice(0, LOOKED_AT).columns, empty_is_gap=True, commas=False)
        numbers = sum(name.isdigit() for name in names)
        if alike := alike_cells(names, [column for column, _ in seen]) or numbers:
            raise ReadError(
                f"read: {name!r}, line 1: {alike} of its {len(names)} cells look like those of the rows below, not "
                "like names of columns. Add a line of names at the top, or name the columns to use."
            )
    return table


def _delimiter(data: bytearray) -> str:
    """Return the character that splits the first line into most cells."""
    header = bytes(data[:65_536]).lstrip(b"\r\n").splitlines()[:1]
    return max(DELIMITERS, key=lambda character: header[0].count(character.encode()) if header else 0)


def _parsed(data: bytearray, delimiter: str) -> pa.Table | None:
    """Return all cells as text without surrounding spaces, or None if rows are ragged or a quote is open."""
    text = data[:65_536].decode(errors="ignore").lstrip("\r\n")
    cells = next(reader(text.splitlines(keepends=True), delimiter=delimiter))
    keys = [str(position) for position in range(len(cells))]
    quotes = b'"' in data
    sealed = data + b"\n" + delimiter.join([SEAL] * len(keys)).encode()
    table = None
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(sealed)),
            csv.ReadOptions(column_names=keys, block_size=min(len(sealed) + 1, LARGEST_BLOCK)),
            csv.ParseOptions(delimiter=delimiter, newlines_in_values=quotes),
            csv.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except MemoryError:
        raise
    except FAULTS:
        return None
    table = pa.table([pc.ascii_trim(column, characters=BLANKS) for column in table.columns], names=keys)
    first, last = table.slice(0, 1).to_pylist()[0], table.slice(table.num_rows - 1).to_pylist()[0]
    if set(last.values()) != {SEAL}:
        return None
    return table.slice(1, table.num_rows - 2).rename_columns([cell or "" for cell in first.values()])
