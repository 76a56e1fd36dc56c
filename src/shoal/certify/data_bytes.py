"""Whether a data file has the bytes that shoal writes for its cells, and nothing else.

What was read is written again, by the writer of releases, and compared byte for byte. Sharing the writer is sound here:
the question is whether the file contains anything besides the cells that were counted, not whether the cells are good.
Comments, metadata, names in gzip headers, unused categories, values behind missing cells, blank lines and bytes between
or after the parts are all found this way.

| format | compared |
| --- | --- |
| CSV, text of plug-ins | always; moreover, no cell may be one that a spreadsheet would run |
| gzip | the text always; its compression, if the certificate names the zlib that is installed here |
| Parquet, Feather | if the certificate names the pyarrow that is installed here; else see `data_layout` |
"""

import io
import zlib
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from shoal.certify.data_layout import unexpected_layout
from shoal.certify.released import is_text
from shoal.io.data_file import packing, write_table, write_text
from shoal.io.files import CHUNK
from shoal.model.csv_style import STANDARD, CsvStyle

PACKED = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"  # gzip: no name, no comment, no time, no system
NUMBER = {".": r"^-[0-9.]+([eE][+-]?[0-9]+)?$", ",": r"^-[0-9,]+([eE][+-]?[0-9]+)?$"}  # by decimal sign
DAY = r"^-[0-9]+-[0-9]{2}-[0-9]{2}([ T].*)?$"


class Bytes(NamedTuple):
    """Whether the bytes are as they should be, a description of them, and a note."""

    holds: bool
    found: str
    note: str = ""


def compared_bytes(
    path: Path, name: str, cells: pa.Table, made: dict[str, str], here: dict[str, str], style: CsvStyle = STANDARD
) -> Bytes:
    """Compare a data file with what shoal writes for its cells; its `name` gives the format, `style` that of CSV.

    `cells` were read from it: for CSV the text of each cell, apostrophes included. `made` has the versions of the
    libraries that wrote it, by the certificate, and `here` those installed.
    """
    format = name.removeprefix("data.")  # noqa: A001
    if is_text(format):
        runs = any(_would_run(column, style.decimal) for column in cells.columns)
        if runs:
            return Bytes(holds=False, found="cells that a spreadsheet would run")
        if format == "csv.gz" and not _one_member(path):
            return Bytes(holds=False, found="more than one packed text, or a comment")
        if not _same(path, cells, format, style):
            return Bytes(holds=False, found="other bytes")
        if format != "csv.gz" or _same(path, cells, "csv.gz", style, packed=True):
            return Bytes(holds=True, found="the same bytes", note=_other(name, made, here))
    else:
        if _same(path, cells, format, style):
            # A Parquet file names its creator, so that another one cannot have written the same bytes.
            holds = _sorted_categories(cells) and (format != "parquet" or made == here)
            return Bytes(holds, "the same bytes", _other(name, made, here))
        known = format in ("parquet", "feather")
        unexpected = (
            unexpected_layout(path, format, cells, made["pyarrow"]) if known and made != here else "other bytes"
        )
        if unexpected:
            return Bytes(holds=False, found=unexpected)
    if made == here:
        return Bytes(holds=False, found="other bytes")
    note = f"{_other(name, made, here)} Its parts were checked. To compare its bytes, install these versions."
    return Bytes(_sorted_categories(cells), "nothing else in it", note)


def _other(name: str, made: dict[str, str], here: dict[str, str]) -> str:
    """Say that other versions wrote a file, if they did."""
    by = ", ".join(f"{what} {version}" for what, version in made.items())
    return f"{name} was written with {by}, as its certificate says." if made != here else ""


def starts_with(path: Path, name: str, header: bytes) -> bool:
    """Return whether the text of a CSV file starts with these bytes; a gzipped one is unpacked only that far."""
    with path.open("rb") as file:
        start = file.read(CHUNK)
    if name.endswith(".gz"):
        try:
            start = zlib.decompressobj(31).decompress(start, len(header))
        except zlib.error:
            return False
    return start[: len(header)] == header


def _same(path: Path, cells: pa.Table, format: str, style: CsvStyle, *, packed: bool = False) -> bool:  # noqa: A002
    """Write the cells again and compare with the bytes, or with the unpacked text, of the file."""
    with path.open("rb") as file:
        beside = _Beside(_Unpacked(file) if format == "csv.gz" and not packed else file)
        if not is_text(format):
            write_table(cells, cast(BinaryIO, beside), format)
        elif packed:
            with packing(beside) as sink:
                write_text(cells, sink, style=style)
        else:
            write_text(cells, beside, "csv" if format == "csv.gz" else format, style)
        return beside.same and not beside.other.read(1)


class _Beside(io.RawIOBase):
    """A file that stores nothing, and compares what is written to it with another file."""

    def __init__(self, other: Any) -> None:
        self.other = other
        self.same = True
        self.size = 0

    def writable(self) -> bool:
        """Return True: the file can be written to."""
        return True

    def write(self, part: Any) -> int:
        """Compare the next bytes."""
        given = memoryview(part).cast("B")
        self.same = self.same and self.other.read(len(given)) == given
        self.size += len(given)
        return len(given)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self.size


class _Unpacked:
    """The unpacked text of a file, read in step with another one, never further than requested."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.packed = zlib.decompressobj(31)

    def read(self, size: int) -> bytes:
        """Return this many bytes, or what is left."""
        found = bytearray()
        while len(found) < size and not self.packed.eof:
            given = self.packed.unconsumed_tail or self.file.read(CHUNK)
            if not given:
                break
            found += self.packed.decompress(given, size - len(found))
        return bytes(found)


def _one_member(path: Path) -> bool:
    """Return whether a gzip file has the plainest header, one member, and nothing after it."""
    with path.open("rb") as file:
        if file.read(len(PACKED)) != PACKED:
            return False
        file.seek(0)
        packed, given = zlib.decompressobj(31), b""
        while not packed.eof:
            given = packed.unconsumed_tail or file.read(CHUNK)
            if not given:
                return False
            packed.decompress(given, CHUNK)
        return not packed.unused_data and not file.read(1)


def _would_run(column: pa.ChunkedArray, decimal: str) -> bool:
    """Return whether a CSV cell starts like a formula, without being a number or a day before year 0."""
    words = column.unique().drop_null()
    formula = pc.match_substring_regex(words, r"^([=+@\t\r]|'($|[^'=+\-@\t\r]))")
    minus = pc.and_(
        pc.starts_with(words, "-"),
        pc.invert(pc.or_(pc.match_substring_regex(words, NUMBER[decimal]), pc.match_substring_regex(words, DAY))),
    )
    return bool(pc.any(pc.or_(formula, minus)).as_py())


def _sorted_categories(cells: pa.Table) -> bool:
    """Return whether unordered categories ascend, so that their order reveals nothing."""
    for column in cells.columns:
        if pa.types.is_dictionary(column.type) and not column.type.ordered:
            for chunk in column.chunks:
                levels = chunk.dictionary
                if not levels.equals(levels.take(pc.sort_indices(levels))):
                    return False
    return True
