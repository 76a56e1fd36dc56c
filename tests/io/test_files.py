"""Reading files: formats, encodings, damage and bombs, and invalid paths."""

import contextlib
import datetime as dt
import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from reading import MARK, columns, refusal
from shoal.errors import ReadError
from shoal.io import files
from shoal.io.files import read

# Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be", "cp1252"])
def test_encodings_are_detected(put, encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    table = read(put(f"{mark}name,größe\nZoë €,1\n".encode(encoding)))
    assert table.data.to_pydict() == {"name": ["Zoë €"], "größe": [1]}
    found = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)
    assert table.origin.notes[0] == f"encoding {found}"


def test_bytes_that_windows_1252_lacks_are_latin_1(put):
    table = read(put("a,b\né\x81,1\n".encode("latin-1")))
    assert table.origin.notes[0] == "encoding latin-1"
    assert table.column("a").to_pylist() == ["é\x81"]


def test_characters_cut_by_a_chunk_boundary_are_decoded(put, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", 3)
    assert columns(put("aé,b\n€€€,ö\n"), header=True) == {"aé": ["€€€"], "b": ["ö"]}
    assert columns(put("aé,b\n€€€,ö\n".encode("utf-16")), header=True) == {"aé": ["€€€"], "b": ["ö"]}


def test_a_false_byte_order_mark_is_refused(put):
    assert "marked as utf-16-le" in refusal(put(b"\xff\xfea,b\n1,2\n1"))


def test_a_binary_file_is_not_text(put):
    message = "is not a text file"
    assert message in refusal(put(f"a,b\n1,{MARK}\0\n"))
    assert message in refusal(put(b"PK\x03\x04\xff\xfe" + MARK.encode(), "x.xlsx"))


# Gzip


def test_gzipped_csv_is_read(put):
    packed = gzip.compress(b"a,b\n1,x\n") + gzip.compress(b"2,y\n")
    for name in ("x.csv.gz", "x.CSV", "x.data"):
        table = read(put(packed, name))
        assert table.data.to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
        assert (table.origin.name, table.origin.format) == (name, "csv.gz")


def test_a_truncated_or_damaged_gzip_file_is_refused(put):
    packed = gzip.compress(f"a,b\n{MARK},2\n".encode() * 1000)
    for content in (packed[:-9], packed[:20], packed[:-8] + bytes(8), packed[:12] + b"\xff" + packed[13:]):
        assert refusal(put(content, "x.csv.gz")) == "read: 'x.csv.gz' is damaged or truncated. Obtain it again."


def test_a_file_named_gz_must_be_gzip(put):
    assert "is not a gzip file" in refusal(put(f"a,b\n{MARK},2\n", "x.csv.gz"))


def test_files_that_expand_too_much_are_refused(put, monkeypatch):
    monkeypatch.setattr(files, "SURELY_FINE", 4 << 20)
    swelling = put(gzip.compress(b"a,b\n" + b"1,2\n" * (2 << 20)), "x.csv.gz")
    assert "more than 500 times its size" in refusal(swelling)
    monkeypatch.setattr(files, "SURELY_FINE", 1 << 30)
    assert read(swelling).n == 2 << 20
    monkeypatch.setattr(files, "MOST_BYTES", 4 << 20)
    assert "unpacks to more than" in refusal(swelling)


# Parquet and Feather

SAMPLE = pa.table(
    {
        "i": pa.array([1, None], pa.int16()),
        "s": ["x", "y"],
        "d": pa.array([dt.date(2024, 1, 2), None]),
        "c": pa.array(["u", "v"]).dictionary_encode(),
        "l": [[1], None],
        "b": [b"x", b"y"],
        "t": pa.array([1, 2], pa.duration("s")),
    }
)


def write(table, path):
    if path.suffix in (".parquet", ".pq"):
        pq.write_table(table, path)
    else:
        feather.write_feather(table, path, compression="zstd")
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("x.parquet", "parquet"),
        ("x.pq", "parquet"),
        ("x.feather", "feather"),
        ("x.arrow", "feather"),
        ("x.ipc", "feather"),
    ],
)
def test_column_formats_keep_their_types_and_lose_their_metadata(tmp_path, name, kind):
    written = SAMPLE.replace_schema_metadata({"pandas": "secret"})
    table = read(write(written, tmp_path / name))
    assert table.data.to_pydict() == SAMPLE.to_pydict()
    assert str(table.column("i").type) == "int16"
    assert table.categorical == {"c"}
    assert table.data.schema.metadata is None
    assert (table.origin.name, table.origin.format, table.origin.frame) == (name, kind, None)


@pytest.mark.parametrize("name", ["x.parquet", "x.feather"])
def test_the_first_bytes_identify_the_format_if_the_name_does_not(tmp_path, name):
    path = write(SAMPLE, tmp_path / name).rename(tmp_path / "table")
    assert read(path).origin.format == name[2:]


def test_text_with_an_unknown_extension_is_read_as_csv(put):
    assert columns(put("a,b\n1,2\n", "x.data")) == {"a": [1], "b": [2]}


@pytest.mark.parametrize("name", ["x.parquet", "x.feather"])
def test_damaged_column_files_are_refused(tmp_path, name):
    path = write(pa.table({"a": [MARK] * 100, "n": range(100)}), tmp_path / name)
    whole = path.read_bytes()
    for content in (whole[:-20], whole[: len(whole) // 2], whole[:12], whole[:-12] + bytes(12)):
        path.write_bytes(content)
        assert "is damaged or truncated" in refusal(path)


@pytest.mark.parametrize("name", ["x.parquet", "x.feather"])
def test_a_file_of_another_kind_is_refused(put, name):
    assert f"'{name}' is not a" in refusal(put(f"a,b\n{MARK},2\n", name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.parquet", "x.feather"])
def test_any_changed_byte_is_harmless(tmp_path, name):
    table = pa.table({"a": ["x", "yy", None] * 5, "c": pa.array(["u", "v", "u"] * 5).dictionary_encode()})
    whole = write(table, tmp_path / name).read_bytes()
    path = tmp_path / f"y.{name[2:]}"
    for position in range(0, len(whole), 3):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        with contextlib.suppress(ReadError):
            read(path).data.to_pydict()


@pytest.mark.parametrize("name", ["x.parquet", "x.feather"])
def test_text_that_is_not_unicode_is_refused(tmp_path, name):
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe"))
    path = tmp_path / name
    if name == "x.parquet":
        pq.write_table(pa.table({"a": broken}), path, store_schema=False)
    else:
        feather.write_feather(pa.table({"a": broken}), path, compression="uncompressed")
    assert "is damaged" in refusal(path)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_column_files_without_rows_or_columns_or_with_duplicate_names_are_refused(tmp_path, name):
    path = tmp_path / name

    def put_table(table):
        if name == "x.parquet":
            pq.write_table(table, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        return path

    assert refusal(put_table(SAMPLE.slice(0, 0))).startswith(f"read: '{name}' has no rows")
    assert refusal(put_table(pa.table({}))).startswith(f"read: '{name}' has no columns")
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert "the name 'a' is used by two or more columns" in refusal(put_table(twice))


def test_a_parquet_file_that_expands_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 22)
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 100), pa.array([MARK * 10_000]))
    plain = pa.schema([("a", pa.string())])
    for store in (True, False):
        pq.write_table(pa.table({"a": long}), tmp_path / "x.parquet", store_schema=store)
        assert "unpacks to more than" in refusal(tmp_path / "x.parquet")
    feather.write_feather(pa.table({"a": long}), tmp_path / "x.feather")
    assert "unpacks to more than" in refusal(tmp_path / "x.feather")
    feather.write_feather(pa.table({"a": long}).cast(plain), tmp_path / "x.feather", chunksize=10)
    assert "unpacks to more than" in refusal(tmp_path / "x.feather")
    pq.write_table(pa.table({"a": [0] * 1_000_000}), tmp_path / "x.parquet")
    assert "unpacks to more than" in refusal(tmp_path / "x.parquet")


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY"])
def test_text_is_read_in_every_encoding_of_parquet(tmp_path, encoding):
    table = pa.table({"a.b": ["x", "y", None], "c": ["u"] * 3})
    path = tmp_path / "x.parquet"
    pq.write_table(table, path, use_dictionary=["c"], column_encoding={"a.b": encoding})
    assert columns(path) == table.to_pydict()


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("us", "UTC")])
def test_dates_outside_the_calendar_are_refused(tmp_path, kind):
    day = {"date32[day]": 1, "date64[ms]": 86_400_000, "timestamp[s]": 86_400}.get(str(kind), 86_400_000_000)
    path = tmp_path / "x.feather"
    for days, fine in ((2_932_895, True), (2_932_897, False), (-719_161, True), (-719_164, False)):
        whole = pa.array([None, days * day], pa.int32() if day == 1 else pa.int64())
        write(pa.table({"when": whole.cast(kind)}), path)
        if fine:
            assert read(path).n == 2
        else:
            assert "column 'when': a date lies outside the years 1 to 9999" in refusal(path)


# Paths


def test_missing_paths_and_folders_are_refused(tmp_path):
    assert "nowhere.csv' does not exist" in refusal(tmp_path / "nowhere.csv")
    assert "is a folder" in refusal(tmp_path)
    assert "is a folder" in refusal(str(tmp_path))
    assert "cannot be opened" in refusal("x\0.csv")
    assert "cannot be opened" in refusal("x" * 300 + ".csv")
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is not a regular file" in refusal(tmp_path / "pipe.csv")


@pytest.mark.parametrize(
    ("path", "advice"),
    [("-", "Standard input cannot be read"), ("https://example.org/a.csv", "download the file"), ("a:b", "Check")],
)
def test_what_is_not_a_file_here_is_refused_with_what_to_do(path, advice):
    assert advice in refusal(path)


def test_a_file_without_read_permission_is_refused(put, monkeypatch):
    path = put("a,b\n1,2\n")

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert "cannot be read with your permissions" in refusal(path)


def test_the_origin_has_the_name_without_folders(put):
    origin = read(str(put("a,b\n1,2\n", "people.csv"))).origin
    assert (origin.name, origin.format, origin.frame) == ("people.csv", "csv", None)
