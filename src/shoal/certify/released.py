"""Read a released data file for the verifier: text as written, cell by cell."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.catalogue import formats
from shoal.errors import ReadError, is_out_of_memory
from shoal.io.csv_text import parse
from shoal.io.data_file import csv_gap
from shoal.io.files import opened, unpacked
from shoal.model.column import TRUTHFUL_FORMS, Column
from shoal.model.csv_style import MARK, STANDARD, CsvStyle
from shoal.model.policy import Policy

CSV = ("csv", "csv.gz")
SWAPPED = "\x00"  # in no text file
NUMBER = r"^-?[0-9]+[.,][0-9]+([eE][+-]?[0-9]+)?$"
COMMA = r"^-?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?$"


def is_csv(name: str) -> bool:
    """Return whether a format, or a released data file of this name, is CSV, plain or gzipped."""
    return name.removeprefix("data.") in CSV


def is_text(name: str) -> bool:
    """Return whether the cells of a format, or of a released data file of this name, are text: CSV, or a plug-in's."""
    chosen = name.removeprefix("data.")
    if chosen in formats.built_in:
        return chosen in CSV
    return chosen in formats.names() and formats.load(chosen).text


def read_cells(path: Path, name: str, style: CsvStyle = STANDARD) -> pa.Table:
    """Read a released data file, whose `name` gives the format: the text of CSV cells, typed values otherwise.

    Text that a plug-in wrote is read by the rules for CSV files, but not typed.
    """
    try:
        if is_csv(name):
            return _read_text(path, name, style)
        if is_text(name):
            return read_text(path, name)
        read = formats.load(name.removeprefix("data.")).read
        if read is None:
            raise ValueError
        return read(path)
    except (OSError, pa.ArrowException, ValueError) as problem:
        if is_out_of_memory(problem):
            raise MemoryError from None
        raise ReadError(f"verify: {name!r} cannot be read as a released table.") from None


def unguarded(cells: pa.Table, policy: Policy) -> pa.Table:
    """Return the text of a CSV file with sensitive values and items as they were before they were written.

    They lose the apostrophe that keeps a spreadsheet from running them, so that levels and nodes are found in the
    policy. Quasi-identifiers are compared as written: to a reader, two texts are two texts.
    """
    guarded = {*policy.names("sensitive"), *policy.names("items")}
    named = zip(cells.column_names, cells.columns, strict=True)
    return pa.table(
        [unescaped(column) if name in guarded else column for name, column in named], names=cells.column_names
    )


def with_points(cells: pa.Table, policy: Policy, style: CsvStyle) -> pa.Table:
    """Return the text of a CSV file with decimal points, if its decimal sign is a comma.

    In columns of numbers, commas and points change places in every cell that is a number in either notation. So two
    cells are equal afterwards if and only if they were equal before, and a number with a point is none afterwards.
    """
    if style.decimal == ".":
        return cells
    named = zip(cells.column_names, cells.columns, strict=True)
    found = [_swapped(column) if _has_numbers(policy.columns.get(name), column) else column for name, column in named]
    return pa.table(found, names=cells.column_names)


def _has_numbers(given: Column | None, column: pa.ChunkedArray) -> bool:
    """Return whether a column is one of numbers: by the policy or, where that calls numbers nominal, by all cells."""
    if given is None or given.kind not in ("numeric", "nominal") or given.form in TRUTHFUL_FORMS:
        return False
    whole = given.kind == "numeric"
    return whole or (not given.hierarchy and pc.all(pc.match_substring_regex(column, COMMA)).as_py() is True)


def _swapped(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text with commas and points exchanged in cells that are numbers."""
    other = pc.replace_substring(pc.replace_substring(column, ",", SWAPPED), ".", ",")
    return pc.if_else(pc.match_substring_regex(column, NUMBER), pc.replace_substring(other, SWAPPED, "."), column)


def _read_text(path: Path, name: str, style: CsvStyle) -> pa.Table:
    """Read every cell of a CSV file as text; only an empty cell without quotes is missing, or NA in a single column."""
    with opened(path) as file:
        block = unpacked(file, name, "csv.gz" if name.endswith(".gz") else "csv")
    if style.mark and block.startswith(MARK):
        del block[: len(MARK)]
    buffer = pa.py_buffer(block)
    parse = pyarrow.csv.ParseOptions(delimiter=style.separator, newlines_in_values=True)
    whole = pyarrow.csv.ReadOptions(block_size=min(len(block) + 1, 2**31 - 1))
    names = pyarrow.csv.open_csv(buffer, parse_options=parse, read_options=whole).schema.names
    texts = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[csv_gap(len(names))],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    table = pyarrow.csv.read_csv(buffer, parse_options=parse, read_options=whole, convert_options=texts)
    return pa.table(table.columns, names=[unescaped(pa.array([word]))[0].as_py() for word in table.column_names])


def read_text(path: Path, name: str) -> pa.Table:
    """Read every cell of a text file that a plug-in wrote; only an empty cell is missing, or NA in a single column."""
    with opened(path) as file:
        block = unpacked(file, name, name.removeprefix("data."))
    for gap in ("", csv_gap(1)):
        table = parse(bytearray(block), name, (gap,), header=True, as_text=True).table
        if csv_gap(table.num_columns) == gap:
            break
    return table.rename_columns(unescaped(pa.array(table.column_names, pa.string())).to_pylist())


def unescaped(text: Any) -> Any:
    """Return an Arrow array of text without the apostrophe that keeps a spreadsheet from running a cell."""
    return pc.replace_substring_regex(text, r"(?s)^'(['=+\-@\t\r].*)$", r"\1")
