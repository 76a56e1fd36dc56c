"""Pictures of columns hold no rows or at least k in every part, and no extreme."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.model.policy import Column
from shoal.report.counting import GAPS, OTHERS, SEVERAL, joined, middles, names_of, of_column, round_limits

NUMBERS = Column(role="quasi", kind="numeric", form="mean")
NAMES = Column(role="sensitive", kind="nominal")


def column(cells):
    return pa.chunked_array([pa.array(cells)])


def counts(picture):
    return [rows for side in ("after", "before") if picture[side] is not None for rows in picture[side]] + (
        picture.get("missing") or []
    )


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=20),
    st.lists(st.integers(0, 12), min_size=20, max_size=20),
    st.integers(2, 6),
)
def test_joined_parts_cover_everything_and_hold_no_rows_or_at_least_k(after, before, k):
    both = [np.array(one, float) for one in (after, before[: len(after)])]
    runs = joined(both, k)
    if any(0 < one.sum() < k for one in both):
        assert runs == []
        return
    assert [end for _, end in runs[:-1]] == [start for start, _ in runs[1:]]
    assert (runs[0][0], runs[-1][1]) == (0, len(after))
    for start, end in runs:
        for one in both:
            assert one[start:end].sum() == 0 or one[start:end].sum() >= k


@given(st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=60), st.integers(2, 5), st.booleans())
def test_every_part_of_a_column_of_numbers_holds_no_rows_or_at_least_k(cells, k, with_before):
    before = column([*cells[:-1], None]) if with_before else None
    picture = of_column(column(cells), NUMBERS, k, before)
    assert picture is not None
    assert all(rows == 0 or rows >= k for rows in counts(picture))
    assert sum(picture["after"]) == len(cells)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=5, max_size=60), st.integers(2, 5))
def test_every_name_that_is_shown_has_at_least_k_rows(cells, k):
    picture = of_column(column(cells), NAMES, k)
    if picture is not None:
        assert all(rows >= k for rows in counts(picture))
        assert sum(picture["after"]) == len(cells)
        for name in picture["labels"]:
            whole = name.removesuffix(" or another value")
            assert name == OTHERS or cells.count(whole) >= k


def test_limits_are_round_and_extremes_are_not_among_them():
    assert round_limits(17.3, 64.9, whole=True, parts=5).tolist() == [10, 20, 30, 40, 50, 60, 70]
    assert round_limits(3.0, 3.0, whole=True).size > 1
    cells = [*np.linspace(20, 60, 200).tolist(), 987654.25, -31337.75]
    picture = of_column(column(cells), NUMBERS.model_copy(update={"role": "keep"}), 5, column(cells))
    assert min(picture["limits"]) >= 10
    assert max(picture["limits"]) <= 70
    assert sum(picture["after"]) == len(cells)


def test_dates_are_counted_between_first_days():
    days = [dt.date(1950, 3, 7) + dt.timedelta(days=100 * place) for place in range(200)]
    picture = of_column(column(days), Column(kind="date", form="mean"), 3)
    assert all(limit.endswith("-01-01") for limit in picture["limits"])
    assert sum(picture["after"]) == 200
    months = [dt.date(2020, 3, 7) + dt.timedelta(days=2 * place) for place in range(200)]
    assert all(limit.endswith("-01") for limit in of_column(column(months), Column(kind="date"), 3)["limits"])
    weeks = [dt.datetime(2020, 3, 7) + dt.timedelta(hours=2 * place) for place in range(200)]
    assert sum(of_column(column(weeks), Column(kind="date"), 3)["after"]) == 200


def test_a_range_stands_for_its_values_in_equal_shares():
    given = Column(kind="numeric", form="range")
    released = column(["0–10"] * 40 + ["20–30 or missing"] * 40)
    picture = of_column(released, given, 5)
    assert sum(picture["after"]) == 80
    assert picture["after"][1:3] == [8, 8]
    assert middles(released, given).tolist() == [5.0] * 40 + [25.0] * 40
    dates = of_column(column(["2001-01-01–2009-01-01"] * 30), Column(kind="date", form="range"), 5)
    assert sum(dates["after"]) == 30


def test_a_node_that_says_nothing_is_a_gap_and_one_that_is_no_range_is_a_name():
    given = Column(kind="numeric", form="tree")
    picture = of_column(column(["10–19"] * 20 + ["*"] * 10), given, 5)
    assert picture["missing"] == [10]
    named = of_column(column(["young"] * 20 + ["old"] * 10), given, 5)
    assert named["labels"] == ["young", "old"]


def test_of_a_set_only_names_that_stand_alone_are_shown():
    released = column(["{rare, a}"] * 10 + ["a"] * 10)
    picture = of_column(released, Column(kind="nominal", form="set"), 5, column(["a"] * 19 + ["rare"]))
    assert picture["labels"] == ["a or another value", SEVERAL]
    assert picture["before"] == [20, 0]


def test_few_missing_cells_are_not_told():
    cells = [*range(40), None, None]
    picture = of_column(column(cells), NUMBERS, 5)
    assert picture["missing"] is None
    assert sum(picture["after"]) == 42
    assert of_column(column([*range(40), *[None] * 7]), NUMBERS, 5)["missing"] == [7]


def test_a_column_of_rare_names_has_no_picture():
    assert of_column(column([str(place) for place in range(50)]), NAMES, 5) is None
    assert of_column(column([None] * 9), NUMBERS, 5) is None


def test_a_gap_is_shown_beside_names_if_enough_rows_have_it():
    labels, (after, before) = names_of([{"a": 9.0, GAPS: 6.0}, {"a": 15.0}], 5)
    assert labels == ["a", GAPS]
    assert (after.tolist(), before.tolist()) == ([9, 6], [15, 0])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_categories_are_read_as_their_values(kind):
    cells = pa.chunked_array([pa.array(["a", "b"] * 6, kind).dictionary_encode()])
    assert of_column(cells, NAMES, 5)["labels"] == ["a", "b"]
