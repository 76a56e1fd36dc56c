"""Published values: one per group and column, exact, and never a rare category."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.recode.table import recode


def published(values, labels, kind, form, k=2, order=None, X=None, weights=None, step=None):
    column = {"role": "quasi", "kind": kind, "form": form}
    column |= {"order": order} if order else {}
    column |= {"step": step} if step else {}
    table = Table.of(pa.table({"a": values}))
    matrix = np.zeros((table.n, 0)) if X is None else np.array(X, float)
    encoded = Encoded(matrix, None if weights is None else np.array(weights))
    made = recode(table, Partition.of(labels), Policy.of({"columns": {"a": column}}, k=k), encoded)
    return made.data.column("a").to_pylist(), made


TWO = [0, 0, 0, 1, 1, 1]


def test_the_mean_of_whole_numbers_is_rounded_once():
    assert published([1, 2, 4, 10, 20, 31], TWO, "numeric", "mean")[0] == [2, 2, 2, 20, 20, 20]


def test_the_mean_of_floats_is_the_same_bits_in_every_row():
    values, _ = published([0.1, 0.2, 0.3, 1.0, 1.0, 1.0], TWO, "numeric", "mean")
    assert len({value.hex() for value in values[:3]}) == 1
    assert values[0] == pytest.approx(0.2, abs=0.01)
    assert values[3] == pytest.approx(1.0, abs=0.011)


def test_whole_numbers_beyond_53_bits_keep_their_mean():
    big = 2**62
    assert published([big, big + 2, big + 4], [0, 0, 0], "numeric", "mean")[0] == [big + 2] * 3
    widest = pa.array([-(2**63), 2**63 - 1], pa.int64())
    assert published(widest, [0, 0], "numeric", "mean")[0][0] == pytest.approx(0, abs=1e4)


def test_the_type_of_a_numeric_column_is_kept():
    for kind in (pa.int8(), pa.uint16(), pa.float32(), pa.float64()):
        _, made = published(pa.array([1, 3], kind), [0, 0], "numeric", "mean")
        assert made.data.column("a").type == kind
    values, _ = published(pa.array([Decimal("1.10"), Decimal("1.25")]), [0, 0], "numeric", "mean")
    assert values[0] == values[1]
    assert Decimal("1.17") <= values[0] <= Decimal("1.18")


def test_the_mean_of_huge_numbers_is_finite():
    assert published([1.7e308, 1.6e308], [0, 0], "numeric", "mean")[0][0] == pytest.approx(1.65e308, rel=0.01)


def test_a_group_that_is_mostly_missing_is_published_as_missing():
    values, made = published([None, None, 3, None, 4, 6], TWO, "numeric", "mean")
    assert values == [None, None, None, 5, 5, 5]
    change = made.ledger[0]
    assert (change.changed, change.filled, change.emptied) == (2, 1, 1)
    assert published([None, 7], [0, 0], "numeric", "mean")[0] == [None, None]


def test_halves_are_rounded_up_in_any_order():
    assert published([1, 2], [0, 0], "numeric", "mean")[0] == published([2, 1], [0, 0], "numeric", "mean")[0] == [2, 2]
    assert published([-1, -2], [0, 0], "numeric", "mean")[0] == [-1, -1]


def test_a_column_without_any_value_stays_empty():
    for kind, form in (("numeric", "mean"), ("numeric", "median"), ("nominal", "mode"), ("numeric", "range")):
        column = pa.array([None, None], pa.float64() if kind == "numeric" else pa.string())
        assert published(column, [0, 0], kind, form)[0] == [None, None]


def test_medians_are_published():
    assert published([1, 2, 9, 10, 20, 90], TWO, "numeric", "median")[0] == [2, 2, 2, 20, 20, 20]
    assert published([1, 2, 3, 9], [0] * 4, "numeric", "median")[0] == [3] * 4
    assert published([1.0, 2.0, 3.0, 9.0], [0] * 4, "numeric", "median", step=0.5)[0] == [2.5] * 4
    levels = ["low", "mid", "high"]
    got = published(["low", "high", "mid", "high", "high", "low"], TWO, "ordinal", "median", order=levels)[0]
    assert got == ["low", "low", "low", "high", "high", "high"]


def test_a_median_level_is_one_of_k_rows():
    levels = ["a", "b", "c", "d"]
    got = published(["a", "a", "c", "d", "d"], [0] * 5, "ordinal", "median", k=2, order=levels)[0]
    assert got == ["a"] * 5
    got = published(["a", "b", "d", "d", "d"], [0, 0, 1, 1, 1], "ordinal", "median", k=3, order=levels)[0]
    assert got == [None, None, "d", "d", "d"]


def test_the_mode_is_the_most_frequent_category_of_the_group():
    assert published(["x", "x", "y", "y", "y", "x"], TWO, "nominal", "mode")[0] == ["x"] * 3 + ["y"] * 3


def test_ties_between_modes_go_to_the_more_frequent_category_of_the_table():
    assert published(["y", "x", "y", "x", "x"], [0, 0, 1, 1, 1], "nominal", "mode")[0][:2] == ["x", "x"]


def test_a_category_of_fewer_than_k_rows_is_never_published_by_mode():
    values, made = published(["secret", "other", "odd", "x", "x", "x"], TWO, "nominal", "mode", k=3)
    assert values == [None] * 3 + ["x"] * 3
    assert made.ledger[0].emptied == 3


def test_booleans_stay_booleans():
    assert published([True, True, False], [0] * 3, "boolean", "mode")[0] == [True] * 3


def test_dates_are_published_to_the_day():
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(2024, 1, 9)]
    assert published(days, [0] * 3, "date", "mean")[0] == [dt.date(2024, 1, 4)] * 3
    assert published(days, [0] * 3, "date", "median")[0] == [dt.date(2024, 1, 2)] * 3
    moments = pa.array([dt.datetime(2024, 1, 1, 9), dt.datetime(2024, 1, 3, 23)], pa.timestamp("ms"))
    assert published(moments, [0, 0], "date", "mean")[0] == [dt.datetime(2024, 1, 2)] * 2


@pytest.mark.parametrize("zone", ["+09:00", "Europe/Berlin", "America/New_York", "UTC"])
@pytest.mark.parametrize("form", ["mean", "median"])
def test_days_are_those_of_the_time_zone_of_the_column(zone, form):
    midnight = dt.datetime(1990, 5, 2)
    local = pc.assume_timezone(pa.array([midnight] * 3, pa.timestamp("us")), zone)
    values, made = published(local, [0] * 3, "date", form)
    assert [value.replace(tzinfo=None) for value in values] == [midnight] * 3
    assert made.data.column("a").type == local.type


@pytest.mark.parametrize("form", ["mean", "median"])
def test_dates_stay_within_the_calendar_and_what_their_type_can_hold(form):
    last = dt.date(9999, 12, 31)
    assert published([last] * 3, [0] * 3, "date", form, step=1)[0] == [last] * 3
    rounded = [dt.date(9997, 7, 18)] * 3  # the last multiple of 4,000 days since 1970
    assert published([last] * 3, [0] * 3, "date", form, step=4000)[0] == rounded
    assert published([dt.date(1, 1, 1)] * 3, [0] * 3, "date", form, step=4000)[0] == [dt.date(9, 8, 29)] * 3
    for kind, latest in ((pa.timestamp("ns"), dt.datetime(2262, 4, 11)), (pa.timestamp("us", "+12:00"), last)):
        moments = pa.array([dt.datetime(latest.year, latest.month, latest.day - 1)] * 3, pa.timestamp("us")).cast(kind)
        values, made = published(moments, [0] * 3, "date", form, step=4000)
        assert made.data.column("a").type == kind
        assert all(latest.year - 11 <= value.year <= latest.year for value in values)


def test_dates_before_1970_are_days_too():
    days = [dt.date(1901, 1, 1), dt.date(1901, 1, 3)]
    assert published(days, [0, 0], "date", "mean")[0] == [dt.date(1901, 1, 2)] * 2


def test_ranges_and_sets_are_published():
    assert published([3, 1, 2, 7, 7, 7, 1, 3], [*TWO, 0, 0], "numeric", "range")[0][:4] == ["1–3"] * 3 + ["7"]
    assert published(["b", "a", "b", "a"], [0] * 4, "nominal", "set")[0] == ["{a, b}"] * 4
    assert published(["a, b", "{c}"] * 2, [0] * 4, "nominal", "set")[0][0] == r"{a\, b, \{c\}}"


def test_the_medoid_is_a_value_that_occurs():
    cells, groups = [1, 5, 9, 1, 5, 9], [0, 0, 0, 1, 1, 1]
    values, _ = published(cells, groups, "numeric", "medoid", X=[[0.0], [1.1], [2.0]] * 2)
    assert values == [5] * 6


def test_a_value_of_fewer_than_k_rows_is_not_published_by_medoid():
    # The middle row has a rare value, so another row represents the group.
    cells, groups = [1, 5, 9, 1, 9, 9], [0, 0, 0, 1, 1, 1]
    values, _ = published(cells, groups, "numeric", "medoid", X=[[0.0], [1.1], [2.0]] * 2)
    assert values == [9] * 6
    # All rows have one: numbers are published by their mean, categories not at all.
    assert published([1, 5, 12], [0] * 3, "numeric", "medoid")[0] == [6, 6, 6]
    # An outlier lies at most as far beyond the k-th greatest value as that one beyond the 2k-th greatest.
    assert published([1, 5, 9, 11, 13, 9999], TWO, "numeric", "medoid", step=1)[0] == [5, 5, 5, 14, 14, 14]
    assert published([-9999, 5, 9, 11, 13, 15], TWO, "numeric", "medoid", step=1)[0] == [4, 4, 4, 13, 13, 13]
    # A class of the k greatest values does not show the least of them.
    assert published([*range(20), 700, 800, 900], [0] * 20 + [1] * 3, "numeric", "medoid", step=1)[0][-1] == 800
    assert published(["a", "b", "c"], [0] * 3, "nominal", "medoid")[0] == [None] * 3
    # A mean of one value is this value.
    assert published([7, 7, None], [0] * 3, "numeric", "medoid", k=3)[0] == [None] * 3
    # A missing cell is not a value, and may represent the group.
    assert published(["a", None, None], [0] * 3, "nominal", "medoid", X=[[0.0], [1.0], [1.0]])[0] == [None] * 3


def test_weights_change_the_mean():
    assert published([0.0, 10.0], [0, 0], "numeric", "mean", weights=[3.0, 1.0], step=0.5)[0] == [2.5, 2.5]
    assert published([0.0, 10.0], [0, 0], "numeric", "mean", weights=[0.0, 0.0], step=0.5)[0] == [5.0, 5.0]


def test_sensitive_and_kept_columns_are_published_unchanged_and_identifiers_are_not():
    table = Table.of(pa.table({"id": ["p", "q"], "a": [1, 3], "s": ["x", None], "u": [0.5, 0.25]}))
    roles = {"id": "identifier", "a": "quasi", "s": "sensitive", "u": "keep"}
    kinds = {"id": "nominal", "a": "numeric", "s": "nominal", "u": "numeric"}
    columns = {
        name: {"role": roles[name], "kind": kinds[name], **({"form": "mean"} if name == "a" else {})} for name in roles
    }
    made = recode(table, Partition.of([0, 0]), Policy.of({"columns": columns}, k=2), Encoded(np.zeros((2, 0))))
    assert made.data.to_pydict() == {"a": [2, 2], "s": ["x", None], "u": [0.5, 0.25]}


cells = st.one_of(st.none(), st.integers(-5, 5))


@given(
    st.lists(st.tuples(cells, st.integers(0, 3)), min_size=1, max_size=30), st.sampled_from(["mean", "median", "mode"])
)
def test_every_group_has_one_value_despite_missing_cells(rows, form):
    labels = [r[1] for r in rows]
    values, made = published(pa.array([r[0] for r in rows], pa.int64()), labels, "numeric", form)
    assert len({(label, value) for label, value in zip(labels, values, strict=True)}) == len(set(labels))
    touched = made.ledger[0].changed + made.ledger[0].filled + made.ledger[0].emptied
    assert touched == sum(a != b for a, b in zip([r[0] for r in rows], values, strict=True))
