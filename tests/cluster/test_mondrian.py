"""Mondrian: sizes, ties, strict and relaxed cuts, limits on sensitive values, the naive twin, and what is refused."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures import sse
from naive.mondrian import mondrian as naive_mondrian
from shoal.catalogue import methods
from shoal.cluster.methods.mondrian import mondrian
from shoal.cluster.search.limits import Limits
from shoal.errors import MethodError
from shoal.model.policy import Constraints
from shoal.model.progress import listening
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values
from strategies import random_table, tables_with_k

SPLITS = ("strict", "relaxed")
splits = st.sampled_from(SPLITS)


def assert_same_as_twin(X, k, split, limits=None):
    fine = (lambda part: True) if limits is None else (lambda part: limits.met(np.array(part)))
    ref = naive_mondrian([[int(x) for x in row] for row in X], k, split, fine)
    comp = mondrian(X, k, split, limits=limits).labels.tolist()
    assert comp == ref, f"n={len(X)} d={X.shape[1]} k={k} {split}"


def random_limits(rng, n):
    """Return sensitive columns and a constraint on them; all rows together may fail it."""
    columns = {}
    for name in "ab"[: rng.choice([1, 1, 2])]:
        raw = [rng.randint(0, rng.choice([1, 2, 30])) for _ in range(n)]
        columns[name] = Values(np.unique(raw, return_inverse=True)[1].astype(np.int64), rng.random() < 0.5)
    kind = rng.choice(["distinct", "entropy"])
    l = rng.choice([None, 2, 3]) if kind == "distinct" else rng.choice([None, 1.5, 2.25])
    return columns, Constraints(k=2, l=l, l_kind=kind, t=rng.choice([None, 0.15, 0.3, 0.6]))


@given(tables_with_k(), splits)
def test_every_row_is_in_a_group_of_at_least_k_rows(table, split):
    X, k = table
    partition = mondrian(X, k, split)
    assert partition.n == len(X)
    assert partition.sizes.min() >= k


@given(tables_with_k())
def test_relaxed_groups_have_at_most_2k_minus_1_rows(table):
    X, k = table
    assert mondrian(X, k, "relaxed").sizes.max() <= 2 * k - 1


@given(tables_with_k())
def test_strict_groups_of_2k_rows_have_no_cut_between_different_values(table):
    X, k = table
    for rows in mondrian(X, k, "strict").members():
        for column in X[rows].T:
            ordered = np.sort(column)
            cuts = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
            assert not ((k <= cuts) & (cuts <= rows.size - k)).any()


@given(tables_with_k())
def test_strict_groups_never_divide_equal_rows(table):
    X, k = table
    labels = mondrian(X, k, "strict").labels
    group = {}
    for row, label in zip(map(tuple, X), labels.tolist(), strict=True):
        assert group.setdefault(row, label) == label


@given(tables_with_k(most=30), splits)
def test_the_input_is_unchanged_and_the_result_is_always_the_same(table, split):
    X, k = table
    before = X.copy()
    X.setflags(write=False)
    first = mondrian(X, k, split).labels
    assert np.array_equal(X, before)
    assert np.array_equal(first, mondrian(np.asfortranarray(X), k, split).labels)


@given(tables_with_k(), splits)
def test_it_agrees_with_the_naive_twin(table, split):
    assert_same_as_twin(*table, split)


@pytest.mark.parametrize("part", range(8))
def test_it_agrees_with_the_naive_twin_on_thousands_of_tables(part, compiled):
    rng = random.Random(part)
    for _ in range(300 if compiled else 30):
        assert_same_as_twin(*random_table(rng), SPLITS[part % 2])


@pytest.mark.parametrize("split", SPLITS)
def test_it_agrees_with_the_naive_twin_on_long_tails_and_many_columns(split, compiled):
    rng = np.random.default_rng(3)
    for _ in range(40 if compiled else 4):
        n, d, k = int(rng.integers(100, 400)), int(rng.integers(1, 40)), int(rng.integers(2, 20))
        X = np.rint(rng.standard_t(1.5, size=(n, d)) * rng.choice([1, 3, 30])).clip(-3000, 3000)
        assert_same_as_twin(X, k, split)


@pytest.mark.parametrize("part", range(8))
def test_it_agrees_with_the_naive_twin_under_limits(part, compiled):
    rng = random.Random(part)
    for _ in range(100 if compiled else 10):
        X, k = random_table(rng)
        columns, constraints = random_limits(rng, len(X))
        assert_same_as_twin(X, k, SPLITS[part % 2], Limits.of(constraints, columns))


@pytest.mark.parametrize("part", range(4))
def test_every_group_meets_the_limits_if_all_rows_together_do(part, compiled):
    rng = random.Random(100 + part)
    cut = 0
    for _ in range(150 if compiled else 20):
        X, k = random_table(rng)
        columns, constraints = random_limits(rng, len(X))
        constraints = constraints.model_copy(update={"k": k})
        partition = mondrian(X, k, SPLITS[part % 2], limits=Limits.of(constraints, columns))
        if failing(np.zeros(len(X), np.int64), constraints, columns)[0]:
            assert partition.groups == 1
        else:
            cut += partition.groups > 1
            assert not failing(partition.labels, constraints, columns).any()
    assert cut > 3


@pytest.mark.compiled
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(("l", "t"), [(3, None), (None, 0.2), (2, 0.3)])
def test_the_judge_finds_l_and_t_on_larger_tables(split, l, t):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(5000, 4))
    values = np.digitize(X[:, 0] + rng.normal(size=5000), [-1, 0, 1]).astype(np.int64)
    constraints, columns = Constraints(k=5, l=l, t=t), {"ill": Values(values, ordered=False)}
    partition = mondrian(X, 5, split, limits=Limits.of(constraints, columns))
    assert partition.groups > 100
    assert not failing(partition.labels, constraints, columns).any()


def test_limits_that_require_nothing_change_nothing():
    X = np.random.default_rng(1).normal(size=(90, 3))
    limits = Limits.of(Constraints(k=3), {"ill": Values(np.arange(90) % 2)})
    assert np.array_equal(mondrian(X, 3).labels, mondrian(X, 3, limits=limits).labels)


def test_the_widest_column_is_cut_first_and_the_first_of_equally_wide_ones():
    X = np.array([[0, 0, 5], [1, 9, 0], [2, 1, 9], [3, 8, 4]], np.float64)
    assert mondrian(X, 2).labels.tolist() == [0, 1, 0, 1]


def test_a_column_that_allows_no_cut_gives_way_to_the_next_widest():
    X = np.array([[0, 1], [0, 2], [0, 3], [90, 4]], np.float64)
    assert mondrian(X, 2, "strict").labels.tolist() == [0, 0, 1, 1]
    limits = Limits.of(Constraints(k=2, l=2), {"ill": Values(np.array([0, 0, 1, 1]))})
    X = np.array([[0, 1], [10, 2], [20, 1], [30, 2]], np.float64)
    assert mondrian(X, 2).labels.tolist() == [0, 0, 1, 1]
    assert mondrian(X, 2, limits=limits).labels.tolist() == [0, 1, 0, 1]


def test_strict_cuts_beside_the_median_value_where_it_is_nearer_to_the_middle():
    X = np.array([[1], [2], [3], [3], [3], [3], [3], [4]], np.float64)
    assert mondrian(X, 2, "strict").labels.tolist() == [0, 0, 1, 1, 1, 1, 1, 1]
    assert mondrian(X, 2, "relaxed").labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("columns", [0, 1, 5])
def test_equal_rows_are_one_strict_group_and_halved_in_order_by_relaxed_cuts(columns):
    X = np.ones((11, columns))
    assert mondrian(X, 3, "strict").groups == 1
    assert mondrian(X, 3, "relaxed").labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("scale", [2.0**900, 2.0**-1000, 2.0**40])
def test_the_size_of_the_numbers_does_not_matter(scale, split):
    X = np.random.default_rng(2).integers(-5, 6, size=(60, 3)).astype(np.float64)
    assert np.array_equal(mondrian(X * scale, 4, split).labels, mondrian(X, 4, split).labels)


@pytest.mark.compiled
@pytest.mark.parametrize("shape", ["rising", "falling", "pipe", "saw"])
def test_no_order_of_the_rows_is_slow(shape):
    ramp = np.arange(200_000.0)
    X = {"rising": ramp, "falling": -ramp, "pipe": np.minimum(ramp, ramp[::-1]), "saw": ramp % 1000}[shape]
    assert mondrian(X[:, None], 5, "relaxed").sizes.max() <= 9


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr("shoal.cluster.methods.mondrian.PIECE", 200)
    ticks = []
    with listening(lambda step, done, total: ticks.append((done, total))):
        mondrian(np.random.default_rng(3).normal(size=(120, 2)), 3)
    assert len(ticks) > 3
    assert ticks == sorted(ticks)
    assert ticks[-1][0] < ticks[-1][1] == 120


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("split", "figures"),
    [("strict", (2956.10, 3036.29, 4383.94, 6111.14)), ("relaxed", (2955.34, 2955.34, 4414.15, 6093.37))],
)
def test_census_has_the_sse_of_the_docs_page(census_sample, split, figures):
    for k, figure in zip((3, 4, 5, 10), figures, strict=True):
        assert sse(census_sample, mondrian(census_sample, k, split).labels) == pytest.approx(figure, abs=0.005)


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("mondrian")
    assert card.function is mondrian
    assert card.ensures == {"k", "l", "t", "alpha"}
    assert card.uses == {"limits"}
    assert card.check({"k": 3}) == {"k": 3, "split": "strict"}
    assert all(parameter.help for parameter in card.params.values())


def test_an_unknown_kind_of_cut_is_refused():
    with pytest.raises(MethodError) as caught:
        mondrian(np.zeros((9, 2)), 3, split="even")
    assert str(caught.value) == "mondrian: split must be one of 'strict', 'relaxed'; got 'even'."
