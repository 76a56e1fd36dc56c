"""The last member of a class: by hand, on means that are rounded or not, and on values of one row."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_inference import attacked, case_of, people, shuffled

import shoal
from shoal.pipeline import judging
from shoal.privacy.attacks.attack import Clock
from shoal.privacy.attacks.averages import Average, averages, unit_of
from shoal.privacy.attacks.last_member import guesses, last_member


def column(before, after, form="mean", step=0.0):
    before, after = (np.array(cells, float) for cells in (before, after))
    return Average("x", form, before, after, 0.005, step)


def stepped(case, step):
    """Return the case with a step in the policy of each column."""
    columns = {name: given.model_copy(update={"step": step}) for name, given in case.policy.columns.items()}
    return replace(case, policy=case.policy.model_copy(update={"columns": columns}))


def rounded(n, k, digits, step=None, seed=0):
    """Return a table of numbers in classes of k, told apart by a name, whose means are rounded to a step."""
    values = np.random.default_rng(seed).normal(50, 15, n).round(digits)
    labels = np.minimum(np.arange(n) // k, n // k - 1)
    means = (np.bincount(labels, values) / np.bincount(labels))[labels]
    if step is not None:
        means = np.round(means / step) * step
    table, form = pa.table({"x": values, "of": labels.astype(str)}), {"columns": {"x": {"form": "mean"}}}
    return stepped(case_of(table, table.set_column(0, "x", pa.array(means)), form=form), step)


def test_guesses_worked_out_by_hand():
    labels = np.array([0, 0, 0, 1, 1])
    guess, blind, exact = guesses(column([1, 2, 6, 10, 20], [3, 3, 3, 15, 15]), labels)
    assert guess == pytest.approx([1, 2, 6, 10, 20])
    assert exact == pytest.approx([1, 2, 6, 10, 20])
    assert blind == pytest.approx([4, 3.5, 1.5, 20, 10])
    # A mean of 3 that is published as 3.1 is off by 0.1 for each of the three members.
    assert guesses(column([1, 2, 6, 10, 20], [3.1, 3.1, 3.1, 15, 15]), labels)[0][:3] == pytest.approx([1.3, 2.3, 6.3])


def test_the_value_of_one_row_is_the_last_members_if_nobody_else_has_it():
    labels = np.array([0, 0, 0, 1, 1])
    guess = guesses(column([1, 2, 6, 7, 7], [2, 2, 2, 7, 7], form="medoid"), labels)[0]
    # Of the row with 2 it is right; the others see a known member with 2 and guess the mean of those they know.
    assert guess == pytest.approx([4, 2, 1.5, 7, 7])


def test_rows_without_a_value_are_no_members():
    guess, blind, _ = guesses(column([1, np.nan, 5, 9], [3, 3, 3, 9]), np.array([0, 0, 0, 1]))
    assert guess[[0, 2, 3]] == pytest.approx([1, 5, 9])
    assert np.isnan(guess[1])
    assert blind[[0, 2, 3]] == pytest.approx([5, 1, 3])  # a row that is alone is guessed from all others


def test_weighted_means_are_solved_with_their_weights():
    labels, weights = np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 0.0, 0.0])
    guess = guesses(column([2, 6, 1, 3], [5, 5, 2, 2]), labels, weights)[0]
    assert guess == pytest.approx([2, 6, 1, 3])
    values, mass, labels = np.arange(40) ** 2 / 100, np.arange(40) % 3 + 1.0, np.arange(40) // 4
    means = (np.bincount(labels, values * mass) / np.bincount(labels, mass))[labels]
    table = pa.table({"x": values, "w": mass})
    case = case_of(table, table.set_column(0, "x", pa.array(means)), form={"columns": {"w": {"role": "keep"}}})
    weighted = replace(case, policy=case.policy.model_copy(update={"weight": "w"}))
    assert attacked(last_member, weighted).rate == 1.0
    assert attacked(last_member, case).rate < 0.5


@pytest.mark.parametrize("k", range(3, 10))
def test_exact_means_give_the_last_member_away(k):
    found = attacked(last_member, rounded(600, k, 2))
    assert (found.rate, found.trials, found.power, found.outcome) == (1.0, 600 // k, 1.0, "leak")
    assert found.baseline < 0.1


def test_a_step_leaves_an_interval_of_as_many_steps_as_rows():
    # A standard deviation of about 15: classes of five and a step of 0.6 leave an interval of 3, a fifth of it.
    case = rounded(600, 5, 2, step=0.6)
    found = attacked(last_member, case)
    spread = case.before.column("x").to_numpy().std()
    assert f"an interval of {3 / spread:.3g} standard deviations" in found.note
    assert found.outcome == "no evidence"
    assert found.rate <= found.bound
    assert attacked(last_member, rounded(600, 5, 2, step=0.001)).outcome == "leak"
    assert attacked(last_member, rounded(600, 5, 8, step=0.001)).outcome == "leak"  # to a hundredth of a deviation


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=9), st.sampled_from([0.25, 1.0, 5.0, 40.0]))
def test_the_last_member_lies_within_half_of_the_interval(values, step):
    cells = np.array(values, float)
    mean = np.round(cells.mean() / step) * step
    guess = guesses(column(cells, np.full(cells.size, mean), step=step), np.zeros(cells.size, np.int64))[0]
    assert (np.abs(guess - cells) <= cells.size * step / 2 + 1e-6).all()


def test_a_raw_copy_leaks_and_shuffled_columns_do_not():
    table = people()
    bare = attacked(last_member, case_of(table))
    assert (bare.outcome, bare.rate) == ("leak", 1.0)
    for seed in range(3):
        assert attacked(last_member, case_of(table, shuffled(table, seed))).outcome == "no evidence"


def test_units_are_the_last_decimals_that_are_written():
    assert unit_of(np.array([100.0, 20.0])) == 1.0
    assert unit_of(np.array([0.125, 3.0, np.nan])) == 0.001
    assert unit_of(np.array([1 / 3])) == 0.0


def test_columns_are_read_with_their_step_and_unit():
    table = pa.table({"a": [1.5, 2.25], "b": pa.array([1.1, 2.2], pa.float32()), "c": [4, 4], "d": ["x", "y"]})
    means = table.set_column(0, "a", pa.array([1.8, 1.8]))
    case = case_of(table, means, sensitive=(), form={"columns": {name: {"form": "mean"} for name in "ab"}})
    one, two = averages(case, ("a", "b", "c", "d"))
    assert (one.name, one.tolerance, one.step) == ("a", 0.005, 0.1)
    assert (two.name, two.tolerance, two.step) == ("b", 0.05, 0.1)
    assert two.before.tolist() == [1.1, 2.2]  # as it is written, not as 32 bits hold it
    assert [one.step for one in averages(stepped(case, 0.5), ("a", "b"))] == [0.5, 0.5]
    assert averages(case, ("c", "d")) == []


def test_dates_are_counted_in_days():
    days = np.arange(60) ** 2
    table = pa.table({"day": pa.array(days, pa.int32()).cast(pa.date32())})
    release = shoal.anonymize(table, k=3, method="mdav")
    case = judging.case_of(table, release)
    (one,) = averages(case, ("day",))
    assert (one.tolerance, one.step) == (0.5, 1.0)
    assert sorted(one.before) == sorted(days)
    assert attacked(last_member, case).trials == case.sizes.size


def test_what_is_not_tried_is_said(monkeypatch):
    words = pa.table({"town": ["a", "b"] * 30})
    found = attacked(last_member, case_of(words, sensitive=()))
    assert (found.trials, found.note) == (0, "no known column of numbers is published")
    late = attacked(last_member, case_of(people()), Clock(0.0))
    assert late.trials == 600
    assert "time ran out after 1 of 4 columns" in late.note
    monkeypatch.setattr("shoal.privacy.attacks.last_member.MOST", 50)
    assert attacked(last_member, rounded(600, 3, 2)).trials == 50
