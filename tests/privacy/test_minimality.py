"""Minimality: what repeating the run tells."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from naive.minimality import posteriors
from shoal.model.policy import Policy
from shoal.pipeline.judging import case_of
from shoal.privacy.attacks import minimality as module
from shoal.privacy.attacks.attack import Clock, profiles
from shoal.privacy.attacks.minimality import allowed, revealed_by_all, revealed_by_some
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.values import Values


def merging(codes, least=2):
    """Pairs of rows are groups; if one of them has a single value, all rows are one group."""

    def regroup(origin, seed):
        placed = codes[origin].reshape(-1, 2)
        fine = all(len(set(pair)) >= least for pair in placed.tolist())
        return np.repeat(np.arange(len(placed)), 2) if fine else np.zeros(codes.size, np.int64)

    return regroup


def test_an_attacker_rules_out_what_would_have_been_cut():
    codes = np.array([1, 1, 0, 0])  # each pair has one value alone, so that all rows are one class
    revealed = revealed_by_all(np.zeros(4, np.int64), {"ill": Values(codes)}, merging(codes), 0, Clock())
    # Of six placements the two with both cases in one pair are left: everybody is ill in one of them.
    assert (revealed.posterior, revealed.share, revealed.exact) == (0.5, 0.5, True)
    assert (revealed.runs, revealed.matching) == (24, 8)

    def uneven(origin, seed):
        placed = codes[origin]
        return np.zeros(4, np.int64) if placed[0] == 1 else np.array([0, 0, 1, 1])

    revealed = revealed_by_all(np.zeros(4, np.int64), {"ill": Values(codes)}, uneven, 0, Clock())
    assert (revealed.posterior, revealed.share, revealed.excess, revealed.column) == (1.0, 0.5, 0.5, "ill")


@settings(max_examples=40)
@given(st.lists(st.integers(0, 2), min_size=4, max_size=7), st.integers(0, 999))
def test_the_naive_twin_finds_the_same_posterior(values, salt):
    values = np.unique(values, return_inverse=True)[1].reshape(-1).tolist()
    half = len(values) // 2
    labels = np.array([0] * half + [1] * (len(values) - half))
    classes = [list(range(half)), list(range(half, len(values)))]

    def leads(placed):
        return hash((salt, *placed)) % 3 > 0 or placed == tuple(values)

    def regroup(origin, seed):
        return labels if leads(tuple(np.array(values)[origin].tolist())) else np.arange(len(values))

    revealed = revealed_by_all(labels, {"s": Values(np.array(values))}, regroup, salt, Clock())
    found = posteriors(classes, values, leads)
    shares = {
        (row, value): Fraction(sum(values[other] == value for other in rows), len(rows))
        for rows in classes
        for row in rows
        for value in set(values)
    }
    raised = [float(one) for key, one in found.items() if one > shares[key] + Fraction(1, 100)]
    assert revealed.exact
    assert revealed.posterior == pytest.approx(max(raised or map(float, found.values())))


def test_a_seed_that_matters_gives_an_interval_around_the_posterior():
    codes = np.array([1, 0, 0])

    def at_random(origin, seed):
        likely = 0.9 if codes[origin][0] else 0.3
        return np.zeros(3, np.int64) if seed % 1000 < 1000 * likely else np.arange(3)

    revealed = revealed_by_all(np.zeros(3, np.int64), {"s": Values(codes)}, at_random, 5, Clock())
    assert not revealed.exact
    assert revealed.runs == 3 * module.ROUNDS
    assert revealed.low < 0.6 < revealed.high


def test_too_many_placements_and_too_little_time_are_not_answered():
    codes = np.arange(8)
    assert revealed_by_all(np.zeros(8, np.int64), {"s": Values(codes)}, merging(codes), 0, Clock()) is None
    codes = np.array([0, 1, 0, 1])
    assert revealed_by_all(np.zeros(4, np.int64), {"s": Values(codes)}, merging(codes), 0, Clock(0)) is None


def test_a_class_is_tried_with_all_others_as_they_are():
    codes = np.tile([0, 0, 0, 1], 50)
    labels = np.repeat(np.arange(50), 4)

    def regroup(origin, seed):
        made, placed = labels.copy(), codes[origin]
        made[:4] = 0 if placed[0] == 0 else 99  # the first class is another one if its first row is a case
        made[1] = 0
        return made

    found, ended = revealed_by_some(labels, {"s": Values(codes)}, regroup, 1, Clock())
    assert not ended
    assert len(found) <= module.MOST_CLASSES
    assert all(one.exact for one in found)
    assert {round(one.posterior, 3) for one in found} <= {0.75, 1.0}


def test_large_classes_are_turned_so_that_nothing_is_told_where_nothing_changes():
    codes = np.tile([0, 0, 1, 2, 3, 4, 5, 6], 5)
    labels = np.repeat(np.arange(5), 8)
    found, _ = revealed_by_some(labels, {"s": Values(codes)}, lambda origin, seed: labels, 1, Clock())
    assert len(found) == 5
    assert all(one.excess == 0 and not one.exact for one in found)


def test_what_is_allowed():
    assert allowed(2, 1 / 3) == 0.6
    assert allowed(2, 0.75) == 0.76
    assert allowed(None, 0.4) == 0.5


def attacked(release, table, **more):
    (found,) = shoal.attack(table, release, only=["minimality"], **more)
    return found


def nine(ill):
    ages = [21, 24, 27, 33, 38, 45, 52, 58, 66]
    return pa.table({"age": ages, "ill": ["yes" if row in ill else "no" for row in range(9)]})


def test_groups_that_were_merged_for_l_leak_and_free_ones_do_not():
    # The last three rows have no case and join the middle ones. Had the case of the middle rows been among the last
    # ones, the middle ones would have joined the first: so nobody of the last three is ill.
    merged = shoal.anonymize(nine({0, 3}), k=3, l=2, sensitive=["ill"], method="mdav", seed=4)
    assert merged.labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1]
    found = attacked(merged, nine({0, 3}))
    assert found.outcome == "leak"
    assert (found.rate, found.baseline, found.power) == (1.0, pytest.approx(5 / 6), 1.0)
    assert any("100% sure" in note and "83%" in note for note in merged.notes)
    free = shoal.anonymize(nine({0, 3, 8}), k=3, l=2, sensitive=["ill"], method="mdav", seed=4)
    assert np.unique(free.labels).size == 3
    found = attacked(free, nine({0, 3, 8}))
    assert found.outcome == "no evidence"
    assert found.rate == pytest.approx(found.baseline)


def test_a_folder_is_attacked_as_its_release_is(tmp_path):
    table = nine({0, 3})
    release = shoal.anonymize(table, k=3, l=2, sensitive=["ill"], method="mdav", seed=4)
    release.save(tmp_path / "out", private=tmp_path / "mine", report=False)
    assert attacked(tmp_path / "out", table, private=tmp_path / "mine") == attacked(release, table)


def test_a_table_of_somebody_else_cannot_be_repeated():
    table = pa.table({"age": [30] * 4 + [60] * 5, "ill": ["yes", "no", "no"] * 3})
    (found,) = shoal.attack(table, table, only=["minimality"], k=4, sensitive=["ill"])
    assert (found.outcome, found.trials) == ("not tried", 0)
    assert "a release of shoal" in found.note


def test_values_of_classes_below_k_are_read_off():
    table = pa.table({"age": range(40), "ill": ["yes", "no", "no", "no"] * 10})
    (found,) = shoal.attack(table, table, only=["minimality"], k=4, sensitive=["ill"])
    assert (found.outcome, found.rate, found.trials, found.baseline) == ("leak", 1.0, 40, 0.75)


def test_time_that_is_up_is_said():
    case = case_of(nine({0, 3}), shoal.anonymize(nine({0, 3}), k=3, l=2, sensitive=["ill"], method="mdav"))
    found = module.minimality(case, profiles(case)["all"], Clock(0))
    assert found.outcome == "not tried"
    assert found.note.startswith("time ran out")


def test_a_run_that_cannot_be_repeated_has_no_power():
    released = pa.table({"a": [1, 1, 1, 1], "s": [0, 1, 0, 1]})
    policy = Policy.of({"columns": {"a": {"kind": "numeric"}, "s": {"role": "sensitive"}}}, k=2, l=2)
    case = Case(released, policy, regroup=lambda origin, seed: np.arange(4))
    found = module.minimality(case, profiles(case)["all"], Clock())
    assert (found.outcome, found.power, found.trials) == ("not tried", 0.0, 0)


@pytest.mark.slow
def test_the_protection_keeps_its_promise_over_unknown_seeds():
    """The posterior over many seeds, for every release of every placement of two cases among nine rows."""
    table = nine({0, 1})
    release = shoal.anonymize(table, k=3, l=2, sensitive=["ill"], protect="minimality", seed=1)
    regroup = case_of(table, release).regroup
    led = {}
    for ill in combinations(range(9), 2):
        origin = np.array([*ill, *(row for row in range(9) if row not in ill)]).argsort()
        for seed in range(60):
            labels = regroup(origin, seed)
            key = (tuple(labels.tolist()), tuple(np.bincount(labels, [row in ill for row in range(9)]).tolist()))
            led.setdefault(key, []).append(ill)
    for (labels, counts), placed in led.items():
        sizes = np.bincount(labels)
        for row in range(9):
            sure = np.mean([row in ill for ill in placed])
            share = counts[labels[row]] / sizes[labels[row]]
            assert sure - share <= 0.1 + 4 * np.sqrt(share * (1 - share) / len(placed))
