"""Protect: parts left whole so that failing to cut them reveals little."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.minimality import randomization as naive_randomization
from shoal import protect
from shoal.cluster.methods.bisection import cut_in_halves
from shoal.errors import InfeasibleError
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values
from shoal.protect import Randomization, protected, randomization_of


def column_of(counts):
    return Values(np.repeat(np.arange(len(counts)), counts))


def generator():
    return np.random.default_rng(0)


def distinct(l):
    return lambda half: len(set(half)) < l


def share_above(alpha):
    return lambda half: max(half.count(value) for value in half) > alpha * len(half)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=3).filter(lambda c: sum(c) <= 8), st.sampled_from([0.02, 0.1]))
def test_p_and_excess_are_those_of_all_placements(counts, epsilon):
    counts = np.array(counts)
    first = (int(counts.sum()) + 1) // 2
    for constraints, fails in (
        (Constraints(k=2, l=2), distinct(2)),
        (Constraints(k=2, l=3), distinct(3)),
        (Constraints(k=2, alpha=0.6), share_above(Fraction(3, 5))),
    ):
        found = randomization_of(counts, first, constraints, column_of(counts), epsilon, generator())
        p, excess = naive_randomization(counts.tolist(), first, fails, Fraction(epsilon))
        assert found.p == pytest.approx(float(p), abs=1e-9)
        assert found.excess == pytest.approx(max(0.0, float(excess)), abs=1e-9)
        assert found.excess <= epsilon + 1e-9


def test_equal_halves_need_no_randomization():
    counts = np.array([3, 5])
    assert randomization_of(counts, 4, Constraints(k=2, l=2), column_of(counts), 0.1, generator()) == Randomization(
        0.0, 0.0
    )


def test_parts_that_cannot_fail_need_no_randomization_and_parts_that_cannot_pass_reveal_nothing():
    safe = np.array([6, 7])
    assert randomization_of(safe, 7, Constraints(k=2, alpha=1.0), column_of(safe), 0.1, generator()) == Randomization(
        0.0, 0.0
    )
    lost = np.array([1, 6])
    assert randomization_of(lost, 4, Constraints(k=2, l=2), column_of(lost), 0.1, generator()) == Randomization(
        0.0, pytest.approx(0.0, abs=1e-12)
    )


def test_sampled_counts_come_near_to_all_counts_and_never_below(monkeypatch):
    counts = np.array([3, 4, 2, 4])
    for constraints in (Constraints(k=2, l=3), Constraints(k=2, alpha=0.5), Constraints(k=2, t=0.2)):
        exact = randomization_of(counts, 7, constraints, column_of(counts), 0.0, generator())
        with monkeypatch.context() as patch:
            patch.setattr(protect, "ALL", 0)
            patch.setattr(protect, "DRAWN", 100_000)
            drawn = randomization_of(counts, 7, constraints, column_of(counts), 0.0, generator())
        assert exact.p <= drawn.p <= exact.p + 0.35
        assert drawn.excess == pytest.approx(exact.excess, abs=0.02)


def test_a_sample_without_failures_assumes_the_worst(monkeypatch):
    monkeypatch.setattr(protect, "ALL", 0)
    monkeypatch.setattr(protect, "DRAWN", 50)
    counts = np.array([200, 201])
    found = randomization_of(counts, 201, Constraints(k=2, l=2), column_of(counts), 0.1, generator())
    assert found == Randomization(0.0, pytest.approx(1 - 200 / 401))


def test_all_counts_of_a_half_are_listed_with_their_probabilities():
    made = protect._every(np.array([2, 1, 3]), 3)
    assert sorted(map(tuple, made.tolist())) == [
        (0, 0, 3),
        (0, 1, 2),
        (1, 0, 2),
        (1, 1, 1),
        (2, 0, 1),
        (2, 1, 0),
    ]
    assert protect._ways(np.array([2, 1, 3]), 3) == 6
    weights = dict(zip(map(tuple, made.tolist()), protect._hypergeometric(np.array([2, 1, 3]), made), strict=True))
    assert weights[1, 1, 1] == pytest.approx(2 * 1 * 3 / 20)
    assert sum(weights.values()) == pytest.approx(1)


def test_very_many_counts_are_not_enumerated():
    assert protect._ways(np.full(60, 50), 1500) == float("inf")


asked = st.sampled_from(
    [{"l": 2}, {"l": 3}, {"t": 0.3}, {"alpha": 0.7}, {"l": 1.5, "l_kind": "entropy"}, {"beta": 1.5}, {"delta": 1.0}]
)


@settings(max_examples=80)
@given(asked, st.integers(12, 60), st.integers(2, 4), st.integers(0, 10**6))
def test_every_group_meets_the_constraints_and_has_k_rows(options, n, k, seed):
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, 4, n), return_inverse=True)[1].reshape(-1)
    sensitive = {"s": Values(codes), "u": Values(np.arange(n) % 3)}
    constraints = Constraints(k=k, **options)
    if failing(np.zeros(n, np.int64), constraints, sensitive).any():
        return
    made = protected(cut_in_halves(rng.normal(size=(n, 2)), k), constraints, sensitive, seed)
    assert made.n == n
    assert made.sizes.min() >= k
    assert not failing(made.labels, constraints, sensitive).any()
    excess = next(finding.value for finding in made.findings if finding.name == "minimality, excess")
    assert 0 <= excess <= protect.EPSILON + 1e-9


def test_a_part_that_could_be_cut_is_left_whole_as_often_as_p_says():
    X = np.arange(9.0)[:, None]
    sensitive = {"s": Values(np.array([1, 0, 0, 0, 0, 1, 0, 0, 0]))}  # one case in each half
    constraints, cuts = Constraints(k=3, l=2), cut_in_halves(X, 3)
    p = randomization_of(np.array([7, 2]), 5, constraints, sensitive["s"], 0.01, generator()).p
    assert 0.1 < p < 0.9
    made = [protected(cuts, constraints, sensitive, seed, 0.01) for seed in range(400)]
    whole = sum(one.groups == 1 for one in made)
    assert abs(whole / 400 - p) < 4 * np.sqrt(p * (1 - p) / 400)
    for one in made:
        held = next(finding.value for finding in one.findings if finding.name == "rows left in larger groups %")
        assert held == (100 if one.groups == 1 else 0)
    again = protected(cuts, constraints, sensitive, 3, 0.01)
    assert again.labels.tolist() == made[3].labels.tolist()


def test_a_table_that_fails_as_a_whole_is_refused():
    with pytest.raises(InfeasibleError, match="^protect: the table as a whole misses"):
        protected(cut_in_halves(np.zeros((6, 1)), 2), Constraints(k=2, l=3), {"s": Values(np.arange(6) % 2)}, 1)
