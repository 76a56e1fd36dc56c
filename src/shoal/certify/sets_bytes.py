"""Read the files of a set-valued release from their bytes, for the check alone.

Nothing is shared with `io.disassociated`, which writes them: what one of the two gets wrong, the other does not. Files
come from strangers. Everything that is not exactly as the format says is refused: other fields, other types, numbers
out of range, metadata, bytes between the columns. No message says more than which file.
"""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.errors import ReadError
from shoal.io.files import MOST_SWELL, SURELY_FINE, typed_columns
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions

__all__ = ["DOCUMENT", "NEIGHBOURS", "TABLES", "read_document", "read_neighbour", "read_tables"]

DOCUMENT = "disassociated.json"
TABLES = {
    "clusters.parquet": {"cluster": "int32", "size": "int64", "opened": "bool"},
    "items.parquet": {"id": "int32", "label": "string"},
    "joints.parquet": {"joint": "int32", "cluster": "int32"},
    "subrecords.parquet": {"scope": "string", "scope_id": "int32", "chunk": "int32", "items": "list", "count": "int64"},
    "terms.parquet": {"cluster": "int32", "item": "int32"},
}
NEIGHBOURS = ("neighbour.dat", "neighbour.json")
PARAMETERS = {"k": int, "m": int, "delta": int, "partition": str, "levels": int, "terms": str}
MOST_DOCUMENT = 1 << 26
MOST_NEIGHBOUR = 1 << 28
MOST_NUMBER = 1 << 40
FAULTS = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    pa.ArrowException,
    OSError,
)


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


def read_document(path: Path) -> Disassociated:
    """Read a release that is one JSON document.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Disassociated
        As it stands in the file; whether its numbers refer to anything is for the judge to say.

    Raises
    ------
    ReadError
        If it is anything else.
    """
    try:
        return _document(_loaded(_bytes(path, MOST_DOCUMENT)))
    except FAULTS:
        raise ReadError(f"verify: {path.name!r} is no disassociated data set.") from None


def read_tables(folder: Path) -> Disassociated:
    """Read a release that is five Parquet files; see `read_document`."""
    name = ""
    try:
        columns = {}
        for name, kinds in TABLES.items():
            columns[name] = _columns(folder / name, kinds)
        name = "clusters.parquet"
        facts = _loaded((pq.read_metadata(folder / name).metadata or {})[b"disassoc"])
        return _of_columns(facts, columns)
    except (*FAULTS, ReadError):
        raise ReadError(f"verify: {name!r} is no part of a disassociated data set.") from None


def read_neighbour(path: Path, labels: tuple[str, ...]) -> tuple[Transactions, bool] | None:
    """Read a neighbour: records of published labels.

    Parameters
    ----------
    path : Path
        Lines of labels separated by one blank, or a JSON list of lists of labels.
    labels : tuple of str
        The published labels.

    Returns
    -------
    (Transactions, bool) or None
        The records by published labels, and whether they and their labels ascend, so that their order says nothing.
        None if a label is not one of those published.

    Raises
    ------
    ReadError
        If it is no list of records, or a record has nothing in it.
    """
    number = {label: place for place, label in enumerate(labels)}
    try:
        raw = _bytes(path, MOST_NEIGHBOUR if path.suffix == ".dat" else MOST_DOCUMENT)
        if path.suffix == ".dat":
            lines = raw.decode().split("\n")
            if lines.pop():
                raise ValueError
            records: list[list[str]] = [line.split(" ") for line in lines]
        else:
            records = [_a(list, record) for record in _a(list, _loaded(raw))]
        if not all(records) or any(type(label) is not str for record in records for label in record):
            raise ValueError
        ascending = all(one < two for record in records for one, two in pairwise(record))
        ascending = ascending and all(one <= two for one, two in pairwise(records))
        sets = [sorted({number[label] for label in record}) for record in records if number.keys() >= set(record)]
    except FAULTS:
        raise ReadError(f"verify: {path.name!r} is no list of records.") from None
    if len(sets) < len(records):
        return None
    indptr = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    items = np.array([item for record in sets for item in record], np.int32)
    return Transactions(indptr, items, labels, np.arange(len(sets)), len(sets)), ascending


def _bytes(path: Path, most: int) -> bytes:
    """Return the bytes of a plain file that is not too large."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > most:
        raise ValueError
    return path.read_bytes()


def _loaded(raw: bytes) -> Any:
    """Read JSON that has whole numbers only, and no key twice."""
    return json.loads(raw.decode(), object_pairs_hook=_once, parse_float=_refused, parse_constant=_refused)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is given twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


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
    if facts["format"] != "disassoc/1":
        raise ValueError
    _has(facts["params"], *PARAMETERS)
    for name, kind in PARAMETERS.items():
        given = facts["params"][name]
        if kind is str and not re.fullmatch(r"[a-z-]{1,20}", _a(str, given)):
            raise ValueError
        if kind is int:
            _number(given)
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


def _columns(path: Path, kinds: dict[str, str]) -> dict[str, Any]:
    """Return the columns of a Parquet file that has these and nothing else."""
    if path.is_symlink() or not path.is_file():
        raise ValueError
    facts = pq.read_metadata(path)
    if 8 * facts.num_rows * len(kinds) > max(SURELY_FINE, MOST_SWELL * path.stat().st_size):
        raise ValueError
    table = typed_columns(path, "parquet")
    # Only now: what a false footer says of its columns may end Python, and the table was read by it.
    _no_more(path)
    if table.column_names != list(kinds):
        raise ValueError
    found: dict[str, Any] = {}
    for name, kind in kinds.items():
        column = table.column(name).combine_chunks()
        gaps = (path.name, name) == ("terms.parquet", "cluster")
        if (kind != "list" and str(column.type) != kind) or (column.null_count and not gaps):
            raise ValueError
        if gaps and (column.drop_null().to_numpy() < 0).any():
            raise ValueError
        if kind == "list":
            if column.type.value_type != pa.int32() or column.flatten().null_count:
                raise ValueError
            found["lengths"] = column.value_lengths().to_numpy()
            found[name] = column.flatten().to_numpy()
        else:
            found[name] = _values(column, name)
    return found


def _values(column: pa.Array, name: str) -> Any:
    """Return the values of a column: labels as a list, scopes as whether they are joints, -1 for a cluster not told."""
    if name == "label":
        return column.to_pylist()
    if name == "scope":
        if not pc.all(pc.is_in(column, value_set=pa.array(["c", "j"]))).as_py() and len(column):
            raise ValueError
        return pc.equal(column, "j").to_numpy(zero_copy_only=False)
    if pa.types.is_boolean(column.type):
        return column.to_numpy(zero_copy_only=False)
    return column.fill_null(-1).to_numpy()


def _no_more(path: Path) -> None:
    """Refuse a Parquet file with metadata of its own, or with bytes that belong to no column."""
    facts = pq.read_metadata(path)
    keys = set(facts.metadata or {})
    groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
    packed = sum(group.column(place).total_compressed_size for group in groups for place in range(group.num_columns))
    known = {b"disassoc"} if path.name == "clusters.parquet" else set()
    if keys != known or not re.fullmatch(r"parquet-cpp-arrow version [0-9A-Za-z.-]{1,40}", facts.created_by or ""):
        raise ValueError
    # Four bytes of magic at either end, and four for the length of the footer.
    if path.stat().st_size != packed + facts.serialized_size + 12:
        raise ValueError


def _of_columns(facts: Any, columns: dict[str, dict[str, Any]]) -> Disassociated:
    """Put the columns of the five files together."""
    _has(facts, "format", "params", "n_records")
    clusters, joints, terms = (columns[f"{name}.parquet"] for name in ("clusters", "joints", "terms"))
    subs = columns["subrecords.parquet"]
    labels = _labels(columns["items.parquet"]["label"])
    _counted(columns["items.parquet"]["id"], len(labels))
    _counted(clusters["cluster"], clusters["size"].size)
    if ((clusters["size"] < 0) | (clusters["size"] >= MOST_NUMBER)).any():
        raise ValueError
    if _number(facts["n_records"]) != int(clusters["size"].sum()):
        raise ValueError
    shared, scope, chunk = subs["scope"], subs["scope_id"], subs["chunk"]
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
