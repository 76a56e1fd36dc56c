"""Information loss, plain and weighted: a row of weight three is three rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.model.partition import Partition
from shoal.utility.loss import partition_loss, sse, sst
from strategies import tables


@st.composite
def weighed(draw):
    """A table, a group for each row and a whole number that it counts."""
    X = draw(tables(least=1, most=25))
    labels = np.array(draw(st.lists(st.integers(0, 4), min_size=len(X), max_size=len(X))))
    counts = np.array(draw(st.lists(st.integers(0, 4), min_size=len(X), max_size=len(X))))
    counts[0] += 1
    return X, np.unique(labels, return_inverse=True)[1].astype(np.int64), counts


def plain(X, labels):
    return sum(float(((X[labels == g] - X[labels == g].mean(axis=0)) ** 2).sum()) for g in np.unique(labels))


@given(weighed())
def test_weighted_sums_are_those_of_repeated_rows_scaled_to_the_number_of_rows(table):
    X, labels, counts = table
    rows = np.repeat(np.arange(len(X)), counts)
    scale = len(X) / counts.sum()
    assert sse(X, labels, counts.astype(float)) == pytest.approx(scale * plain(X[rows], labels[rows]), abs=1e-6)
    assert sst(X, counts.astype(float)) == pytest.approx(scale * plain(X[rows], 0 * rows), abs=1e-6)


@given(weighed(), st.sampled_from([1e-300, 0.25, 1.0, 1e300]))
def test_equal_weights_change_nothing_whatever_they_are(table, weight):
    X, labels, _ = table
    same = np.full(len(X), weight)
    assert sse(X, labels, same) == pytest.approx(sse(X, labels), rel=1e-12, abs=1e-9)
    assert sst(X, same) == pytest.approx(sst(X), rel=1e-12, abs=1e-9)


def test_rows_without_weight_add_nothing_and_no_weight_at_all_is_none():
    X, labels = np.array([[0.0], [2.0], [5.0], [9.0]]), np.array([0, 0, 1, 1])
    assert sse(X, labels, np.array([1.0, 1.0, 0.0, 0.0])) == 4.0
    assert sse(X, labels, np.zeros(4)) == sse(X, labels)
    assert sst(X, np.zeros(4)) == sst(X)


def test_a_finding_says_that_rows_were_weighed():
    X, partition = np.array([[0.0], [2.0], [5.0], [9.0]]), Partition.of([0, 0, 1, 1])
    assert all("weights" not in finding.how for finding in partition_loss(X.T, partition))
    found = partition_loss(X.T, partition, np.array([1.0, 3.0, 1.0, 1.0]))
    assert all("weights" in finding.how for finding in found)
    assert found[2].value == pytest.approx(100 * found[0].value / found[1].value)


def test_equal_rows_lose_nothing():
    assert partition_loss(np.ones((2, 4)), Partition.of([0] * 4), np.arange(4.0))[2].value == 0
