"""The lattice cover: the twin, the order of nodes, and lattices too large to traverse."""

import random
from itertools import islice

import numpy as np
import pytest

from mixed import exact_table, groups_of, random_table
from naive.cover import cover as naive_cover
from shoal.cluster.methods.cover import SORTED, cover, nodes_of
from shoal.kernels.columns import Set, columns_of


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_it_agrees_with_the_naive_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(250 if compiled else 10):
        n, d = rng.randint(2, 9), rng.choice([1, 2, 4])
        rows, what, weights, columns, levels = exact_table(rng, n, d)
        k = rng.randint(2, min(4, n))
        ref = sorted(sorted(members) for members in naive_cover(rows, k, what, weights, levels))
        assert groups_of(cover(columns, k, effort="none").labels) == ref


def test_nodes_of_a_large_lattice_come_in_the_order_of_their_loss():
    rng = np.random.default_rng(0)
    losses = [np.sort(np.append(0.0, rng.random(3))) for _ in range(9)]
    assert 4**9 > SORTED
    found = list(islice(nodes_of(losses, 3000), 3000))
    costs = [sum(losses[j][level] for j, level in enumerate(node)) for node in found]
    assert len(set(found)) == 3000
    assert np.all(np.diff(costs) >= -1e-12)
    total = np.array([sum(losses[j][level] for j, level in enumerate(node)) for node in np.ndindex((4,) * 9)])
    assert costs == pytest.approx(np.sort(total)[:3000])


def test_rows_left_by_a_lattice_too_large_to_traverse_are_grown():
    rng = np.random.default_rng(1)
    columns = columns_of([rng.integers(0, 30, 200) for _ in range(40)], [Set(30)] * 40)
    partition = cover(columns, 4, nodes=50)
    assert partition.sizes.min() >= 4


def test_equal_rows_lose_nothing_and_stay_together():
    codes = np.repeat(np.arange(4), 7)
    columns = columns_of([codes], [Set(4)])
    assert groups_of(cover(columns, 3, effort="none").labels) == [list(range(g * 7, g * 7 + 7)) for g in range(4)]


@pytest.mark.parametrize("effort", ["none", "quick"])
def test_any_mix_of_columns_gives_groups_of_k(effort, compiled):
    rng = random.Random(5)
    for _ in range(30 if compiled else 3):
        n = rng.randint(4, 60)
        *_, columns = random_table(rng, n, rng.randint(1, 6))
        k = rng.randint(2, min(6, n))
        assert cover(columns, k, effort=effort).sizes.min() >= k
