"""Frames in and out: the index is dropped, types are restored, unused categories are not."""

import datetime as dt
import decimal
import traceback

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import ReadError
from shoal.io.files import read
from shoal.io.frames import from_frame, reordered, to_frame

MARK = "Zebedee4711"
PLAIN = {"age": [39, 50, 38], "job": ["x", None, "z"]}


def refusal(source):
    with pytest.raises(ReadError) as caught:
        read(source)
    assert MARK not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
    return str(caught.value)


def there_and_back(frame):
    return to_frame(read(frame).data, frame)


# In


def test_frames_of_all_kinds_give_the_same_table():
    for frame in (pd.DataFrame(PLAIN), pl.DataFrame(PLAIN), pa.table(PLAIN), nw.from_native(pl.DataFrame(PLAIN))):
        table = read(frame)
        assert table.data.to_pydict() == PLAIN
        assert table.origin.frame is frame
        assert (table.origin.name, table.origin.format) == ("frame", "frame")


@pytest.mark.parametrize(
    "index",
    [
        pd.Index([7, 7, 7]),
        pd.Index(["ann", "bob", "cid"], name="age"),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 1), ("b", 2)], names=["u", "v"]),
        pd.date_range("2024-01-01", periods=3, tz="Europe/Berlin"),
        pd.RangeIndex(5, 8),
        pd.CategoricalIndex(["a", "b", "a"]),
        pd.Index([np.nan, 1.5, np.nan]),
    ],
)
def test_the_index_leaves_no_trace(index):
    frame = pd.DataFrame(PLAIN).set_axis(index, axis=0)
    arrow = from_frame(frame)
    assert arrow.to_pydict() == PLAIN
    assert arrow.schema.metadata is None
    back = to_frame(arrow, frame)
    assert back.index.equals(pd.RangeIndex(3))
    assert list(back.columns) == ["age", "job"]
    assert back["age"].tolist() == PLAIN["age"]


def test_the_input_is_not_changed():
    frame = pd.DataFrame({0: [1, "a", None], "c": pd.Categorical(["u", "v", "u"])}, index=[3, 3, 3])
    before = frame.copy(deep=True)
    there_and_back(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_lazy_frames_are_refused():
    assert ".collect()" in refusal(pl.LazyFrame({"a": [MARK]}))
    assert ".collect()" in refusal(nw.from_native(pl.LazyFrame({"a": [MARK]})))


@pytest.mark.parametrize(
    ("thing", "called"),
    [
        (MARK.encode(), "a bytes"),
        (None, "None"),
        (pd.Series([MARK]), "a Series of pandas"),
        (pl.Series([MARK]), "a Series of polars"),
        (pa.chunked_array([[MARK]]), "a ChunkedArray of pyarrow"),
    ],
)
def test_anything_but_a_table_is_refused_by_its_type(thing, called):
    message = refusal(thing)
    assert message.startswith(
        f"read: {called} is not a table; expected the path of a file, a frame of pandas, polars or"
    )


def test_duplicate_names_are_refused():
    message = "read: the name 'a' is used by two or more columns. Rename them."
    assert refusal(pd.DataFrame([[1, 2]], columns=["a", "a"])) == message
    assert refusal(pa.table([[1], [2]], names=["a", "a"])) == message
    assert "the name '1'" in refusal(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_frames_without_rows_or_columns_are_refused():
    for frame in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": []})):
        assert refusal(frame).startswith("read: the frame has no rows.")
    for frame in (pd.DataFrame(index=[1, 2]), pl.DataFrame(), pa.table({})):
        assert refusal(frame).startswith("read: the frame has no columns.")


def test_column_labels_that_are_not_text_become_text_and_are_restored():
    for labels in ([0, 1], [("a", 1), ("a", 2)], [dt.date(2024, 1, 2), 3.5]):
        frame = pd.DataFrame([[1, "x"]], columns=labels)
        assert from_frame(frame).column_names == [str(label) for label in labels]
        assert list(there_and_back(frame).columns) == labels


def test_labels_of_the_remaining_columns_are_restored():
    frame = pd.DataFrame([[1, 2, 3]], columns=pd.Index([10, 20, 30], name="wave"))
    back = to_frame(from_frame(frame).select(["30", "10"]), frame)
    assert back.columns.equals(pd.Index([30, 10]))
    assert back.loc[0].tolist() == [3, 1]


def test_numbers_and_text_in_one_column_become_text():
    frame = pd.DataFrame({"a": [1, "x", None, 2.5, np.nan]})
    assert from_frame(frame).to_pydict() == {"a": ["1", "x", None, "2.5", None]}
    frame = pd.DataFrame({"a": pd.Series([2**70, 1], dtype=object)})
    assert from_frame(frame).to_pydict() == {"a": [str(2**70), "1"]}


def test_values_that_arrow_lacks_become_text():
    frame = pd.DataFrame(
        {
            "period": pd.period_range("2024-01", periods=2, freq="M"),
            "interval": pd.arrays.IntervalArray.from_breaks([0, 1, 2]),
            "complex": [1 + 2j, 3j],
        }
    )
    assert from_frame(frame).to_pydict() == {
        "period": ["2024-01", "2024-02"],
        "interval": ["(0, 1]", "(1, 2]"],
        "complex": ["(1+2j)", "3j"],
    }
    objects = pl.DataFrame({"a": pl.Series([1 + 2j, None], dtype=pl.Object)})
    assert from_frame(objects).to_pydict() == {"a": ["(1+2j)", None]}


def test_text_that_is_not_unicode_is_refused():
    frame = pd.DataFrame({"a": pd.Series([MARK + "\ud800"], dtype=object)})
    assert "column 'a' of the frame contains text that is not Unicode" in refusal(frame)


def test_sparse_columns_stay_numbers():
    assert from_frame(pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 7])})).to_pydict() == {"a": [0, 0, 7]}


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        ([1, None], "Int64", "int64"),
        ([1, None], "UInt8", "uint8"),
        ([1.5, None], "Float32", "float"),
        ([True, None], "boolean", "bool"),
        (["a", None], "string", "large_string"),
        ([1, 2], "uint8", "uint8"),
        ([1.5, None], "float64", "double"),
        ([1, None], pd.ArrowDtype(pa.int16()), "int16"),
        ([pd.Timestamp("2024-01-02", tz="Europe/Berlin"), None], None, "timestamp[us, tz=Europe/Berlin]"),
        ([pd.Timestamp("2024-01-02"), None], "datetime64[ns]", "timestamp[ns]"),
        (["a", None], "category", "dictionary<values=large_string, indices=int8, ordered=0>"),
        ([dt.date(2024, 1, 2), None], object, "date32[day]"),
    ],
)
def test_pandas_columns_keep_their_types_and_missing_values(values, dtype, kind):
    column = from_frame(pd.DataFrame({"a": pd.Series(values, dtype=dtype)})).column("a")
    assert str(column.type) == kind
    assert column.null_count == sum(value is None for value in values)


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        ([1, None], pl.UInt8, "uint8"),
        (["x", None], pl.Enum(["y", "x"]), "dictionary<values=large_string, indices=uint8, ordered=1>"),
        (["x", None], pl.Categorical, "dictionary<values=large_string, indices=uint32, ordered=0>"),
        ([decimal.Decimal("1.50"), None], pl.Decimal(9, 2), "decimal128(9, 2)"),
        ([dt.date(2024, 1, 2), None], pl.Date, "date32[day]"),
        ([dt.datetime(2024, 1, 2), None], pl.Datetime("ms"), "timestamp[ms]"),
        ([dt.datetime(2024, 1, 2), None], pl.Datetime("us", "UTC"), "timestamp[us, tz=UTC]"),
    ],
)
def test_polars_columns_keep_their_types_and_missing_values(values, dtype, kind):
    column = from_frame(pl.DataFrame({"a": pl.Series(values, dtype=dtype)})).column("a")
    assert str(column.type) == kind
    assert column.null_count == 1


def test_categories_of_any_kind_become_plain_values():
    frame = pd.DataFrame(
        {
            "number": pd.Categorical([2, 1, None], categories=[2, 1], ordered=True),
            "truth": pd.Categorical([True, False, None]),
            "day": pd.Categorical(pd.to_datetime(["2024-01-02", "2024-01-03", None])),
            "cut": pd.cut([0.5, 1.5, np.nan], [0, 1, 2]),
        }
    )
    table = read(frame)
    assert table.data.to_pydict() == {
        "number": [2, 1, None],
        "truth": [True, False, None],
        "day": [dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 3), None],
        "cut": ["(0, 1]", "(1, 2]", None],
    }
    assert table.categorical == set(frame.columns)
    assert table.levels == {"number": ("2", "1"), "cut": ("(0, 1]", "(1, 2]")}


# Out


def test_without_a_frame_an_arrow_table_is_returned():
    table = pa.table(PLAIN)
    assert to_frame(table, None) is table


def test_pandas_types_are_restored():
    zoned = pd.date_range("2024-01-01", periods=3, tz="Europe/Berlin")
    frame = pd.DataFrame(
        {
            "int": [1, 2, 3],
            "uint8": np.array([1, 2, 255], np.uint8),
            "Int64": pd.array([2**60 + 1, None, 3], "Int64"),
            "UInt16": pd.array([1, 2, 3], "UInt16"),
            "float32": np.array([1.5, np.nan, 2], np.float32),
            "Float64": pd.array([1.5, None, 2], "Float64"),
            "bool": [True, False, True],
            "boolean": pd.array([True, None, False], "boolean"),
            "str": ["a", None, "b"],
            "string": pd.array(["a", None, "b"], "string"),
            "python": pd.array(["a", None, "b"], "string[python]"),
            "object": pd.Series(["a", "c", "b"], dtype=object),
            "arrow": pd.array([1, None, 3], pd.ArrowDtype(pa.int32())),
            "ns": pd.Series(zoned.tz_localize(None)).astype("datetime64[ns]"),
            "s": pd.Series(zoned.tz_localize(None)).astype("datetime64[s]"),
            "zoned": zoned.as_unit("ns"),
            "delta": pd.to_timedelta([1, 2, None], unit="s"),
            "date": pd.Series([dt.date(2024, 1, 2), None, dt.date(2024, 1, 3)], dtype=object),
            "category": pd.Categorical(["u", None, "v"]),
            "ordered": pd.Categorical(["v", "u", None], categories=["v", "u"], ordered=True),
            "numbers": pd.Categorical([3, 1, 3]),
        },
        index=[5, 5, 5],
    )
    pd.testing.assert_frame_equal(there_and_back(frame), frame.reset_index(drop=True))


def test_polars_types_are_restored():
    frame = pl.DataFrame(
        {
            "i8": pl.Series([1, None], dtype=pl.Int8),
            "u64": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
            "f32": pl.Series([1.5, None], dtype=pl.Float32),
            "str": ["a", None],
            "bool": [True, None],
            "date": [dt.date(2024, 1, 2), None],
            "ms": pl.Series([dt.datetime(2024, 1, 2), None], dtype=pl.Datetime("ms")),
            "zoned": pl.Series([dt.datetime(2024, 1, 2), None], dtype=pl.Datetime("us", "Europe/Berlin")),
            "time": [dt.time(1, 2), None],
            "delta": [dt.timedelta(1), None],
            "decimal": pl.Series([decimal.Decimal("1.50"), None], dtype=pl.Decimal(9, 2)),
            "enum": pl.Series(["x", "y"], dtype=pl.Enum(["y", "x"])),
            "category": pl.Series(["x", None], dtype=pl.Categorical),
            "list": [[1], None],
        }
    )
    back = there_and_back(frame)
    assert back.schema == frame.schema
    assert back.equals(frame)
    assert isinstance(there_and_back(nw.from_native(frame)), nw.DataFrame)


def test_arrow_types_are_restored():
    frame = pa.table(
        {
            "i": pa.array([1, None], pa.int8()),
            "f": pa.array([1.5, None], pa.float32()),
            "s": pa.array(["a", None], pa.large_string()),
            "v": pa.array(["a", None], pa.string_view()),
            "c": pa.array(["u", "v"]).dictionary_encode(),
        }
    ).replace_schema_metadata({"pandas": "secret"})
    back = there_and_back(frame)
    assert back.schema.equals(frame.schema, check_metadata=False)
    assert back.to_pydict() == frame.to_pydict()
    assert back.schema.metadata is None


def test_rows_of_string_views_are_reordered():
    words = pa.array(["a", None, "b"], pa.string_view())
    frame = pa.table({"v": words, "c": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), words)})
    for source in (frame, nw.from_native(frame)):
        taken = reordered(source, np.array([2, 1, 0]))
        native = taken if source is frame else taken.to_native()
        assert native.schema == frame.schema
        assert native.to_pydict() == {"v": ["b", None, "a"], "c": ["b", None, "a"]}


def test_columns_that_became_text_or_another_kind_stay_so():
    released = pa.table({"a": ["1-3", "1-3"], "b": [1.5, 1.5], "c": [300, 300]})
    frame = pd.DataFrame({"a": pd.array([1, 3], "Int64"), "b": [1, 2], "c": np.array([1, 2], np.uint8)})
    back = to_frame(released, frame)
    assert back["a"].tolist() == ["1-3", "1-3"]
    assert back["b"].tolist() == [1.5, 1.5]
    assert back["c"].tolist() == [300, 300]
    polars = to_frame(released, pl.DataFrame({"a": [1, 3], "b": [1, 2], "c": pl.Series([1, 2], dtype=pl.UInt8)}))
    assert polars.to_dict(as_series=False) == released.to_pydict()


def test_integers_with_missing_values_become_floats_in_pandas():
    back = to_frame(pa.table({"a": [1, None]}), pd.DataFrame({"a": [1, 2]}))
    assert back["a"].dtype == np.float64


def test_fewer_rows_and_columns_may_be_returned():
    for frame in (pd.DataFrame(PLAIN), pl.DataFrame(PLAIN), pa.table(PLAIN)):
        back = from_frame(to_frame(pa.table({"job": ["x"]}), frame))
        assert back.to_pydict() == {"job": ["x"]}


def test_a_pandas_frame_of_many_columns_is_restored():
    frame = pd.DataFrame({f"c{number}": pd.array([number], "Int64") for number in range(300)})
    pd.testing.assert_frame_equal(there_and_back(frame), frame)


def test_categories_that_no_released_row_has_are_removed():
    levels = ["low", MARK, "mid", "high"]
    released = pa.table({"a": ["high", "low", None, "high"]})
    ordered = pd.DataFrame({"a": pd.Categorical(["low"], categories=levels, ordered=True)})
    back = to_frame(released, ordered)["a"]
    assert back.cat.categories.tolist() == ["low", "high"]
    assert back.cat.ordered
    assert back.astype(object).where(back.notna(), None).tolist() == ["high", "low", None, "high"]
    enum = to_frame(released, pl.DataFrame({"a": pl.Series(["low"], dtype=pl.Enum(levels))}))
    assert enum.schema["a"] == pl.Enum(["low", "high"])
    assert enum["a"].to_list() == ["high", "low", None, "high"]
    loose = to_frame(released, pl.DataFrame({"a": pl.Series(levels, dtype=pl.Categorical)}))
    assert loose.schema["a"] == pl.Categorical
    assert loose["a"].to_arrow().dictionary.to_pylist() == ["high", "low"]
    arrow = pa.table({"a": pa.DictionaryArray.from_arrays([0], levels, ordered=True)})
    column = to_frame(released, arrow).column("a")
    assert column.chunk(0).dictionary.to_pylist() == ["low", "high"]
    assert column.type.ordered
    typed = pd.DataFrame({"a": pd.array(levels, pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))})
    assert MARK not in str(pa.Array.from_pandas(to_frame(released, typed)["a"]))


def test_released_values_that_were_no_categories_come_last_and_make_them_unordered():
    frame = pd.DataFrame({"a": pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True)})
    back = to_frame(pa.table({"a": ["b..c", "a", "b"]}), frame)["a"]
    assert back.cat.categories.tolist() == ["b", "a", "b..c"]
    assert not back.cat.ordered


def test_categories_of_numbers_may_become_text():
    frame = pd.DataFrame({"a": pd.Categorical([10, 9, 8], categories=[10, 9, 8], ordered=True)})
    assert to_frame(pa.table({"a": ["9", "10", "9"]}), frame)["a"].cat.categories.tolist() == ["10", "9"]
    assert to_frame(pa.table({"a": [9.5, 9.5, 9.5]}), frame)["a"].cat.categories.tolist() == [9.5]


def test_categories_that_are_all_missing_are_restored_empty():
    frame = pd.DataFrame({"a": pd.Categorical([MARK])})
    for gaps in (pa.nulls(2, pa.string()), pa.nulls(2)):
        back = to_frame(pa.table({"a": gaps}), frame)["a"]
        assert back.isna().all()
        assert MARK not in str(back.dtype)


cells = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(cells, st.none() | st.integers(-(2**63), 2**63 - 1), st.booleans()), min_size=1, max_size=8))
def test_any_table_survives_a_round_trip_through_every_kind_of_frame(rows):
    text, whole, truth = (list(column) for column in zip(*rows, strict=True))
    table = pa.table({"t": pa.array(text, pa.string()), "w": pa.array(whole, pa.int64()), "b": truth})
    pandas = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    for frame in (table, pl.from_arrow(table), pandas):
        back = from_frame(there_and_back(frame))
        assert back.to_pydict() == table.to_pydict()
