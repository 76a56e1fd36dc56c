"""Constrained hierarchical clustering: sizes, the naive twin, published figures, metrics, and what is refused."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from figures import golden, sse, standardized
from naive.hac import hac as naive_hac
from shoal.catalogue import methods
from shoal.cluster.methods.hac import hac
from shoal.cluster.search.metrics import FITTING, FOLD, METRICS, fill, starts
from shoal.errors import MethodError
from shoal.model.progress import listening
from strategies import random_table, tables_with_k

GOLDEN = golden("hac")
LINKAGES = ("single", "complete", "average", "centroid", "ward", "energy")
OPTIONS = {"cap": ("k", "2k-1", "none"), "priority": ("distance", "size"), "leftover": ("merge", "deal")}
# With these no square root is compared or added up, so whole numbers are never rounded.
EXACT = {
    "single": ("euclidean", "squared", "manhattan", "maximum", "hamming"),
    "complete": ("euclidean", "squared", "manhattan", "maximum", "hamming"),
    "average": ("squared", "manhattan", "maximum", "hamming"),
    "centroid": ("euclidean", "squared"),
    "ward": ("euclidean", "squared"),
    "energy": ("manhattan", "hamming"),
}
options = st.fixed_dictionaries({name: st.sampled_from(words) for name, words in OPTIONS.items()})
exact_pairs = st.sampled_from([(linkage, metric) for linkage in LINKAGES for metric in EXACT[linkage]])


def assert_same_as_twin(X, k, **choices):
    ref = naive_hac([[int(x) for x in row] for row in X], k, **choices)
    comp = hac(X, k, **choices).labels.tolist()
    assert comp == ref, f"n={len(X)} d={X.shape[1]} k={k} {choices}"


@given(tables_with_k(), exact_pairs, options)
def test_every_group_has_k_to_2k_minus_1_rows_and_every_row_is_in_a_group(table, pair, chosen):
    X, k = table
    partition = hac(X, k, *pair, **chosen)
    assert partition.n == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1


@given(tables_with_k(), st.sampled_from(["single", "average", "ward"]), st.sampled_from(["distance", "size"]))
def test_dealing_out_with_cap_k_makes_as_many_groups_as_there_can_be(table, linkage, priority):
    X, k = table
    assert hac(X, k, linkage, cap="k", priority=priority, leftover="deal").groups == len(X) // k


@given(tables_with_k(most=20), exact_pairs, options)
def test_it_agrees_with_the_naive_twin(table, pair, chosen):
    assert_same_as_twin(*table, linkage=pair[0], metric=pair[1], **chosen)


@pytest.mark.slow
@pytest.mark.parametrize("linkage", LINKAGES)
def test_it_agrees_with_the_naive_twin_on_hundreds_of_tables(linkage, compiled):
    rng = random.Random(linkage)
    choices = list(itertools.product(EXACT[linkage], *OPTIONS.values()))
    rng.shuffle(choices)
    for chosen in (choices * 4)[:60] if compiled else choices[:4]:
        X, k = random_table(rng, most=28)
        assert_same_as_twin(X, k, linkage=linkage, **dict(zip(["metric", *OPTIONS], chosen, strict=True)))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("linkage", LINKAGES)
def test_it_agrees_with_the_naive_twin_where_many_rows_tie(linkage):
    rng = np.random.default_rng(len(linkage))
    for cap, priority in itertools.product(OPTIONS["cap"], OPTIONS["priority"]):
        X = rng.integers(0, 3, size=(40, 2)).astype(np.float64)
        assert_same_as_twin(X, 4, linkage=linkage, metric=EXACT[linkage][0], cap=cap, priority=priority)


@pytest.mark.parametrize("linkage", ["average", "energy"])
def test_sums_of_square_roots_give_the_groups_of_the_twin_where_nothing_ties(linkage, compiled):
    rng = np.random.default_rng(8)
    for chosen in itertools.product(*OPTIONS.values()):
        X = np.rint(rng.normal(size=(30 if compiled else 14, 3)) * 1e6)
        assert_same_as_twin(X, 3, linkage=linkage, **dict(zip(OPTIONS, chosen, strict=True)))


@pytest.mark.compiled
@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("case", GOLDEN["census"], ids=lambda case: "-".join((case["linkage"], case["leftover"])))
def test_census_has_the_published_sse_where_it_is_reproduced(census_sample, case, position):
    k = (3, 4, 5, 10)[position]
    chosen = {name: case[name] for name in ("linkage", *OPTIONS)}
    found = sse(census_sample, hac(census_sample, k, **chosen).labels)
    assert found == pytest.approx(case["ours"][position], abs=0.005)
    if k in case["same"]:
        assert found == pytest.approx(case["published"][position], abs=0.015)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_census_has_the_published_sse_in_any_order_of_rows(census_sample, seed):
    shuffled = np.random.default_rng(seed).permutation(census_sample)
    found = sse(shuffled, hac(shuffled, 3, "single", cap="k", priority="size").labels)
    assert found == pytest.approx(GOLDEN["census"][0]["published"][0], abs=0.005)


@pytest.mark.parametrize("leftover", ["merge", "deal"])
def test_the_example_of_19_rows_has_the_published_sse_and_sizes(leftover):
    X = standardized(np.array(golden("mdav")["example"]["rows"], np.float64), ddof=1)
    partition = hac(X, GOLDEN["example"]["k"], "single", cap="2k-1", leftover=leftover)
    assert sorted(partition.sizes.tolist()) == GOLDEN["example"]["sizes"]
    assert sse(X, partition.labels) == pytest.approx(GOLDEN["example"]["sse"], abs=0.005)


def test_the_defaults_are_those_of_the_card():
    X = np.random.default_rng(1).normal(size=(50, 2))
    defaults = {name: word.default for name, word in methods.load("hac").params.items() if name != "k"}
    assert np.array_equal(hac(X, 3).labels, hac(X, 3, **defaults).labels)
    assert defaults == {
        "linkage": "ward",
        "metric": "euclidean",
        "cap": "none",
        "priority": "distance",
        "leftover": "merge",
    }


@pytest.mark.parametrize("n", [5, 7, 9])
def test_fewer_than_2k_rows_are_one_group(n):
    assert hac(np.arange(n, dtype=np.float64)[:, None], 5, cap="k").groups == 1


def test_a_lone_leftover_joins_the_nearest_group_that_is_not_full():
    # 0 to 2 and 20 to 22 are full, and 9 is left over.
    X = np.array([0.0, 1, 2, 20, 21, 22, 9])[:, None]
    assert hac(X, 3, "single", cap="k").labels.tolist() == [0, 0, 0, 1, 1, 1, 0]


def test_leftovers_merge_with_each_other_before_they_join_full_groups():
    X = np.array([0.0, 1, 2, 3.5, 4.6, 40, 41, 42, 44, 45])[:, None]
    assert hac(X, 3, "single", cap="k").labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 1, 1]


def test_a_tie_goes_to_the_group_of_the_lowest_row_even_after_a_merge():
    # Row 0 lies as far from row 2 as from row 3, which went into the group of row 1 before.
    X = np.array([0.0, -5, 3, -3, 6.1, 9, 100, 101, 102])[:, None]
    assert hac(X, 3, "single", cap="k").labels.tolist() == [0, 0, 1, 0, 1, 1, 2, 2, 2]


def test_leftovers_that_are_dealt_out_go_to_the_smallest_groups():
    X = np.array([0.0, 1, 2, 3.5, 4.6, 40, 41, 42, 44, 45])[:, None]
    labels = hac(X, 3, "single", cap="k", leftover="deal").labels
    assert sorted(np.bincount(labels)) == [3, 3, 4]


@pytest.mark.parametrize("linkage", ["centroid", "ward"])
def test_euclidean_and_squared_are_equivalent_for_linkages_of_means(linkage):
    X = np.random.default_rng(5).normal(size=(80, 3))
    assert np.array_equal(hac(X, 4, linkage, "euclidean").labels, hac(X, 4, linkage, "squared").labels)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_mahalanobis_does_not_change_when_columns_are_mixed(linkage):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(70, 3)) * [1, 100, 0.01]
    mixed = X @ rng.normal(size=(3, 3)) + 1000
    partition = hac(X, 4, linkage, "mahalanobis")
    assert np.array_equal(partition.labels, hac(mixed, 4, linkage, "mahalanobis").labels)
    assert partition.notes == ()


def test_mahalanobis_is_euclidean_where_the_covariance_is_the_identity():
    X = np.random.default_rng(7).normal(size=(60, 3))
    white = (X - X.mean(axis=0)) @ np.linalg.cholesky(np.linalg.inv(np.cov(X.T)))
    assert np.array_equal(hac(X, 4, metric="mahalanobis").labels, hac(white, 4).labels)


@pytest.mark.parametrize("extra", [lambda X: 2 * X[:, :1] - X[:, 1:2], lambda X: np.full((len(X), 1), 7.0)])
def test_redundant_columns_do_not_change_mahalanobis_and_are_noted(extra):
    X = np.random.default_rng(8).normal(size=(60, 3))
    partition = hac(np.column_stack([X, extra(X)]), 4, metric="mahalanobis")
    assert np.array_equal(partition.labels, hac(X, 4, metric="mahalanobis").labels)
    assert len(partition.notes) == 1
    assert "4 columns has rank 3" in partition.notes[0]


def test_mahalanobis_of_columns_that_do_not_vary_is_refused():
    with pytest.raises(
        MethodError, match=r"^hac: metric 'mahalanobis' needs a column that varies; none of the 2 columns"
    ):
        hac(np.full((9, 2), 4711.0), 3, metric="mahalanobis")


def test_hamming_accepts_columns_of_any_two_values():
    codes = np.random.default_rng(9).integers(0, 2, size=(60, 6))
    halves = np.where(codes == 1, np.sqrt(0.5), 0.0)
    chosen = {"linkage": "average", "metric": "hamming"}
    assert hac(halves, 4, **chosen).groups == hac(codes, 4, **chosen).groups


def test_hamming_of_measured_columns_is_refused_without_showing_any_value():
    X = np.arange(24.0).reshape(12, 2)
    X[3:5, 1] = 4711.25
    with pytest.raises(MethodError, match=r"2 of the 24 cells are neither\. Use metric 'manhattan'") as caught:
        hac(X, 3, "single", "hamming")
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("metric", METRICS)
def test_linkages_with_metrics_that_do_not_fit_are_refused_with_those_that_do(linkage, metric):
    X = np.random.default_rng(2).integers(0, 5, size=(20, 3))
    if metric in FITTING[linkage]:
        assert hac(X, 3, linkage, metric).sizes.min() >= 3
    else:
        with pytest.raises(MethodError, match=f"^hac: linkage '{linkage}' is not defined with metric '{metric}'; it"):
            hac(X, 3, linkage, metric)


@pytest.mark.parametrize(
    ("metric", "known"),
    [
        ("euclidean", "sqeuclidean"),
        ("manhattan", "cityblock"),
        ("maximum", "chebyshev"),
        ("hamming", lambda x, y: sum(x != y)),
    ],
)
def test_the_distance_of_every_pair_of_rows_is_stored_correctly(metric, known):
    X = np.random.default_rng(3).integers(0, 5, size=(12, 4)).astype(np.float64)
    found = np.empty(66)
    fill(found, np.ascontiguousarray(X.T), FOLD[metric], False)
    assert np.allclose(found, pdist(X, known))
    place = [starts(12)[i] + j for i, j in itertools.combinations(range(12), 2)]
    assert place == list(range(66))


def test_large_tables_are_cut_into_cells_that_no_group_crosses(monkeypatch, compiled):
    monkeypatch.setattr("shoal.cluster.methods.hac.MOST_ROWS", 50)
    X = np.random.default_rng(4).normal(size=(173 if compiled else 110, 2)) * [5, 1]
    ticks = []
    with listening(lambda step, done, total: ticks.append((done, total))):
        partition = hac(X, 4)
    assert 4 <= partition.sizes.min() <= partition.sizes.max() <= 7
    assert len(partition.notes) == 1
    assert f"hac: {len(X)} rows were cut into 4 cells" in partition.notes[0]
    assert ticks == sorted(ticks)
    assert all(0 <= done <= total == len(X) for done, total in ticks)
    order = np.argsort(X[:, 0])
    left = order[: len(X) // 2 // 4 * 4]
    assert not set(partition.labels[left]) & set(np.delete(partition.labels, left))


def test_cells_below_2k_rows_are_one_group(monkeypatch):
    monkeypatch.setattr("shoal.cluster.methods.hac.MOST_ROWS", 10)
    assert hac(np.arange(25.0)[:, None], 8).sizes.tolist() == [8, 8, 9]


@pytest.mark.parametrize("columns", [0, 1, 3])
@pytest.mark.parametrize(
    ("cap", "labels"),
    [
        ("k", [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0]),  # two are left over and join the first group
        ("2k-1", [0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 1]),  # one is left over and all groups are full: the first is split
        ("none", [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]),  # all are one group, split by MDAV
    ],
)
def test_equal_rows_are_grouped_in_order(columns, cap, labels):
    assert hac(np.ones((11, columns)), 3, "single", cap=cap).labels.tolist() == labels


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-1000, 2.0**40])
def test_the_size_of_the_numbers_does_not_matter(scale):
    X = np.random.default_rng(2).integers(-5, 6, size=(60, 3)).astype(np.float64)
    assert np.array_equal(hac(X * scale, 4).labels, hac(X, 4).labels)


def test_an_offset_of_whole_numbers_does_not_matter():
    X = np.random.default_rng(3).integers(0, 99, size=(60, 2)).astype(np.float64)
    assert np.array_equal(hac(X + 1e12, 3).labels, hac(X, 3).labels)


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("hac")
    assert card.function is hac
    assert card.ensures == {"k"}
    assert all(parameter.help for parameter in card.params.values())


@pytest.mark.parametrize("name", ["linkage", "metric", *OPTIONS])
def test_an_invalid_choice_is_refused(name):
    with pytest.raises(MethodError, match=rf"^hac: {name} must be one of .*; got 'levenshtein'\.$"):
        hac(np.zeros((9, 2)), 3, **{name: "levenshtein"})
