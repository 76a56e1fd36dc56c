"""Growth on mixed tables: the twin, guarantees, and what rebuilding gains."""

import random

import numpy as np
import pytest

from callable_loops import pair_loss
from mixed import exact_table, groups_of, random_table
from naive.grow import grow as naive_grow
from naive.grow import join as naive_join
from shoal.cluster.methods.grow import grow
from shoal.cluster.mixed.closest import closest
from shoal.cluster.mixed.rebuild import costs_of
from shoal.cluster.search.limits import Limits
from shoal.model.policy import Constraints
from shoal.privacy.verdict.values import Values


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_it_agrees_with_the_naive_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(250 if compiled else 10):
        n, d = rng.randint(2, 9), rng.choice([1, 2, 4])
        rows, what, weights, columns, _ = exact_table(rng, n, d)
        k = rng.randint(2, min(4, n))
        groups, waiting = naive_grow(rows, k, what, weights)
        ref = sorted(sorted(members) for members in naive_join(groups, waiting, rows, what, weights))
        assert groups_of(grow(columns, k, effort="none").labels) == ref


def test_the_closest_rows_of_a_small_table_are_the_closest_of_all(compiled):
    rng = random.Random(7)
    for _ in range(40 if compiled else 5):
        n = rng.randint(2, 9)
        *_, columns = random_table(rng, n, rng.randint(1, 4))
        near, away = closest(columns, 4, (0,))
        for row in range(n):
            ref = sorted((pair_loss(columns, row, other, np.inf), other) for other in range(n) if other != row)[:4]
            assert near[row, : len(ref)].tolist() == [other for _, other in ref]
            assert (near[row, len(ref) :] == -1).all()
            assert away[row, : len(ref)] == pytest.approx([gap for gap, _ in ref])


@pytest.mark.parametrize("limited", [False, True])
def test_the_closest_rows_do_not_depend_on_the_number_of_threads(limited):
    *_, columns = random_table(random.Random(8), 90, 4)
    limits = Limits.of(Constraints(k=3, l=2), {"a": Values(np.arange(90) % 7 % 3)}) if limited else None
    alone = closest(columns, 6, (1,), limits)
    for threads in (2, 3):
        shared = closest(columns, 6, (1,), limits, threads)
        assert (shared[0] == alone[0]).all()
        assert (shared[1] == alone[1]).all()


def test_rebuilding_lowers_the_loss(compiled):
    if not compiled:
        pytest.skip("it takes long")
    *_, columns = random_table(random.Random(3), 600, 5)
    none, quick, normal = (
        costs_of(columns, grow(columns, 4, effort=e).labels).sum() for e in ("none", "quick", "normal")
    )
    assert normal <= quick < none
