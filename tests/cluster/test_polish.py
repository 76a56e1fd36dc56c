"""Polishing: sizes, never worse than its input, cells, threads, weights, and numbers far from zero."""

import random

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from figures import sse
from shoal.cluster.methods.mdav import mdav
from shoal.cluster.search.polish import polish
from shoal.model.progress import budget


def polished(X, labels, k, weights=None, rounds=5, cell=1000, seed=(0,), threads=1):
    return polish(X, labels, k, np.ones(len(X)) if weights is None else weights, rounds, cell, seed, threads)


@pytest.mark.parametrize("part", range(4))
def test_groups_keep_their_sizes_and_sse_never_rises(part, compiled):
    rng = np.random.default_rng(part)
    for _ in range(60 if compiled else 6):
        k, n = int(rng.integers(2, 6)), int(rng.integers(12, 90))
        X = rng.integers(-9, 9, (n, 2)).astype(float) if part % 2 else rng.normal(size=(n, 3))
        labels = rng.permutation(np.minimum(np.arange(n) // k, n // k - 1))
        found = polished(X, labels, k, rounds=int(rng.integers(1, 8)), cell=int(rng.integers(2, 30)))
        sizes = np.bincount(found)
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1
        assert sse(X, found) <= sse(X, labels)


def test_rows_that_must_all_move_together_do_so():
    # Every group but the last has one row of the next: no single row can move without leaving too few behind.
    X = np.repeat(np.arange(6.0) * 10, 3)[:, None]
    labels = np.roll(np.repeat(np.arange(6), 3), 1)
    labels[0] = 0
    labels[-1] = 5
    found = polished(X, labels, 3)
    assert sse(X, found) == 0


def test_it_improves_mdav():
    X = np.random.default_rng(0).normal(size=(300, 3))
    labels = mdav(X, 5).labels
    assert sse(X, polished(X, labels, 5, rounds=10)) < 0.95 * sse(X, labels)


def test_neither_threads_nor_an_offset_change_the_result():
    X = np.random.default_rng(1).integers(0, 50, (200, 2)).astype(float)
    labels = mdav(X, 4).labels
    one = polished(X, labels, 4, cell=10)
    assert_array_equal(one, polished(X, labels, 4, cell=10, threads=2))
    assert_array_equal(polished(X, labels, 4), polished(X + 2.0**40, labels, 4))


def test_heavy_rows_count_more():
    rng = random.Random(3)
    X = np.array([[rng.gauss(0, 1)] for _ in range(40)])
    weights = np.array([rng.choice([0.01, 1.0]) for _ in range(40)])
    labels = mdav(X, 4).labels
    found = polished(X, labels, 4, weights)
    assert sse(X, found, weights) <= sse(X, labels, weights)


def test_without_time_nothing_is_changed():
    X = np.random.default_rng(2).normal(size=(60, 2))
    labels = mdav(X, 4).labels
    with budget(1e-9):
        assert_array_equal(polished(X, labels, 4), labels)
