"""Cells that contradict their policy, and text that hides in a schema."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shoal.certify.check_cells import contradicted
from shoal.certify.recounted_sets import recount_sets
from shoal.errors import InfeasibleError
from shoal.model.policy import Policy

AGES = pa.array([10, 10, 20, 20])


def lines(table, accept=(), **columns):
    return [line.what for line in contradicted(table, Policy.of({"columns": columns}, k=2, accept=accept))]


def quasi(kind="numeric", form="mean", **more):
    return {"role": "quasi", "kind": kind, "form": form, **more}


def test_an_honest_table_contradicts_nothing():
    table = pa.table({"age": AGES, "ill": ["a", "a", "b", "b"]})
    assert lines(table, age=quasi(step=5.0), ill={"role": "sensitive", "kind": "nominal"}) == []
    assert lines(pa.table({"age": ["10", "10", None, None]}), age=quasi(step=5.0)) == []


def test_numbers_are_multiples_of_their_step():
    assert lines(pa.table({"age": AGES}), age=quasi(step=7.0)) == ["column 'age'"]
    assert lines(pa.table({"age": ["10", "10", "12.5", "12.5"]}), age=quasi(step=5.0)) == ["column 'age'"]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_multiples_of_a_step_are_compared_as_precisely_as_their_type_allows(kind):
    numbers = np.array([round(0.034 * times, 3) for times in range(200)]).astype(kind.to_pandas_dtype())
    assert lines(pa.table({"age": pa.array(numbers, kind)}), age=quasi(step=0.034)) == []
    assert lines(pa.table({"age": pa.array(numbers + numbers.dtype.type(0.01), kind)}), age=quasi(step=0.034)) != []


@pytest.mark.parametrize("form", ["mean", "median", "representative"])
def test_rounded_numbers_have_a_step(form):
    assert lines(pa.table({"age": AGES}), age=quasi(form=form)) == ["column 'age'"]
    assert lines(pa.table({"age": [7.5, 7.5, None, None]}), age=quasi(form=form)) == []
    assert lines(pa.table({"age": AGES}), age=quasi(form=form, step=5.0)) == []


def test_numbers_must_be_numbers_and_dates_must_be_dates():
    assert lines(pa.table({"age": ["Ann", "Ann"]}), age=quasi()) == ["column 'age'"]
    assert lines(pa.table({"born": ["1990-01-01", "soon"]}), born=quasi("date")) == ["column 'born'"]


WORDS = pa.array(["Ann has flu"] * 4)


@pytest.mark.parametrize(
    ("column", "given"),
    [
        (WORDS.dictionary_encode(), quasi(step=5.0)),
        (WORDS.cast(pa.binary()), quasi(step=5.0)),
        (WORDS, quasi(form="mode")),
        (WORDS, quasi(form="range")),
        (WORDS, quasi("date", "range")),
        (pa.array(["1977-07-07 Ann has flu"] * 4), quasi("date", step=1.0)),
        (WORDS.cast(pa.binary()), quasi("nominal", "mode")),
        (pa.array([["Ann"]] * 4), quasi("nominal", "mode")),
        (pa.array([{"name": "Ann"}] * 4), quasi("nominal", "mode")),
        (pa.array([True] * 4), quasi("date", step=1.0)),
        (pa.array([5] * 4), quasi(form="range")),
        (pa.array([5] * 4, pa.duration("s")), quasi("nominal", "mode")),
    ],
)
def test_cells_that_are_not_of_their_kind_are_refused(column, given):
    assert lines(pa.table({"x": column}), x=given) == ["column 'x'"]


@pytest.mark.parametrize(
    ("column", "given"),
    [
        (pa.array(["7.5"] * 4), quasi(form="range")),
        (pa.array(["-1e+20–*", "*", "3–5 or missing", None]), quasi(form="range")),
        (pa.array(["2001-01-01–2002-03-01"] * 4), quasi("date", "range")),
        (pa.array(["2001-01-01T00:00:00+0100"] * 4), quasi("date", step=1.0)),
        (pa.array(["a", "a", "b", None]), quasi("nominal", "mode")),
        (pa.array(["yes", "yes", "no", "no"]), quasi("boolean", "mode")),
        (pa.array([True, True, False, None]), quasi("boolean", "mode")),
    ],
)
def test_cells_of_their_kind_are_accepted(column, given):
    assert lines(pa.table({"x": column}), x=given) == []


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("ms"), pa.timestamp("ms", "Europe/Berlin"), pa.string()])
def test_dates_are_multiples_of_their_step_in_days(kind):
    days = pa.array([0, 0, 3650, 3650], pa.int32()).cast(pa.date32())
    if pa.types.is_timestamp(kind):
        moments = days.cast(pa.timestamp("ms"))
        days = pc.assume_timezone(moments, kind.tz) if kind.tz else moments
    column = days.cast(kind)
    assert lines(pa.table({"x": column}), x=quasi("date", step=365.0)) == []
    assert lines(pa.table({"x": column}), x=quasi("date", step=364.0)) == ["column 'x'"]


@pytest.mark.parametrize(
    "cell",
    [
        "1970-01-01 14:34:28",
        "1970-01-01T00:00:00.000001Z",
        "2024-02-30",
        "2024-13-45",
        "0000-00-00",
    ],
)
def test_times_of_day_and_invalid_dates_are_not_multiples_of_a_step(cell):
    assert lines(pa.table({"x": [cell] * 4}), x=quasi("date", step=1.0)) == ["column 'x'"]


def test_a_timestamp_within_a_day_is_not_a_multiple_of_a_step():
    moments = pa.array([0, 0, 86_400_001, 86_400_001], pa.int64()).cast(pa.timestamp("ms"))
    assert lines(pa.table({"x": moments}), x=quasi("date", step=1.0)) == ["column 'x'"]


@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(4, pa.timestamp("us", "Ann has flu")),
        pa.array([1, 1, 2, 2], pa.timestamp("us", "Ann has flu")),
        pa.nulls(4, pa.struct([("Ann has flu", pa.int32())])),
        pa.nulls(4, pa.list_(pa.struct([("Ann has flu", pa.int32())]))),
    ],
)
def test_text_in_a_type_is_found(column):
    table = pa.table({"age": AGES, "kept": column})
    assert "types" in lines(table, age=quasi(step=5.0), kept={"role": "keep", "kind": "nominal"})


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "+09:00"])
def test_time_zones_and_lists_are_plain_types(zone):
    table = pa.table(
        {"age": AGES, "at": pa.array([1, 1, 2, 2], pa.timestamp("us", zone)), "items": [[1], [1], [2], [2]]}
    )
    assert (
        lines(table, age=quasi(step=5.0), at={"role": "keep", "kind": "date"}, items={"role": "keep", "kind": "set"})
        == []
    )


def test_nearly_unique_kept_columns_pass_only_if_accepted():
    table = pa.table({"age": AGES, "pay": [1.5, 2.5, 3.5, 4.5]})
    kept = {"role": "keep", "kind": "numeric"}
    assert lines(table, age=quasi(step=5.0), pay=kept) == ["unchanged columns"]
    assert lines(table, accept=["unique-kept"], age=quasi(step=5.0), pay=kept) == []


def test_bytes_that_are_not_text_are_counted_too():
    table = pa.table({"age": AGES, "kept": [b"\xff\xfe", b"\xff\xfe", b"b", b"b"]})
    assert lines(table, age=quasi(step=5.0), kept={"role": "keep", "kind": "nominal"}) == []


def test_combinations_that_would_take_minutes_are_refused():
    rng = np.random.default_rng(1)
    sets = pa.chunked_array([["|".join(map(str, rng.permutation(40)[:36])) for _ in range(700)]])
    with pytest.raises(InfeasibleError, match="Lower m, or split long sets"):
        recount_sets("s", sets, "|", np.zeros(700, np.int64), 100, 5)


def test_many_rows_of_few_items_are_counted():
    sets = pa.chunked_array([["a|b|c|d|e|f|g|h|i|j"] * 150_000])
    assert recount_sets("s", sets, "|", np.zeros(150_000, np.int64), 2, 2).holds


def test_combinations_of_long_sets_are_refused_before_they_are_counted():
    sets = pa.chunked_array([["|".join(f"i{number}" for number in range(60))] * 2])
    with pytest.raises(InfeasibleError, match="Lower m, or split long sets"):
        recount_sets("s", sets, "|", np.zeros(2, np.int64), 2, 6)
    assert recount_sets("s", sets, "|", np.zeros(2, np.int64), 2, 2).holds
