"""The reader of set-valued data: a file, a frame, a matrix or Python lists into `Transactions`.

Four layouts:

- *lines*: one record per line, its items separated by whitespace (FIMI) or by another character;
- *spmf*: the same with -1 and -2 as ends of itemsets and records;
- *list*: a table with one record per row, its items in one column, as a list or as text with a separator;
- *long*: a table with one row per item of every record, a column for the record and one for the item.

The layout is found from the file's extension, its content and the columns named. What is in doubt is refused and not
guessed: a file read in the wrong layout would be anonymized in the wrong layout.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.catalogue import formats
from shoal.errors import ReadError, kind_of, listed, near, shortened
from shoal.io.files import format_of, opened, read_typed, unpacked
from shoal.io.frames import from_frame
from shoal.io.item_columns import from_list_column, from_long_columns, read_cells, the_column
from shoal.io.item_lines import looks_like_spmf, parse_lines, write_lines
from shoal.io.item_sets import from_matrix, from_records, items_of
from shoal.model.asking import argument
from shoal.model.options import with_options
from shoal.model.table import is_list
from shoal.model.transactions import Transactions

__all__ = ["LAYOUTS", "Layout", "ReadingOptions", "read", "write_lines"]

Layout = Literal["lines", "spmf", "long", "list"]
LAYOUTS: tuple[str, ...] = get_args(Layout)
COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)
RECORDS = "a text file of one record per line, or a CSV, JSON, Parquet or Feather file"
TEXT_TABLES = {".csv", ".tsv", ".tab"}


class ReadingOptions(TypedDict, total=False):
    """How records are read: options of all functions of `shoal.sets` that read records."""

    layout: Layout | None
    column: str | None
    record: str | None
    item: str | None
    separator: str | None
    labels: Iterable[Any] | None


@with_options("read")
def read(
    source: Any,
    *,
    layout: Layout | None = None,
    column: str | None = None,
    record: str | None = None,
    item: str | None = None,
    separator: str | None = None,
    labels: Iterable[Any] | None = None,
) -> Transactions:
    """Read records that are sets of items.

    Parameters
    ----------
    source : path, frame, column, matrix or iterable
        A text file, plain or gzipped: one record per line (.dat, .fimi, .txt, or any other extension), SPMF, CSV
        (.csv, .tsv, .tab) or JSON (a list of lists); a Parquet or Feather file; a frame or a column of pandas, polars
        or pyarrow; a two-dimensional numpy array or a SciPy sparse matrix of 0 and 1; or an iterable of iterables of
        text or whole numbers. A number above 1 in a matrix means that the record has the item several times: it is
        counted once.
    layout : {"lines", "spmf", "long", "list"}, optional
        How records are written in a file or a frame; detected if not given.
    column : str, optional
        The column of lists.
    record, item : str, optional
        The columns of the long form; without them, the first and the second.
    separator : str, optional
        Separates the items of a line (one character) or of a text cell; whitespace if not given.
    labels : iterable of str or int, optional
        The labels of the columns of a matrix.

    Returns
    -------
    Transactions
        Items are numbered in the order of their labels, whatever the order of the source. Duplicate items of a record
        and records without items are dropped and counted.

    Raises
    ------
    ReadError
        If the source cannot be read in this way; the message says where, and quotes no item.

    Cost
    ----
    About a second for a million records of 4.4 items in lines; memory for the text and the result.

    Examples
    --------
    >>> import shoal.sets
    >>> shoal.sets.read([["tea", "milk", "tea"], [], ["tea"]])
    <Transactions: 2 records, 2 items, 3 occurrences>
    """
    if layout is not None and (not isinstance(layout, str) or layout not in LAYOUTS):
        known = f"choose {listed(LAYOUTS)}.{near(layout, LAYOUTS)}"
        raise ReadError(f"read: layout {shortened(layout)} is not known; {known}")
    if not isinstance(separator, str | None):
        raise ReadError(f"read: separator must be text; got {kind_of(separator)}.")
    if not isinstance(labels, Iterable | None):
        raise ReadError(f"read: labels must be a list of names; got {kind_of(labels)}.")
    if column is not None and (record is not None or item is not None):
        raise ReadError("read: both a list column and columns of the layout 'long' were named. Name one or the other.")
    named = {"column": column, "record": record, "item": item}
    for what, name in named.items():
        if not isinstance(name, str | None):
            raise ReadError(f"read: {what} must be the name of a column; got {kind_of(name)}.")
    if labels is not None and not _is_matrix(source):
        raise ReadError("read: labels are for a matrix; other sources have their own. Leave them out.")
    if isinstance(source, str | os.PathLike):
        return _from_file(Path(source), layout, named, separator)
    if isinstance(source, Transactions):
        _refuse_reading(named, layout, separator)
        return source
    if _is_matrix(source):
        _refuse_reading(named, layout, separator)
        return from_matrix(source, labels)
    table = None if source is None else _table_of(source)
    if table is not None:
        return _from_table(table, "the frame", layout, named, separator)
    if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray):
        raise ReadError(
            f"read: {kind_of(source)} contains no records; expected a path, a frame, a matrix "
            "or an iterable of records. Put the records into a list of lists."
        )
    _refuse_reading(named, layout, separator)
    return from_records(source)


def _is_matrix(source: Any) -> bool:
    """Return whether a source is a sparse matrix or a numeric numpy array."""
    return hasattr(source, "tocoo") or (isinstance(source, np.ndarray) and source.dtype != object)


def _from_file(path: Path, layout: str | None, named: dict[str, str | None], separator: str | None) -> Transactions:
    """Read a file by its extension, or by its first bytes."""
    ending = path.suffix.lower()
    if ending == ".json" and layout is None and not any(named.values()):
        return _from_json(path)
    with opened(path, RECORDS) as file:
        start = file.read(8)
        file.seek(0)
        kind = format_of(path, start) if start else "csv"
        card = formats.load(kind)
        if card.read is not None:
            return _from_table(read_typed(card.read, path, card.called), repr(path.name), layout, named, separator)
        text = unpacked(file, path.name, kind)
    inner = Path(path.stem).suffix.lower() if ending == ".gz" else ending
    if layout in ("long", "list") or (layout is None and (inner in TEXT_TABLES or any(named.values()))):
        wanted = [name for name in named.values() if name is not None]
        table = read_cells(text, path.name, wanted, tabs=inner in (".tsv", ".tab"))
        return _from_table(table, repr(path.name), layout, named, separator)
    _refuse_names(named, repr(path.name))
    spmf = layout == "spmf" or (layout is None and separator is None and (inner == ".spmf" or looks_like_spmf(text)))
    return parse_lines(text, path.name, spmf=spmf, separator=separator)


def _from_json(path: Path) -> Transactions:
    """Read a JSON list of lists of items, the format of neighbours whose labels contain whitespace."""
    with opened(path) as file:
        try:
            records = json.loads(unpacked(file, path.name, "csv").decode("utf-8-sig"))
        except (ValueError, RecursionError):
            records = None
    if not isinstance(records, list):
        raise ReadError(f"read: {path.name!r} is not a JSON list of records. Give a list of lists of items.")
    return from_records(records)


def _refuse_names(named: dict[str, str | None], called: str) -> None:
    """Refuse column names for lines, which have no columns."""
    if any(named.values()):
        raise ReadError(f"read: {called} is read as lines, which have no columns. Leave out the names, or the layout.")


def _refuse_reading(named: dict[str, str | None], layout: str | None, separator: str | None) -> None:
    """Refuse what says how to read a file or a frame, for records that are neither."""
    every = {**named, "layout": layout, "separator": separator}
    if given := [name for name, value in every.items() if value is not None]:
        raise ReadError(f"read: {listed(given)} can be given for files and frames only. Leave it out.")


def _from_table(
    table: pa.Table, called: str, layout: str | None, named: dict[str, str | None], separator: str | None
) -> Transactions:
    """Read a table by the columns named or, if none is named, by those that exist."""
    column, record, item = named["column"], named["record"], named["item"]
    names = table.column_names
    lists = [name for name, kind in zip(names, table.schema.types, strict=True) if is_list(kind)]
    if layout in ("lines", "spmf"):
        raise ReadError(f"read: {called} is a table, which has no lines. Choose the layout 'long' or 'list'.")
    if layout is None and column is None:
        if record is not None or item is not None or (len(names) == 2 and not lists):
            layout = "long"
        elif len(lists) == 1 or (len(names) == 1 and separator is not None):
            layout = "list"
        else:
            raise ReadError(
                f"read: {called} has {len(names)} columns, {len(lists)} of them list columns, so it is not clear where "
                f"its items are. Name the list column ({argument('column')}), or the columns of records and of items "
                f"({argument('record')}, {argument('item')}); in Python, a table of zeros and ones can be given as a "
                "matrix."
            )
    if layout != "long":
        if column is None:
            column = next(iter(lists or names)) if len(lists) == 1 or len(names) == 1 else None
        if column is None or record is not None or item is not None:
            raise ReadError(
                f"read: {called}: it is not clear which of {len(names)} columns has the items. Name it "
                f"({argument('column')})."
            )
        return from_list_column(the_column(table, column, called), called, separator)
    if column is not None or ((record is None or item is None) and len(names) != 2):
        raise ReadError(
            f"read: {called}: it is not clear which of {len(names)} columns have the records and the items. Name both."
        )
    if separator is not None:
        raise ReadError(f"read: {called} has one item per row; a separator is for lists. Leave it out.")
    guessed = record is None or item is None
    record = record if record is not None else next(name for name in names if name != item)
    item = item if item is not None else next(name for name in names if name != record)
    found = from_long_columns(the_column(table, record, called), the_column(table, item, called), called)
    note = (
        f"column {record!r} was taken for the records and column {item!r} for their items, whose labels are published."
    )
    return replace(found, notes=(note,)) if guessed else found


def _table_of(source: Any) -> pa.Table | None:
    """Return a frame, or a single column, as an Arrow table; None if it is neither."""
    if isinstance(source, pa.Array):
        return pa.table({"items": source})
    wrapped: Any = source
    try:
        wrapped = nw.from_native(source, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        wrapped = None
    if wrapped is None:
        return from_frame(source)  # reports the duplicate names
    if isinstance(wrapped, nw.Series):
        wrapped = wrapped.alias("items").to_frame()
    if isinstance(wrapped, nw.LazyFrame):
        return from_frame(wrapped)  # reports that it is lazy
    if not isinstance(wrapped, nw.DataFrame):
        return None
    table = from_frame(wrapped)
    for place, name in enumerate(table.column_names):
        if not is_list(table.schema.types[place]) and wrapped[:, place].dtype == nw.Object:
            lists = _lists(wrapped[:, place].to_list())
            table = table if lists is None else table.set_column(place, name, lists)
    return table


def _lists(cells: list[Any]) -> pa.Array | None:
    """Return Python collections (sets, or lists of text and numbers) as lists; None if there are other cells."""
    gaps = [cell is None or isinstance(cell, float) for cell in cells]
    if not all(gap or isinstance(cell, COLLECTIONS) for cell, gap in zip(cells, gaps, strict=True)):
        return None
    return pa.array(
        [
            None if gap else [str(item) for item in items_of(cell, row)]
            for row, (cell, gap) in enumerate(zip(cells, gaps, strict=True), 1)
        ],
        pa.list_(pa.string()),
    )
