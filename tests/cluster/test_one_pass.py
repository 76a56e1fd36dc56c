"""One-pass k-means: sizes, ties, the naive twin, seeds, and what is refused."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures import sse
from naive.one_pass import one_pass as naive_one_pass
from shoal.catalogue import methods
from shoal.cluster.methods.one_pass import one_pass, seeds
from shoal.model.partition import Partition
from shoal.model.progress import listening
from strategies import random_table, tables_with_k


def assert_same_as_twin(X, k, seed):
    ref = naive_one_pass([[int(x) for x in row] for row in X], k, seeds(len(X), k, seed).tolist())
    comp = one_pass(X, k, seed=seed).labels.tolist()
    assert comp == ref, f"n={len(X)} d={X.shape[1]} k={k} seed={seed}"


@given(tables_with_k(), st.integers(0, 99))
def test_every_group_has_k_to_2k_minus_1_rows_and_every_row_is_in_a_group(table, seed):
    X, k = table
    partition = one_pass(X, k, seed=seed)
    assert partition.n == len(X)
    assert partition.groups == len(X) // k
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1


@given(tables_with_k(most=40), st.integers(0, 99))
def test_it_agrees_with_the_naive_twin(table, seed):
    assert_same_as_twin(*table, seed)


@pytest.mark.parametrize("part", range(4))
def test_it_agrees_with_the_naive_twin_on_hundreds_of_tables(part, compiled):
    rng = random.Random(part)
    for _ in range(80 if compiled else 10):
        assert_same_as_twin(*random_table(rng), rng.randrange(2**32))


@pytest.mark.compiled
@pytest.mark.parametrize("d", [1, 4, 9])
def test_it_agrees_with_the_naive_twin_over_many_groups(d):
    X = np.random.default_rng(d).integers(0, 12, size=(150, d)).astype(np.float64)
    assert_same_as_twin(X, 3, seed=d)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_matter_if_none_are_equal(seed):
    X = np.random.default_rng(seed).normal(size=(100, 3))
    order = np.random.default_rng(seed + 9).permutation(100)
    assert np.array_equal(Partition.of(one_pass(X, 4).labels[order]).labels, one_pass(X[order], 4).labels)


def test_another_seed_gives_other_groups_and_the_same_seed_the_same():
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert np.array_equal(one_pass(X, 4, seed=5).labels, one_pass(X, 4, seed=5).labels)
    assert not np.array_equal(one_pass(X, 4, seed=5).labels, one_pass(X, 4, seed=6).labels)


@pytest.mark.parametrize(("n", "k"), [(5, 5), (9, 5), (10, 5), (101, 3)])
def test_the_initial_rows_are_one_in_k_and_all_different(n, k):
    drawn = seeds(n, k, 7)
    assert drawn.size == n // k
    assert drawn.tolist() == sorted(set(drawn.tolist()))
    assert 0 <= drawn[0] <= drawn[-1] < n


@pytest.mark.parametrize("columns", [0, 1, 5])
def test_equal_rows_are_spread_over_all_groups(columns):
    sizes = one_pass(np.ones((11, columns)), 3).sizes
    assert sorted(sizes.tolist()) == [3, 3, 5]


def test_far_rows_leave_a_large_group_for_a_small_one():
    # Whatever the initial rows, the three rows on the right and the three on the left end in groups of three.
    X = np.array([[0.0], [1.0], [2.0], [50.0], [51.0], [52.0]])
    for seed in range(20):
        partition = one_pass(X, 3, seed=seed)
        assert partition.sizes.tolist() == [3, 3]
    assert {tuple(one_pass(X, 3, seed=seed).labels.tolist()) for seed in range(20)} >= {(0, 0, 0, 1, 1, 1)}


@pytest.mark.parametrize("n", [4, 5, 7])
def test_fewer_than_2k_rows_are_one_group(n):
    assert one_pass(np.arange(float(n))[:, None], 4).groups == 1


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-1000, 2.0**40])
def test_the_size_of_the_numbers_does_not_matter(scale):
    X = np.random.default_rng(2).integers(-5, 6, size=(60, 3)).astype(np.float64)
    assert np.array_equal(one_pass(X * scale, 4).labels, one_pass(X, 4).labels)


@pytest.mark.parametrize("offset", [1e9, -1e12])
def test_an_offset_does_not_matter(offset):
    X = np.random.default_rng(4).integers(-50, 51, size=(60, 3)).astype(np.float64)
    assert np.array_equal(one_pass(X + offset, 4).labels, one_pass(X, 4).labels)


def test_progress_is_reported():
    ticks = []
    with listening(lambda step, done, total: ticks.append((done, total))):
        one_pass(np.zeros((20, 2)), 3)
    assert ticks == [(0, 20)]


@pytest.mark.compiled
@pytest.mark.parametrize(("k", "expected"), [(3, 1552.62), (4, 1882.50), (5, 2141.51), (10, 2855.89)])
def test_census_figures_do_not_change(census_sample, k, expected):
    # Our own figures with seed 0, to notice a change of results; the paper has none for Census.
    assert sse(census_sample, one_pass(census_sample, k).labels) == pytest.approx(expected, abs=0.005)


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("one_pass")
    assert card.function is one_pass
    assert card.ensures == {"k"}
    assert card.uses == {"seed"}
    assert card.params["k"].help
