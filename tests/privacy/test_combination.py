"""Exact and near combinations: by hand, beside a plain twin, on raw copies and on releases."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_inference import attacked, case_of, people, shuffled

import shoal
from naive import combination as naive
from shoal.errors import DataError
from shoal.model.table import Table
from shoal.pipeline import judging
from shoal.privacy.attacks.attack import Clock, Profile
from shoal.privacy.attacks.combination import alike, exact_combination, matches, near_combination

BOTH = (exact_combination, near_combination)
ROW = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 2))


def whole_numbers(n, seed, most=12):
    rng = np.random.default_rng(seed)
    return pa.table({name: rng.integers(0, most, n) for name in "abc"} | {"ill": rng.choice(["x", "y"], n)})


def threes(others):
    """Return 90 members in classes of three published by the row in their middle, and these people as a control."""
    numbers = np.arange(90)
    middle = numbers // 3 * 3 + 1
    table = pa.table({"a": numbers, "b": 1000 + 7 * numbers})
    released = pa.table({"a": middle, "b": 1000 + 7 * middle})
    return case_of(table, released, sensitive=(), control=Table.of(pa.table(others)))


def test_matches_worked_out_by_hand():
    people = np.array([[1, 2, 3], [1, 2, 4], [9, 2, 3], [9, 2, 4], [1, 2, 3]])
    found = matches(people, np.array([[1, 2, 3], [5, 5, 5]]))
    assert found.exact.tolist() == [True, False, False, False, True]
    assert found.near.tolist() == [False, True, True, False, False]
    assert found.alone.tolist() == [False, True, True, True, False]


@pytest.mark.slow
@given(st.lists(ROW, min_size=1, max_size=25), st.lists(ROW, min_size=1, max_size=6), st.integers(1, 4))
def test_matches_are_those_of_the_plain_twin(people, published, width):
    ours, theirs = ([row[:width] for row in rows] for rows in (people, published))
    found = matches(np.array(ours), np.array(theirs))
    assert [one.tolist() for one in found] == [*naive.matches(ours, theirs)]


def test_values_are_compared_whatever_type_they_are_stored_as():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]
    for one, other in (
        ([1, 2], [2.0, 1.5]),
        (["1", "2"], [2, 3]),
        (days, [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 1, 12)]),
        ([None, 4], pa.array([4, 5]).dictionary_encode()),
    ):
        codes = alike([pa.chunked_array([one]), pa.chunked_array([other])])
        assert codes[1] == codes[2]
        assert len({*codes.tolist()}) == 3


def test_a_published_row_names_its_owner_by_hand():
    # Ten of the 30 published combinations are also those of a stranger, which leaves 20 people alone with one.
    held = [3 * place + 1 for place in range(10)]
    found = attacked(
        exact_combination, threes({"a": [*held, *range(500, 590)], "b": [1000 + 7 * one for one in held] + [0] * 90})
    )
    assert (found.successes, found.trials, found.power, found.outcome) == (20, 20, 1.0, "leak")
    assert found.baseline == 80 / 170
    assert found.bound == pytest.approx(80 / 170 + 0.03)
    assert "all who match: 0.750 with a baseline of 0.474" in found.note


def test_with_few_who_are_alone_everybody_who_matches_is_tried():
    held = [3 * place + 1 for place in range(20)]
    found = attacked(exact_combination, threes({"a": [*held, *held], "b": [1000 + 7 * one for one in held] * 2}))
    assert (found.successes, found.trials) == (30, 70)
    assert found.baseline == 90 / 130
    assert "all who match" in found.note


def test_one_cell_off_by_hand():
    # Strangers 0 to 24 share the first cell of a published combination, and 25 to 29 the second; 30 to 59 none.
    held = np.arange(30) * 3 + 1
    first = np.where(np.arange(60) < 25, np.tile(held, 2), -1)
    second = np.where((np.arange(60) >= 25) & (np.arange(60) < 30), 1000 + 7 * np.tile(held, 2), -np.arange(60))
    found = attacked(near_combination, threes({"a": first, "b": second}))
    assert (found.successes, found.trials, found.baseline) == (0, 30, 90 / 150)
    assert "conversely, 1.000 of the people who match are not in the table, compared with 0.400" in found.note
    assert found.outcome == "no evidence"
    assert found.power > found.bound


def test_a_rate_below_the_baseline_is_said_to_tell_who_is_not_in_the_table():
    table = pa.table({"a": np.arange(60), "b": np.arange(60)})
    others = pa.table({"a": np.arange(100, 160), "b": np.arange(100, 160)})
    found = attacked(exact_combination, case_of(table, others, sensitive=(), control=Table.of(others)))
    assert (found.successes, found.trials, found.outcome) == (0, 60, "no evidence")
    assert "below the baseline" in found.note
    same = attacked(exact_combination, case_of(table, sensitive=(), control=Table.of(others)))
    assert "below the baseline" not in same.note


@pytest.mark.parametrize(("attack", "values"), [(exact_combination, 25), (near_combination, 150)])
def test_a_raw_copy_leaks_and_shuffled_columns_do_not(attack, values):
    table, control = people(), Table.of(people(seed=1))
    bare = attacked(attack, case_of(table, control=control))
    assert (bare.outcome, bare.rate) == ("leak", 1.0)
    table, control = whole_numbers(2000, 0, values), Table.of(whole_numbers(4000, 1, values))
    for seed in range(3):
        mixed = attacked(attack, case_of(table, shuffled(table, seed), control=control))
        assert mixed.outcome == "no evidence"
        assert mixed.trials > 100


def test_medoids_leak_and_ranges_have_no_combination():
    table, control = whole_numbers(600, 2), whole_numbers(900, 3)
    options = {"k": 5, "sensitive": ["ill"], "method": "mdav"}
    medoids = shoal.anonymize(table, policy={"columns": {name: {"form": "medoid"} for name in "abc"}}, **options)
    found = judging.attack(table, medoids, control=control, only=["exact combination"])[0]
    assert (found.rate, found.outcome) == (1.0, "leak")
    ranges = shoal.anonymize(table, policy={"columns": {name: {"form": "range"} for name in "abc"}}, **options)
    for found in judging.attack(table, ranges, control=control, only=["exact combination", "near combination"]):
        assert (found.trials, found.outcome) == (0, "not tried")
        assert "ranges, sets and trees have no exact combination" in found.note
    some = shoal.anonymize(table, policy={"columns": {"a": {"form": "range"}}}, **options)
    found = judging.attack(table, some, control=control, only=["exact combination"])[0]
    assert found.trials > 0
    assert found.note.endswith("columns published by range, set or tree are left out")


@pytest.mark.parametrize("attack", BOTH)
def test_without_a_control_nothing_is_tried(attack):
    for case in (case_of(people()), case_of(people(), control=Table.of(people(0)))):
        found = attacked(attack, case)
        assert (found.trials, found.outcome) == (0, "not tried")
        assert "--control" in found.note


def test_notes_say_in_plain_words_who_was_counted():
    table = pa.table({"a": [1] * 4, "b": [1] * 4, "c": [1] * 4, "ill": ["x", "y"] * 2})
    control = Table.of(pa.table({"a": [9] * 4, "b": [9] * 4, "c": [9] * 4, "ill": ["x", "y"] * 2}))
    everything = Profile("knows all", ("a", "b", "c"))
    found = near_combination(case_of(table, control=control), everything, Clock())
    assert "people who match one exactly are counted as well" in found.note
    other = pa.table({"a": [5] * 4, "b": [5] * 4, "c": [5] * 4, "ill": ["x", "y"] * 2})
    for attack, end in ((near_combination, " exactly or in all cells but one"), (exact_combination, "")):
        found = attack(case_of(table, other, control=control), everything, Clock())
        assert (found.outcome, found.note) == (
            "not tried",
            f"no one in the register matches a published combination{end}",
        )


def test_one_column_alone_has_no_near_combination():
    case = case_of(people(), control=Table.of(people(seed=1)))
    found = near_combination(case, Profile("knows the age", ("age",)), Clock())
    assert (found.trials, found.note) == (0, "with one column everyone is one cell off")
    assert exact_combination(case, Profile("knows the age", ("age",)), Clock()).trials > 0
    assert exact_combination(case, Profile("knows nothing", ()), Clock()).trials == 0


def test_a_control_without_a_quasi_identifier_is_refused():
    case = case_of(people(), control=Table.of(people(seed=1).drop_columns(["pay"])))
    with pytest.raises(DataError, match="the control rows have no column 'pay'"):
        attacked(exact_combination, case)


def test_missing_values_are_values_like_others():
    table = pa.table({"a": [None, *range(1, 40)], "b": [0] * 40})
    case = case_of(table, sensitive=(), control=Table.of(pa.table({"a": [None, 77], "b": [0, 0]})))
    found = attacked(exact_combination, case)
    assert (found.successes, found.trials) == (39, 39)  # two people have a gap, so that neither is alone
    assert attacked(exact_combination, replace(case, control=Table.of(pa.table({"a": [77], "b": [0]})))).trials == 40
