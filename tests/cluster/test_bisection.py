"""Bisection: halves of equal size, by the cut of least SSE."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from naive.bisection import bisection as naive
from shoal.cluster.methods.bisection import bisection, cut_in_halves

tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(0, 60)] * d), min_size=4, max_size=30, unique=True)
)


@settings(max_examples=150)
@given(tables, st.integers(2, 4))
def test_the_naive_twin_finds_the_same_groups(rows, k):
    assert bisection(np.array(rows, float), k).labels.tolist() == naive(rows, k)


def test_halves_differ_by_at_most_one_row_and_the_first_has_the_odd_one():
    X = np.random.default_rng(0).normal(size=(97, 3))
    cuts = cut_in_halves(X, 4)
    assert sorted(cuts.rows.tolist()) == list(range(97))
    seen = 0
    for part in range(cuts.low.size):
        halves = cuts.halves(part)
        rows = cuts.part(part)
        if halves is None:
            assert 4 <= rows.size <= 7
            seen += rows.size
            continue
        first, second = (cuts.part(half) for half in halves)
        assert first.size - second.size in (0, 1)
        assert_array_equal(np.concatenate([first, second]), rows)
        assert rows.size >= 8
    assert seen == 97


def test_a_slanted_cloud_is_cut_across_its_length():
    along = np.concatenate([np.linspace(-10, -6, 6), np.linspace(6, 10, 6)])
    aside = np.tile([-1.0, 1.0], 6) * np.linspace(1, 2, 12)
    X = np.column_stack([along + aside, along - aside]) / np.sqrt(2)
    assert bisection(X, 6).labels.tolist() == [0] * 6 + [1] * 6


def test_of_two_columns_the_one_that_leaves_less_sse_is_cut():
    X = np.array([[0.0, 5.0], [0.0, 1.0], [9.0, 5.0], [9.0, 1.0]])
    assert bisection(X, 2).labels.tolist() == [0, 0, 1, 1]
    assert bisection(X[:, ::-1] * [1, 1], 2).labels.tolist() == [0, 0, 1, 1]


def test_ties_go_to_the_lowest_row_number():
    assert bisection(np.zeros((7, 2)), 2).labels.tolist() == [0, 0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**290])
def test_very_small_and_very_large_numbers_are_cut_alike(scale):
    X = np.random.default_rng(3).integers(0, 99, (40, 3)).astype(float)
    assert_array_equal(bisection(X * scale, 3).labels, bisection(X, 3).labels)


def test_many_columns_are_cut_without_a_principal_component():
    X = np.random.default_rng(4).normal(size=(30, 60))
    assert bisection(X, 3).sizes.min() >= 3
    assert_array_equal(bisection(X, 3).labels, naive(X.tolist(), 3))
