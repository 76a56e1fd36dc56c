"""Finishing: groups of k to 2k - 1 rows from any cells, the naive twin, limits, seeds, and very many groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.cluster.search.finish as module
from figures import sse
from naive import finish as naive
from shoal.cluster.search.finish import as_printed, finished, merged
from shoal.cluster.search.limits import Limits
from shoal.errors import GuaranteeError
from shoal.model.partition import Partition
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values
from strategies import tables_with_k


@st.composite
def tables_with_cells(draw, most=40):
    """A table of whole numbers, k, and cells: all rows in one, every row alone, or anything between, with gaps."""
    X, k = draw(tables_with_k(most=most))
    X = X if X.shape[1] else np.zeros((len(X), 1))
    highest = draw(st.sampled_from([0, 1, 4, len(X)]))
    alone = np.random.default_rng(draw(st.integers(0, 9))).permutation(len(X))
    some = np.array(draw(st.lists(st.integers(0, highest), min_size=len(X), max_size=len(X))))
    return X, k, alone if draw(st.booleans()) else some


def members(labels):
    return [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]


def sizes(labels):
    return np.bincount(labels)


@given(tables_with_cells())
def test_any_cells_become_groups_of_k_to_2k_minus_1_rows(case):
    X, k, cells = case
    before = X.copy(), cells.copy()
    labels = finished(X, cells, k, "none")
    assert k <= sizes(labels).min()
    assert sizes(labels).max() <= 2 * k - 1
    assert np.array_equal(X, before[0])
    assert np.array_equal(cells, before[1])


@given(tables_with_cells())
def test_groups_before_the_search_are_those_of_the_naive_twin(case):
    X, k, cells = case
    comp = Partition.of(finished(X, cells, k, "none")).labels.tolist()
    assert comp == naive.finished(X.tolist(), cells.tolist(), k)


@given(tables_with_cells())
def test_small_groups_are_merged_as_by_the_naive_twin(case):
    X, k, cells = case
    labels = np.unique(cells, return_inverse=True)[1].reshape(-1).astype(np.int64)
    comp = merged(X, labels, k)
    assert sorted(members(comp)) == sorted(naive.merged(X.tolist(), members(labels), k))


def test_the_smallest_group_goes_first_and_of_two_the_one_with_the_lower_number():
    X = np.array([[0.0], [1.0], [1.0], [3.0]])
    # The lone row 0 joins the pair at 1; then all groups but the lone row at 3 have k rows, and it joins them too.
    assert merged(X, np.array([0, 1, 1, 2]), 2).tolist() == [0, 0, 0, 0]
    # Of four lone rows the first goes to the second, and the third to the last.
    assert merged(np.array([[0.0], [2.0], [4.0], [6.0]]), np.arange(4), 2).tolist() == [0, 0, 1, 1]


def test_a_partner_is_chosen_by_the_increase_in_sse_and_not_by_distance():
    # The mean of the six rows at 0 is nearer to 10 than that of the two at 21, but they are many.
    X = np.array([[0.0]] * 6 + [[10.0]] + [[21.0]] * 2)
    labels = np.array([0] * 6 + [1] + [2] * 2)
    # 6/7 100 = 85.7 against 2/3 121 = 80.7
    assert merged(X, labels, 2).tolist() == [0] * 6 + [1] * 3


def test_of_two_partners_that_cost_the_same_the_lower_number_is_taken():
    X = np.array([[1.0], [0.0], [0.0], [2.0], [2.0]])
    assert merged(X, np.array([0, 1, 1, 2, 2]), 2).tolist() == [0, 0, 0, 1, 1]
    assert merged(X, np.array([0, 2, 2, 1, 1]), 2).tolist() == [0, 1, 1, 0, 0]


def test_groups_that_are_large_enough_are_left_alone():
    labels = np.array([1, 1, 0, 0, 2, 2])
    assert merged(np.arange(6.0)[:, None], labels, 2) is labels


def test_fewer_rows_than_k_are_one_group():
    assert merged(np.arange(3.0)[:, None], np.arange(3), 5).tolist() == [0, 0, 0]


@pytest.mark.parametrize("effort", ["none", "swift"])
@pytest.mark.parametrize("cells", [np.zeros(24, np.int64), np.arange(24), np.arange(24) // 12, np.arange(24) % 5])
def test_the_search_does_not_raise_sse_and_keeps_sizes(cells, effort):
    X = np.random.default_rng(1).normal(size=(24, 2))
    labels = finished(X, cells, 4, effort)
    assert 4 <= sizes(labels).min()
    assert sizes(labels).max() <= 7
    assert sse(X, labels) <= sse(X, finished(X, cells, 4, "none")) * (1 + 1e-12)


@pytest.mark.compiled
@settings(max_examples=40)
@given(tables_with_cells(), st.integers(0, 99))
def test_the_search_does_not_raise_sse_on_any_table(case, seed):
    X, k, cells = case
    before, after = (finished(X, cells, k, effort, seed=seed) for effort in ("none", "swift"))
    assert k <= sizes(after).min()
    assert sizes(after).max() <= 2 * k - 1
    assert sse(X, after) <= sse(X, before) * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("asked", [{"l": 2}, {"t": 0.4}, {"l": 2, "t": 0.5}, {"l": 1.5, "l_kind": "entropy"}])
@pytest.mark.parametrize("cells", [np.zeros(48, np.int64), np.arange(48), np.arange(48) // 5])
def test_limits_are_met_from_any_cells(asked, cells):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(48, 2))
    sensitive = {"a": Values(rng.integers(0, 3, 48)), "b": Values((X[:, 0] > 0.5).astype(np.int64), True)}
    constraints = Constraints(k=3, **asked)
    labels = finished(X, cells, 3, "none", limits=Limits.of(constraints, sensitive))
    assert not failing(labels, constraints, sensitive).any()


@pytest.mark.compiled
def test_limits_are_met_after_the_search():
    rng = np.random.default_rng(3)
    X, constraints = rng.normal(size=(90, 2)), Constraints(k=3, l=2, t=0.5)
    sensitive = {"a": Values((X[:, 0] > 0).astype(np.int64))}
    limits = Limits.of(constraints, sensitive)
    before, after = (finished(X, np.arange(90), 3, effort, limits=limits) for effort in ("none", "swift"))
    assert not failing(after, constraints, sensitive).any()
    assert sse(X, after) <= sse(X, before) * (1 + 1e-12)


def test_limits_that_require_nothing_change_nothing():
    X, sensitive = np.random.default_rng(4).normal(size=(30, 2)), {"a": Values(np.zeros(30, np.int64))}
    free = finished(X, np.arange(30), 3, "none", limits=Limits.of(Constraints(k=3), sensitive))
    assert np.array_equal(free, finished(X, np.arange(30), 3, "none"))


@pytest.mark.parametrize("k", [2, 5, 12])
def test_of_very_many_groups_those_near_each_other_are_merged_first(k, monkeypatch):
    X = np.random.default_rng(5).normal(size=(60, 2))
    whole = finished(X, np.arange(60), k, "none")
    monkeypatch.setattr(module, "MANY", 10)
    one, two = (finished(X, np.arange(60), k, "none", threads=threads) for threads in (1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, whole)
    assert k <= sizes(one).min()
    assert sizes(one).max() <= 2 * k - 1


@pytest.mark.parametrize("X", [np.zeros((40, 1)), np.arange(40.0)[:, None] % 2])
def test_very_many_groups_of_equal_rows_are_merged(X, monkeypatch):
    monkeypatch.setattr(module, "MANY", 8)
    assert sizes(finished(X, np.arange(40), 3, "none")).min() >= 3


@pytest.mark.compiled
def test_thousands_of_lone_rows_are_finished_by_any_number_of_threads():
    X = np.random.default_rng(6).normal(size=(5000, 3))
    one, two = (finished(X, np.arange(5000), 4, "none", threads=threads) for threads in (1, 2))
    assert np.array_equal(one, two)
    assert 4 <= sizes(one).min()
    assert sizes(one).max() <= 7
    # Merging at random would leave nearly all of SST.
    assert sse(X, one) < 0.1 * sse(X, np.zeros(5000, np.int64))


def test_the_result_depends_on_the_seed_alone(monkeypatch):
    X = np.random.default_rng(7).normal(size=(60, 2))
    monkeypatch.setattr(module, "MANY", 10)
    found = [finished(X, np.arange(60), 3, "none", seed=seed).tolist() for seed in (1, 1, 2, 3)]
    assert found[0] == found[1]
    assert found[0] not in found[2:]


def test_as_printed_cells_are_returned_unchanged_or_refused():
    partition = as_printed("it", np.array([4, 4, 2, 2, 2]), 2, None, ("it: a note.",))
    assert partition.labels.tolist() == [0, 0, 1, 1, 1]
    assert partition.notes == ("it: a note.", "it: in the published form, the smallest group has 2 rows.")
    with pytest.raises(GuaranteeError) as caught:
        as_printed("it", np.array([4, 4, 2, 2, 2, 0]), 2, None)
    assert str(caught.value) == (
        "it: in the published form, the smallest group has 1 row, and k is 2. "
        "Nothing is released. Set mode to 'strict'."
    )


def test_as_printed_cells_that_miss_the_limits_are_refused():
    cells, constraints = np.array([0, 0, 1, 1]), Constraints(k=2, l=2)
    good, bad = (Limits.of(constraints, {"a": Values(np.array(codes))}) for codes in ([0, 1, 1, 0], [0, 0, 1, 0]))
    assert as_printed("it", cells, 2, good).labels.tolist() == [0, 0, 1, 1]
    with pytest.raises(GuaranteeError, match=r"^it: in the published form, a group does not meet l or t\. "):
        as_printed("it", cells, 2, bad)
