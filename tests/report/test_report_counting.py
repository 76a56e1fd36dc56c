"""Pictures of columns have no rows or at least k in every bin, and no extreme."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.model.policy import Column
from shoal.reports.counting import Own, joined, middles, names_of, of_column, round_limits
from shoal.reports.drawing import draw, parts_of

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
def test_joined_bins_cover_everything_and_have_no_rows_or_at_least_k(after, before, k):
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
def test_every_bin_of_a_column_of_numbers_has_no_rows_or_at_least_k(cells, k, with_before):
    before = column([*cells[:-1], None]) if with_before else None
    picture = of_column(column(cells), NUMBERS, k, before)
    assert picture is not None
    assert all(rows == 0 or rows >= k for rows in counts(picture))
    assert sum(picture["after"]) == len(cells)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=5, max_size=60), st.integers(2, 5))
def test_every_category_shown_has_at_least_k_rows(cells, k):
    picture = of_column(column(cells), NAMES, k)
    if picture is not None:
        assert all(rows >= k for rows in counts(picture))
        assert sum(picture["after"]) == len(cells)
        for name in picture["labels"]:
            whole = name.removesuffix(" or another value")
            assert name == Own.OTHERS.value or cells.count(whole) >= k


def test_limits_are_round_and_extremes_are_not_among_them():
    assert round_limits(17.3, 64.9, whole=True, parts=5).tolist() == [10, 20, 30, 40, 50, 60, 70]
    assert round_limits(3.0, 3.0, whole=True).size > 1
    cells = [*np.linspace(20, 60, 200).tolist(), 987654.25, -31337.75]
    picture = of_column(column(cells), NUMBERS.model_copy(update={"role": "keep"}), 5, column(cells))
    assert min(picture["limits"]) >= 10
    assert max(picture["limits"]) <= 70
    assert sum(picture["after"]) == len(cells)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.booleans())
def test_limits_of_any_two_numbers_are_few_finite_and_ascending(one, other, whole):
    limits = round_limits(min(one, other), max(one, other), whole=whole)
    assert 2 <= limits.size <= 20
    assert np.isfinite(limits).all()
    assert (np.diff(limits) > 0).all()


@pytest.mark.parametrize(
    "cells",
    [
        [0.30000000000000004, 0.3],
        [1e9 + place * 1e-7 for place in range(10)],
        [5e-324, 1e-310],
        [0.0, -5e-324],
        [1e308, -1e308],
        [float("inf"), float("-inf"), 1.0],
        [1e308, float("inf")],
    ],
)
def test_numbers_that_no_limit_can_separate_are_still_drawn(cells):
    held = column(cells * 20)
    for before in (None, held):
        picture = of_column(held, NUMBERS, 5, before)
        assert sum(picture["after"]) == len(held)
        assert all(rows == 0 or rows >= 5 for rows in counts(picture))
        assert (np.diff(picture["limits"]) > 0).all()
        assert picture["missing"] is None
        assert "NaN" not in draw(picture)
    few = column([*range(40), float("inf"), float("inf")])
    assert sum(of_column(few, NUMBERS, 5)["after"]) == 42
    assert of_column(column([float("inf")] * 40 + [3.5, 4.5]), NUMBERS, 5) is None


def test_numbers_that_differ_by_rounding_are_one_bin():
    for cells in ([0.30000000000000004, 0.3], [1e9 + place * 1e-7 for place in range(10)], [5e-324, 1e-310]):
        picture = of_column(column(cells * 20), NUMBERS, 5)
        assert picture["after"] == [len(cells) * 20]
        assert parts_of(picture)[1] == [["all values", len(cells) * 20]]


def test_dates_are_counted_between_the_first_days_of_months_or_years():
    days = [dt.date(1950, 3, 7) + dt.timedelta(days=100 * place) for place in range(200)]
    picture = of_column(column(days), Column(kind="date", form="mean"), 3)
    assert all(limit.endswith("-01-01") for limit in picture["limits"])
    assert sum(picture["after"]) == 200
    months = [dt.date(2020, 3, 7) + dt.timedelta(days=2 * place) for place in range(200)]
    assert all(limit.endswith("-01") for limit in of_column(column(months), Column(kind="date"), 3)["limits"])
    weeks = [dt.datetime(2020, 3, 7) + dt.timedelta(hours=2 * place) for place in range(200)]
    assert sum(of_column(column(weeks), Column(kind="date"), 3)["after"]) == 200


def test_a_range_counts_for_its_values_in_equal_shares():
    given = Column(kind="numeric", form="range")
    released = column(["0–10"] * 40 + ["20–30 or missing"] * 40)
    picture = of_column(released, given, 5)
    assert sum(picture["after"]) == 80
    assert picture["after"][1:3] == [8, 8]
    assert middles(released, given).tolist() == [5.0] * 40 + [25.0] * 40
    dates = of_column(column(["2001-01-01–2009-01-01"] * 30), Column(kind="date", form="range"), 5)
    assert sum(dates["after"]) == 30


def test_the_root_counts_as_missing_and_a_node_that_is_no_range_as_a_category():
    given = Column(kind="numeric", form="tree")
    picture = of_column(column(["10–19"] * 20 + ["*"] * 10), given, 5)
    assert picture["missing"] == [10]
    named = of_column(column(["young"] * 20 + ["old"] * 10), given, 5)
    assert named["labels"] == ["young", "old"]


def test_of_sets_only_single_categories_are_shown():
    released = column(["{rare, a}"] * 10 + ["a"] * 10)
    picture = of_column(released, Column(kind="nominal", form="set"), 5, column(["a"] * 19 + ["rare"]))
    assert picture["labels"] == ["a or another value", Own.SEVERAL.value]
    assert picture["before"] == [20, 0]


def test_few_missing_cells_are_not_shown():
    cells = [*range(40), None, None]
    picture = of_column(column(cells), NUMBERS, 5)
    assert picture["missing"] is None
    assert sum(picture["after"]) == 42
    assert of_column(column([*range(40), *[None] * 7]), NUMBERS, 5)["missing"] == [7]


def test_a_column_of_rare_categories_has_no_picture():
    assert of_column(column([str(place) for place in range(50)]), NAMES, 5) is None
    assert of_column(column([None] * 9), NUMBERS, 5) is None


def test_missing_is_shown_beside_categories_if_enough_rows_have_it():
    labels, (after, before) = names_of([{"a": 9.0, Own.GAPS: 6.0}, {"a": 15.0}], 5)
    assert labels == ["a", Own.GAPS]
    assert (after.tolist(), before.tolist()) == ([9, 6], [15, 0])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_categorical_columns_are_read_as_their_values(kind):
    cells = pa.chunked_array([pa.array(["a", "b"] * 6, kind).dictionary_encode()])
    assert of_column(cells, NAMES, 5)["labels"] == ["a", "b"]


WORDS = [word.value for word in Own]


@pytest.mark.parametrize("word", WORDS)
def test_a_category_named_like_a_reserved_word_is_quoted(word):
    picture = of_column(column([word] * 9 + [f"“{word}”"] * 8 + ["rare"] * 2 + ["rarer"] * 4 + [None] * 7), NAMES, 5)
    assert picture["labels"] == [f"“{word}”", f"““{word}””", "other values", "missing"]
    assert picture["after"] == [9, 8, 6, 7]


def test_a_category_that_ends_like_a_reserved_word_is_quoted():
    picture = of_column(column(["b or another value"] * 9 + ["b"] * 8 + ["rare"]), NAMES, 5)
    assert picture["labels"] == ["“b or another value”", "b or another value"]
    assert picture["after"] == [9, 9]


@given(
    st.lists(st.sampled_from([*WORDS, "“missing”", "a", "a or another value", None]), min_size=5, max_size=60),
    st.lists(st.sampled_from([*WORDS, "a", None]), min_size=60, max_size=60),
    st.integers(2, 5),
)
def test_reserved_words_among_the_categories_are_distinguished_and_counted(cells, before, k):
    for old in (None, before[: len(cells)]):
        picture = of_column(column(cells), NAMES, k, None if old is None else column(old))
        if picture is not None:
            assert len(set(picture["labels"])) == len(picture["labels"])
            assert all(rows == 0 or rows >= k for rows in counts(picture))
            assert sum(picture["after"]) == len(cells)
            gaps = dict(zip(picture["labels"], picture["after"], strict=True)).get("missing", 0)
            assert gaps in (0, cells.count(None))


@pytest.mark.parametrize(("after", "shown"), [(10, True), (12, False), (15, True)])
def test_missing_cells_are_not_shown_where_few_were_filled_or_emptied(after, shown):
    before = pa.chunked_array([[None] * 10 + [float(i % 20) for i in range(90)]])
    released = pa.chunked_array([[None] * after + [float(i % 20) for i in range(100 - after)]])
    steps = of_column(released, Column(kind="numeric", role="quasi", form="mean"), 5, before)
    assert (steps["missing"] is not None) == shown
    assert sum(steps["after"]) == (100 - after if shown else 100)
    names = [
        pa.chunked_array([[None] * gaps + ["x", "y"] * ((100 - gaps) // 2) + ["x"] * (gaps % 2)])
        for gaps in (after, 10)
    ]
    bars = of_column(names[0], Column(kind="nominal", role="quasi", form="mode"), 5, names[1])
    assert ("missing" in bars["labels"]) == shown
