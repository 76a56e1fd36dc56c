"""Arrays, dicts of columns and lists of dicts are tables, come back as what they were, and are refused clearly."""

import datetime as dt

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays

import shoal
from shoal.errors import ReadError
from shoal.io.frames import from_frame, reordered, to_frame

MARK = "CANARY"
RNG = np.random.default_rng(3)
NUMBERS = RNG.integers(0, 60, (80, 3))
NUMBERS[:, 2] %= 4


@given(arrays(st.sampled_from([np.int64, np.float32, np.bool_]), array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_an_array_comes_back_as_it_was(array):
    table = from_frame(array)
    assert table.column_names == [f"x{place}" for place in range(array.shape[1])]
    back = to_frame(table, array)
    assert back.dtype == array.dtype
    assert np.array_equal(back, array, equal_nan=array.dtype.kind == "f")


def test_dates_text_and_masked_cells_of_an_array_come_back():
    days = np.array([["2024-01-31", "2024-02-01"]], "datetime64[D]")
    assert to_frame(from_frame(days), days).tolist() == days.tolist()
    words = np.array([["a", "b"], ["c", "d"]])
    assert to_frame(from_frame(words), words).tolist() == words.tolist()
    masked = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    assert from_frame(masked).column("x1").to_pylist() == [None, 4.0]


@pytest.mark.parametrize("kind", [">f8", ">i4", np.longdouble])
def test_numbers_that_arrow_does_not_read_are_numbers_all_the_same(kind):
    array = np.array([[1, 2], [3, 4]], kind)
    for source in (array, {"x0": array[:, 0], "x1": array[:, 1]}, pd.DataFrame({"x0": array[:, 0], "x1": array[:, 1]})):
        table = from_frame(source)
        assert not any(pa.types.is_string(column.type) for column in table.columns)
        assert table.to_pydict() == {"x0": [1, 3], "x1": [2, 4]}
    back = to_frame(from_frame(array), array)
    assert (back.dtype, back.tolist()) == (array.dtype, array.tolist())


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_an_array():
    assert from_frame(np.asmatrix([[1, 2], [3, 4]])).to_pydict() == {"x0": [1, 3], "x1": [2, 4]}


@pytest.mark.parametrize("series", [pl.Series, pa.array, lambda cells: pd.Series(cells, dtype="Int64")])
def test_integers_of_a_series_with_missing_cells_stay_integers(series):
    columns = {"a": series([2**60 + 1, None])}
    table = from_frame(columns)
    assert table.column("a").to_pylist() == [2**60 + 1, None]
    assert isinstance(to_frame(table, columns)["a"], np.ndarray)


def test_too_little_memory_is_not_taken_for_cells_that_cannot_be_read(monkeypatch):
    def fail(*_, **__):
        raise pa.ArrowMemoryError

    monkeypatch.setattr(pa, "array", fail)
    with pytest.raises(MemoryError):
        from_frame({"a": [1, 2]})


def test_a_dict_keeps_its_lists_and_arrays_and_a_list_its_dicts():
    columns = {
        "age": [31, None, 40],
        7: np.array([1.5, 2.5, np.nan]),
        "born": [dt.date(2000, 1, day) for day in (1, 2, 3)],
    }
    table = from_frame(columns)
    assert table.column_names == ["age", "7", "born"]
    assert table.column("7").to_pylist() == [1.5, 2.5, None]
    back = to_frame(table, columns)
    assert list(back) == ["age", 7, "born"]
    assert back["age"] == columns["age"]
    assert isinstance(back[7], np.ndarray)
    rows = [{"age": 31, "sex": "f"}, {"age": None, "sex": "m"}]
    assert to_frame(from_frame(rows), rows) == rows
    assert reordered(rows, [1, 0]) == rows[::-1]
    assert reordered(columns, [2, 1, 0])["age"] == [40, None, 31]


def test_cells_without_a_common_type_become_text():
    assert from_frame({"a": [1, "x", None, float("nan")]}).column("a").to_pylist() == ["1", "x", None, None]


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (np.array([1.0, 2.0]), r"the array has 1 dimension; expected two.*reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), "the array has 3 dimensions"),
        (np.array([[1, MARK]], object), "the array holds objects; expected numbers"),
        (np.array([[1j]]), "the array holds complex128"),
        (np.array([(1, 2.0)], [("a", int), ("b", float)]), "a structured array is not accepted"),
        ({"a": [1, 2], "b": [1]}, "from 1 to 2 cells; expected the same number"),
        ({"a": [1, 2], "b": 5}, "column 'b' of the dict is an int; expected a list"),
        ({"a": MARK}, "column 'a' of the dict is a str; expected a list"),
        ({"a": np.zeros((2, 2))}, "column 'a' of the dict has 2 dimensions"),
        ({1: [1], "1": [2]}, "two keys are the same name"),
        ([{"a": 1}, {"a": 1, MARK: 2}], "1 of 2 dicts of the list have other keys"),
        ([[1, 2], [3, 4]], "a list must hold one dict for each row, but it holds a list"),
        ([MARK], "but it holds a str"),
        ([], "but it is empty"),
        ({}, "no columns"),
        ({"a": []}, "no rows"),
    ],
)
def test_what_is_not_a_table_is_refused_without_quoting_a_cell(thing, message):
    with pytest.raises(ReadError, match=message) as refusal:
        shoal.profile(thing)
    assert MARK not in str(refusal.value)


@pytest.mark.slow
def test_a_release_of_an_array_is_an_array_in_the_published_and_in_the_original_order():
    release = shoal.anonymize(NUMBERS, k=4, quasi=["x0", "x1"], keep=["x2"], seed=1, method="mdav")
    assert release.data.shape == release.aligned().shape == (80, 3)
    assert release.data.dtype == NUMBERS.dtype
    release.aligned()[:] = 0  # a copy
    assert np.array_equal(release.aligned()[:, 2], NUMBERS[:, 2])
    assert sorted(map(tuple, release.data)) == sorted(map(tuple, release.aligned()))
    found = shoal.verify(release.data, k=4, quasi=["x0", "x1"])
    assert found.holds
    only = ["cell loss %"]
    both = [
        shoal.measure(NUMBERS, one, only=only, **more)
        for one, more in ((release, {}), (release.aligned(), {"quasi": ["x0", "x1"], "keep": ["x2"], "k": 4}))
    ]
    assert both[0][0].value == pytest.approx(both[1][0].value)


@pytest.mark.slow
def test_every_container_gives_the_release_of_the_same_frame():
    table = shoal.sample(60, seed=2).select(["sex", "height_cm", "smoker", "diagnosis"])
    asked = {"k": 4, "sensitive": ["diagnosis"], "seed": 1}
    expected = shoal.anonymize(table, **asked).table
    columns = shoal.anonymize(table.to_pydict(), **asked)
    rows = shoal.anonymize(table.to_pylist(), **asked)
    assert columns.table.to_pydict() == rows.table.to_pydict() == expected.to_pydict()
    columns.aligned()["sex"][:] = ["changed"] * 60
    rows.aligned()[0]["sex"] = "changed"
    assert "changed" not in str((columns.aligned(), rows.aligned(), columns.data, rows.data))
    assert columns.data == expected.to_pydict()
    assert rows.data == expected.to_pylist()


@pytest.mark.slow
def test_ranges_of_an_array_come_back_as_objects():
    release = shoal.anonymize(NUMBERS.astype(float), k=4, output="truthful", method="mdav", seed=1)
    assert release.data.dtype.kind in "OU"
    assert isinstance(release.data[0, 0], str)


@pytest.mark.slow
def test_a_container_can_be_explored():
    found = shoal.explore(NUMBERS, k=[4], methods=["mdav"], jobs=1, seeds=1)
    assert isinstance(found.table(), pa.Table)
