"""Blocks: cells, the method inside, borders, limits, threads."""

import random

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from figures import sse
from naive.blocks import blocks as naive_blocks
from shoal.cluster.methods.blocks import _inside, blocks
from shoal.cluster.methods.mdav import mdav
from shoal.cluster.search.cells import cells_of_groups, cells_of_rows
from shoal.cluster.search.limits import Limits
from shoal.errors import MethodError
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values
from strategies import random_table


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_cells_and_mdav_inside_agree_with_the_naive_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(100 if compiled else 10):
        X, k = random_table(rng, most=80)
        cell = rng.choice([4, 10, 30])
        comp = blocks(X, k, cell=cell, effort="none").labels.tolist()
        assert comp == naive_blocks([[int(x) for x in row] for row in X], k, cell)


@pytest.mark.slow
@pytest.mark.parametrize("inside", _inside())
def test_every_method_may_run_inside(inside, compiled):
    X = np.random.default_rng(0).normal(size=(260 if compiled else 120, 2))
    partition = blocks(X, 3, inside=inside, cell=100, effort="none")
    assert partition.n == len(X)
    assert partition.sizes.min() >= 3


@pytest.mark.parametrize(("n", "k", "most"), [(10, 3, 100), (1000, 3, 100), (1000, 7, 10), (999, 5, 64), (50, 4, 1)])
def test_cells_hold_at_least_k_rows_and_every_row_once(n, k, most):
    X = np.random.default_rng(n).integers(0, 4, size=(n, 2)).astype(float)
    cells = cells_of_rows(X, k, most)
    assert sorted(np.concatenate(cells)) == list(range(n))
    assert min(map(len, cells)) >= k
    assert max(map(len, cells)) <= max(most, 2 * k - 1)
    assert sum(len(cell) % k for cell in cells) < 2 * k, "cuts lie at multiples of k"


def test_groups_are_divided_at_random_into_cells_of_few():
    centres = np.random.default_rng(0).normal(size=(500, 3))
    one, two = (cells_of_groups(centres, 40, np.random.default_rng(seed)) for seed in (1, 2))
    assert sorted(np.concatenate(one)) == list(range(500))
    assert max(map(len, one)) <= 40
    assert [cell.tolist() for cell in one] != [cell.tolist() for cell in two]


def test_equal_centres_can_be_cut_too():
    assert max(map(len, cells_of_groups(np.zeros((90, 2)), 20, np.random.default_rng(0)))) <= 20


@pytest.mark.slow
@pytest.mark.compiled
def test_a_search_across_borders_loses_less_than_mdav_on_the_whole_table():
    X = np.random.default_rng(1).normal(size=(20_000, 4))
    loose = sse(X, blocks(X, 5, cell=1000, effort="none").labels)
    tight = sse(X, blocks(X, 5, cell=1000, effort="quick").labels)
    whole = sse(X, mdav(X, 5).labels)
    assert tight < 0.97 * whole < loose


@pytest.mark.slow
@pytest.mark.compiled
def test_any_number_of_threads_gives_the_same_groups():
    X = np.random.default_rng(2).normal(size=(40_000, 3))
    one, two = (blocks(X, 3, cell=5000, seed=4, threads=threads).labels for threads in (1, 2))
    assert_array_equal(one, two)


@pytest.mark.parametrize("effort", ["none", pytest.param("quick", marks=pytest.mark.compiled)])
def test_limits_hold_for_any_method_inside(effort):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 2))
    column = {"a": Values((X[:, 0] > 1).astype(np.int64))}
    asked = Constraints(k=3, l=2)
    partition = blocks(X, 3, cell=100, effort=effort, limits=Limits.of(asked, column))
    assert not failing(partition.labels, asked, column).any()


def test_a_method_that_cannot_run_inside_is_refused():
    with pytest.raises(MethodError, match="blocks: inside must be one of"):
        blocks(np.zeros((6, 1)), 2, inside="blocks")
