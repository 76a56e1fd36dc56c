"""The published files of a disassociated data set, format `disassoc/1`: one JSON file or five Parquet files.

JSON, `disassociated.json`, for small data::

    {"format": "disassoc/1",
     "params": {"k", "m", "delta", "partition", "levels", "terms"},
     "n_records": n,
     "items": [label, ...],
     "clusters": [{"size", "opened", "chunks": [{"domain": [item, ...],
                                                  "subrecords": [{"items": [item, ...], "count"}, ...]}, ...],
                   "term": [item, ...]}, ...],
     "joints": [{"clusters": [cluster, ...], "chunks": [as above]}, ...],
     "term_global": [item, ...]}

Items and clusters are given by their positions in `items` and `clusters`. Each sub-record is listed once, with the
number of records that have it. `term` is left out if a cluster has none.

Parquet: `items(id, label)`, `clusters(cluster, size, opened)`, `subrecords(scope, scope_id, chunk, items, count)`,
`joints(joint, cluster)` and `terms(cluster, item)`. The scope of a sub-record is "c" for a cluster and "j" for a joint;
chunks are counted from 0 in each. The cluster of a term is missing if it is not published. `clusters.parquet` has one
entry of metadata, `disassoc`, which is the JSON above without its lists; no file has other metadata. Pages are
uncompressed, plainly encoded and without statistics.

There may also be a neighbour: `neighbour.dat`, a line of labels separated by spaces for each record, or, if a label
contains whitespace, `neighbour.json`, a list of lists. Labels and records ascend by code point.

Equal data give equal bytes. They depend on the `Disassociated` alone: there is no index, no seed and no time.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.errors import WriteError
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions

FORMAT, METADATA = "disassoc/1", "disassoc"
JSON_FILE = "disassociated.json"
NEIGHBOURS = ("neighbour.dat", "neighbour.json")
MOST_JSON = 1 << 26  # bytes: far beyond, Python's own objects fill the memory, and Parquet is the format
PARAMETERS = ("k", "m", "delta", "partition", "levels", "terms")
ELEMENTS = pa.list_(pa.field("element", pa.int32(), nullable=False))
COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "clusters": {"cluster": pa.int32(), "size": pa.int64(), "opened": pa.bool_()},
    "items": {"id": pa.int32(), "label": pa.string()},
    "joints": {"joint": pa.int32(), "cluster": pa.int32()},
    "subrecords": {
        "scope": pa.string(),
        "scope_id": pa.int32(),
        "chunk": pa.int32(),
        "items": ELEMENTS,
        "count": pa.int64(),
    },
    "terms": {"cluster": pa.int32(), "item": pa.int32()},
}
PARQUET_FILES = tuple(f"{name}.parquet" for name in COLUMNS)


def write_disassociated(
    published: Disassociated,
    folder: Path,
    format: Literal["parquet", "json"] = "parquet",  # noqa: A002
) -> list[str]:
    """Write a disassociated data set into an existing folder; return the sorted file names.

    Equal data give equal bytes. The files contain what is in `published` and nothing else. Time and memory grow with
    the number of occurrences.
    """
    for name, content in encoded(published, format):
        (folder / name).write_bytes(content)
    return list(PARQUET_FILES) if format == "parquet" else [JSON_FILE]


def encoded(
    published: Disassociated,
    format: Literal["parquet", "json"] = "parquet",  # noqa: A002
) -> Iterator[tuple[str, memoryview]]:
    """Yield the name and the bytes of each file that `write_disassociated` writes.

    The Parquet files are neither compressed nor dictionary-encoded, so their bytes follow from their values alone: a
    reader can encode the values again and compare, and no small file can represent a large table.
    """
    if format not in ("parquet", "json"):
        raise WriteError(f"write: format {format!r} is not one for disassociated data; choose 'parquet' or 'json'.")
    if not np.diff(published.chunk_ptr).all():
        empty = int((np.diff(published.chunk_ptr) == 0).sum())
        raise WriteError(f"write: {empty} chunks have no sub-record, and no file can represent that. Leave them out.")
    _check_text(published.labels)
    if format == "json":
        text = _as_json(published)
        if len(text) > MOST_JSON:
            raise WriteError(f"write: the JSON file would have more than {MOST_JSON >> 20} MiB. Choose parquet.")
        yield JSON_FILE, memoryview(text)
        return
    facts = {"format": FORMAT, "params": _params(published), "n_records": published.n}
    for name, table in sorted(_as_tables(published).items()):
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(
            sink, table.schema, compression="none", store_schema=False, write_statistics=False, use_dictionary=False
        ) as file:
            file.write_table(table)
            if name == "clusters":
                # One key, as the library does not define the order of several.
                file.add_key_value_metadata({METADATA: _dumped(facts)})
        yield f"{name}.parquet", memoryview(sink.getvalue())


def write_neighbour(data: Transactions, folder: Path) -> str:
    """Write a neighbour: `neighbour.dat`, or `neighbour.json` if a label contains whitespace; return the file name.

    The bytes depend on the multiset of records alone; their order reveals nothing about clusters or the input.
    """
    name, content = neighbour_file(data)
    (folder / name).write_bytes(content)
    return name


def neighbour_file(data: Transactions) -> tuple[str, bytes]:
    """Return the name and the bytes of a neighbour's file."""
    _check_text(data.labels)
    records = sorted(sorted(record) for record in data.records())
    # A label that starts with U+FEFF would be read as a byte order mark.
    if all(label.split() == [label] and "\ufeff" not in label for label in data.labels):
        return NEIGHBOURS[0], "".join(f"{' '.join(record)}\n" for record in records).encode()
    return NEIGHBOURS[1], f"{_listed(records)}\n".encode()


def _check_text(labels: Iterable[str]) -> None:
    """Refuse labels that cannot be written as UTF-8."""
    unexpected = sum(not _is_text(label) for label in labels)
    if unexpected:
        raise WriteError(f"write: {unexpected} labels cannot be written as UTF-8. Correct them before publishing.")


def _is_text(label: str) -> bool:
    """Return whether a label can be written as UTF-8."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True


def _params(published: Disassociated) -> dict[str, Any]:
    """Return the published parameters."""
    return {name: getattr(published, name) for name in PARAMETERS}


def _as_json(published: Disassociated) -> bytes:
    """Return the bytes of the JSON file: one line per cluster and joint."""
    chunks: dict[tuple[str, int], list[Any]] = {}
    for scope, chunk in _chunks_of(published):
        chunks.setdefault(scope, []).append(chunk)
    own: dict[int, list[int]] = {}
    for cluster, item in zip(published.term_cluster.tolist(), published.term_item.tolist(), strict=True):
        own.setdefault(cluster, []).append(item)
    clusters = []
    for number, (size, is_open) in enumerate(zip(published.sizes.tolist(), published.opened.tolist(), strict=True)):
        cluster = {"size": size, "opened": is_open, "chunks": chunks.get(("c", number), [])}
        clusters.append(cluster | ({"term": own[number]} if number in own else {}))
    cuts = published.joint_ptr.tolist()
    joints = [
        {"clusters": published.joint_clusters[a:b].tolist(), "chunks": chunks.get(("j", number), [])}
        for number, (a, b) in enumerate(pairwise(cuts))
    ]
    lines = [
        f'{{"format": {_dumped(FORMAT)},\n"params": {_dumped(_params(published))},\n"n_records": {published.n}',
        f'"items": {_dumped(list(published.labels))}',
        f'"clusters": {_listed(clusters)}',
        f'"joints": {_listed(joints)}',
        f'"term_global": {_dumped(own.get(-1, []))}}}',
    ]
    return (",\n".join(lines) + "\n").encode()


def _chunks_of(published: Disassociated) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """Yield each chunk with the cluster or joint that it belongs to."""
    items, cuts = published.items.tolist(), published.sub_ptr.tolist()
    counts, ends = published.counts.tolist(), published.chunk_ptr.tolist()
    scopes = zip(published.chunk_cluster.tolist(), published.chunk_joint.tolist(), strict=True)
    for number, (cluster, joint) in enumerate(scopes):
        subs = range(ends[number], ends[number + 1])
        domain = sorted(set(items[cuts[subs.start] : cuts[subs.stop]]))
        records = [{"items": items[cuts[s] : cuts[s + 1]], "count": counts[s]} for s in subs]
        yield (("c", cluster) if cluster >= 0 else ("j", joint)), {"domain": domain, "subrecords": records}


def _dumped(value: Any) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def _listed(values: Iterable[Any]) -> str:
    """Return values as a JSON list, one per line."""
    inside = ",\n".join(_dumped(value) for value in values)
    return f"[\n{inside}\n]" if inside else "[]"


def _as_tables(published: Disassociated) -> dict[str, pa.Table]:
    """Return the five tables."""
    numbers = np.arange(published.clusters, dtype=np.int32)
    per = np.diff(published.chunk_ptr)
    shared = published.chunk_cluster < 0
    scope_id = np.where(shared, published.chunk_joint, published.chunk_cluster)
    # The number of a chunk in its scope: how many chunks precede it there.
    turns = np.ones(published.chunks, bool)
    turns[1:] = (shared[1:] != shared[:-1]) | (scope_id[1:] != scope_id[:-1])
    starts = np.flatnonzero(turns)
    place = np.arange(published.chunks) - np.repeat(starts, np.diff([*starts, published.chunks]))
    lists = pa.ListArray.from_arrays(
        pa.array(published.sub_ptr.astype(np.int32)), pa.array(published.items, pa.int32())
    )
    columns: dict[str, list[Any]] = {
        "items": [np.arange(len(published.labels), dtype=np.int32), pa.array(published.labels, pa.string())],
        "clusters": [numbers, published.sizes, published.opened],
        "subrecords": [
            pa.array(np.repeat(np.where(shared, "j", "c"), per).tolist(), pa.string()),
            np.repeat(scope_id, per),
            np.repeat(place, per),
            lists,
            published.counts,
        ],
        "joints": [
            np.repeat(np.arange(published.joint_ptr.size - 1), np.diff(published.joint_ptr)),
            published.joint_clusters,
        ],
        "terms": [pa.array(published.term_cluster, pa.int32(), mask=published.term_cluster < 0), published.term_item],
    }
    return {name: _table(name, held) for name, held in columns.items()}


def _table(name: str, columns: list[Any]) -> pa.Table:
    """Return one of the five tables; only the cluster of a term may be missing."""
    kinds = COLUMNS[name]
    schema = pa.schema(
        [pa.field(column, kind, (name, column) == ("terms", "cluster")) for column, kind in kinds.items()]
    )
    typed = [
        pa.array(column, kind) if isinstance(column, np.ndarray) else column.cast(kind)
        for column, kind in zip(columns, kinds.values(), strict=True)
    ]
    return pa.Table.from_arrays(typed, schema=schema)
