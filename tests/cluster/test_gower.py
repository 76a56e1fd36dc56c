"""Gower on mixed tables: the twin, the medoid, and what moving and swapping gains."""

import random

import numpy as np
import pytest

from callable_loops import pair_loss
from mixed import exact_table, groups_of, random_table
from naive.gower import distances as naive_distances
from naive.gower import gower as naive_gower
from naive.gower import medoids as naive_medoids
from naive.gower import places
from shoal.cluster.methods.gower import distance_cost, gower
from shoal.kernels.columns import Range, Set, columns_of
from shoal.kernels.gower import as_distances, medoids


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_it_agrees_with_the_naive_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(250 if compiled else 10):
        n, d = rng.randint(2, 9), rng.choice([1, 2, 4])
        rows, what, weights, columns, _ = exact_table(rng, n, d)
        k = rng.randint(2, min(4, n))
        ref = sorted(sorted(members) for members in naive_gower(rows, k, what, weights))
        assert groups_of(gower(columns, k, effort="none").labels) == ref


@pytest.mark.parametrize("part", range(2))
def test_distances_and_medoids_are_those_of_the_naive_twin(part, compiled):
    rng = random.Random(10 + part)
    for _ in range(100 if compiled else 8):
        n = rng.randint(2, 9)
        rows, what, weights, columns, _ = exact_table(rng, n, rng.choice([1, 2, 4]))
        gaps, at = as_distances(columns), places(rows, what, weights)
        for one in range(n):
            for two in range(n):
                assert pair_loss(gaps, one, two, np.inf) == naive_distances(rows[one], rows[two], what, at)
        labels = np.arange(n) % rng.randint(1, n)
        groups = [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]
        ref = naive_medoids(groups, rows, columns.codes.tolist(), what, weights)
        assert columns.codes[medoids(columns, labels)].tolist() == columns.codes[ref].tolist()


def test_only_rows_of_least_penalty_represent_a_group():
    columns = columns_of([np.array([0, 1, 1, 1, 2])], [Range(np.array([1.0, 2.0, 3.0]))])
    labels = np.zeros(5, np.int64)
    assert medoids(columns, labels)[0] in (1, 2, 3)
    assert medoids(columns, labels, np.array([1, 2, 2, 2, 1]))[0] in (0, 4)
    assert medoids(columns, labels, np.full(5, 3))[0] in (1, 2, 3)


def test_rows_that_are_almost_as_near_may_represent_groups_to_balance_categories():
    # Every group has two names, as often one as the other, and a medoid may be either.
    columns = columns_of([np.tile([0, 1], 40)], [Set(2)])
    found = columns.codes[medoids(columns, np.repeat(np.arange(20), 4)), 0]
    assert np.bincount(found).tolist() == [10, 10]
    # Very many rows of a group are not all compared.
    many = columns_of([np.repeat([0, 1], [1200, 400])], [Set(2)])
    assert many.codes[medoids(many, np.zeros(1600, np.int64))[0], 0] == 0


def test_one_value_far_from_all_others_does_not_make_these_equal():
    near, far = (columns_of([np.arange(4)], [Range(np.array([1.0, 2.0, 3.0, last]))]) for last in (4.0, 1e9))
    assert pair_loss(as_distances(near), 0, 2, np.inf) == pair_loss(as_distances(far), 0, 2, np.inf) == 0.5


def test_moving_and_swapping_lowers_the_cost(compiled):
    if not compiled:
        pytest.skip("it takes long")
    *_, columns = random_table(random.Random(3), 600, 5)
    gaps = as_distances(columns)
    none, quick = (distance_cost(gaps, gower(columns, 4, effort=effort).labels) for effort in ("none", "quick"))
    assert quick < 0.97 * none


@pytest.mark.parametrize("effort", ["none", "quick"])
def test_any_mix_of_columns_gives_groups_of_k(effort, compiled):
    rng = random.Random(5)
    for _ in range(30 if compiled else 3):
        n = rng.randint(4, 60)
        *_, columns = random_table(rng, n, rng.randint(1, 6))
        k = rng.randint(2, min(6, n))
        assert gower(columns, k, effort=effort).sizes.min() >= k
