"""Rows to be released: typed, without the missing values that the policy refuses, in a new order."""

import datetime as dt
import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, InfeasibleError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.arrange import arrange


def arranged(columns, data, **options):
    return arrange(Table.of(pa.table(data)), Policy.of({"columns": columns}, **{"k": 2, "seed": 0, **options}))


NUMBER = {"role": "quasi", "kind": "numeric"}
NAME = {"role": "quasi", "kind": "nominal"}


def test_identifiers_are_dropped():
    table = arranged({"id": {"role": "identifier", "kind": "nominal"}, "a": NUMBER}, {"id": ["x", "y"], "a": [1, 2]})
    assert table.names == ["a"]


def test_rows_know_their_input_row():
    table = arranged({"a": NUMBER}, {"a": [30, 10, 20]})
    assert [[30, 10, 20][row] for row in table.rows] == table.column("a").to_pylist()


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xyz")), min_size=2, max_size=20), st.integers(0, 99))
def test_the_order_of_the_input_does_not_matter(rows, seed):
    mixed = rows.copy()
    random.Random(seed).shuffle(mixed)
    columns = {"a": NUMBER, "b": {"role": "sensitive", "kind": "nominal"}}

    def values(some):
        table = arranged(columns, {"a": [r[0] for r in some], "b": [r[1] for r in some]}, seed=seed)
        return table.data.to_pydict()

    assert values(rows) == values(mixed)


def test_the_seed_decides_the_order():
    data = {"a": list(range(50))}
    one, two = (arranged({"a": NUMBER}, data, seed=s).column("a").to_pylist() for s in (1, 2))
    assert one != two
    assert sorted(one) == sorted(two) == list(range(50))


def test_codes_for_missing_become_missing():
    column = {**NUMBER, "missing_codes": [-999.0, float("inf")]}
    table = arranged({"a": column}, {"a": [1.0, -999.0, float("inf"), 2.0]})
    assert sorted(table.column("a").to_pylist(), key=str) == [1.0, 2.0, None, None]


def test_codes_for_missing_may_be_words():
    table = arranged({"a": {**NAME, "missing_codes": ["unknown"]}}, {"a": ["unknown", "x", "y"]})
    assert table.data.column("a").null_count == 1


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([1.5, -9.9], "-9,9"),
        ([1.0, -999.0], "-999.00"),
        ([1.0, 999.0], "999.0"),
        (pa.array([1.5, 0.1], pa.float32()), 0.1),
        (pa.array([1, 5], pa.uint64()), "5"),
        (pa.array([1, 2**63 + 1], pa.uint64()), str(2**63 + 1)),
        ([dt.date(2000, 1, 1), dt.date(1900, 1, 1)], "01.01.1900"),
        ([dt.date(2000, 1, 1), dt.date(1900, 1, 1)], "1900-01-01"),
        (["x", "-9"], -9.0),
    ],
)
def test_codes_for_missing_are_found_however_they_are_spelled(values, code):
    column = pa.array(values)
    kind = "date" if pa.types.is_date(column.type) else "nominal" if pa.types.is_string(column.type) else "numeric"
    table = arranged({"a": {"role": "quasi", "kind": kind, "missing_codes": [code]}}, {"a": column})
    assert table.data.column("a").null_count == 1


@pytest.mark.parametrize("code", [-999.0, "word", "1.5", 1e300, "2000-13-01"])
def test_codes_that_a_column_cannot_contain_match_nothing(code):
    for values, kind in ((pa.array([1, 2**64 - 1], pa.uint64()), "numeric"), (pa.array([1, 2], pa.date32()), "date")):
        table = arranged({"a": {"role": "quasi", "kind": kind, "missing_codes": [code]}}, {"a": values})
        assert table.data.column("a").null_count == 0


def test_text_that_becomes_numbers_loses_its_codes_too():
    table = arranged({"a": {**NUMBER, "missing_codes": [-9.0]}}, {"a": ["-9.0", "1.5"]})
    assert table.data.column("a").null_count == 1


def test_text_that_the_policy_calls_numeric_becomes_numbers():
    table = arranged({"a": NUMBER}, {"a": ["007", "12", None]})
    assert sorted(table.column("a").to_pylist(), key=str) == [12, 7, None]


def test_text_that_is_not_a_number_is_counted_and_located_but_not_shown():
    with pytest.raises(
        DataError, match=r"2 cells of column 'a' \(first in row 2\) cannot be read as numbers"
    ) as caught:
        arranged({"a": NUMBER}, {"a": ["1", "marked", "2", "marked too"]})
    assert "marked" not in str(caught.value)


def test_text_dates_become_dates_or_are_refused():
    date = {"role": "quasi", "kind": "date"}
    assert pa.types.is_date32(arranged({"a": date}, {"a": ["2024-01-31", "2023-05-01"]}).column("a").type)
    with pytest.raises(DataError, match=r"1 cell of column 'a' \(first in row 2\) cannot be read as dates"):
        arranged({"a": date}, {"a": ["2024-01-31", "31.1.2024"]})


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_timestamps_at_midnight_are_dates_where_they_are_published_as_text(unit):
    days = [dt.datetime(2024, 1, 31), None, dt.datetime(1890, 5, 1)]
    date = {"role": "quasi", "kind": "date"}
    for form, hours, is_day in (("range", 0, True), ("range", 1, False), ("mean", 0, False)):
        cells = pa.array([day and day + dt.timedelta(hours=hours) for day in days], pa.timestamp(unit))
        found = arranged({"a": {**date, "form": form}}, {"a": cells}).column("a")
        assert pa.types.is_date32(found.type) == is_day
    zoned = pa.array(days, pa.timestamp(unit, "UTC"))
    assert arranged({"a": {**date, "form": "range"}}, {"a": zoned}).column("a").type == zoned.type


def test_a_kind_that_cannot_fit_is_refused():
    with pytest.raises(DataError, match="contains date32.day., not numbers"):
        arranged({"a": NUMBER}, {"a": pa.array([1, 2], pa.date32())})
    with pytest.raises(DataError, match="contains int64, not dates"):
        arranged({"a": {"role": "quasi", "kind": "date"}}, {"a": [1, 2]})
    with pytest.raises(DataError, match="more than two values"):
        arranged({"a": {"role": "quasi", "kind": "boolean"}}, {"a": [1, 2, 3]})


def test_a_level_outside_the_order_is_refused_by_count():
    level = {"role": "quasi", "kind": "ordinal", "order": ["low", "high"]}
    with pytest.raises(DataError, match="1 cell of column 'a'") as caught:
        arranged({"a": level}, {"a": ["low", "high", "marked"]})
    assert "marked" not in str(caught.value)


def test_rows_with_missing_values_are_suppressed_if_the_policy_says_so():
    columns = {"a": NUMBER, "s": {"role": "sensitive", "kind": "nominal"}, "x": {"role": "keep", "kind": "numeric"}}
    data = {"a": [1, None, 3, 4], "s": ["p", "q", None, "r"], "x": [None, 1, 1, 1]}
    assert sorted(arranged(columns, data, missing="suppress-row").rows) == [0, 3]


def test_rows_with_missing_values_are_refused_if_the_policy_says_so():
    with pytest.raises(DataError, match=r"1 row has missing values, in 'a'"):
        arranged({"a": NUMBER}, {"a": [1, None, 3]}, missing="refuse")
    assert arranged({"a": NUMBER}, {"a": [1, 2, 3]}, missing="refuse").n == 3


def test_fewer_rows_than_k_are_refused_with_a_feasible_k():
    with pytest.raises(InfeasibleError, match=r"k is 5, but there are 3 rows to release. Lower k to 3"):
        arrange(Table.of(pa.table({"a": [1, 2, 3]})), Policy.of({"columns": {"a": NUMBER}}, k=5))
    with pytest.raises(InfeasibleError, match="No release is possible"):
        arranged({"a": NUMBER}, {"a": [1, None, None]}, missing="suppress-row")
