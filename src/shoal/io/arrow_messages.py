"""The messages of a Feather or Arrow file: their contents and unpacked sizes, read before anything is unpacked.

A file is a magic number, a sequence of messages, an end marker, and a footer that repeats the schema and lists the
messages. A message is a flatbuffer, of which a few fields are read here, and a body of buffers. A compressed buffer
starts with the number of bytes that it unpacks to, and pyarrow allocates that many.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

MARK = b"ARROW1"
SCHEMA, DICTIONARY, BATCH = 1, 2, 3
MOST_META = 1 << 24


class Message(NamedTuple):
    """A message. `kind` is `SCHEMA`, `DICTIONARY`, `BATCH`, or 0 for the end marker."""

    kind: int
    rows: int
    values: int  # total length of its columns and of those nested in them
    unpacked: int  # bytes that its buffers claim to unpack to
    tidy: bool  # no metadata, and nothing in the body but the buffers in order, with zeros between them
    stop: int  # offset of its end


def messages(path: Path) -> Iterator[Message]:
    """Yield the messages of a file in order, the end marker last; raise ValueError if the file is malformed."""
    with path.open("rb") as file:
        start = _exactly(file, 8)
        if not start.startswith(MARK):
            raise ValueError
        tidy = start == MARK + b"\0\0"
        while True:
            length, modern = _length(file)
            if not length:
                yield Message(0, 0, 0, 0, tidy and modern, file.tell())
                return
            meta = _Flat(_exactly(file, length))
            body = file.tell()
            message = _message(meta, file, body)
            yield message._replace(tidy=message.tidy and modern and tidy)
            file.seek(message.stop)


def footer_of(path: Path) -> tuple[int, bool]:
    """Return the offset of the footer and whether it carries metadata; raise ValueError if there is no footer."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 10))
        end = file.read(10)
        claimed = int.from_bytes(end[:4], "little")
        if end[4:] != MARK or claimed > min(size - 18, MOST_META):
            raise ValueError
        file.seek(size - 10 - claimed)
        footer = _Flat(file.read(claimed))
    return size - 10 - claimed, footer.field(footer.root, 4) is not None


def skeleton(path: Path) -> list[bytes]:
    """Return the messages without their bodies, and the footer, without the offsets and lengths of compressed bytes."""
    found = []
    with path.open("rb") as file:
        _exactly(file, 8)
        while length := _length(file)[0]:
            meta = _Flat(_exactly(file, length))
            file.seek(meta.number(meta.root, 3, "q"), 1)
            hidden = [(meta.field(meta.root, 3), 8)]
            kind = meta.number(meta.root, 1, "B")
            if kind in (DICTIONARY, BATCH):
                held = meta.table(meta.root, 2)
                hidden.append(meta.vector(meta.table(held, 1) if kind == DICTIONARY else held, 2, 16))
            found.append(meta.without(hidden))
        start = footer_of(path)[0]
        file.seek(start)
        footer = _Flat(file.read()[:-10])
    return [*found, footer.without([footer.vector(footer.root, field, 24) for field in (2, 3)])]


def true_blocks(path: Path) -> bool:
    """Return whether the footer lists exactly the messages of the file, with their true offsets and sizes."""
    found: dict[int, list[tuple[int, int, int, int]]] = {DICTIONARY: [], BATCH: []}
    with path.open("rb") as file:
        at = len(_exactly(file, 8))
        while (length := _length(file)[0]) > 0:
            body = file.tell() + length
            meta = _Flat(_exactly(file, length))
            size = meta.number(meta.root, 3, "q")
            kind = meta.number(meta.root, 1, "B")
            if kind in found:
                found[kind].append((at, body - at, 0, size))
            at = body + size
            file.seek(at)
        file.seek(footer_of(path)[0])
        footer = _Flat(file.read()[:-10])
    for kind, field in ((DICTIONARY, 2), (BATCH, 3)):
        place, width = footer.vector(footer.root, field, 24)
        start = place or 0
        blocks = [struct.unpack_from("<qiiq", footer.data, at) for at in range(start, start + width, 24)]
        if blocks != found[kind]:
            return False
    return True


def _length(file: Any) -> tuple[int, bool]:
    """Return the length of the next message without its body (0 at the end), and whether it uses the current layout."""
    start = _exactly(file, 4)
    modern = start == b"\xff\xff\xff\xff"
    length = int.from_bytes(_exactly(file, 4) if modern else start, "little")
    if length > MOST_META:
        raise ValueError
    return length, modern


def _exactly(file: Any, length: int) -> bytes:
    """Read exactly this many bytes, or raise ValueError."""
    data: bytes = file.read(length)
    if len(data) < length:
        raise ValueError
    return data


def _message(meta: "_Flat", file: Any, start: int) -> Message:
    """Read a message; of its body, only the lengths of its buffers."""
    kind, size = meta.number(meta.root, 1, "B"), meta.number(meta.root, 3, "q")
    tidy = meta.field(meta.root, 4) is None
    if size < 0:
        raise ValueError
    if kind == SCHEMA:
        return Message(kind, 0, 0, 0, tidy and not size, start + size)
    if kind not in (DICTIONARY, BATCH):
        raise ValueError
    held = meta.table(meta.root, 2)
    batch = meta.table(held, 1) if kind == DICTIONARY else held
    packed = meta.field(batch, 3) is not None
    at, unpacked = 0, 0
    for offset, length in [*meta.pairs(batch, 2), (size, 0)]:
        if min(offset, length) < 0 or offset + length > size:
            raise ValueError
        tidy = tidy and 0 <= offset - at < 64 and not any(_at(file, start + at, offset - at))
        claimed = struct.unpack("<q", _at(file, start + offset, 8))[0] if packed and length else -1
        if claimed < -1:
            raise ValueError
        unpacked += length if claimed == -1 else claimed
        at = offset + length
    values = sum(length for length, _ in meta.pairs(batch, 1))
    return Message(kind, meta.number(batch, 0, "q"), values, unpacked, tidy, start + size)


def _at(file: Any, at: int, length: int) -> bytes:
    """Return the bytes at an offset."""
    file.seek(at)
    return _exactly(file, length)


class _Flat:
    """A reader of flatbuffers: tables are offsets, and fields are found by number."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.root = self.unpack("I", 0)

    def unpack(self, kind: str, at: int) -> int:
        """Return the number at an offset."""
        if not 0 <= at <= len(self.data) - struct.calcsize(kind):
            raise ValueError
        return int(struct.unpack_from(f"<{kind}", self.data, at)[0])

    def field(self, table: int, number: int) -> int | None:
        """Return the offset of a field of a table, or None if it has its default value."""
        names = table - self.unpack("i", table)
        if self.unpack("H", names) <= 4 + 2 * number:
            return None
        offset = self.unpack("H", names + 4 + 2 * number)
        return table + offset if offset else None

    def number(self, table: int, field: int, kind: str) -> int:
        """Return a numeric field."""
        at = self.field(table, field)
        return 0 if at is None else self.unpack(kind, at)

    def table(self, table: int, field: int) -> int:
        """Return the offset of the table that a field points to."""
        at = self.field(table, field)
        if at is None:
            raise ValueError
        return at + self.unpack("I", at)

    def vector(self, table: int, field: int, width: int) -> tuple[int | None, int]:
        """Return the offset of a list whose items are `width` bytes each, and its length in bytes."""
        if self.field(table, field) is None:
            return None, 0
        at = self.table(table, field)
        return at + 4, width * self.unpack("I", at)

    def without(self, parts: list[tuple[int | None, int]]) -> bytes:
        """Return all bytes, with these parts set to zero."""
        data = bytearray(self.data)
        for start, length in parts:
            if start is not None:
                if not 0 <= start <= start + length <= len(data):
                    raise ValueError
                data[start : start + length] = bytes(length)
        return bytes(data)

    def pairs(self, table: int, field: int) -> Iterator[tuple[int, int]]:
        """Yield the pairs of 64-bit numbers of a field."""
        if self.field(table, field) is None:
            return
        at = self.table(table, field)
        count = self.unpack("I", at)
        if count * 16 > len(self.data):
            raise ValueError
        for place in range(count):
            yield self.unpack("q", at + 4 + 16 * place), self.unpack("q", at + 12 + 16 * place)
