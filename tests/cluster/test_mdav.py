"""MDAV: sizes, ties, the naive twin, the published figures, and what is refused."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from figures import golden, sse, standardized
from naive.mdav import mdav as naive_mdav
from shoal.catalogue import methods
from shoal.cluster.methods.mdav import mdav
from shoal.cluster.search import carving
from strategies import random_table, tables_with_k

GOLDEN = golden("mdav")


LEFTOVER = ["group", "nearest"]


@pytest.fixture(params=["few", "blocks", "tree"])
def search(request, monkeypatch):
    """Rows are searched one by one, in blocks, or in a tree, whatever their number."""
    monkeypatch.setattr(carving, "FEW", 10**9 if request.param == "few" else 0)
    monkeypatch.setattr(carving, "MANY", 0 if request.param == "tree" else 10**9)
    return request.param


def assert_same_as_twin(X, k, leftover="group"):
    ref = naive_mdav([[int(x) for x in row] for row in X], k, leftover)
    comp = mdav(X, k, leftover).labels.tolist()
    assert comp == ref, f"n={len(X)} d={X.shape[1]} k={k} {leftover}"


@pytest.mark.parametrize("leftover", LEFTOVER)
@given(tables_with_k())
def test_every_group_has_k_to_2k_minus_1_rows_and_every_row_is_in_a_group(leftover, table):
    X, k = table
    partition = mdav(X, k, leftover)
    assert partition.n == len(X)
    assert partition.sizes.sum() == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1


@given(tables_with_k())
def test_all_groups_but_the_last_have_exactly_k_rows(table):
    X, k = table
    assert mdav(X, k).groups == max(1, len(X) // k)


@pytest.mark.slow
@pytest.mark.parametrize("leftover", LEFTOVER)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables_with_k())
def test_it_agrees_with_the_naive_twin(search, leftover, table):
    assert_same_as_twin(*table, leftover)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_it_agrees_with_the_naive_twin_on_thousands_of_tables(search, part, compiled):
    rng = random.Random(part)
    for _ in range(300 if compiled else 8):
        assert_same_as_twin(*random_table(rng), rng.choice(LEFTOVER))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_it_agrees_with_the_naive_twin_over_many_blocks_and_columns(search, part, compiled):
    rng = np.random.default_rng(part)
    for _ in range(6 if compiled else 1):
        n = int(rng.integers(100, 400 if compiled else 150))
        d, k = int(rng.integers(1, 40)), int(rng.integers(2, 20))
        # Long tails and dense cores, so that whole blocks are skipped.
        X = np.rint(rng.standard_t(1.5, size=(n, d)) * rng.choice([1, 3, 30])).clip(-3000, 3000)
        assert_same_as_twin(X, k)


@pytest.mark.parametrize(
    ("seed", "shape", "span", "k"),
    [
        (25513, (90, 2), 12, 3),
        (29627, (90, 2), 12, 3),
        (68160, (90, 2), 12, 3),
        (104, (200, 1), 4, 4),
        (407, (200, 1), 4, 4),
        (3355, (200, 1), 4, 4),
    ],
)
def test_rounding_does_not_hide_ties(search, seed, shape, span, k):
    # Found among 150,000 tables: here a bound without its slack, or a strict one, skips the right row.
    assert_same_as_twin(np.random.default_rng(seed).integers(0, span, size=shape).astype(np.float64), k)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_ties_are_detected_when_all_columns_but_the_first_are_constant(search, part, compiled):
    rng = np.random.default_rng(part)
    for _ in range(20 if compiled else 2):
        X = np.zeros((int(rng.integers(70, 200)), 40))
        X[:, :2] = rng.integers(0, 12, size=(len(X), 2))
        assert_same_as_twin(X, int(rng.integers(2, 9)))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("k", [3, 7])
def test_ties_on_a_grid_go_to_the_lowest_row(search, k):
    X = np.random.default_rng(k).integers(0, 9, size=(2000, 2)).astype(np.float64)
    assert_same_as_twin(X, k)


def test_ties_on_a_small_grid_go_to_the_lowest_row():
    assert_same_as_twin(np.random.default_rng(1).integers(0, 3, size=(90, 2)).astype(np.float64), 3)


@pytest.mark.compiled
def test_real_numbers_without_ties_give_the_groups_of_the_twin(search):
    X = np.random.default_rng(5).normal(size=(500, 6)) + 1e6
    assert mdav(X, 4).labels.tolist() == naive_mdav((X - 1e6).tolist(), 4)


@pytest.mark.parametrize("columns", [0, 1, 5])
def test_equal_rows_are_grouped_in_order(search, columns):
    labels = mdav(np.ones((11, columns)), 3).labels
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize(("n", "groups"), [(4, 1), (7, 1), (8, 2), (11, 2), (12, 3), (13, 3)])
def test_the_number_of_groups_changes_at_2k_and_3k(n, groups):
    assert mdav(np.arange(n, dtype=np.float64).reshape(n, 1), 4).groups == groups


def test_the_seed_stays_in_its_group_beside_an_equal_row_of_lower_number():
    X = np.array([[9.0], [9.0], [9.0], [0.0], [0.0], [0.0]])
    assert mdav(X, 3).labels.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-1000, 2.0**40])
def test_the_size_of_the_numbers_does_not_matter(search, scale):
    X = np.random.default_rng(2).integers(-5, 6, size=(60, 3)).astype(np.float64)
    assert np.array_equal(mdav(X * scale, 4).labels, mdav(X, 4).labels)


def _gaussian(rng):
    return rng.normal(size=(12_000, 3))


def _clusters_far_apart(rng):
    return rng.normal(size=(12_000, 4)) + 1e9 * rng.integers(0, 2, size=(12_000, 1))


def _outliers(rng):
    return np.vstack([rng.normal(size=(12_000, 5)), 1e9 * rng.normal(size=(10, 5))])


def _long_tails(rng):
    return rng.standard_cauchy(size=(12_000, 5))


def _offset(rng):
    return 1e12 + rng.integers(0, 99, size=(12_000, 2))


def _sphere(rng):
    X = rng.normal(size=(12_000, 4))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def _mostly_equal(rng):
    X = rng.normal(size=(12_000, 3))
    X[rng.random(12_000) < 0.5] = 1.0
    return X


@pytest.mark.compiled
@pytest.mark.parametrize(
    "table", [_gaussian, _clusters_far_apart, _outliers, _long_tails, _offset, _sphere, _mostly_equal]
)
@pytest.mark.parametrize("k", [3, 40])
def test_the_tree_finds_the_rows_that_blocks_find(table, k, monkeypatch):
    X = table(np.random.default_rng(k))
    in_tree = mdav(X, k).labels
    monkeypatch.setattr(carving, "MANY", len(X) + 1)
    assert np.array_equal(in_tree, mdav(X, k).labels)


def test_whole_numbers_may_come_as_integers():
    X = np.random.default_rng(3).integers(0, 4, size=(30, 2))
    assert np.array_equal(mdav(X, 3).labels, mdav(X.astype(np.float64), 3).labels)


@pytest.mark.compiled
@pytest.mark.parametrize("position", range(4))
def test_census_has_the_published_sse(search, census, position):
    golden = GOLDEN["census"]
    found = sse(census, mdav(census, golden["k"][position]).labels)
    assert found == pytest.approx(golden["sse"][position], abs=0.005)
    assert 100 * found / census.size == pytest.approx(golden["loss"][position], abs=0.00005)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(5))
def test_census_has_the_published_sse_in_any_order_of_rows(census, seed):
    shuffled = np.random.default_rng(seed).permutation(census)
    assert sse(shuffled, mdav(shuffled, 3).labels) == pytest.approx(GOLDEN["census"]["sse"][0], abs=0.005)


def test_the_example_of_19_rows_has_the_published_sse_and_sizes():
    golden = GOLDEN["example"]
    X = standardized(np.array(golden["rows"], np.float64), ddof=1)
    partition = mdav(X, golden["k"])
    assert sorted(partition.sizes.tolist()) == golden["sizes"]
    assert sse(X, partition.labels) == pytest.approx(golden["sse"], abs=0.0005)


def test_the_example_of_19_rows_loses_less_if_leftover_rows_join_the_nearest_groups():
    golden = GOLDEN["example"]
    X = standardized(np.array(golden["rows"], np.float64), ddof=1)
    partition = mdav(X, golden["k"], leftover="nearest")
    assert sorted(partition.sizes.tolist()) == [4, 4, 5, 6]
    assert sse(X, partition.labels) <= 7.93


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("mdav")
    assert card.function is mdav
    assert card.ensures == {"k"}
    assert card.data == "numeric"
    assert card.params["k"].help
