"""Groups are grown to a size that can meet t and alpha."""

import random
from itertools import combinations_with_replacement

import numpy as np
import pytest

from mixed import random_table
from shoal.cluster.methods.gower import gower
from shoal.cluster.methods.grow import grow
from shoal.cluster.mixed.feasible import aims, feasible_size
from shoal.cluster.search.limits import Limits
from shoal.kernels.columns import Range, Set, columns_of
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values


def test_the_least_size_is_that_of_all_possible_groups(compiled):
    rng = random.Random(1)
    for _ in range(60 if compiled else 10):
        raw = np.array([rng.choice([0, 0, 0, 1, 1, 2, 3]) for _ in range(40)])
        column = Values(np.unique(raw, return_inverse=True)[1].astype(np.int64), rng.random() < 0.5)
        limit = rng.choice([{"t": 0.35}, {"t": 0.2}, {"t": 0.12}, {"alpha": 0.6}, {"alpha": 0.3}])
        limits = Limits.of(Constraints(k=2, **limit), {"a": column})
        first = [int(np.flatnonzero(column.codes == value)[0]) for value in range(column.distinct)]
        possible = [
            size
            for size in range(2, 10)
            if any(limits.met(np.array(rows)) for rows in combinations_with_replacement(first, size))
        ]
        found = feasible_size(limits, 2)
        assert found == possible[0] if possible else found >= 10


def test_without_t_and_alpha_groups_are_grown_to_k():
    limits = Limits.of(Constraints(k=2, l=3), {"a": Values(np.arange(50) % 5)})
    assert aims(limits, 2) == [(2, limits)]
    assert aims(None, 7) == [(7, None)]


@pytest.mark.parametrize("method", [gower, grow])
@pytest.mark.parametrize("limit", [{"t": 0.4}, {"t": 0.25}, {"alpha": 0.3}])
def test_limits_that_groups_of_k_rows_cannot_meet_do_not_end_in_one_group(method, limit, compiled):
    n = 600 if compiled else 120
    rng = np.random.default_rng(3)
    columns = columns_of(
        [rng.integers(0, 50, n), rng.integers(0, 4, n), rng.integers(0, 3, n)],
        [Range(np.arange(50.0)), Set(4), Set(3)],
    )
    shares = np.array([17, 14, 10, 9, 9, 8, 8, 7, 7, 5, 4, 1, 1]) / 100
    sensitive = {"a": Values(np.unique(rng.choice(13, n, p=shares), return_inverse=True)[1].astype(np.int64))}
    constraints = Constraints(k=3, **limit)
    limits = Limits.of(constraints, sensitive)
    found = method(columns, 3, limits=limits)
    assert not failing(found.labels, constraints, sensitive).any()
    assert found.groups >= n / (4 * feasible_size(limits, 3))


@pytest.mark.parametrize("method", [gower, grow])
def test_groups_of_any_table_meet_t_and_alpha(method, compiled):
    rng = random.Random(7)
    for _ in range(20 if compiled else 3):
        n = rng.randint(6, 60)
        *_, columns = random_table(rng, n, rng.randint(1, 4))
        codes = np.unique([rng.randint(0, 4) for _ in range(n)], return_inverse=True)[1].astype(np.int64)
        sensitive = {"a": Values(codes, rng.random() < 0.5)}
        alpha = max(0.5, float(np.bincount(codes).max() / n))
        constraints = Constraints(k=2, t=rng.choice([0.0, 0.1, 0.3]), alpha=alpha)
        found = method(columns, 2, limits=Limits.of(constraints, sensitive))
        assert not failing(found.labels, constraints, sensitive).any()
