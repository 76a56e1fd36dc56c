"""Every style of CSV files: what is written is read back exactly, and no cell is one that a spreadsheet would run."""

import csv
import io
import math

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

from shoal.certify.data_bytes import compared_bytes
from shoal.certify.released import read_cells, unescaped
from shoal.errors import PolicyError, WriteError
from shoal.io.data_file import write_data
from shoal.io.files import read
from shoal.model.csv_style import CsvStyle, check_style, style_named
from shoal.model.policy import Policy

STYLES = [
    CsvStyle(separator=separator, decimal=decimal, mark=mark)
    for separator in ",;\t|"
    for decimal in ".,"
    for mark in (False, True)
    if separator != decimal
]
GERMAN = CsvStyle(separator=";", decimal=",", mark=True)
RISKY = [
    "=1+1",
    "+1",
    "-1",
    "-1,5",
    "-1.5",
    "@a",
    "\tx",
    "\rx",
    "'a",
    "a;=1",
    "a,=1",
    "a\t=1",
    'q"q',
    "1,5",
    "\ufeffx",
    "NA",
    "",
]
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8) | st.sampled_from(RISKY)
numbers = st.floats(allow_nan=False) | st.floats(-1000, 1000).map(lambda one: round(one, 3))


@pytest.mark.slow
@given(st.lists(st.tuples(st.none() | texts, numbers), min_size=1, max_size=8), st.sampled_from(STYLES), texts)
@settings(deadline=None)
def test_any_table_is_read_back_in_every_style(tmp_path_factory, rows, style, name):
    folder = tmp_path_factory.mktemp("csv")
    name = "a" if name in ("", "b", "'b") else name
    columns = {name: pa.array([row[0] for row in rows], pa.string()), "b": pa.array([row[1] for row in rows])}
    path = folder / write_data(pa.table(columns), folder, "csv", style)
    cells = read_cells(path, "data.csv", style)
    assert cells.column_names == [name, "b"]
    assert unescaped(cells.column(name)).to_pylist() == columns[name].to_pylist()
    assert [float(cell.replace(style.decimal, ".")) for cell in cells.column("b").to_pylist()] == columns[
        "b"
    ].to_pylist()
    assert compared_bytes(path, "data.csv", cells, {}, {}, style) == (True, "the same bytes", "")
    own = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""), delimiter=style.separator))
    assert all(cell[:1] not in ("=", "+", "@", "\t", "\r") for row in own for cell in row[:1])
    assert all(row[0][:1] != "-" for row in own[1:])


@given(st.lists(numbers, min_size=1, max_size=8), st.sampled_from(STYLES))
def test_numbers_of_a_known_style_are_numbers_whatever_they_look_like(tmp_path_factory, cells, style):
    folder = tmp_path_factory.mktemp("csv")
    finite = [0.5, *(cell for cell in cells if math.isfinite(cell))]
    write_data(pa.table({"a": finite, "b": ["x"] * len(finite)}), folder, "csv", style)
    assert read(folder / "data.csv", style=style).column("a").to_pylist() == finite


def test_a_decimal_comma_before_three_digits_is_one_if_the_style_is_known(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1,234;1.5\n2,500;x\n")
    table = read(tmp_path / "a.csv", header=True, style=GERMAN)
    assert table.data.to_pydict() == {"a": [1.234, 2.5], "b": ["1.5", "x"]}
    (tmp_path / "a.csv").write_text("a;b\n1.5;1\n2,5;2\n")
    assert read(tmp_path / "a.csv", header=True, style=GERMAN).column("a").to_pylist() == ["1.5", "2,5"]


def test_numbers_have_the_decimal_sign_of_the_style_and_text_keeps_its_own(tmp_path):
    table = pa.table({"n": [1.0, -2.5, 1e-7], "t": ["1,5", "1.5", "a;b"], "d": pa.array([0, 1, 2], pa.date32())})
    write_data(table, tmp_path, "csv", GERMAN)
    assert (tmp_path / "data.csv").read_bytes().decode() == (
        '\ufeffn;t;d\n1,0;1,5;1970-01-01\n-2,5;1.5;1970-01-02\n1e-7;"a;b";1970-01-03\n'
    )


@pytest.mark.parametrize(
    ("text", "style"),
    [
        (b"a,b\n1,2\n", CsvStyle()),
        (b"a;b\n1;2\n", CsvStyle(separator=";")),
        (b"a;b\n1,5;2\n", CsvStyle(separator=";", decimal=",")),
        (b"a\tb\n1,5\t2\n", CsvStyle(separator="\t", decimal=",")),
        (b"a|b\n1.5|2\n", CsvStyle(separator="|")),
        (b"\xef\xbb\xbfa;b\n1;2\n", CsvStyle(separator=";", mark=True)),
        ("\ufeffa;b\n1,5;2\n".encode("utf-16-le"), GERMAN),
    ],
)
def test_the_style_of_a_file_is_detected(tmp_path, text, style):
    (tmp_path / "a.csv").write_bytes(text)
    assert read(tmp_path / "a.csv").origin.csv == style


def test_a_name_stands_for_a_style_and_an_unknown_one_is_refused():
    own = CsvStyle(separator=";", decimal=",")
    assert style_named(None, own) == own
    assert style_named("excel", own) == GERMAN
    assert style_named("standard", own) == CsvStyle()
    with pytest.raises(WriteError, match="unknown csv_style 'exel'; expected one of .* Did you mean 'excel'"):
        check_style("exel")


def test_a_policy_whose_separator_is_the_decimal_sign_is_refused():
    with pytest.raises(PolicyError, match="both a comma"):
        Policy.of({"csv": {"decimal": ","}})
    with pytest.raises(PolicyError, match="csv.separator"):
        Policy.of({"csv": {"separator": "x"}})
