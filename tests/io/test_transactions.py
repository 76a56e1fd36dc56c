"""Reading sets: every layout gives the same transactions, and whatever is wrong is refused with its line."""

import gzip
import traceback
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ReadError, WriteError
from shoal.io import files, item_lines, item_sets
from shoal.io.item_lines import parse_lines
from shoal.io.transactions import read as read_transactions
from shoal.io.transactions import write_lines
from shoal.model.transactions import Transactions

MARK = "Zebedee4711"
RECORDS = [["tea", "milk", "tea"], [], ["é", "10"], ["tea"]]

words = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters=",\ufeff"), min_size=1, max_size=4
)
whole = st.integers(-30, 30).map(str)
records_of_words = st.lists(st.lists(words, max_size=5), max_size=20)
records_of_numbers = st.lists(st.lists(whole, max_size=5), max_size=20)


def same(comp, ref):
    """Compare two transactions in every attribute."""
    assert comp.labels == ref.labels
    assert comp.indptr.tolist() == ref.indptr.tolist()
    assert comp.items.tolist() == ref.items.tolist()
    assert comp.rows.tolist() == ref.rows.tolist()
    assert (comp.inputs, comp.repeated) == (ref.inputs, ref.repeated)
    assert (comp.indptr.dtype, comp.items.dtype, comp.rows.dtype) == (np.int64, np.int32, np.int64)
    return True


def refusal(source, **options):
    """Return the error message of a refused source, after searching the whole chain of errors for an item."""
    with pytest.raises(ReadError) as caught:
        read_transactions(source, **options)
    assert MARK not in "".join(traceback.format_exception(caught.value))
    message = str(caught.value)
    assert message.startswith("read: ")
    return message


# Lines


@given(st.one_of(records_of_words, records_of_numbers), st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 40))
def test_lines_are_read_as_python_would_split_them(records, end, block):
    text = "".join(" ".join(record) + end for record in records)
    with patch.object(item_lines, "BLOCK", block), patch.object(item_sets, "SPAN", block):
        assert same(parse_lines(bytearray(text.encode()), "x"), Transactions.of(records))


@given(st.one_of(records_of_words, records_of_numbers), st.integers(1, 40))
def test_items_may_contain_blanks_if_a_separator_is_given(records, block):
    records = [[f"{item} {item}" for item in record] for record in records]
    text = "".join(" , ".join(record) + "\n" for record in records)
    with patch.object(item_lines, "BLOCK", block):
        assert same(parse_lines(bytearray(text.encode()), "x", separator=","), Transactions.of(records))


@given(records_of_numbers, st.integers(1, 40))
def test_spmf_terminators_are_not_items_and_its_comments_not_records(records, block):
    records = [[item for item in record if item not in ("-1", "-2")] for record in records]
    text = "@CONVERTED_FROM_TEXT\n# 5 6\n"
    text += "".join("".join(f"{item} -1 " for item in record) + "-2\n%7\n" for record in records)
    with patch.object(item_lines, "BLOCK", block):
        assert same(parse_lines(bytearray(text.encode()), "x", spmf=True), Transactions.of(records))


@pytest.mark.parametrize("name", ["x.dat", "x.fimi", "x.txt", "x", "x.dat.gz", "x.txt.gz"])
def test_files_of_lines_are_read_with_any_name(put, name):
    text = "tea milk  tea\n\né\t10 \ntea".encode()
    path = put(gzip.compress(text) if name.endswith("gz") else text, name)
    assert same(read_transactions(path), Transactions.of(RECORDS))
    assert same(read_transactions(str(path), layout="lines"), Transactions.of(RECORDS))


def test_spmf_is_recognized_by_its_content(put):
    ref = Transactions.of([["3", "20"], ["3"]])
    assert same(read_transactions(put("20 -1 3 -1 -2\n3 -1 -2\n", "x.txt")), ref)
    plain = read_transactions(put("20 -1 3 -1 -2\n3 -1\n", "x.txt"))
    assert plain.labels == ("-2", "-1", "3", "20")
    assert read_transactions(put("3 -1 -2\n", "x.txt"), layout="lines").labels == ("-2", "-1", "3")
    assert same(read_transactions(put("20 3\n3\n", "x.spmf")), ref)


def test_a_byte_order_mark_is_not_part_of_the_first_item(put):
    assert read_transactions(put(b"\xef\xbb\xbftea milk\n", "x.dat")).labels == ("milk", "tea")
    assert read_transactions(put(b"\xef\xbb\xbfid,item\n1,tea\n", "x.csv"), record="id", item="item").labels == ("tea",)


def test_a_file_without_lines_has_no_records(put):
    empty = read_transactions(put("", "x.dat"))
    assert (empty.n, empty.inputs, empty.labels) == (0, 0, ())
    blank = read_transactions(put("\n \n\n", "x.dat"))
    assert (blank.n, blank.inputs, blank.empty) == (0, 3, 3)


def test_numbers_are_ordered_as_numbers_and_text_by_its_bytes(put):
    assert read_transactions(put("10 9\n-3\n", "x.dat")).labels == ("-3", "9", "10")
    assert read_transactions(put("10 9\n09\n", "x.dat")).labels == ("09", "10", "9")
    assert read_transactions(put("é z\na\n", "x.dat")).labels == ("a", "z", "é")


@pytest.mark.parametrize("block", [8, 1 << 18])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_bytes_that_are_not_text_are_refused_with_their_line(put, monkeypatch, block, end):
    monkeypatch.setattr(item_lines, "BLOCK", block)
    good = f"{MARK} é{end}{end}b{end}".encode()
    assert "line 4: bytes that are not UTF-8" in refusal(put(good + MARK.encode() + b" \xff\n", "x.dat"))
    assert "line 4: a NUL byte" in refusal(put(good + b"c " + MARK.encode() + b"\0", "x.dat"))
    assert "line 3: bytes that are not UTF-8" in refusal(put(b"a,b\n1,2\n\xe9,3\n", "x.csv"))
    assert "line 2: a NUL byte" in refusal(put(f"a,b\n1,{MARK}\0\n", "x.csv"))


def test_absurdly_long_items_are_refused_with_their_line(put):
    fine = "é" * 10_000
    assert read_transactions(put(f"a\n{fine} b\n", "x.dat")).n == 2
    message = refusal(put(f"a\n\n{fine}{MARK} b\n", "x.dat"))
    assert "line 3: an item of more than 10000 characters" in message
    assert "line 4: " in refusal(put(f"# a\n\n\n{fine}{MARK} -1 -2\n", "x.dat"), layout="spmf")
    assert "record 2: an item of more than" in refusal([["a"], ["b", fine + MARK]])
    assert "row 2: an item of more than" in refusal(pa.table({"it": [["a"], ["b", fine + MARK]]}))
    assert "record 1: an item with a NUL byte" in refusal([["a", MARK + "\0"]])


def test_more_items_than_can_be_numbered_are_refused(put, monkeypatch):
    monkeypatch.setattr(item_sets, "MOST_ITEMS", 2)
    assert read_transactions(put("a b\na\n", "x.dat")).n == 2
    assert "has 3 different items; at most 2" in refusal(put(f"a b\n{MARK}\n", "x.dat"))


def test_the_separator_of_lines_is_one_character(put):
    path = put("a::b\n", "x.dat")
    for separator in ("::", "", "é", "\n"):
        assert "expected one ASCII character" in refusal(path, separator=separator)


def test_a_bomb_is_refused(put, monkeypatch):
    path = put(gzip.compress(b"1 2\n" * (1 << 20)), "x.dat.gz")
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)
    assert "unpacks to more than" in refusal(path)
    assert "is not a gzip file" in refusal(put("1 2\n", "y.dat.gz"))
    assert "is damaged or truncated" in refusal(put(gzip.compress(b"1 2\n" * 1000)[:-9], "z.dat.gz"))


# Writing lines


@pytest.mark.slow
@given(st.one_of(records_of_words, records_of_numbers), st.booleans())
def test_written_lines_are_read_back(tmp_path_factory, records, keep_empty):
    data = Transactions.of(records)
    path = tmp_path_factory.mktemp("lines") / "x.dat"
    for separator in (" ", ","):
        with patch.object(item_lines, "SLICE", 3):
            write_lines(data, path, separator=separator, keep_empty=keep_empty)
        again = read_transactions(path, layout="lines", separator=None if separator == " " else separator)
        assert again.records() == data.records()
        assert again.inputs == (data.inputs if keep_empty else data.n)
        assert not keep_empty or again.rows.tolist() == data.rows.tolist()


def test_equal_data_are_written_as_equal_bytes(tmp_path):
    for name in ("a.dat.gz", "b.dat.gz"):
        write_lines(Transactions.of(RECORDS), tmp_path / name)
    assert (tmp_path / "a.dat.gz").read_bytes() == (tmp_path / "b.dat.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.dat.gz").read_bytes()).decode() == "milk tea\n10 é\ntea\n"


@pytest.mark.parametrize("label", [f"{MARK} tea", f"{MARK}\n", "", f"{MARK}\x0b", f"\ufeff{MARK}", f"{MARK}\ud800"])
def test_labels_that_could_not_be_read_again_are_not_written(tmp_path, label):
    with pytest.raises(WriteError, match="1 of 2 labels are empty or contain characters") as caught:
        write_lines(Transactions.of([["a"], [label]]), tmp_path / "x.dat")
    assert MARK not in "".join(traceback.format_exception(caught.value))
    assert not (tmp_path / "x.dat").exists()


def test_a_location_that_cannot_be_written_to_is_named(tmp_path):
    with pytest.raises(WriteError, match="'x.dat' cannot be written"):
        write_lines(Transactions.of(RECORDS), tmp_path / "no such folder" / "x.dat")


# Tables


def lists(kind=None):
    return pa.table({"id": [1, 2, 3, 4], "items": pa.array(RECORDS, kind)})


def saved(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, path)
    return path


@pytest.mark.parametrize(
    "kind", [None, pa.large_list(pa.large_string()), pa.list_(pa.dictionary(pa.int8(), pa.string()))]
)
def test_lists_in_every_kind_of_table_are_read_the_same(tmp_path, kind):
    ref, table = Transactions.of(RECORDS), lists(kind)
    sources = [
        table,
        table["items"],
        table["items"].combine_chunks(),
        pl.from_arrow(table),
        pl.from_arrow(table)["items"],
    ]
    sources += [saved(table, tmp_path / "x.parquet"), saved(table, tmp_path / "x.feather")]
    frame = pd.DataFrame({"id": range(4), "items": RECORDS})
    for source in [*sources, frame, frame["items"], pa.concat_tables([table.slice(0, 1), table.slice(1)])]:
        assert same(read_transactions(source), ref)


def test_sets_and_mixed_lists_of_a_pandas_column_are_read():
    frame = pd.DataFrame({"items": [{"tea", "milk"}, None, ("tea", 7)]})
    assert read_transactions(frame).records() == [["milk", "tea"], ["7", "tea"]]
    assert "record 1 holds an item that is of type float" in refusal(pd.DataFrame({"items": [{1.5, "a"}]}))


def test_missing_cells_and_missing_items_are_ignored():
    table = pa.table({"items": [["a", None, ""], None, [], ["b", "a"]]})
    assert same(read_transactions(table), Transactions.of([["a"], [], [], ["b", "a"]]))
    fixed = pa.table({"items": pa.array([["a", "b"], None, ["b", "b"]], pa.list_(pa.string(), 2))})
    assert same(read_transactions(fixed), Transactions.of([["a", "b"], [], ["b", "b"]]))
    assert same(read_transactions([None, ["a", None]]), Transactions.of([[], ["a"]]))


def test_a_list_column_of_csv_is_split_at_its_separator(put):
    path = put('id,items,n\n1,"tea; milk;;tea",0\n2,,0\n3,é;10,0\n4,tea,0\n', "x.csv")
    assert same(read_transactions(path, column="items", separator=";"), Transactions.of(RECORDS))
    blanks = put("id\titems\n1\ttea milk tea\n2\t\n3\té 10\n4\ttea\n", "x.tsv")
    assert same(read_transactions(blanks, column="items"), Transactions.of(RECORDS))
    # No type is guessed: 1,5 is two items and 007 is not 7.
    numbers = read_transactions(put("id;items\n1;1,5\n2;007,7\n", "x.csv"), column="items", separator=",")
    assert numbers.records() == [["1", "5"], ["007", "7"]]
    single = read_transactions(put("items\na;b\nb\n", "x.csv"), separator=";")
    assert single.records() == [["a", "b"], ["b"]]


LONG = "7,tea\nx,\n7,milk\n3,é\n7,tea\n3,10\n9,tea\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_long_format_numbers_records_in_order_of_appearance(put, tmp_path, end):
    ref = Transactions.of([["tea", "milk", "tea"], [], ["é", "10"], ["tea"]])
    path = put(("who,item\n" + LONG).replace("\n", end), "x.csv")
    tabs = put("who\titem\n" + LONG.replace(",", "\t"), "x.tsv")
    packed = put(gzip.compress(("who,item\n" + LONG).encode()), "x.csv.gz")
    rows = [line.split(",") for line in LONG.split()]
    columns = {"who": [who for who, _ in rows], "item": [item or None for _, item in rows]}
    frames = [
        pa.table(columns),
        pl.DataFrame(columns),
        pd.DataFrame(columns),
        saved(pa.table(columns), tmp_path / "x.parquet"),
    ]
    for source in (path, tabs, packed, *frames):
        assert same(read_transactions(source), ref)
        assert same(read_transactions(source, layout="long", record="who", item="item"), ref)
        assert same(read_transactions(source, item="item"), ref)
    wide = put("n,item,who\n" + "".join(f"0,{item},{who}\n" for who, item in rows), "y.csv")
    assert same(read_transactions(wide, record="who", item="item"), ref)


def test_records_may_be_numbers_dates_or_categories():
    ref = Transactions.of([["a", "b"], ["a"]])
    for who in (
        [2, 2, 1],
        [2.5, 2.5, 1.0],
        pd.to_datetime(["2020-01-02", "2020-01-02", "2020-01-01"]),
        [True, True, False],
    ):
        assert same(read_transactions(pd.DataFrame({"who": who, "item": ["a", "b", "a"]})), ref)
    frame = pd.DataFrame({"who": pd.Categorical(["y", "y", "x"]), "item": pd.Categorical(["a", "b", "a"])})
    assert same(read_transactions(frame), ref)


def test_ambiguous_tables_are_refused(put):
    three = put(f"a,b,c\n1,{MARK},3\n", "x.csv")
    assert "has 3 columns, 0 of them list columns" in refusal(three)
    assert "has 3 columns, and none is called 'd'" in refusal(three, column="d")
    assert "which of 3 columns have the records and the items" in refusal(three, record="a")
    assert "which of 3 columns has the items" in refusal(three, layout="list")
    assert "Name one or the other" in refusal(three, column="a", record="b")
    assert "has 2 columns, 2 of them list columns" in refusal(pa.table({"a": [[MARK]], "b": [[MARK]]}))
    assert "has no lines" in refusal(pa.table({"a": [[MARK]]}), layout="lines")
    assert "layout 'line' is not known" in refusal(three, layout="line")
    assert "lines, which have no columns" in refusal(three, layout="lines", column="a")
    assert "contains lists" in refusal(pa.table({"a": [[MARK]]}), separator=",")
    assert "has one item per row" in refusal(put(f"a,b\n1,{MARK}\n", "y.csv"), separator=",")
    assert "is the name of two or more columns" in refusal(put(f"a,a\n1,{MARK}\n", "y.csv"), column="a")
    assert "labels are for a matrix" in refusal([["a"]], labels=["b"])


def test_faults_of_csv_are_refused_with_their_line(put):
    assert "line 3: 3 cells where the header has 2" in refusal(put(f"a,b\n1,2\n1,{MARK},3\n"))
    assert "line 2: a quote opens here and is never closed" in refusal(put(f'a,b\n1,"{MARK}\n2,3\n'))
    assert "line 1: 2 of its 2 cells look like those of the rows below" in refusal(put("4,11\n4,12\n5,11\n"))
    assert "line 1: " in refusal(put("1,2\n1,3\n"))
    assert "row 2: the record is missing (1 such row)" in refusal(put(f"a,b\n1,x\n,{MARK}\n"))
    assert "is empty" in refusal(put("\n\n"))


def test_items_that_are_not_text_are_refused():
    for values in ([[1.5]], [[["a"]]], [[{"a": 1}]]):
        assert "expected text, or whole numbers" in refusal(pa.table({"items": values}))
    assert "is lazy" in refusal(pl.DataFrame({"a": [[1]]}).lazy())


def test_a_file_named_parquet_must_be_parquet(put):
    assert "is not a Parquet file" in refusal(put(f"a\n{MARK}\n", "x.parquet"))
    assert "does not exist" in refusal("no such file.dat")


# Python records and matrices


@given(records_of_numbers)
def test_integers_are_converted_to_text(records):
    numbers = ((int(item) if place % 2 else np.int32(item) for place, item in enumerate(record)) for record in records)
    assert same(read_transactions(numbers), Transactions.of(records))


@pytest.mark.parametrize("item", [1.0, True, b"a", ("a",), np.float64(1)])
def test_items_other_than_text_and_whole_numbers_are_refused(item):
    assert "record 2 holds an item that is of type" in refusal([[1], [MARK, item]])


def test_records_that_are_not_collections_are_refused():
    assert "record 2 is text; expected a list" in refusal([["a"], MARK])
    assert "record 1 is of type int" in refusal([5])
    assert "contains no records" in refusal(5)
    assert "text that is not Unicode" in refusal([["a", f"{MARK}\ud800"]])


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=8))
def test_a_matrix_has_the_count_of_each_item_in_each_record(cells):
    matrix = np.array(cells)
    ref = Transactions.of(
        [[label for label, times in zip("zxy", row, strict=True) for _ in range(times)] for row in cells]
    )
    for source in (matrix, matrix.astype(float), sp.csr_matrix(matrix), sp.coo_array(matrix), sp.csc_array(matrix)):
        assert same(read_transactions(source, labels="zxy"), ref)
    assert same(read_transactions(matrix > 0), read_transactions(np.minimum(matrix, 1)))


def test_entries_of_a_sparse_matrix_add_up():
    twice = sp.coo_array(([1, 1, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert same(read_transactions(twice), Transactions.of([["1", "1"], []]))
    # Large counts are counted, not written out.
    assert read_transactions(np.array([[10**9, 1]])).repeated == 10**9 - 1


def test_matrices_of_other_numbers_or_labels_are_refused():
    for cell in (-1, 0.5, np.nan, np.inf):
        assert "not integers of at least 0" in refusal(np.array([[1, cell]]))
    assert "has 1 axes" in refusal(np.array([1, 0]))
    for labels in (["a"], ["a", "a"], [MARK, "b", "c"]):
        assert "for a matrix of 2 columns" in refusal(np.eye(2), labels=labels)


# Public data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "figures"), [("bms1.dat", (59_602, 497, 149_639, 267)), ("groceries.dat", (9_835, 169, 43_367, 32))]
)
def test_public_data_have_the_published_figures(data_file, tmp_path, name, figures):
    path = data_file(name)
    data = read_transactions(path)
    assert (data.n, len(data.labels), data.items.size, int(data.lengths.max())) == figures
    with path.open() as lines:
        assert same(data, Transactions.of(line.split() for line in lines))
    write_lines(data, tmp_path / "again.dat")
    assert same(read_transactions(tmp_path / "again.dat"), data)
