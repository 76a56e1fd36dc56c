"""MD: sizes, ties, the naive twin, the farthest pair, and what is refused."""

import random

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.distance import cdist

from figures import sse
from naive.md import md as naive_md
from shoal.catalogue import methods
from shoal.cluster.methods.md import md
from shoal.model.progress import listening
from strategies import random_table, tables_with_k


def assert_same_as_twin(X, k):
    ref = naive_md([[int(x) for x in row] for row in X], k)
    comp = md(X, k).labels.tolist()
    assert comp == ref, f"n={len(X)} d={X.shape[1]} k={k}"


@given(tables_with_k())
def test_every_group_has_k_to_2k_minus_1_rows_and_every_row_is_in_a_group(table):
    X, k = table
    partition = md(X, k)
    assert partition.n == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1
    assert partition.groups == max(1, len(X) // k)


@given(tables_with_k(most=40))
def test_it_agrees_with_the_naive_twin(table):
    assert_same_as_twin(*table)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_it_agrees_with_the_naive_twin_on_hundreds_of_tables(part, compiled):
    rng = random.Random(part)
    for _ in range(100 if compiled else 10):
        assert_same_as_twin(*random_table(rng))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("part", range(6))
def test_it_agrees_with_the_naive_twin_over_many_blocks_and_columns(part):
    rng = np.random.default_rng(part)
    n, d, k = int(rng.integers(100, 260)), int(rng.integers(1, 40)), int(rng.integers(4, 20))
    # Long tails and dense cores, so that searches end early.
    assert_same_as_twin(np.rint(rng.standard_t(1.5, size=(n, d)) * rng.choice([1, 3, 30])).clip(-3000, 3000), k)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("part", range(6))
def test_ties_on_a_small_grid_go_to_the_lowest_rows(part):
    X = np.random.default_rng(part).integers(0, 4, size=(200, 2)).astype(np.float64)
    assert_same_as_twin(X, 3 + part)


@pytest.mark.parametrize("n", [12, 13, 40])
def test_the_first_two_groups_hold_the_farthest_pair_of_rows(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    labels = md(X, 4).labels
    one, two = np.unravel_index(np.argmax(cdist(X, X)), (n, n))
    assert labels[one] != labels[two]
    near = np.argsort(cdist(X[[one]], X)[0])[:4]
    assert len(set(labels[near])) == 1


@pytest.mark.parametrize("columns", [0, 1, 5])
def test_equal_rows_are_grouped_around_the_two_lowest(columns):
    labels = md(np.ones((11, columns)), 3).labels
    assert labels.tolist() == [0, 1, 0, 0, 1, 1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize(("n", "groups"), [(4, 1), (7, 1), (8, 2), (11, 2), (12, 3), (13, 3)])
def test_the_number_of_groups_changes_at_2k_and_3k(n, groups):
    assert md(np.arange(n, dtype=np.float64).reshape(n, 1), 4).groups == groups


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-1000, 2.0**40])
def test_the_size_of_the_numbers_does_not_matter(scale):
    X = np.random.default_rng(2).integers(-5, 6, size=(60, 3)).astype(np.float64)
    assert np.array_equal(md(X * scale, 4).labels, md(X, 4).labels)


def test_an_offset_of_whole_numbers_does_not_matter():
    X = np.random.default_rng(3).integers(0, 99, size=(90, 2)).astype(np.float64)
    assert np.array_equal(md(X + 1e12, 3).labels, md(X, 3).labels)


@pytest.mark.compiled
def test_ten_thousand_rows_are_laid_out_again_as_they_leave():
    X = np.random.default_rng(4).normal(size=(10_000, 4))
    ticks = []
    with listening(lambda step, done, total: ticks.append((done, total))):
        partition = md(X, 5)
    assert set(partition.sizes) == {5}
    assert ticks == sorted(ticks)
    assert len(ticks) > 5
    assert all(0 <= done <= total for done, total in ticks)


@pytest.mark.compiled
@pytest.mark.parametrize(("k", "found"), [(3, 802.491), (4, 1071.301), (5, 1263.339), (10, 2019.402)])
def test_census_has_the_sse_of_the_docs_page(census_sample, k, found):
    assert sse(census_sample, md(census_sample, k).labels) == pytest.approx(found, abs=0.0005)


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("md")
    assert card.function is md
    assert card.ensures == {"k"}
    assert list(card.params) == ["k"]
