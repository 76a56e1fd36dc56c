"""V-MDAV: sizes, ties, the naive twin, gamma, the published example, and what is refused."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures import sse
from naive.vmdav import vmdav as naive_vmdav
from shoal.catalogue import methods
from shoal.cluster.methods.mdav import mdav
from shoal.cluster.methods.vmdav import vmdav
from shoal.errors import MethodError
from shoal.model.progress import listening
from strategies import random_table, tables_with_k

GAMMAS = (0, 0.2, 0.5, 1, 1.1, 2, 10)

# The nine rows by which the paper shows how groups of fixed size divide two clouds of four and five rows; k = 3.
# As printed in Zhang and Zheng, Research on V-MDAV algorithm based on grey relational analysis, Application Research
# of Computers (2018), example 1 with figures 1 (MDAV, three groups) and 2 (V-MDAV, two groups).
CLOUDS = [
    [2.4, 3.0],
    [1.68, 4.9],
    [3.18, 5.54],
    [5.32, 3.6],
    [18.68, 11.49],
    [20.14, 9.56],
    [19.85, 10.33],
    [21.28, 10.9],
    [23.0, 11.5],
]


def assert_same_as_twin(X, k, gamma):
    ref = naive_vmdav([[int(x) for x in row] for row in X], k, gamma)
    comp = vmdav(X, k, gamma=gamma).labels.tolist()
    assert comp == ref, f"n={len(X)} d={X.shape[1]} k={k} gamma={gamma}"


@given(tables_with_k(), st.sampled_from([*GAMMAS, "auto"]))
def test_every_group_has_k_to_2k_minus_1_rows_and_every_row_is_in_a_group(table, gamma):
    X, k = table
    partition = vmdav(X, k, gamma=gamma)
    assert partition.n == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1


@given(tables_with_k(most=40), st.sampled_from(GAMMAS))
def test_it_agrees_with_the_naive_twin(table, gamma):
    assert_same_as_twin(*table, gamma)


@pytest.mark.parametrize("part", range(4))
def test_it_agrees_with_the_naive_twin_on_hundreds_of_tables(part, compiled):
    rng = random.Random(part)
    for _ in range(150 if compiled else 12):
        assert_same_as_twin(*random_table(rng), rng.choice(GAMMAS))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_it_agrees_with_the_naive_twin_over_many_blocks_and_columns(part, compiled):
    rng = np.random.default_rng(part)
    for gamma in (0.3, 1.1) if compiled else (1.1,):
        n = int(rng.integers(100, 300 if compiled else 110))
        X = np.rint(rng.standard_t(1.5, size=(n, int(rng.integers(1, 30)))) * 10).clip(-3000, 3000)
        assert_same_as_twin(X, int(rng.integers(2, 20)), gamma)


@pytest.mark.slow
@pytest.mark.compiled
def test_it_agrees_with_the_naive_twin_when_the_rows_are_laid_out_many_times():
    X = np.random.default_rng(3).integers(0, 40, size=(900, 2)).astype(np.float64)
    assert_same_as_twin(X, 2, 0.7)


@pytest.mark.parametrize("seed", [240, 680, 967])
def test_rounding_does_not_hide_ties(seed):
    # Found among 1,000 tables: here the distances from a mean that was rounded choose another row.
    X = np.random.default_rng(seed).integers(0, 12, size=(50, 2)).astype(np.float64)
    assert_same_as_twin(X, 3, 0)


@pytest.mark.parametrize("k", [3, 5])
def test_gamma_0_gives_groups_of_k_rows_except_for_leftovers(k):
    X = np.random.default_rng(k).normal(size=(20 * k + 1, 3))
    sizes = np.sort(vmdav(X, k, gamma=0).sizes)
    assert sizes.tolist() == [k] * 19 + [k + 1]


def test_a_greater_gamma_makes_fewer_groups():
    X = np.random.default_rng(1).normal(size=(400, 3))
    counts = [vmdav(X, 4, gamma=gamma).groups for gamma in (0, 1, 10)]
    assert counts[0] == 100
    assert counts[0] > counts[1] > counts[2]


@pytest.mark.parametrize("gamma", [0.2, 1.1, "auto"])
def test_the_published_example_gives_the_two_clouds(gamma):
    assert mdav(CLOUDS, 3).groups == 3
    assert vmdav(CLOUDS, 3, gamma=gamma).labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_a_row_exactly_as_near_as_gamma_allows_stays_out():
    X = np.array([[0.0], [1.0], [14.0], [15.0], [19.0], [20.0], [21.0]])
    # 0 and 1 come first, then 21 and 20: 19 is 1 away from them and 4 from the nearest other free row.
    assert vmdav(X, 2, gamma=0.25).labels.tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert vmdav(X, 2, gamma=0.26).labels.tolist() == [0, 0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("seed", range(5))
def test_auto_keeps_the_lowest_sse_of_three_and_says_which(seed):
    rng = np.random.default_rng(seed)
    spots = rng.normal(size=(6, 2)) * 10
    X = spots[rng.integers(0, 6, 90)] + rng.normal(size=(90, 2)) * rng.choice([0.1, 1, 10])
    found = {gamma: sse(X, vmdav(X, 4, gamma=gamma).labels) for gamma in (0, 0.2, 1.1)}
    partition = vmdav(X, 4)
    assert sse(X, partition.labels) == pytest.approx(min(found.values()))
    best = min(found, key=found.get)
    assert partition.notes == (f"vmdav: gamma = {best:g} gave the lowest SSE of 0, 0.2, 1.1.",)


def test_one_gamma_needs_no_note():
    assert vmdav(CLOUDS, 3, gamma=1.1).notes == ()


def test_auto_reports_progress_that_never_decreases():
    ticks = []
    with listening(lambda step, done, total: ticks.append(done / total)):
        vmdav(np.random.default_rng(0).integers(0, 9, size=(200, 2)), 3)
    assert ticks == sorted(ticks)
    assert ticks[0] == 0
    assert ticks[-1] <= 1


@pytest.mark.parametrize("columns", [0, 1, 5])
@pytest.mark.parametrize(("gamma", "last"), [(0, 0), (1.1, 2), ("auto", 0)])
def test_equal_rows_are_grouped_in_order(columns, gamma, last):
    # The tenth row joins the third group, since no other row is free; or it is left over and joins the first.
    assert vmdav(np.ones((10, columns)), 3, gamma=gamma).labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, last]


@pytest.mark.parametrize("n", [4, 5, 7])
def test_fewer_than_2k_rows_are_one_group(n):
    assert vmdav(np.arange(float(n))[:, None], 4).groups == 1


def test_a_group_of_2k_rows_is_split():
    # Five rows grow into one group with gamma = 10, and the sixth is left over.
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    assert vmdav(X, 3, gamma=10).labels.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-1000, 2.0**40])
def test_the_size_of_the_numbers_does_not_matter(scale):
    X = np.random.default_rng(2).integers(-5, 6, size=(60, 3)).astype(np.float64)
    assert np.array_equal(vmdav(X * scale, 4).labels, vmdav(X, 4).labels)


@pytest.mark.parametrize("offset", [1e9, -1e12])
def test_an_offset_does_not_matter(offset):
    X = np.random.default_rng(4).integers(-50, 51, size=(60, 3)).astype(np.float64)
    assert np.array_equal(vmdav(X + offset, 4).labels, vmdav(X, 4).labels)


@pytest.mark.compiled
@pytest.mark.parametrize(("k", "expected"), [(3, 794.20), (4, 1053.99), (5, 1263.41), (10, 1974.02)])
def test_census_figures_do_not_change(census_sample, k, expected):
    # Our own figures, to notice a change of results; none is published. MDAV: 798.44, 1051.28, 1274.83, 1985.65.
    assert sse(census_sample, vmdav(census_sample, k).labels) == pytest.approx(expected, abs=0.005)


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("vmdav")
    assert card.function is vmdav
    assert card.ensures == {"k"}
    assert card.check({"k": 3}) == {"k": 3, "gamma": "auto"}
    assert all(parameter.help for parameter in card.params.values())


@pytest.mark.parametrize("gamma", [-0.1, 10.5, "car", None, True, float("nan")])
def test_a_gamma_out_of_range_is_refused(gamma):
    with pytest.raises(MethodError, match=r"^vmdav: (gamma must be a number of at least 0|parameter 'gamma')"):
        vmdav(np.zeros((9, 2)), 3, gamma=gamma)
