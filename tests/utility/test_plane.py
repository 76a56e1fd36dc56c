"""Rows in the plane of their first two principal axes, counted in squares."""

import numpy as np
import pytest

from shoal.model.partition import Partition
from shoal.utility.plane import plane, plane_of_some


def test_squares_count_rows_and_the_means_of_their_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4)) * [3.0, 2.0, 0.1, 0.1]
    found = plane(X, Partition.of(np.arange(2000) // 4 % 400), 5)
    assert found.before.shape == (14, 14)
    assert found.before.sum() == pytest.approx(1850, abs=100)
    # Means of rows by chance crowd in the middle.
    assert found.after.max() > found.before.max()


def test_squares_of_fewer_than_k_rows_are_empty():
    X = np.random.default_rng(1).normal(size=(500, 2))
    found = plane(X, Partition.of(np.arange(500) // 5), 5)
    for counts in (found.before, found.after):
        assert counts[counts > 0].min() >= 5


def test_one_column_or_equal_rows_have_no_plane():
    groups = Partition.of(np.zeros(50, np.int64))
    assert plane(np.random.default_rng(0).normal(size=(50, 1)), groups, 5) is None
    assert plane(np.ones((50, 3)), groups, 5) is None
    flat = np.column_stack([np.arange(50.0), np.zeros(50)])
    assert plane(flat, groups, 5) is None


def test_of_a_large_table_whole_classes_are_drawn():
    n = 120_000
    X = np.random.default_rng(3).normal(size=(n, 3))
    labels = np.random.default_rng(4).permutation(n) // 6
    asked = []

    def matrix(rows):
        asked.append(rows)
        return X[rows]

    found = plane_of_some(labels, 5, matrix)
    assert found.sampled
    assert (np.bincount(labels[asked[0]])[::3] == 6).all()
    assert abs(asked[0].size - n // 3) < 6
    assert found.before.sum() <= asked[0].size


def test_of_a_small_table_all_rows_are_drawn():
    X = np.random.default_rng(3).normal(size=(500, 3))
    found = plane_of_some(np.arange(500) // 5, 5, lambda rows: X if rows is None else X[rows])
    assert not found.sampled
    assert np.array_equal(found.before, plane(X, Partition.of(np.arange(500) // 5), 5).before)
