"""The reader of plain Parquet files: it reads what pyarrow wrote, and never more than there are bytes for."""

import io
import random
import struct
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.certify.plain_parquet import read_plain, with_creator

KINDS = {"number": "int32", "size": "int64", "flag": "bool", "word": "string", "gap": "int32?", "items": "list"}
REFUSALS = (ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error)


def table(rng, n):
    lists = [[rng.randrange(100) for _ in range(rng.choice([1, 1, 2, 3, 40]))] for _ in range(n)]
    gaps = [None if rng.random() < rng.choice([0.1, 0.9]) else rng.randrange(50) for _ in range(n)]
    element = pa.field("element", pa.int32(), False)
    fields = [
        pa.field("number", pa.int32(), False),
        pa.field("size", pa.int64(), False),
        pa.field("flag", pa.bool_(), False),
        pa.field("word", pa.string(), False),
        pa.field("gap", pa.int32()),
        pa.field("items", pa.list_(element), False),
    ]
    columns = [
        [rng.randrange(-(2**31), 2**31) for _ in range(n)],
        [rng.randrange(-(2**63), 2**63) for _ in range(n)],
        [rng.random() < 0.3 for _ in range(n)],
        [rng.choice(["", "é", "word", "a b"]) for _ in range(n)],
        gaps,
        lists,
    ]
    return pa.table(columns, schema=pa.schema(fields))


def packed(given, **how):
    sink = io.BytesIO()
    rows = how.pop("rows", None)
    how = {"compression": "none", "use_dictionary": False, "write_statistics": False, **how}
    with pq.ParquetWriter(sink, given.schema, store_schema=False, **how) as file:
        file.write_table(given, row_group_size=rows)
        file.add_key_value_metadata({"known": "text"})
    return sink.getvalue()


@pytest.mark.parametrize("how", [{}, {"rows": 7}, {"data_page_size": 64, "write_batch_size": 3}], ids=str)
@pytest.mark.parametrize("n", [0, 1, 2, 100, 5000])
def test_files_written_by_pyarrow_are_read(n, how):
    given = table(random.Random(n), n)
    read = read_plain(packed(given, **how), KINDS)
    for name in ("number", "size", "flag", "word"):
        assert list(read.columns[name]) == given[name].to_pylist()
    values, there = read.columns["gap"]
    assert [int(value) if here else None for value, here in zip(values, there, strict=True)] == given["gap"].to_pylist()
    values, begins = read.columns["items"]
    cuts = np.append(np.flatnonzero(begins), begins.size)
    assert [values[a:b].tolist() for a, b in pairwise(cuts)] == given["items"].to_pylist()
    assert read.metadata == {b"known": b"text"}
    assert read.creator.startswith(b"parquet-cpp-arrow version")


@pytest.mark.parametrize(
    "how", [{"compression": "zstd"}, {"use_dictionary": True}, {"data_page_version": "2.0"}], ids=str
)
def test_other_encodings_are_refused(how):
    with pytest.raises(REFUSALS):
        read_plain(packed(table(random.Random(1), 300), **how), KINDS)


def test_broken_files_are_either_refused_or_read():
    rng = random.Random(2)
    whole = packed(table(rng, 40))
    refused = 0
    for _ in range(3000):
        raw = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        if rng.random() < 0.2:
            raw = raw[: rng.randrange(len(raw))]
        try:
            read_plain(bytes(raw), KINDS)
        except REFUSALS:
            refused += 1
    assert refused > 500


def test_endless_missing_cells_are_refused():
    gaps = pa.table({"gap": pa.array([None] * 1_000_000, pa.int32())})
    raw = packed(gaps)
    assert len(raw) < 2000
    with pytest.raises(ValueError):
        read_plain(raw, {"gap": "int32?"})


def test_a_deeply_nested_footer_is_refused():
    with pytest.raises(REFUSALS):
        read_plain(b"PAR1" + b"\x1c" * 600 + struct.pack("<I", 600) + b"PAR1", {"number": "int32"})


def test_the_creator_of_a_file_can_be_replaced():
    raw = packed(table(random.Random(3), 5))
    creator = read_plain(raw, KINDS).creator
    other = with_creator(raw, creator, b"parquet-cpp-arrow version 1.22.333")
    assert read_plain(other, KINDS).creator == b"parquet-cpp-arrow version 1.22.333"
    assert pq.read_table(io.BytesIO(other)).num_rows == 5
    assert with_creator(other, b"parquet-cpp-arrow version 1.22.333", creator) == raw
    with pytest.raises(ValueError):
        with_creator(raw, b"somebody else", creator)
