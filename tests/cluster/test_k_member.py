"""k-member: sizes, ties, near rows, diverse groups, the naive twin, figures, and what is refused."""

import random

import numpy as np
import pytest
from hypothesis import given

import shoal.cluster.methods.k_member as module
from figures import sse, standardized
from naive.k_member import k_member as naive_k_member
from shoal.catalogue import methods
from shoal.cluster.methods.k_member import TOLERANCE, k_member
from shoal.cluster.search.limits import Limits
from shoal.enforce import enforce
from shoal.errors import MethodError
from shoal.model.policy import Constraints
from shoal.model.progress import listening
from shoal.privacy.verdict.classes import Counts
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.models import distinct
from shoal.privacy.verdict.values import Values
from strategies import random_table, tables_with_k


def assert_same_as_twin(X, k, **options):
    ref = naive_k_member([[int(x) for x in row] for row in X], k, **options)
    comp = k_member(X, k).labels.tolist()
    assert comp == ref, f"n={len(X)} d={X.shape[1]} k={k}"


def sensitive(codes, ordered=False):
    return {"ill": Values(np.unique(codes, return_inverse=True)[1].astype(np.int64), ordered)}


def random_limits(rng, n, k):
    """Return sensitive columns and a constraint on them; all rows together may fail it."""
    columns = {}
    for name in "ab"[: rng.choice([1, 1, 2])]:
        span = rng.choice([1, 2, 4, 30])
        columns[name] = sensitive([rng.randint(0, span) for _ in range(n)], rng.random() < 0.5)["ill"]
    kind = rng.choice(["distinct", "distinct", "entropy"])
    l = rng.choice([None, 2, 3, 4]) if kind == "distinct" else rng.choice([None, 1.5, 2.25])
    return columns, Constraints(k=k, l=l, l_kind=kind, t=rng.choice([None, None, 0.2, 0.4]))


def diversity(columns, constraints):
    """Return arguments of the twin: the values of each row, how many are wanted, a test of limits, the tolerance."""
    if constraints.l is None and constraints.t is None:
        constraints = Constraints(k=constraints.k, l=2)
    values = list(zip(*(column.codes.tolist() for column in columns.values()), strict=True))
    wanted = None if constraints.t is not None or constraints.l_kind == "entropy" else constraints.l
    limits = Limits.of(constraints, columns)
    return values, wanted, lambda rows: limits.met(np.array(rows)), TOLERANCE


@given(tables_with_k())
def test_every_group_has_k_to_2k_minus_1_rows_and_every_row_is_in_a_group(table):
    X, k = table
    partition = k_member(X, k)
    assert partition.n == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1
    assert partition.groups == len(X) // k


@given(tables_with_k())
def test_it_agrees_with_the_naive_twin(table):
    assert_same_as_twin(*table)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_it_agrees_with_the_naive_twin_on_many_tables(part, compiled):
    rng = random.Random(part)
    for _ in range(150 if compiled else 10):
        assert_same_as_twin(*random_table(rng))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_it_agrees_with_the_naive_twin_over_many_blocks_and_columns(part, compiled):
    rng = np.random.default_rng(part)
    for _ in range(4 if compiled else 1):
        n = int(rng.integers(100, 250 if compiled else 120))
        d, k = int(rng.integers(1, 40)), int(rng.integers(2, 20))
        X = np.rint(rng.standard_t(1.5, size=(n, d)) * rng.choice([1, 3, 30])).clip(-3000, 3000)
        assert_same_as_twin(X, k)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_beyond_many_rows_it_agrees_with_the_twin_that_considers_near_rows(part, compiled, monkeypatch):
    rng = np.random.default_rng(part)
    changed = 0
    for _ in range(30 if compiled else 1):
        # Many columns of few values: rows outside the pool are often as near to the mean as those inside.
        n, k = int(rng.integers(60, 130)), int(rng.integers(3, 9))
        X = rng.integers(0, rng.integers(2, 4), size=(n, int(rng.integers(6, 14)))).astype(np.float64)
        exact = k_member(X, k).labels
        many, near = n - k * int(rng.integers(0, 8)), int(rng.choice([1, 33, 40]))
        monkeypatch.setattr(module, "MANY", many)
        monkeypatch.setattr(module, "NEAR", near)
        assert_same_as_twin(X, k, many=many, near=near)
        changed += not np.array_equal(exact, k_member(X, k).labels)
        monkeypatch.undo()
    assert changed > 1 or not compiled


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_diverse_groups_equal_those_of_the_naive_twin(part, compiled, monkeypatch):
    rng = random.Random(part)
    changed = 0
    for _ in range(100 if compiled else 10):
        X, k = random_table(rng)
        columns, constraints = random_limits(rng, len(X), k)
        many = rng.choice([5000, 20])
        monkeypatch.setattr(module, "MANY", many)
        limits = Limits.of(constraints, columns)
        wanted = diversity(columns, constraints)
        comp = k_member(X, k, diverse=True, limits=limits)
        assert comp.labels.tolist() == naive_k_member(X.astype(int).tolist(), k, many=many, diversity=wanted)
        assert k <= comp.sizes.min()
        assert comp.sizes.max() <= 2 * k - 1
        changed += not np.array_equal(comp.labels, k_member(X, k).labels)
    assert changed > 1 or not compiled


@pytest.mark.compiled
def test_near_rows_cost_little_loss(monkeypatch):
    X = np.random.default_rng(7).normal(size=(2000, 10))
    exact = k_member(X, 5).labels
    monkeypatch.setattr(module, "MANY", 50)
    monkeypatch.setattr(module, "NEAR", 20)
    near = k_member(X, 5).labels
    assert not np.array_equal(near, exact)
    assert sse(X, near) == pytest.approx(sse(X, exact), rel=0.02)


@pytest.mark.parametrize("columns", [0, 1, 5])
def test_equal_rows_are_grouped_in_order(columns):
    labels = k_member(np.ones((11, columns)), 3).labels
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0]


def test_a_group_grows_around_its_mean_and_not_around_its_seed():
    # The third row is farther from the seed in the first row than the fourth one, but nearer to the mean by then.
    X = np.array([[0, 0], [8, 0], [13, 0], [0, 9], [0, 10], [0, 11], [200, 200], [201, 200], [200, 201]], np.float64)
    assert k_member(X, 3).labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_leftover_rows_join_the_group_where_they_cost_least():
    X = np.array([[0.0], [1.0], [2.0], [40.0], [41.0], [99.0], [100.0]])
    partition = k_member(X, 2)
    assert partition.groups == 3
    assert partition.labels.tolist() == [0, 0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(("n", "groups"), [(4, 1), (7, 1), (8, 2), (11, 2), (12, 3), (13, 3)])
def test_the_number_of_groups_is_n_over_k_rounded_down(n, groups):
    assert k_member(np.arange(n, dtype=np.float64).reshape(n, 1), 4).groups == groups


@pytest.mark.parametrize("scale", [2.0**900, 2.0**-1000, 2.0**40])
def test_the_size_of_the_numbers_does_not_matter(scale):
    X = np.random.default_rng(2).integers(-5, 6, size=(60, 3)).astype(np.float64)
    assert np.array_equal(k_member(X * scale, 4).labels, k_member(X, 4).labels)


@pytest.mark.compiled
@pytest.mark.parametrize(("l", "least"), [(2, 1.0), (3, 0.98)])
@pytest.mark.parametrize("seed", range(3))
def test_diverse_groups_have_l_values_where_they_are_mixed(l, least, seed):
    rng = np.random.default_rng(seed)
    X, columns = rng.normal(size=(2000, 4)), sensitive(rng.integers(0, l, 2000))
    constraints = Constraints(k=5, l=l)
    partition = k_member(X, 5, diverse=True, limits=Limits.of(constraints, columns))
    assert (distinct(Counts.of(partition.labels, columns["ill"])) >= l).mean() >= least
    merged, mended = (enforce(one, X, constraints, columns) for one in (k_member(X, 5), partition))
    assert sse(X, mended.labels) < sse(X, merged.labels)


def test_two_values_are_sought_if_the_policy_requires_nothing():
    rng = np.random.default_rng(3)
    X, columns = rng.normal(size=(200, 2)), sensitive(rng.integers(0, 2, 200))
    nothing, two = (k_member(X, 3, diverse=True, limits=Limits.of(Constraints(k=3, l=l), columns)) for l in (None, 2))
    assert np.array_equal(nothing.labels, two.labels)
    assert not np.array_equal(nothing.labels, k_member(X, 3).labels)


def test_a_row_with_another_value_is_not_taken_if_it_costs_too_much():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [500.0], [501.0]])
    limits = Limits.of(Constraints(k=2, l=2), sensitive([0, 0, 0, 0, 1, 1]))
    assert k_member(X, 2, diverse=True, limits=limits).labels.tolist() == k_member(X, 2).labels.tolist()


def test_limits_are_ignored_unless_diverse_groups_are_requested():
    X = np.random.default_rng(4).normal(size=(60, 2))
    limits = Limits.of(Constraints(k=3, l=2), sensitive(np.arange(60) // 30))
    assert np.array_equal(k_member(X, 3, limits=limits).labels, k_member(X, 3).labels)


@pytest.mark.compiled
def test_census_has_the_sse_of_the_docs_page(census_sample):
    for k, figure in ((3, 758.09), (4, 1013.88), (5, 1227.29), (10, 2024.13)):
        assert sse(census_sample, k_member(census_sample, k).labels) == pytest.approx(figure, abs=0.005)


@pytest.mark.compiled
def test_on_waveform_l_2_costs_less_than_by_merging(data_file):
    data = np.loadtxt(data_file("waveform.csv"), delimiter=",", skiprows=1)
    X, columns, constraints = standardized(data[:, :-1]), sensitive(data[:, -1]), Constraints(k=5, l=2)
    partition = k_member(X, 5, diverse=True, limits=Limits.of(constraints, columns))
    assert not failing(partition.labels, constraints, columns).any()
    assert 100 * sse(X, partition.labels) / X.size == pytest.approx(24.082, abs=0.001)
    merged = enforce(k_member(X, 5), X, constraints, columns)
    assert 100 * sse(X, merged.labels) / X.size > 30


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr(module, "PIECE", 1)
    ticks = []
    with listening(lambda step, done, total: ticks.append((done, total))):
        k_member(np.random.default_rng(3).normal(size=(120, 2)), 3)
    assert len(ticks) == 40
    assert ticks == sorted(ticks)
    assert ticks[-1][0] < ticks[-1][1]


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("k_member")
    assert card.function is k_member
    assert card.ensures == {"k"}
    assert card.uses == {"limits"}
    assert card.check({"k": 3}) == {"k": 3, "diverse": False}
    assert all(parameter.help for parameter in card.params.values())


def test_diverse_groups_need_a_sensitive_column():
    with pytest.raises(MethodError) as caught:
        k_member(np.zeros((9, 2)), 3, diverse=True)
    assert str(caught.value) == (
        "k_member: diverse needs a sensitive column, and there is none. "
        'Give a column the role "sensitive" in the policy, or leave diverse out.'
    )


@pytest.mark.parametrize("diverse", ["yes", 1, None])
def test_diverse_is_true_or_false(diverse):
    with pytest.raises(MethodError, match=r"^k_member: (diverse must be true or false|parameter 'diverse' is missing)"):
        k_member(np.zeros((9, 2)), 3, diverse=diverse)
