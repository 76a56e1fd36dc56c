"""Gower on mixed tables: the twin, the medoid, and what moving and swapping gains."""

import random

import numpy as np
import pytest

from mixed import exact_table, groups_of, random_table
from naive.gower import apart as naive_apart
from naive.gower import gower as naive_gower
from naive.gower import medoid as naive_medoid
from shoal.cluster.gower import distance_cost, gower
from shoal.kernels.columns import pair_loss
from shoal.kernels.gower import apart, medoids


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
        gaps = apart(columns)
        for one in range(n):
            for two in range(n):
                assert pair_loss(gaps, one, two, np.inf) == naive_apart(rows[one], rows[two], what, weights)
        labels = np.arange(n) % rng.randint(1, n)
        for group, row in enumerate(medoids(columns, labels)):
            members = np.flatnonzero(labels == group).tolist()
            ref = naive_medoid(members, rows, columns.codes.tolist(), what, weights)
            assert columns.codes[row].tolist() == columns.codes[ref].tolist()


def test_moving_and_swapping_lowers_the_cost(compiled):
    if not compiled:
        pytest.skip("it takes long")
    *_, columns = random_table(random.Random(3), 600, 5)
    gaps = apart(columns)
    none, quick = (distance_cost(gaps, gower(columns, 4, effort=effort).labels) for effort in ("none", "quick"))
    assert quick < 0.95 * none


@pytest.mark.parametrize("effort", ["none", "quick"])
def test_any_mix_of_columns_gives_groups_of_k(effort, compiled):
    rng = random.Random(5)
    for _ in range(30 if compiled else 3):
        n = rng.randint(4, 60)
        *_, columns = random_table(rng, n, rng.randint(1, 6))
        k = rng.randint(2, min(6, n))
        assert gower(columns, k, effort=effort).sizes.min() >= k
