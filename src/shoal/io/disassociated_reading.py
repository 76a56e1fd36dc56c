"""Read the files of a disassociated data set back; `io.disassociated` says what stands in them.

1. The JSON document or the five tables become the flat arrays of `Disassociated`, and must have exactly that shape.
2. Every number must refer to something that is there.

Files may come from strangers: whatever does not fit is refused, and no message has a label in it.
"""

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.errors import ReadError
from shoal.io.files import opened, typed_columns
from shoal.model.disassociated import Disassociated, TermPolicy

__all__ = [
    "FORMAT",
    "JSON_FILE",
    "METADATA",
    "MOST_JSON",
    "PARQUET_FILES",
    "SCHEMAS",
    "check_fit",
    "from_json",
    "from_tables",
]

FORMAT = "disassoc/1"
METADATA = "disassoc"
JSON_FILE = "disassociated.json"
PARQUET_FILES = ("clusters.parquet", "items.parquet", "joints.parquet", "subrecords.parquet", "terms.parquet")
MOST_JSON = 1 << 26  # bytes: far beyond, Python's own objects fill the memory, and Parquet is the format
TERMS = ("global", "drop", "cluster", "suppress")
SCHEMAS = {
    "items": pa.schema([pa.field("id", pa.int32(), False), pa.field("label", pa.string(), False)]),
    "clusters": pa.schema(
        [
            pa.field("cluster", pa.int32(), False),
            pa.field("size", pa.int64(), False),
            pa.field("opened", pa.bool_(), False),
        ]
    ),
    "subrecords": pa.schema(
        [
            pa.field("scope", pa.string(), False),
            pa.field("scope_id", pa.int32(), False),
            pa.field("chunk", pa.int32(), False),
            pa.field("items", pa.list_(pa.field("element", pa.int32(), False)), False),
            pa.field("count", pa.int64(), False),
        ]
    ),
    "joints": pa.schema([pa.field("joint", pa.int32(), False), pa.field("cluster", pa.int32(), False)]),
    "terms": pa.schema([pa.field("cluster", pa.int32()), pa.field("item", pa.int32(), False)]),
}
FAULTS = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)

Ints = NDArray[Any]


def _unfit(why: str) -> ReadError:
    """Return the error for files that are no disassociated data set."""
    return ReadError(f"read: this is no whole data set of format {FORMAT}: {why}. Fetch it again.")


def _whole(values: list[Any], kind: type = np.int64) -> Ints:
    """Return whole numbers as an array, or raise if any is of another type or too large."""
    if not set(map(type, values)) <= {int}:
        raise TypeError
    return np.array(values, kind)


def _cuts(lengths: list[int] | Ints) -> NDArray[np.int64]:
    """Return where stretches of these lengths begin and end."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is given twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def from_json(path: Path) -> Disassociated:
    """Read the JSON file."""
    with opened(path) as file:
        text = file.read(MOST_JSON + 1)
    if len(text) > MOST_JSON:
        raise _unfit(f"the file has more than {MOST_JSON >> 20} MiB")
    given = None
    try:
        given = _of_document(json.loads(text.decode(), object_pairs_hook=_once))
    except FAULTS:
        given = None
    if given is None:
        raise _unfit("it is no JSON of this format")
    return given


def _of_document(document: dict[str, Any]) -> Disassociated:
    """Turn the JSON document into flat arrays, or raise anything if it has another shape."""
    params = document["params"]
    k, m, delta, levels = _whole([params[name] for name in ("k", "m", "delta", "levels")]).tolist()
    clusters, joints = document["clusters"], document["joints"]
    scopes = [(number, -1, chunk) for number, each in enumerate(clusters) for chunk in each["chunks"]]
    scopes += [(-1, number, chunk) for number, each in enumerate(joints) for chunk in each["chunks"]]
    subs = [sub for _, _, chunk in scopes for sub in chunk["subrecords"]]
    terms = [(number, item) for number, each in enumerate(clusters) for item in each.get("term", ())]
    terms = [(-1, item) for item in document["term_global"]] + terms
    if document["format"] != FORMAT or set(map(type, document["items"])) - {str}:
        raise ValueError
    if any(sorted({i for s in chunk["subrecords"] for i in s["items"]}) != chunk["domain"] for _, _, chunk in scopes):
        raise ValueError
    if any(type(each["opened"]) is not bool for each in clusters):
        raise TypeError
    sizes = _whole([each["size"] for each in clusters])
    if int(sizes.sum()) != document["n_records"]:
        raise ValueError
    return Disassociated(
        k=k,
        m=m,
        delta=delta,
        levels=levels,
        partition=str(params["partition"]),
        terms=cast(TermPolicy, params["terms"]),
        labels=tuple(document["items"]),
        sizes=sizes,
        opened=np.array([each["opened"] for each in clusters], bool),
        chunk_cluster=np.array([cluster for cluster, _, _ in scopes], np.int32),
        chunk_joint=np.array([joint for _, joint, _ in scopes], np.int32),
        chunk_ptr=_cuts([len(chunk["subrecords"]) for _, _, chunk in scopes]),
        sub_ptr=_cuts([len(sub["items"]) for sub in subs]),
        counts=_whole([sub["count"] for sub in subs]),
        items=_whole([item for sub in subs for item in sub["items"]], np.int32),
        joint_ptr=_cuts([len(each["clusters"]) for each in joints]),
        joint_clusters=_whole([cluster for each in joints for cluster in each["clusters"]], np.int32),
        term_cluster=np.array([cluster for cluster, _ in terms], np.int32),
        term_item=_whole([item for _, item in terms], np.int32),
    )


def from_tables(paths: dict[str, Path]) -> Disassociated:
    """Read the five Parquet files."""
    tables = {name: typed_columns(path, "parquet") for name, path in paths.items()}
    for name, schema in SCHEMAS.items():
        if [(field.name, field.type) for field in tables[name].schema] != [
            (field.name, field.type) for field in schema
        ]:
            raise _unfit(f"{name}.parquet has other columns")
        gaps = sum(column.null_count for column in tables[name].columns)
        if gaps and (name != "terms" or tables[name]["item"].null_count):
            raise _unfit(f"{name}.parquet has gaps")
    given = None
    try:
        kept = pq.read_metadata(paths["clusters"]).metadata or {}
        facts = json.loads(kept[METADATA.encode()].decode(), object_pairs_hook=_once)
        given = _of_columns(facts, {name: table.combine_chunks() for name, table in tables.items()})
    except FAULTS:
        given = None
    if given is None:
        raise _unfit("its numbers or parameters do not fit together")
    return given


def _of_columns(facts: dict[str, Any], tables: dict[str, pa.Table]) -> Disassociated:
    """Turn the five tables into flat arrays, or raise anything if they do not fit together."""
    params = facts["params"]
    k, m, delta, levels = _whole([params[name] for name in ("k", "m", "delta", "levels")]).tolist()
    arrays = {
        (name, column): tables[name][column].to_numpy()
        for name, schema in SCHEMAS.items()
        for column in schema.names
        if column not in ("label", "items") and (name, column) != ("terms", "cluster")
    }
    shared = arrays["subrecords", "scope"] == "j"
    scope, chunk = arrays["subrecords", "scope_id"], arrays["subrecords", "chunk"]
    first = np.ones(shared.size, bool)
    first[1:] = (shared[1:] != shared[:-1]) | (scope[1:] != scope[:-1]) | (chunk[1:] != chunk[:-1])
    starts = np.flatnonzero(first)
    lists = tables["subrecords"]["items"].combine_chunks()
    joints = arrays["joints", "joint"]
    counted = (("items", "id"), ("clusters", "cluster"))
    sound = (
        facts["format"] == FORMAT
        and facts["n_records"] == int(arrays["clusters", "size"].sum())
        and all(np.array_equal(arrays[each], np.arange(arrays[each].size)) for each in counted)
        and bool((shared | (arrays["subrecords", "scope"] == "c")).all())
        and bool(np.isin(np.diff(joints), (0, 1)).all() and (not joints.size or joints[0] == 0))
        and bool((scope >= 0).all())
    )
    if not sound:
        raise ValueError
    return Disassociated(
        k=k,
        m=m,
        delta=delta,
        levels=levels,
        partition=str(params["partition"]),
        terms=cast(TermPolicy, params["terms"]),
        labels=tuple(tables["items"]["label"].to_pylist()),
        sizes=arrays["clusters", "size"],
        opened=arrays["clusters", "opened"],
        chunk_cluster=np.where(shared[starts], -1, scope[starts]).astype(np.int32),
        chunk_joint=np.where(shared[starts], scope[starts], -1).astype(np.int32),
        chunk_ptr=np.append(starts, shared.size).astype(np.int64),
        sub_ptr=_cuts(lists.value_lengths().to_numpy()),
        counts=arrays["subrecords", "count"],
        items=lists.flatten().to_numpy(),
        joint_ptr=_cuts(np.bincount(joints)) if joints.size else np.zeros(1, np.int64),
        joint_clusters=arrays["joints", "cluster"],
        term_cluster=tables["terms"]["cluster"].fill_null(-1).to_numpy(),
        term_item=arrays["terms", "item"],
    )


def check_fit(given: Disassociated) -> None:
    """Refuse numbers that refer to nothing."""
    ranges = (
        ("items", given.items, 0, len(given.labels)),
        ("items", given.term_item, 0, len(given.labels)),
        ("clusters", given.term_cluster, -1, given.clusters),
        ("clusters", given.joint_clusters, 0, given.clusters),
        ("clusters", given.chunk_cluster, -1, given.clusters),
        ("joints", given.chunk_joint, -1, given.joint_ptr.size - 1),
        ("sizes", given.sizes, 1, 1 << 40),
        ("counts", given.counts, 1, 1 << 40),
    )
    for word, values, low, high in ranges:
        wrong = int(((values < low) | (values >= high)).sum())
        if wrong:
            raise _unfit(f"{wrong} numbers of {word} are out of range")
    if min(given.k, given.m, given.delta, given.levels + 1) < 1 or given.terms not in TERMS:
        raise _unfit("its parameters are out of range")
    if len(set(given.labels)) < len(given.labels):
        raise _unfit("two items have the same label")
