"""Compare the files of a set-valued release, byte for byte, with what the writer makes of the values read from them.

Files are read by code that shares nothing with the writer (`sets_bytes`); the writer only says what bytes these values
should have. Whatever goes beyond the values, such as metadata, row groups cut elsewhere, unused dictionary entries,
whitespace or comments, then shows as a difference.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from shoal.certify.checked import Line
from shoal.certify.plain_parquet import with_creator
from shoal.certify.sets_bytes import Files
from shoal.errors import ShoalError
from shoal.io.disassociated import JSON_FILE, encoded
from shoal.model.disassociated import Disassociated


def written_bytes(files: Files) -> Iterator[Line]:
    """Compare the bytes of each file with those that the writer makes, one line per file.

    A Parquet file names the version of pyarrow that wrote it; that name alone may differ. If more does, both versions
    are named, as another one may lay out its files differently.
    """
    same = {}
    try:
        for name, content in encoded(files.published, "json" if JSON_FILE in files.raw else "parquet"):
            same[name] = _same(files, name, bytes(content))
    except ShoalError:
        pass  # what cannot be written was not written by shoal
    versions = f" (pyarrow {files.creator}, compared with {pa.__version__})" if files.creator else ""
    for name in sorted(files.raw):
        holds = same.get(name, False)
        found = "the same" if holds else "different bytes" + versions
        yield Line(f"bytes of {name}", "as shoal writes them", found, holds)


def shown_labels(published: Disassociated) -> Line:
    """Check that k records of the chunks have every published label, so that no label is published without support."""
    lengths = np.diff(published.sub_ptr)
    times = np.bincount(published.items, np.repeat(published.counts, lengths), minlength=len(published.labels))
    rare = int((times < published.k).sum())
    return Line(
        "labels",
        f"each in at least {published.k} records of chunks",
        "all of them" if rare == 0 else f"{rare:,} of them are not",
        rare == 0,
    )


def _same(files: Files, name: str, content: bytes) -> bool:
    """Return whether a file has these bytes, except for the version of pyarrow."""
    given = files.raw[name]
    if given == content or not files.creator or files.creator == pa.__version__:
        return given == content
    try:
        creators = (f"parquet-cpp-arrow version {version}".encode() for version in (files.creator, pa.__version__))
        return with_creator(given, *creators) == content
    except (ValueError, IndexError):
        return False
