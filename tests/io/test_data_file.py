"""Released tables on disk: the same bytes for the same values, harmless cells, no metadata."""

import csv
import gzip
import hashlib
import io

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.catalogue import formats
from shoal.certify.released import read_cells, unguarded
from shoal.errors import WriteError
from shoal.io.data_file import digest_of, write_data
from shoal.io.files import read
from shoal.model.policy import Policy

GUARDED = Policy.of({"columns": {"a": {"role": "sensitive"}}})


def test_numbers_dates_and_missing_cells_are_written_plainly(tmp_path):
    table = pa.table(
        {
            "a": pa.array([1, None], pa.int64()),
            "b": [2.0, 1e300],
            "c": pa.array([0, 1], pa.date32()),
            "d": [True, None],
            "e": ["x", None],
        }
    )
    name = write_data(table, tmp_path, "csv")
    assert (tmp_path / name).read_text() == "a,b,c,d,e\n1,2.0,1970-01-01,true,x\n,1e+300,1970-01-02,,\n"


def released(path):
    return unguarded(read_cells(path, "data.csv"), GUARDED)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "'"])
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe_and_is_read_back(tmp_path, start):
    table = pa.table({"a": [f"{start}1+1", "plain"], "n": [-1, 2]})
    write_data(table, tmp_path, "csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "data.csv").read_bytes().decode(), newline="")))
    assert rows[1] == [f"'{start}1+1", "-1"]
    assert released(tmp_path / "data.csv").column("a").to_pylist() == [
        f"{start}1+1",
        "plain",
    ]


def test_a_header_that_a_spreadsheet_would_run_is_harmless_too(tmp_path):
    write_data(pa.table({"=a": ["x"], "b": ["y"]}), tmp_path, "csv")
    assert (tmp_path / "data.csv").read_text().startswith("'=a,b\n")
    assert released(tmp_path / "data.csv").column_names == ["=a", "b"]


def test_words_that_mean_missing_are_quoted_to_stay_words(tmp_path):
    write_data(pa.table({"a": ["NA", "", None, "x"], "b": [1, 2, 3, 4]}), tmp_path, "csv")
    assert read(tmp_path / "data.csv").column("a").to_pylist() == ["NA", "", None, "x"]


def test_a_missing_cell_in_a_single_column_is_not_an_empty_line(tmp_path):
    write_data(pa.table({"a": ["x", None]}), tmp_path, "csv")
    assert (tmp_path / "data.csv").read_text() == "a\nx\nNA\n"


texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",), exclude_characters="\0"), max_size=8)


@pytest.mark.slow
@given(st.lists(st.tuples(st.one_of(st.none(), texts), st.integers()), min_size=1, max_size=8))
def test_any_text_is_read_back_from_a_csv_file(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("csv")
    numbers = pa.array([str(row[1]) for row in rows])
    table = pa.table({"a": pa.array([row[0] for row in rows], pa.string()), "b": numbers})
    write_data(table, folder, "csv")
    assert released(folder / "data.csv").column("a").to_pylist() == table.column("a").to_pylist()


@pytest.mark.parametrize("format", formats.names())
def test_equal_tables_give_equal_bytes(tmp_path, format):
    table = pa.table({"a": ["x", "y", None], "b": [0.1, 0.2, 0.3]})
    files = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        files.append((folder / write_data(table, folder, format)).read_bytes())
    assert files[0] == files[1]


def test_no_metadata_are_written(tmp_path):
    field = pa.field("a", pa.int64(), metadata={"path": "/home/holder"})
    table = pa.table([[1, 2]], schema=pa.schema([field], metadata={"pandas": "index of persons"}))
    write_data(table, tmp_path, "parquet")
    write_data(table, tmp_path, "feather")
    found = pyarrow.parquet.read_schema(tmp_path / "data.parquet")
    assert not found.metadata
    assert b"persons" not in (tmp_path / "data.parquet").read_bytes()
    assert not {key for key in found.field("a").metadata or {} if not key.startswith(b"PARQUET:")}
    assert b"holder" not in (tmp_path / "data.feather").read_bytes()
    assert not pyarrow.feather.read_table(tmp_path / "data.feather").schema.metadata


def test_gzip_headers_have_neither_time_nor_name(tmp_path):
    write_data(pa.table({"a": [1]}), tmp_path, "csv.gz")
    head = (tmp_path / "data.csv.gz").read_bytes()[:10]
    assert head[3] == 0
    assert head[4:8] == b"\0\0\0\0"
    assert gzip.decompress((tmp_path / "data.csv.gz").read_bytes()) == b"a\n1\n"


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(WriteError, match="unknown format 'parket'.*Did you mean 'parquet'"):
        write_data(pa.table({"a": [1]}), tmp_path, "parket")


@pytest.mark.parametrize("format", formats.names())
def test_the_digest_is_that_of_the_file_that_would_be_written(tmp_path, format):
    rows = 70_000
    table = pa.table(
        {"a": pa.array([None, 1, 2, 3, 4] * (rows // 5)), "b": ["x", "=1", "y,\n", None, ""] * (rows // 5)}
    )
    name = write_data(table, tmp_path, format)
    assert digest_of(table, format) == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
