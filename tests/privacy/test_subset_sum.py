"""Subset sums: by hand, beside a plain twin, on means that are rounded or not."""

from dataclasses import replace
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_inference import attacked, case_of, people, shuffled
from test_last_member import stepped

import shoal
from naive import subset_sum as naive
from shoal.model.table import Table
from shoal.pipeline import judging
from shoal.privacy.attacks import subset_sum as searching
from shoal.privacy.attacks.attack import Clock
from shoal.privacy.attacks.subset_sum import Sums, combinations, subset_sum


def normal(n, digits, seed=0, columns=3):
    rows = np.random.default_rng(seed).normal(size=(n, columns)).round(digits)
    return pa.table({f"x{place}": column for place, column in enumerate(rows.T)})


def averaged(table, k=3, step=None):
    """Return classes of neighbours in the first column, published by their means, rounded to a step."""
    rows = np.column_stack([column.to_numpy() for column in table.columns])
    labels = np.empty(len(rows), np.int64)
    labels[np.argsort(rows[:, 0])] = np.minimum(np.arange(len(rows)) // k, len(rows) // k - 1)
    means = [(np.bincount(labels, column) / np.bincount(labels))[labels] for column in rows.T]
    means = means if step is None else [np.round(mean / step) * step for mean in means]
    return stepped(case_of(table, pa.table(means, names=table.column_names), sensitive=()), step)


def test_combinations_worked_out_by_hand():
    assert combinations(4, 3).tolist() == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    assert combinations(3, 0).tolist() == [[]]
    assert [len(combinations(9, size)) for size in range(6)] == [comb(9, size) for size in range(6)]


def test_groups_that_fit_worked_out_by_hand():
    people = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 0.0], [4.0, 5.0], [0.0, 0.0]])
    sums = Sums(people, 2, np.full(2, 1e-9))
    wanted = np.array([4.0, 0.0])
    assert sums.fitting(wanted - 1e-9, wanted + 1e-9, Clock()) == [(0, 2)]
    assert Sums(people, 3, np.full(2, 1e-9)).fitting(wanted - 1e-9, wanted + 1e-9, Clock()) == [(0, 2, 4)]
    # With a wide second column, 4 is also the first cell of 4 + 0.
    wide = np.array([1e-9, 20.0])
    assert {*Sums(people, 2, wide).fitting(wanted - wide, wanted + wide, Clock(), 9)} == {(0, 2), (3, 4)}
    assert len(Sums(people, 2, wide).fitting(wanted - wide, wanted + wide, Clock(), 1)) == 1


@given(
    st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0, 6.0]), st.booleans()
)
def test_groups_that_fit_are_those_of_the_plain_twin(size, width, seed, half, coarse):
    rng = np.random.default_rng(seed)
    people = rng.integers(-4, 5, (9, width)).astype(float) if coarse else rng.normal(size=(9, width)).round(1)
    wanted = people[rng.choice(9, size, replace=False)].sum(axis=0)
    half = np.full(width, half + 1e-7)
    ours = Sums(people, size, 2 * half).fitting(wanted - half, wanted + half, Clock(), 1000)
    assert sorted(ours) == naive.fitting(people.tolist(), size, (wanted - half).tolist(), (wanted + half).tolist())


def test_blocks_do_not_change_what_is_found(monkeypatch):
    monkeypatch.setattr(searching, "BLOCK", 3)
    people = np.random.default_rng(1).integers(0, 3, (10, 2)).astype(float)
    half = np.full(2, 0.1)
    ours = Sums(people, 4, 2 * half).fitting(np.full(2, 4.0) - half, np.full(2, 4.0) + half, Clock(), 10_000)
    assert sorted(ours) == naive.fitting(people.tolist(), 4, [3.9, 3.9], [4.1, 4.1])
    assert len(ours) > 10


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_exact_means_name_the_members_of_every_class(k):
    found = attacked(subset_sum, averaged(normal(300, 8), k))
    assert (found.successes, found.trials, found.power, found.outcome) == (40, 40, 1.0, "leak")
    assert found.baseline < 1e-2


@pytest.mark.slow
def test_rounded_means_fit_many_groups():
    found = attacked(subset_sum, averaged(normal(300, 8), step=0.5))
    assert found.power == 1.0
    assert found.rate < 0.3
    assert attacked(subset_sum, averaged(normal(300, 8, columns=1), step=0.1)).rate < 0.1


def test_the_closest_group_is_named_if_all_others_are_twice_as_far_away():
    sums = Sums(np.array([[0.0], [1.0], [10.0], [30.0]]), 1, np.array([1.0]))
    half = np.array([0.5])
    assert searching._closest(sums, np.array([1.8]), half, Clock()) == [(1,)]  # 0.8 away, the next one 1.8
    assert len(searching._closest(sums, np.array([4.0]), half, Clock())) == 2  # 3 away, the others 4 and 6
    assert searching._closest(sums, np.array([1000.0]), half, Clock()) == []
    assert searching._closest(sums, np.array([3.0]), half, Clock(0.0)) is None


def test_a_class_published_some_steps_off_is_still_named():
    table = normal(60, 8)
    case = averaged(table, step=0.001)
    off = pa.table([pa.array(column.to_numpy() + 0.003) for column in case.released.columns], names=table.column_names)
    assert attacked(subset_sum, replace(case, released=off)).rate > 0.9


def test_one_class_that_is_named_for_sure_is_a_leak():
    # All values are 0 but those of the last class, whose sum no other three people reach.
    table = pa.table({"x": [0.0] * 60 + [7.0, 8.0, 9.0], "of": [str(place // 3) for place in range(63)]})
    released = table.set_column(0, "x", pa.array([0.0] * 60 + [8.0] * 3))
    found = attacked(subset_sum, case_of(table, released, form={"columns": {"x": {"form": "mean"}}}))
    assert (found.successes, found.trials, found.outcome) == (1, 21, "leak")


def test_people_with_the_same_values_are_not_told_apart():
    table = pa.table({"x": np.repeat(np.random.default_rng(0).normal(size=30).round(8), 3)})
    case = case_of(table, sensitive=(), control=Table.of(table))
    found = attacked(subset_sum, case)
    assert (found.successes, found.trials) == (0, 30)  # each member has a double among the control rows
    alone = attacked(subset_sum, case_of(table, sensitive=()))
    assert (alone.successes, alone.trials) == (30, 30)


def test_a_raw_copy_leaks_and_shuffled_columns_do_not():
    table = people()
    bare = attacked(subset_sum, case_of(table))
    assert (bare.outcome, bare.rate) == ("leak", 1.0)
    for seed in range(3):
        assert attacked(subset_sum, case_of(table, shuffled(table, seed))).outcome == "no evidence"


def test_a_release_by_means_is_searched_and_medoids_are_not_means():
    table = normal(300, 8)
    release = shoal.anonymize(table, k=3, method="mdav", policy={"columns": {"x0": {"form": "medoid"}}})
    found = judging.attack(table, release, only=["subset sum"])[0]
    assert found.note.startswith("by 2 columns, in registers of ")


def test_registers_are_as_large_as_can_be_searched():
    assert searching._largest(3, 3) == 1000
    for size in range(1, 11):
        people, listed = searching._largest(size, 3), searching.LISTED if size <= 3 else searching.LISTED_LARGE
        assert comb(people, (size + 1) // 2) <= listed
        assert people >= 2 * size
    assert searching._largest(3, 100_000) < 100


def test_what_is_not_tried_is_said():
    found = attacked(subset_sum, case_of(pa.table({"town": ["a", "b"] * 30}), sensitive=()))
    assert (found.trials, found.note) == (0, "no known column of numbers is published")
    large = attacked(subset_sum, averaged(normal(300, 8), 11))
    assert (large.trials, large.note) == (0, "no class without missing values has at most 10 rows")
    late = attacked(subset_sum, averaged(normal(300, 8)), Clock(0.0))
    assert (late.trials, late.note) == (0, "time ran out after 0 of 40 classes")
    table = pa.table({"x": np.arange(40) ** 2 / 100, "w": np.arange(40) % 3 + 1.0})
    weighted = judging.attack(table, shoal.anonymize(table, k=4, keep=["w"], weight="w"), only=["subset sum"])[0]
    assert (weighted.trials, weighted.note) == (0, "means are weighted, and no unweighted mean fits them")


def test_classes_with_gaps_are_left_out():
    table = normal(90, 8)
    case = averaged(table)
    rows = table.column("x1").to_pylist()
    rows[0] = None
    gaps = case_of(table.set_column(1, "x1", pa.array(rows)), case.released, sensitive=())
    assert attacked(subset_sum, case).trials == 30
    assert attacked(subset_sum, gaps).trials == 29
