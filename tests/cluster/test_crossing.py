"""Crossing two partitions: groups of either, never worse than both, the twin, and what stays unchanged."""

import random

import numpy as np
import pytest

from figures import sse
from naive.crossing import better_of_both as naive_crossing
from shoal.cluster.search.crossing import better_of_both


def random_partition(rng, n):
    """Return labels from 0 without gaps."""
    return np.unique([rng.randrange(max(1, n // 3)) for _ in range(n)], return_inverse=True)[1].astype(np.int64)


def changed(rng, labels):
    """Return a partition that differs from another in some places only."""
    other = labels.copy()
    for _ in range(rng.randrange(4)):
        one, two = rng.sample(range(len(labels)), 2)
        other[one], other[two] = other[two], other[one]
    return other


def groups_of(labels):
    return {frozenset(np.flatnonzero(labels == group).tolist()) for group in np.unique(labels)}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_it_agrees_with_the_naive_twin(part, compiled):
    rng = random.Random(part)
    for case in range(200 if compiled else 20):
        n = rng.randint(2, 40)
        X = np.array([[float(rng.randint(-9, 9)) for _ in range(2)] for _ in range(n)])
        weights = np.array([rng.choice([1.0, 2.0]) for _ in range(n)]) if case % 2 else np.ones(n)
        one = random_partition(rng, n)
        two = changed(rng, one) if case % 3 else random_partition(rng, n)
        found = better_of_both(X, one, two, weights)
        assert groups_of(found) == naive_crossing(X.tolist(), one.tolist(), two.tolist(), weights.tolist())
        assert groups_of(found) <= groups_of(one) | groups_of(two)
        least = min(sse(X, one, weights), sse(X, two, weights))
        assert sse(X, found, weights) <= least * (1 + 1e-9) + 1e-9


def test_each_part_comes_from_the_partition_that_is_better_there():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [100.0], [101.0], [110.0], [111.0]])
    good_left = np.array([0, 0, 1, 1, 2, 3, 2, 3])
    good_right = np.array([0, 1, 0, 1, 2, 2, 3, 3])
    for one, two in ((good_left, good_right), (good_right, good_left)):
        assert groups_of(better_of_both(X, one, two, np.ones(8))) == groups_of(np.array([0, 0, 1, 1, 2, 2, 3, 3]))


def test_parts_that_are_equally_good_stay_unchanged():
    X = np.zeros((4, 2))
    one, two = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert better_of_both(X, one, two, np.ones(4)).tolist() == one.tolist()
