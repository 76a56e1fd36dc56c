"""The space in which an attacker compares, against distances worked out by hand."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.hierarchy import from_lines
from shoal.privacy.measures import space as module
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.space import agreement, blocks, nearest_rows, places, space

SIDE = 0.5**0.5


def case_of(before, after, kind, form, order=None, tree=None):
    """Return a case of one column."""
    column = {"kind": kind, "form": form, **({"order": order} if order else {})}
    policy = Policy.of({"columns": {"x": column}}, k=2)
    trees = {} if tree is None else {"x": tree}
    return Case(pa.table({"x": after}), policy, original=Table.of(pa.table({"x": before})), trees=trees)


def distances(case):
    """Return how far each row is from its own released row."""
    before, after = space(case, ["x"])
    return np.sqrt(((before - after) ** 2).sum(axis=1)).tolist()


def test_numbers_are_counted_in_standard_deviations_of_the_original():
    # Mean 4, deviations -3, -1, 1, 3: variance 20 / 4 = 5.
    before, after = space(case_of([1.0, 3.0, 5.0, 7.0], [2.0, 2.0, 6.0, 6.0], "numeric", "mean"), ["x"])
    assert before[:, 0] == pytest.approx(np.array([-3, -1, 1, 3]) / 5**0.5)
    assert after[:, 0] == pytest.approx(np.array([-2, -2, 2, 2]) / 5**0.5)


def test_a_missing_number_lies_at_the_mean_and_one_away():
    before, after = space(case_of([1.0, 3.0, None], [None, None, None], "numeric", "mean"), ["x"])
    assert before.tolist() == [[-1, 0], [1, 0], [0, 1]]
    assert after.tolist() == [[0, 1]] * 3


def test_columns_that_are_not_known_make_no_dimension():
    before, after = space(case_of([1.0, 3.0], [2.0, 2.0], "numeric", "mean"), [])
    assert before.shape == after.shape == (2, 0)


@pytest.mark.parametrize("value", [5, 0.1, -1e300, 5e-324])
def test_a_constant_column_keeps_its_rows_together(value):
    assert distances(case_of([value] * 7, [value] * 7, "numeric", "mean")) == [0] * 7


def test_the_mean_of_a_constant_column_may_differ_in_its_last_bit():
    close = distances(case_of([0.1] * 7, [np.nextafter(0.1, 1)] * 7, "numeric", "mean"))
    assert max(close) < 1e-9


def test_numbers_near_the_largest_and_the_smallest_have_a_place():
    before, after = space(case_of([-1.7e308, 1.7e308, 0.0, 1e300], [0.0] * 4, "numeric", "mean"), ["x"])
    assert np.isfinite(before).all()
    assert np.isfinite(after).all()
    assert before[:2, 0].std() > 1
    before, after = space(case_of([1e-300, 2e-300], [1e300, 1e300], "numeric", "mean"), ["x"])
    assert np.isfinite(after).all()
    tiny, _ = space(case_of([0.0, 5e-324], [0.0, 0.0], "numeric", "mean"), ["x"])
    assert np.isfinite(tiny).all()


def test_small_steps_at_a_large_offset_are_told_apart():
    before, _ = space(case_of([1e12, 1e12 + 1, 1e12 + 2], [1e12] * 3, "numeric", "mean"), ["x"])
    assert before[:, 0] == pytest.approx(np.array([-1, 0, 1]) * 1.5**0.5)


def test_a_range_lies_in_its_middle_and_reaches_its_limits():
    case = case_of([10, 20, 30, 40], ["10–20", "10–20", "30–40 or missing", "30–40 or missing"], "numeric", "range")
    assert distances(case) == pytest.approx([5 / 125**0.5] * 4)
    _, after = places(case, ["x"])
    assert after[0].reach[:2] == pytest.approx([5 / 125**0.5] * 2)
    assert after[0].open.tolist() == [False, True, False]
    assert not after[0].single[:2].any()


def test_limits_that_the_table_does_not_hold_are_read_as_numbers_or_dates():
    # 10 and 20 have a deviation of 5; the range from 5.5 to 9.5 lies at 7.5, the other at 15.
    assert distances(case_of([10, 20], ["5.5–9.5", "0–30"], "numeric", "range")) == pytest.approx([0.5, 1])
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 3)]
    assert distances(case_of(days, ["2020-01-02", "2020-01-02–2020-01-04"], "date", "range")) == pytest.approx([1, 0])
    _, after = space(case_of([10, 20], ["gibberish", "0–30"], "numeric", "range"), ["x"])
    assert after.tolist() == [[0, 1], [0, 0]]


def test_levels_lie_by_their_place_in_ranges_and_sets():
    order = ["low", "mid", "high"]
    for form, text in (("range", "low–high"), ("set", "{low, high}")):
        # Places 0, 1, 2 have a deviation of root 2/3, and the middle is 1.
        far = distances(case_of(order, [text] * 3, "ordinal", form, order=order))
        assert far == pytest.approx([1.5**0.5, 0, 1.5**0.5])
    # A level that only the order knows has its place too; a text that is no level has none.
    _, after = space(case_of(["low", "high"], ["mid", "none"], "ordinal", "range", order=order), ["x"])
    assert after.tolist() == [[0, 0], [0, 1]]


def test_numbers_of_a_tree_lie_in_the_middle_of_the_leaves_below():
    tree = from_lines([["10", "few", "*"], ["20", "few", "*"], ["30", "many", "*"], ["50", "many", "*"]], "x")
    case = case_of([10, 20, 30, 50], ["few", "few", "many", "50"], "numeric", "tree", tree=tree)
    deviation = np.std([10, 20, 30, 50])
    assert distances(case) == pytest.approx(np.array([5, 5, 10, 0]) / deviation)


def test_different_names_are_one_apart_and_missing_is_a_name():
    case = case_of(["a", "b", "c", None], ["a", "a", None, None], "nominal", "mode")
    assert distances(case) == pytest.approx([0, 1, 1, 0])


def test_a_set_lies_between_its_names():
    case = case_of(["a", "b", "c", None], ["{a, b}", "{a, b}", "c or missing", "c or missing"], "nominal", "set")
    # From a name to the middle of two: both coordinates differ by half a side.
    assert distances(case) == pytest.approx([(2 * (SIDE / 2) ** 2) ** 0.5] * 4)
    _, after = places(case, ["x"])
    assert after[0].reach[:2] == pytest.approx([0.5, 0.5])


def test_a_node_lies_between_its_leaves_and_the_root_covers_missing_cells():
    tree = from_lines([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]], "x")
    case = case_of(["a", "b", "c", None], ["ab", "ab", "*", "*"], "nominal", "tree", tree=tree)
    # The root lies between three leaves and missing: three quarters of a side away on one axis, a quarter on three.
    root = (0.5 * (9 / 16 + 3 / 16)) ** 0.5
    assert distances(case) == pytest.approx([0.5, 0.5, root, root])


def test_rare_names_are_one_name(monkeypatch):
    monkeypatch.setattr(module, "MOST_NAMES", 3)
    before, _ = space(case_of(["a", "a", "b", "b", "c", "d"], ["a"] * 6, "nominal", "mode"), ["x"])
    assert before.shape == (6, 3)
    assert before[4].tolist() == before[5].tolist()


def test_truth_values_categories_lists_and_dates_have_places():
    assert distances(case_of([True, False], [True, True], "boolean", "mode")) == pytest.approx([0, 1])
    categories = pa.array(["a", "a"]).dictionary_encode()
    assert distances(case_of(["a", "b"], categories, "nominal", "mode")) == pytest.approx([0, 1])
    assert distances(case_of([["a"], ["a", "b"]], [["a"], ["a"]], "set", "mode")) == pytest.approx([0, 1])
    moments = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 3)]
    assert distances(case_of(moments, [dt.datetime(2020, 1, 2)] * 2, "date", "mean")) == pytest.approx([1, 1])


def test_a_table_without_rows_has_a_space_without_rows():
    none = pa.array([], pa.float64())
    assert space(case_of(none, none, "numeric", "mean"), ["x"])[0].shape[0] == 0
    texts = pa.array([], pa.string())
    assert space(case_of(texts, texts, "nominal", "set"), ["x"])[1].shape[0] == 0


def steps(before, after, kind, form):
    """Return how far each row agrees with each released row."""
    one, other = places(case_of(before, after, kind, form), ["x"])
    rows = np.arange(len(before))
    return agreement(one[0], other[0])(rows, rows).tolist()


def test_agreement_of_numbers_worked_out_by_hand():
    # The deviation of 0 and 8 is 4: what is within 1 of each other is near.
    assert steps([0.0, 8.0], [1.0, 8.0], "numeric", "mean") == [[1, 0], [0, 2]]
    assert steps([0.0, 8.0], [1.1, 7.0], "numeric", "mean") == [[0, 0], [0, 1]]


def test_agreement_with_missing_numbers():
    assert steps([0.0, 8.0, None], [None, 0.0, 8.0], "numeric", "mean") == [[0, 2, 0], [0, 0, 2], [2, 0, 0]]
    released = ["0–8 or missing", "0–8", None]
    assert steps([0, 8, None], released, "numeric", "range") == [[1, 1, 0], [1, 1, 0], [1, 0, 2]]


def test_agreement_with_ranges_and_sets_is_covering():
    assert steps([0, 4, 8], ["0–4", "4", "5–8"], "numeric", "range") == [[1, 0, 0], [1, 2, 0], [0, 0, 1]]
    released = ["{a, b}", "a", "c or missing", "{a, b, c}"]
    assert steps(["a", "b", "c", None], released, "nominal", "set") == [
        [1, 2, 0, 1],
        [1, 0, 0, 1],
        [0, 0, 1, 1],
        [0, 0, 1, 0],
    ]


def test_agreement_of_names_is_equality():
    assert steps(["a", "b", None], ["a", None, "b"], "nominal", "mode") == [[2, 0, 0], [0, 0, 2], [0, 2, 0]]


def test_nearest_rows_worked_out_by_hand():
    nearest, least = nearest_rows(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, -1.0], [3.0, 0.0]]))
    assert nearest.tolist() == [[True, True, False], [False, False, True]]
    assert least.tolist() == [1, 16]


def test_without_dimensions_all_rows_are_nearest():
    nearest, least = nearest_rows(np.zeros((2, 0)), np.zeros((3, 0)))
    assert nearest.all()
    assert least.tolist() == [0, 0]


small = st.integers(-3, 3).map(float)


@given(
    st.integers(1, 4).flatmap(
        lambda d: st.tuples(arrays(float, (5, d), elements=small), arrays(float, (9, d), elements=small))
    )
)
def test_nearest_rows_equal_a_slow_search(both):
    targets, rows = both
    nearest, least = nearest_rows(targets, rows)
    for i, target in enumerate(targets):
        away = [sum((a - b) ** 2 for a, b in zip(target, row, strict=True)) for row in rows]
        assert least[i] == min(away)
        assert nearest[i].tolist() == [one == min(away) for one in away]


def test_near_ties_are_told_apart_though_far_rows_are_measured_roughly():
    rows = np.array([[1e6, 0.0], [1.0, 1e-7], [1.0, 0.0]])
    nearest, _ = nearest_rows(np.array([[1.0, 0.0], [-1e6, 3.0]]), rows)
    assert nearest[0].tolist() == [False, False, True]


def test_blocks_hold_every_target_once(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 10)
    parts = blocks(np.arange(11), 4)
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]
    assert len(blocks(np.arange(3), 100)) == 3
    assert blocks(np.arange(0), 0) == []
