"""The loops over groups, against plain numpy and plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.groups import centres, cheapest, increases
from shoal.utility.loss import sse
from strategies import tables


@st.composite
def grouped(draw):
    """A table and a label for each row, every group from 0 up in use."""
    X = draw(tables(least=2, most=25))
    labels = np.array(draw(st.lists(st.integers(0, 5), min_size=len(X), max_size=len(X))))
    return X, np.unique(labels, return_inverse=True)[1].astype(np.int64)


def plain_centres(X, labels):
    return np.array([X[labels == group].mean(axis=0) for group in range(labels.max() + 1)])


def plain_sse(X, labels):
    return float(((X - plain_centres(X, labels)[labels]) ** 2).sum())


@given(grouped())
def test_centres_are_the_means_of_the_groups(table):
    X, labels = table
    assert centres(X, labels, int(labels.max()) + 1) == pytest.approx(plain_centres(X, labels), abs=1e-9)


@given(grouped())
def test_sse_is_the_sum_of_squared_distances_from_the_means(table):
    X, labels = table
    assert sse(X, labels) == pytest.approx(plain_sse(X, labels), rel=1e-12, abs=1e-9)


@given(grouped())
def test_increases_are_what_merging_adds_to_sse(table):
    X, labels = table
    groups = int(labels.max()) + 1
    others = np.arange(1, groups)
    comp = increases(centres(X, labels, groups), np.bincount(labels).astype(float), others, 0)
    before = plain_sse(X, labels)
    for other, increase in zip(others, comp, strict=True):
        merged = np.unique(np.where(labels == other, 0, labels), return_inverse=True)[1]
        assert increase == pytest.approx(plain_sse(X, merged) - before, rel=1e-9, abs=1e-6)


@given(grouped(), st.data())
def test_cheapest_is_the_live_group_of_least_increase_then_lowest_number(table, data):
    X, labels = table
    groups = int(labels.max()) + 1
    means, masses = centres(X, labels, groups), np.bincount(labels).astype(float)
    alive = np.array(data.draw(st.lists(st.booleans(), min_size=groups, max_size=groups)))
    a = data.draw(st.integers(0, groups - 1))
    others = np.array([b for b in range(groups) if alive[b] and b != a], np.int64)
    costs = increases(means, masses, others, a).tolist()
    ref = min(zip(costs, others.tolist(), strict=True), default=(np.inf, -1))
    assert cheapest(means, masses, alive, a) == (ref[1], ref[0])


def test_ties_go_to_the_lowest_number():
    means = np.array([[0.0], [1.0], [-1.0], [1.0]])
    assert cheapest(means, np.full(4, 2.0), np.ones(4, np.bool_), 0) == (1, 1.0)


def test_with_no_other_live_group_there_is_no_cheapest():
    alive = np.array([True, False])
    assert cheapest(np.zeros((2, 1)), np.ones(2), alive, 0) == (-1, np.inf)


def test_means_far_from_zero_lose_no_digits():
    X = np.array([[1e15 + 1], [1e15 + 2], [1e15 + 3]])
    assert centres(X, np.zeros(3, np.int64), 1).tolist() == [[1e15 + 2]]
    assert sse(X, np.zeros(3, np.int64)) == 2.0


def test_a_group_without_rows_has_no_mean():
    means = centres(np.array([[4.0]]), np.array([1]), 2)
    assert np.isnan(means[0, 0])
    assert means[1, 0] == 4.0


def test_the_rows_and_labels_are_left_as_they_were():
    X, labels = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    X.setflags(write=False)
    labels.setflags(write=False)
    assert centres(X, labels, 2).tolist() == [[2, 3], [4, 5]]
    assert sse(X, labels) == 32.0
