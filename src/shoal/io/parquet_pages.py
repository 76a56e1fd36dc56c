"""The footer and the page headers of a Parquet file, read on their own: its unpacked size, and what else it contains.

pyarrow trusts the footer, allocates a page before it has unpacked it, and some false footers crash the process. So the
footer and the headers of all pages are read here first; both are small. They are written in Thrift's compact protocol:
a field is a byte of type and number, numbers are zigzag varints. What can be written in several ways is accepted in the
shortest one alone, so that nothing can be hidden in the encoding.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

MOST_FOOTER = 1 << 23
HEADER = 1 << 16  # largest size of a page header with its statistics, in bytes
DEPTH = 12
MAKER = 6  # the field of the footer that names the library
ORDINAL = 7  # the field of a row group that numbers it, which some versions write
# Fields that depend on compression, of a row group, a column chunk, its metadata and a page header.
GROUP_SIZES, CHUNK_PLACE, CHUNK_SIZES, PAGE_SIZES = (2, 5, 6), (2,), (6, 7, 9, 11), (3,)


class Page(NamedTuple):
    """A page: whether it is a dictionary, its values, its unpacked size, and the offsets of its packed bytes."""

    dictionary: bool
    values: int
    unpacked: int
    start: int
    stop: int


class Chunk(NamedTuple):
    """A column chunk: its offsets, the number of its values, and whether it has an index or anything else."""

    start: int
    stop: int
    values: int
    extras: bool


class Footer(NamedTuple):
    """A footer: its offset, the rows of each group, the chunks, the keys of its metadata, and its creator."""

    start: int
    rows: tuple[int, ...]
    chunks: tuple[Chunk, ...]
    keys: tuple[bytes, ...]
    maker: bytes

    def pages(self, path: Path) -> Iterator[list[Page]]:
        """Yield the pages of each chunk of this footer's file; raise ValueError if they do not fill it exactly."""
        with path.open("rb") as file:
            for chunk in self.chunks:
                yield _pages(file, chunk)


def footer_of(path: Path) -> Footer:
    """Read the footer of a Parquet file; raise ValueError if it is malformed."""
    start, facts = _facts(path)
    try:
        groups = facts.get(4, [])
        chunks = tuple(_chunk(column, start) for group in groups for column in group[1])
        keys = tuple(pair[1] for pair in facts.get(5, []))
        return Footer(start, tuple(int(group[3]) for group in groups), chunks, keys, bytes(facts.get(MAKER, b"")))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise ValueError from None


def skeleton(path: Path) -> list[dict[int, Any]]:
    """Return the fields of the footer and of all page headers, except the creator and the offsets of packed bytes."""
    facts = _facts(path)[1]
    facts.pop(MAKER, None)
    for number, group in enumerate(facts.get(4, [])):
        _drop(group, GROUP_SIZES if group.get(ORDINAL) != number else (*GROUP_SIZES, ORDINAL))
        for column in group[1]:
            _drop(column, CHUNK_PLACE)
            _drop(column[3], CHUNK_SIZES)
    found = [facts]
    with path.open("rb") as file:
        for chunk in footer_of(path).chunks:
            found += [_drop(header, PAGE_SIZES) for header, _ in _headers(file, chunk)]
    return found


def true_sizes(path: Path) -> bool:
    """Return whether all sizes and offsets in the footer are those of the pages."""
    facts = _facts(path)[1]
    chunks = iter(footer_of(path).chunks)
    with path.open("rb") as file:
        for group in facts.get(4, []):
            whole, first, packed = 0, None, 0
            for column in group[1]:
                chunk = next(chunks)
                headers = list(_headers(file, chunk))
                ends = [start + fields[3] for fields, start in headers]
                starts = [chunk.start, *ends[:-1]]
                unpacked = sum(start - at + fields[2] for (fields, start), at in zip(headers, starts, strict=True))
                data = [at for (fields, _), at in zip(headers, starts, strict=True) if 7 not in fields]
                held = [at for (fields, _), at in zip(headers, starts, strict=True) if 7 in fields]
                stated = column[3]
                if stated.get(6) != unpacked or stated.get(9, 0) not in (data[:1] or [0]):
                    return False
                if stated.get(11, 0) not in (held[:1] or [0]) or column.get(2, 0) not in (0, chunk.start, chunk.stop):
                    return False
                first = chunk.start if first is None else first
                whole, packed = whole + unpacked, packed + chunk.stop - chunk.start
            if group.get(2) != whole or group.get(5, first) != first or group.get(6, packed) != packed:
                return False
    return True


def nothing_between(path: Path) -> bool:
    """Return whether nothing but column chunks, and in older versions copies of their metadata, precedes the footer."""
    end, facts = _facts(path)
    columns = [column for group in facts.get(4, []) for column in group[1]]
    chunks, at = footer_of(path).chunks, 4
    with path.open("rb") as file:
        for place, (chunk, column) in enumerate(zip(chunks, columns, strict=True)):
            if chunk.start != at:
                return False
            at = chunks[place + 1].start if place + 1 < len(chunks) else end
            file.seek(chunk.stop)
            between = Compact(file.read(at - chunk.stop))
            if between.data and (between.struct() != column or between.at != len(between.data)):
                return False
    return at == end


def _drop(fields: dict[int, Any], numbers: tuple[int, ...]) -> dict[int, Any]:
    """Remove fields from a struct."""
    for number in numbers:
        if not isinstance(fields.pop(number, 0), int):
            raise ValueError
    return fields


def _facts(path: Path) -> tuple[int, dict[int, Any]]:
    """Return the offset of the footer of a file, and its fields."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 8))
        end = file.read(8)
        length = int.from_bytes(end[:4], "little")
        start = size - 8 - length
        if end[4:] != b"PAR1" or start < 4 or length > MOST_FOOTER:
            raise ValueError
        file.seek(start)
        reader = Compact(file.read(length))
    try:
        facts = reader.struct()
    except (KeyError, IndexError, TypeError, AttributeError):
        raise ValueError from None
    if reader.at != length:
        raise ValueError
    return start, facts


def _chunk(column: dict[int, Any], end: int) -> Chunk:
    """Read the entry of a column chunk."""
    facts = column[3]
    # Without rows there is a dictionary but no data page, whose offset is then given as 0.
    places = [place for place in (facts.get(9, 0), facts.get(11, 0)) if place]
    start = min(places, default=4)
    stop = start + facts[7]
    if not 4 <= start <= stop <= end:
        raise ValueError
    # A file of its own, an offset or column index, encryption, metadata of the chunk, an index page or a bloom filter.
    extras = bool({1, 4, 6, 8, 9} & set(column)) or bool({8, 10, 14} & set(facts))
    return Chunk(start, stop, int(facts[5]), extras)


def _pages(file: Any, chunk: Chunk) -> list[Page]:
    """Read the pages of one column chunk."""
    found = []
    for fields, start in _headers(file, chunk):
        # Field 5 is the header of a data page, 7 of a dictionary, 8 of a data page of the second version.
        inner = next((fields[number] for number in (5, 7, 8) if number in fields), None)
        values = inner.get(1) if isinstance(inner, dict) else None
        unpacked = fields.get(2)
        if not isinstance(values, int) or not isinstance(unpacked, int) or min(values, unpacked) < 0:
            raise ValueError
        found.append(Page(7 in fields, values, unpacked, start, start + fields[3]))
    return found


def _headers(file: Any, chunk: Chunk) -> Iterator[tuple[dict[int, Any], int]]:
    """Yield the fields of each page header of a chunk, and the offset of the page's bytes."""
    at = chunk.start
    while at < chunk.stop:
        file.seek(at)
        header = Compact(file.read(min(HEADER, chunk.stop - at)))
        fields = header.struct()
        start, packed = at + header.at, fields.get(3)
        if not isinstance(packed, int) or packed < 0 or start + packed > chunk.stop:
            raise ValueError
        yield fields, start
        at = start + packed


class _Short(int):
    """A number of 16 bits."""


class _Word(int):
    """A number of 32 bits."""


INTEGERS = {4: _Short, 5: _Word, 6: int}


class Compact:
    """A reader of Thrift's compact protocol: structs as dictionaries by field number."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        """Return the next byte."""
        if self.at >= len(self.data):
            raise ValueError
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        """Return the next unsigned number."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if shift and not byte:
                    break
                return value
        raise ValueError

    def number(self) -> int:
        """Return the next signed number."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of the struct that comes next."""
        if depth > DEPTH:
            raise ValueError
        fields: dict[int, Any] = {}
        last = 0
        while kind := self.byte():
            number = last + (kind >> 4) if kind >> 4 else self.number()
            if number <= last or (not kind >> 4 and number <= last + 15):
                raise ValueError
            fields[number], last = self.value(kind & 15, depth), number
        return fields

    def value(self, kind: int, depth: int) -> Any:
        """Return a value of any type that a footer has."""
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in INTEGERS:
            return INTEGERS[kind](self.number())
        if kind == 8:
            length = self.varint()
            self.at += length
            if self.at > len(self.data):
                raise ValueError
            return self.data[self.at - length : self.at]
        if kind == 9:
            size = self.byte()
            count = self.varint() if size >> 4 == 15 else size >> 4
            if count > len(self.data) - self.at or (size >> 4 == 15 and count < 15):
                raise ValueError
            return [self.item(size & 15, depth) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError

    def item(self, kind: int, depth: int) -> Any:
        """Return an item of a list, in which a boolean is a byte."""
        if kind not in (1, 2):
            return self.value(kind, depth)
        truth = self.byte()
        if truth not in (1, 2):
            raise ValueError
        return truth == 1
