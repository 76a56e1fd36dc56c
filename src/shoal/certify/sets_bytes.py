"""Read the files of a set-valued release from their bytes.

No code is shared with `io.disassociated`, which writes them: what one of the two gets wrong, the other does not. Files
come from strangers. Whatever is not as the format says is refused: other fields, other types, numbers out of range.
What this reader does not look at is found by `sets_form`, which compares every byte with what the writer makes of the
values. No message says more than which file.
"""

import json
import re
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.certify.certificate import FAULTS as DOCUMENT_FAULTS
from shoal.certify.certificate import once, sound_parameters
from shoal.certify.plain_parquet import read_plain
from shoal.errors import ReadError
from shoal.io.disassociated import FORMAT, JSON_FILE, MOST_JSON
from shoal.io.files import MOST_BYTES
from shoal.model.disassociated import Disassociated

__all__ = ["TABLES", "Files", "read_files"]

TABLES = {
    "clusters.parquet": {"cluster": "int32", "size": "int64", "opened": "bool"},
    "items.parquet": {"id": "int32", "label": "string"},
    "joints.parquet": {"joint": "int32", "cluster": "int32"},
    "subrecords.parquet": {"scope": "string", "scope_id": "int32", "chunk": "int32", "items": "list", "count": "int64"},
    "terms.parquet": {"cluster": "int32?", "item": "int32"},
}
MOST_NUMBER = 1 << 40
FAULTS = (*DOCUMENT_FAULTS, IndexError, struct.error)


class _Flat:
    """The arrays of a release while they are being filled."""

    def __init__(self) -> None:
        self.cluster: list[int] = []
        self.joint: list[int] = []
        self.chunk_ptr = [0]
        self.sub_ptr = [0]
        self.counts: list[int] = []
        self.items: list[int] = []

    def chunk(self, given: Any, cluster: int, joint: int) -> None:
        """Take one chunk of a document."""
        _has(given, "domain", "subrecords")
        start = len(self.items)
        for sub in _a(list, given["subrecords"]):
            _has(sub, "items", "count")
            self.items += _numbers(sub["items"], 1 << 31)
            self.counts.append(_number(sub["count"]))
            self.sub_ptr.append(len(self.items))
        if _numbers(given["domain"], 1 << 31) != sorted(set(self.items[start:])) or not given["subrecords"]:
            raise ValueError
        self.cluster.append(cluster)
        self.joint.append(joint)
        self.chunk_ptr.append(len(self.counts))


class Files(NamedTuple):
    """A release with the files that it was read from: their bytes, and who wrote those that are Parquet."""

    published: Disassociated
    raw: dict[str, bytes]
    creator: str = ""


def read_files(folder: Path) -> Files:
    """Read a release: one JSON document if there is one, else five Parquet files of the same version of the library.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Files
        The release as it stands in the files; whether its numbers refer to anything is for the judge to say.

    Raises
    ------
    ReadError
        If it is anything else.

    Cost
    ----
    O(size of the files) time and memory.
    """
    name = JSON_FILE
    try:
        if (folder / JSON_FILE).exists():
            document = _bytes(folder / JSON_FILE, MOST_JSON)
            return Files(_document(_loaded(document)), {JSON_FILE: document})
        name = "clusters.parquet"
        raw = {name: _bytes(folder / name, MOST_BYTES) for name in TABLES}
        columns, facts, creators = {}, {}, set()
        for name, kinds in TABLES.items():
            columns[name], facts[name], creator = _columns(raw[name], kinds)
            creators.add(creator)
        name = "clusters.parquet"
        published = _of_columns(_loaded(facts[name] or b""), columns)
        if len(creators) > 1:
            raise ValueError
        return Files(published, raw, creators.pop().decode())
    except FAULTS:
        raise ReadError(f"verify: {name!r} is no part of a disassociated data set.") from None


def _bytes(path: Path, most: int) -> bytes:
    """Return the bytes of a plain file that is not too large."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > most:
        raise ValueError
    return path.read_bytes()


def _loaded(raw: bytes) -> Any:
    """Read JSON that has whole numbers only, and no key twice."""
    return json.loads(raw.decode(), object_pairs_hook=once, parse_float=_refused, parse_constant=_refused)


def _refused(_: str) -> None:
    """Refuse whatever is no whole number."""
    raise ValueError


def _has(given: Any, *names: str) -> None:
    """Refuse what has not exactly these fields."""
    if set(_a(dict, given)) != set(names):
        raise ValueError


def _a(kind: type, given: Any) -> Any:
    """Return what is of this type, and refuse the rest."""
    if type(given) is not kind:
        raise TypeError
    return given


def _number(given: Any, most: int = MOST_NUMBER) -> int:
    """Return a whole number from 0 up to, and without, the most that it may be."""
    if type(given) is not int or not 0 <= given < most:
        raise ValueError
    return given


def _numbers(given: Any, most: int = MOST_NUMBER) -> list[int]:
    """Return a list of such numbers."""
    return [_number(number, most) for number in _a(list, given)]


def _labels(given: list[Any]) -> tuple[str, ...]:
    """Return labels that can be written down."""
    for label in given:
        _a(str, label).encode()
    return tuple(given)


def _stated(facts: Any) -> dict[str, Any]:
    """Return the parameters that a file states."""
    if facts["format"] != FORMAT or not sound_parameters(facts["params"]):
        raise ValueError
    return dict(facts["params"])


def _document(given: Any) -> Disassociated:
    """Turn a document into arrays."""
    _has(given, "format", "params", "n_records", "items", "clusters", "joints", "term_global")
    flat, sizes, opened, joints, ends = _Flat(), [], [], [], [0]
    terms = [(-1, item) for item in _numbers(given["term_global"], 1 << 31)]
    for number, cluster in enumerate(_a(list, given["clusters"])):
        _has(cluster, "size", "opened", "chunks", *(["term"] if "term" in cluster else []))
        sizes.append(_number(cluster["size"]))
        opened.append(_a(bool, cluster["opened"]))
        terms += [(number, item) for item in _numbers(cluster.get("term", []), 1 << 31)]
        for chunk in _a(list, cluster["chunks"]):
            flat.chunk(chunk, number, -1)
    for number, joint in enumerate(_a(list, given["joints"])):
        _has(joint, "clusters", "chunks")
        joints += _numbers(joint["clusters"], 1 << 31)
        ends.append(len(joints))
        for chunk in _a(list, joint["chunks"]):
            flat.chunk(chunk, -1, number)
    if _number(given["n_records"]) != sum(sizes):
        raise ValueError
    return Disassociated(
        **_stated(given),
        labels=_labels(_a(list, given["items"])),
        sizes=np.array(sizes, np.int64),
        opened=np.array(opened, bool),
        chunk_cluster=np.array(flat.cluster, np.int32),
        chunk_joint=np.array(flat.joint, np.int32),
        chunk_ptr=np.array(flat.chunk_ptr, np.int64),
        sub_ptr=np.array(flat.sub_ptr, np.int64),
        counts=np.array(flat.counts, np.int64),
        items=np.array(flat.items, np.int32),
        joint_ptr=np.array(ends, np.int64),
        joint_clusters=np.array(joints, np.int32),
        term_cluster=np.array([cluster for cluster, _ in terms], np.int32),
        term_item=np.array([item for _, item in terms], np.int32),
    )


def _columns(raw: bytes, kinds: dict[str, str]) -> tuple[dict[str, Any], bytes | None, bytes]:
    """Return the columns of a Parquet file, its entry of metadata, and the version of the library that wrote it."""
    plain = read_plain(raw, kinds)
    found: dict[str, Any] = {}
    for name, values in plain.columns.items():
        if kinds[name] == "list":
            found[name], begins = values
            if begins.size and not begins[0]:
                raise ValueError
            found["lengths"] = np.diff(np.append(np.flatnonzero(begins), begins.size))
        elif kinds[name] == "int32?":
            numbers, there = values
            if (numbers < 0).any():
                raise ValueError
            found[name] = np.where(there, numbers, -1).astype(np.int32)
        elif name == "scope":
            if not set(values) <= {"c", "j"}:
                raise ValueError
            found[name] = np.array([word == "j" for word in values], bool)
        else:
            found[name] = values
    creator = re.fullmatch(rb"parquet-cpp-arrow version ([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})", plain.creator)
    if creator is None:
        raise ValueError
    return found, plain.metadata.get(b"disassoc"), creator[1]


def _of_columns(facts: Any, columns: dict[str, dict[str, Any]]) -> Disassociated:
    """Put the columns of the five files together."""
    _has(facts, "format", "params", "n_records")
    clusters, joints, terms = (columns[f"{name}.parquet"] for name in ("clusters", "joints", "terms"))
    subs = columns["subrecords.parquet"]
    labels = _labels(columns["items.parquet"]["label"])
    _counted(columns["items.parquet"]["id"], len(labels))
    _counted(clusters["cluster"], clusters["size"].size)
    if joints["joint"].size != joints["cluster"].size or terms["item"].size != terms["cluster"].size:
        raise ValueError
    if ((clusters["size"] < 0) | (clusters["size"] >= MOST_NUMBER)).any():
        raise ValueError
    if _number(facts["n_records"]) != int(clusters["size"].sum()):
        raise ValueError
    shared, scope, chunk = subs["scope"], subs["scope_id"], subs["chunk"]
    if not shared.size == scope.size == chunk.size == subs["lengths"].size == subs["count"].size:
        raise ValueError
    other = np.ones(scope.size, bool)
    other[1:] = (shared[1:] != shared[:-1]) | (scope[1:] != scope[:-1])
    starts = np.flatnonzero(other | (np.diff(chunk, prepend=-1) != 0))
    # Chunks are counted from 0 in each cluster and each joint.
    expected = np.where(other[starts], 0, np.append(-1, chunk[starts][:-1]) + 1)
    if (scope < 0).any() or not np.array_equal(chunk[starts], expected):
        raise ValueError
    member = joints["joint"]
    n_joints = int(member[-1]) + 1 if member.size else 0
    if not set(np.diff(member, prepend=-1).tolist()) <= {0, 1}:
        raise ValueError
    return Disassociated(
        **_stated(facts),
        labels=labels,
        sizes=clusters["size"],
        opened=clusters["opened"],
        chunk_cluster=np.where(shared[starts], -1, scope[starts]).astype(np.int32),
        chunk_joint=np.where(shared[starts], scope[starts], -1).astype(np.int32),
        chunk_ptr=np.append(starts, scope.size),
        sub_ptr=np.concatenate([[0], np.cumsum(subs["lengths"], dtype=np.int64)]),
        counts=subs["count"],
        items=subs["items"],
        joint_ptr=np.searchsorted(member, np.arange(n_joints + 1)).astype(np.int64),
        joint_clusters=joints["cluster"],
        term_cluster=terms["cluster"],
        term_item=terms["item"],
    )


def _counted(numbers: NDArray[np.int32], n: int) -> None:
    """Refuse numbers that do not count from 0."""
    if numbers.tolist() != list(range(n)):
        raise ValueError
