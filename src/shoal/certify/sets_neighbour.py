"""Check the neighbour of a set-valued release: it must be the one that follows from the release.

Whether a file of plain records *could* have been drawn from the chunks proves nothing: the original itself could, as it
is one of the data sets that the release may represent. So the draw has no freedom: its random seed is a digest of what
is published, anyone can draw again, and the file must be identical byte for byte. The drawing function is passed in,
because it belongs to the code that makes releases. Privacy does not depend on it, since what follows from the release
alone reveals no more than the release. k^m-anonymity of the file is counted here.
"""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from shoal.certify.certificate import own_version
from shoal.certify.checked import Line, is_plain
from shoal.errors import InfeasibleError, ReadError, ShoalError
from shoal.io.disassociated import NEIGHBOURS, neighbour_file
from shoal.io.files import MOST_BYTES
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict
from shoal.model.transactions import Transactions
from shoal.privacy.verdict.km import verify_plain

NEIGHBOUR_MODEL = "k^m-anonymity of the neighbour"  # as certificates claim it
DRAWN = "drawn from the release"
RECORD_BYTES, ITEM_BYTES = 200, 60  # memory per record and per item while drawing and comparing
COPIES = 3  # of the text of the neighbour: as text, as bytes, and as read from the file
ALWAYS_DRAWN = 1 << 29
MOST_GROWTH = 200

Redraw = Callable[[Disassociated, str], Transactions]


def check_neighbour(
    path: Path, stated: dict[str, Any], published: Disassociated, redraw: Redraw | None, by: str, size: int
) -> tuple[list[Line], list[Verdict]]:
    """Compare a neighbour with one that is drawn again, and count whether it is k^m-anonymous.

    `stated` is what the certificate says of it (`kind`, `k`, `m`), `by` the version of shoal that it names. Every
    verdict on `published` must hold. `redraw` draws the neighbour of this kind, or raises `InfeasibleError` if that
    takes more work than a release of its size may cost; without it nothing can be compared, which is a failure. `size`
    is the number of bytes of all files: what needs far more memory is not drawn. There is a verdict only for a
    neighbour of kind "km" that is the one drawn.
    """
    if redraw is None:
        return [Line("neighbour", DRAWN, "not compared: there is nothing to draw it with", holds=False)], []
    if _memory(published) > min(MOST_BYTES, max(ALWAYS_DRAWN, MOST_GROWTH * size)):
        return [Line("neighbour", DRAWN, "not compared: too many records for files of this size", holds=False)], []
    try:
        name, content = neighbour_file(redraw(published, stated["kind"]))
    except InfeasibleError:
        return [Line("neighbour", DRAWN, "not compared: it takes too long for files of this size", holds=False)], []
    except ShoalError:
        return [Line("neighbour", DRAWN, "not compared: it cannot be drawn", holds=False)], []
    if path.name != name or not is_plain(path) or path.stat().st_size != len(content) or path.read_bytes() != content:
        here = own_version()
        other = "different" if by == here else f"different (by shoal {by}, drawn again by {here})"
        return [Line("neighbour", DRAWN, other, holds=False)], []
    lines = [Line("neighbour", DRAWN, "the same", holds=True)]
    if stated["kind"] == "raw":
        return lines, []
    try:
        return lines, [neighbour_verdict(read_neighbour(content, name, published.labels), stated["k"], stated["m"])]
    except (ReadError, InfeasibleError):
        return [*lines, Line("neighbour", "records that can be counted", "no", holds=False)], []


def neighbour_verdict(neighbour: Transactions, k: int, m: int) -> Verdict:
    """Return the verdict on a neighbour of kind "km", as certificates claim it."""
    plain = verify_plain(neighbour, k, m)
    return Verdict(NEIGHBOUR_MODEL, None, plain.asked, plain.found, plain.holds, plain.note)


def read_neighbour(raw: bytes, name: str, labels: tuple[str, ...]) -> Transactions:
    """Read a neighbour: records of published labels, ascending, so that their order reveals nothing.

    The file is lines of labels separated by one space, or a JSON list of lists of labels: its name says which.
    """
    number = {label: place for place, label in enumerate(labels)}
    try:
        if name == NEIGHBOURS[0]:
            *lines, rest = raw.decode().split("\n")
            records = [line.split(" ") for line in lines]
        else:
            records, rest = json.loads(raw), ""
            if {type(each) for each in (records, *records)} != {list}:
                raise ValueError
        ascending = all(one < two for record in records for one, two in pairwise(record))
        ascending = ascending and all(one <= two for one, two in pairwise(records))
        sets = [sorted(number[label] for label in record) for record in records]
    except (ValueError, TypeError, KeyError, RecursionError):
        sets, ascending, rest = [], False, ""
    if rest or not ascending or not all(sets):
        raise ReadError(f"verify: {name!r} is not a list of records in order.")
    indptr = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    items = np.array([item for record in sets for item in record], np.int32)
    return Transactions(indptr, items, labels, np.arange(len(sets)), len(sets))


def _memory(published: Disassociated) -> float:
    """Return roughly how many bytes it takes to draw a neighbour and to compare it."""
    times = np.repeat(published.counts.astype(np.float64), np.diff(published.sub_ptr))
    letters = np.array([len(label.encode()) for label in published.labels], np.float64)
    text = float(times @ letters[published.items]) if times.size else 0.0
    return RECORD_BYTES * float(published.n) + ITEM_BYTES * float(times.sum()) + COPIES * text
