"""Read the files of a set-valued release from their bytes.

No code is shared with `io.disassociated`, which writes them: a mistake in one of the two is not in the other. Files are
untrusted. Whatever deviates from the format is refused: other fields, other types, numbers out of range. What this
reader does not look at is found by `sets_form`, which compares every byte with what the writer makes of the values.
Messages name only the file.
"""

import json
import re
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.certify.certificate import FAULTS as DOCUMENT_FAULTS
from shoal.certify.certificate import sound_parameters, unique_keys
from shoal.certify.plain_parquet import read_plain
from shoal.errors import ReadError
from shoal.io.disassociated import FORMAT, JSON_FILE, MOST_JSON
from shoal.io.files import MOST_BYTES
from shoal.model.disassociated import Disassociated

TABLES = {
    "clusters.parquet": {"cluster": "int32", "size": "int64", "opened": "bool"},
    "items.parquet": {"id": "int32", "label": "string"},
    "joints.parquet": {"joint": "int32", "cluster": "int32"},
    "subrecords.parquet": {"scope": "string", "scope_id": "int32", "chunk": "int32", "items": "list", "count": "int64"},
    "terms.parquet": {"cluster": "int32?", "item": "int32"},
}
STATED = ("format", "params", "n_records")
MOST_NUMBER, ITEMS = 1 << 40, 1 << 31
FAULTS = (*DOCUMENT_FAULTS, IndexError, struct.error)


class Files(NamedTuple):
    """A release with the files it was read from: their bytes, and the creator of those that are Parquet."""

    published: Disassociated
    raw: dict[str, bytes]
    creator: str = ""


def read_files(folder: Path) -> Files:
    """Read a release in linear time: a JSON document if there is one, else five Parquet files of one library version.

    Anything else raises `ReadError`. Whether the numbers of the release refer to anything is for the judge to decide.
    """
    name = JSON_FILE
    try:
        if (folder / JSON_FILE).exists():
            document = _bytes(folder / JSON_FILE, MOST_JSON)
            given = _loaded(document)
            return Files(_released(given, _of_document(given)), {JSON_FILE: document})
        name = "clusters.parquet"
        raw = {name: _bytes(folder / name, MOST_BYTES) for name in TABLES}
        columns, facts, creators = {}, {}, set()
        for name, kinds in TABLES.items():
            columns[name], facts[name], creator = _columns(raw[name], kinds)
            creators.add(creator)
        name = "clusters.parquet"
        published = _released(_has(_loaded(facts[name] or b""), *STATED), columns)
        if len(creators) > 1:
            raise ValueError
        return Files(published, raw, creators.pop().decode())
    except FAULTS:
        raise ReadError(f"verify: {name!r} is not part of a disassociated data set.") from None


def _bytes(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file that is not too large."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > most:
        raise ValueError
    return path.read_bytes()


def _loaded(raw: bytes) -> Any:
    """Read JSON that has integers only, and no duplicate key."""
    return json.loads(raw.decode(), object_pairs_hook=unique_keys, parse_float=_refused, parse_constant=_refused)


def _refused(_: str) -> None:
    """Refuse any number that is not an integer."""
    raise ValueError


def _has(given: Any, *names: str) -> Any:
    """Return an object with exactly these fields; refuse any other."""
    if set(_a(dict, given)) != set(names):
        raise ValueError
    return given


def _a(kind: type, given: Any) -> Any:
    """Return an object of exactly this type; refuse any other."""
    if type(given) is not kind:
        raise TypeError
    return given


def _number(given: Any, most: int = MOST_NUMBER) -> int:
    """Return an integer of at least 0 and below `most`."""
    if type(given) is not int or not 0 <= given < most:
        raise ValueError
    return given


def _numbers(given: Any, most: int = MOST_NUMBER) -> list[int]:
    """Return a list of such integers."""
    return [_number(number, most) for number in _a(list, given)]


def _labels(given: list[Any]) -> tuple[str, ...]:
    """Return labels that can be encoded."""
    for label in given:
        _a(str, label).encode()
    return tuple(given)


def _stated(facts: Any) -> dict[str, Any]:
    """Return the parameters that a file states."""
    if facts["format"] != FORMAT or not sound_parameters(facts["params"]):
        raise ValueError
    return dict(facts["params"])


def _of_document(given: Any) -> dict[str, dict[str, Any]]:
    """Return the columns of the five files that are equivalent to a document."""
    _has(given, *STATED, "items", "clusters", "joints", "term_global")
    labels, clusters, joints = (_a(list, given[name]) for name in ("items", "clusters", "joints"))
    for cluster in clusters:
        _has(cluster, "size", "opened", "chunks", *(["term"] if "term" in cluster else []))
    for joint in joints:
        _has(joint, "clusters", "chunks")
    terms = [(-1, item) for item in _numbers(given["term_global"], ITEMS)]
    terms += [(number, item) for number, one in enumerate(clusters) for item in _numbers(one.get("term", []), ITEMS)]
    members = [(number, one) for number, each in enumerate(joints) for one in _numbers(each["clusters"], ITEMS)]
    subs = [
        (shared, scope, place, *sub)
        for shared, scopes in enumerate((clusters, joints))
        for scope, each in enumerate(scopes)
        for place, chunk in enumerate(_a(list, each["chunks"]))
        for sub in _subrecords(chunk)
    ]
    return {
        "clusters.parquet": {
            "cluster": np.arange(len(clusters)),
            "size": np.array([_number(one["size"]) for one in clusters], np.int64),
            "opened": np.array([_a(bool, one["opened"]) for one in clusters], bool),
        },
        "items.parquet": {"id": np.arange(len(labels)), "label": labels},
        "joints.parquet": _pairs(members, "joint", "cluster"),
        "subrecords.parquet": {
            "scope": np.array([sub[0] for sub in subs], bool),
            "scope_id": np.array([sub[1] for sub in subs], np.int64),
            "chunk": np.array([sub[2] for sub in subs], np.int64),
            "items": np.array([item for sub in subs for item in sub[3]], np.int32),
            "lengths": np.array([len(sub[3]) for sub in subs], np.int64),
            "count": np.array([sub[4] for sub in subs], np.int64),
        },
        "terms.parquet": _pairs(terms, "cluster", "item"),
    }


def _subrecords(chunk: Any) -> list[tuple[list[int], int]]:
    """Return the sub-records of a chunk of a document; there must be some, with all items of its domain."""
    _has(chunk, "domain", "subrecords")
    subs = [_has(sub, "items", "count") for sub in _a(list, chunk["subrecords"])]
    found = [(_numbers(sub["items"], ITEMS), _number(sub["count"])) for sub in subs]
    if not found or _numbers(chunk["domain"], ITEMS) != sorted({item for items, _ in found for item in items}):
        raise ValueError
    return found


def _pairs(rows: list[tuple[int, int]], *names: str) -> dict[str, NDArray[np.int32]]:
    """Return pairs of numbers as two columns."""
    both = np.array(rows, np.int32).reshape(-1, 2)
    return {name: np.ascontiguousarray(both[:, place]) for place, name in enumerate(names)}


def _columns(raw: bytes, kinds: dict[str, str]) -> tuple[dict[str, Any], bytes | None, bytes]:
    """Return the columns of a Parquet file, its metadata entry, and the version of the library that wrote it."""
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


def _released(facts: Any, columns: dict[str, dict[str, Any]]) -> Disassociated:
    """Assemble the columns of the five files."""
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
    """Refuse numbers that do not count up from 0."""
    if numbers.tolist() != list(range(n)):
        raise ValueError
