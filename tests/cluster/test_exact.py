"""Exact: the optimum of small tables, valid bounds, cuts that no partition violates, budgets, and refusals."""

import random
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from figures import sse
from naive.exact import least_sse, left_side, partitions, squares
from shoal.cluster.exact import generation
from shoal.cluster.exact.branching import branch
from shoal.cluster.exact.cuts import PATTERNS, coefficients, index_of, no_cuts, violated
from shoal.cluster.exact.generation import Search, Work
from shoal.cluster.exact.master import Master, choose, tidy
from shoal.cluster.exact.pricing import below, costs, distances, lowered, nearest_sums
from shoal.cluster.methods.anneal import anneal
from shoal.cluster.methods.exact import EFFORTS, exact
from shoal.errors import MethodError
from shoal.model.progress import budget, cut_short


@pytest.fixture(autouse=True)
def less_work(compiled, monkeypatch):
    """Loops that are not compiled start with a few proposals."""
    if not compiled:
        for effort, work in EFFORTS.items():
            monkeypatch.setitem(EFFORTS, effort, replace(work, starts=2, rounds=2))


def bound(partition):
    return {finding.name: finding.value for finding in partition.findings}["proved lower bound of SSE"]


def gap(partition):
    return {finding.name: finding.value for finding in partition.findings}["gap %"]


def random_rows(rng, most):
    """Whole numbers with many ties, numbers with few, and rows that occur several times."""
    k = rng.choice([2, 2, 3, 3, 4])
    n, d = rng.randint(k, most), rng.randint(1, 3)
    span = rng.choice([1, 2, 4, 50])
    X = np.array([[float(rng.randint(-span, span)) for _ in range(d)] for _ in range(n)])
    kind = rng.randrange(4)
    if kind == 0:
        X += np.array([[rng.gauss(0, 1) for _ in range(d)] for _ in range(n)])
    elif kind == 1:
        X = X[[rng.randrange(max(2, n // 2)) for _ in range(n)]]
    return X, k


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_small_tables_get_the_optimum_of_all_partitions(part, compiled):
    rng = random.Random(part)
    for case in range(50 if compiled else 8):
        X, k = random_rows(rng, (14 if case % 5 == 0 else 12) if compiled else 8)
        partition = exact(X, k, seed=case, threads=1)
        ref = least_sse(X.tolist(), k)
        assert k <= partition.sizes.min()
        assert partition.sizes.max() <= 2 * k - 1
        assert sse(X, partition.labels) == pytest.approx(ref, rel=1e-7, abs=1e-9)
        assert bound(partition) <= ref + 1e-12
        assert gap(partition) <= 1e-6
        assert partition.findings[-1].how == "proved optimal: no partition has a lower SSE"


def test_any_prices_give_a_bound_below_every_partition(compiled):
    rng = random.Random(5)
    for case in range(60 if compiled else 6):
        X, k = random_rows(rng, 11 if compiled else 7)
        n, generator = len(X), np.random.default_rng(case)
        if n < 2 * k:
            continue
        D = distances(X)
        price = generator.normal(size=n) * generator.choice([0.1, 3.0, 1e4])
        cuts = some_cuts(rng, n)
        toll = generator.exponential(size=len(cuts.rows)) * generator.choice([0.0, 1.0, 30.0])
        work = 10**9 if case % 2 else 1
        order = np.argsort(-price, kind="stable")
        price, groups, _ = lowered(D, nearest_sums(D, k), price, order, cuts, toll, k, 1e-9, work)
        assert price.sum() - toll @ cuts.right <= least_sse(X.tolist(), k) + 1e-6
        if len(groups):
            assert (tidy(groups)[:, k - 1] >= 0).all()


def some_cuts(rng, n):
    """Random cuts, each with distinct rows."""
    rows, weights, divisors = [], [], []
    for size, divisor in [(weights, divisor) for weights, divisor in PATTERNS if len(weights) <= n]:
        own = sorted(rng.sample(range(n), len(size)))
        rows.append(own + [-1] * (9 - len(own)))
        weights.append(rng.sample(size, len(size)) + [0] * (9 - len(own)))
        divisors.append(divisor)
    return index_of(np.array(rows), np.array(weights), np.array(divisors), n)


def test_no_partition_violates_a_cut():
    rng = random.Random(6)
    for n, k in ((6, 2), (7, 2), (8, 3), (9, 3)):
        cuts = some_cuts(rng, n)
        for groups in partitions(list(range(n)), k):
            for c in range(len(cuts.rows)):
                own = cuts.rows[c] >= 0
                left = left_side(groups, cuts.rows[c][own].tolist(), cuts.weight[c][own].tolist(), cuts.divisor[c])
                assert left <= cuts.right[c]


def test_coefficients_of_groups_are_their_weights_over_the_divisor_rounded_down():
    rng = random.Random(7)
    cuts = some_cuts(rng, 12)
    groups = np.array([sorted(rng.sample(range(12), 5)) for _ in range(40)])
    ref = np.zeros((40, len(cuts.rows)))
    for g, c in np.ndindex(ref.shape):
        ref[g, c] = left_side([groups[g].tolist()], cuts.rows[c].tolist(), cuts.weight[c].tolist(), cuts.divisor[c])
    comp = np.zeros_like(ref)
    group, cut, value = coefficients(groups, cuts)
    comp[group, cut] = value
    assert_array_equal(comp, ref)


def test_cuts_that_are_found_are_violated_and_raise_the_bound():
    # Half of each of three pairs: every row is covered once, but two of three rows are together one and a half times.
    groups = np.array([[0, 1, -1], [1, 2, -1], [0, 2, -1]])
    rows, weight, divisor = violated(groups, np.full(3, 0.5), 3, 10, set())
    assert rows[0][:3].tolist() == [0, 1, 2]
    assert (weight[0][:3].tolist(), divisor[0]) == ([1, 1, 1], 2)
    known = set()
    assert len(violated(groups, np.full(3, 0.5), 3, 10, known)[0]) == len(known) > 0
    assert len(violated(groups, np.full(3, 0.5), 3, 10, known)[0]) == 0
    assert len(violated(groups, np.array([1.0, 0.0, 0.0]), 3, 10, set())[0]) == 0


def test_every_group_below_the_limit_is_found(compiled):
    rng = random.Random(8)
    for case in range(20 if compiled else 3):
        n, k = rng.randint(4, 9 if compiled else 6), 2
        X = np.array([[float(rng.randint(-9, 9)) for _ in range(2)] for _ in range(n)])
        D, cuts = distances(X), some_cuts(rng, n)
        generator = np.random.default_rng(case)
        price, toll = generator.normal(size=n) * 9, generator.exponential(size=len(cuts.rows))
        near, order = nearest_sums(D, k), np.argsort(-price, kind="stable")
        groups, reduced, count = below(D, near, price, order, cuts, toll, k, 5.0, 5000, 10**9)
        comp = {
            tuple(int(i) for i in group[group >= 0]): cost for group, cost in zip(tidy(groups), reduced, strict=True)
        }
        ref = {}
        for mask in range(1, 2**n):
            group = [i for i in range(n) if mask >> i & 1]
            if 2 <= len(group) <= 3:
                tolls = sum(
                    toll[c] * left_side([group], cuts.rows[c].tolist(), cuts.weight[c].tolist(), cuts.divisor[c])
                    for c in range(len(cuts.rows))
                )
                cost = squares([X[i].tolist() for i in group]) - sum(price[i] for i in group) + tolls
                if cost < 5.0:
                    ref[tuple(group)] = cost
        assert count == len(comp)
        assert comp == pytest.approx(ref, abs=1e-9)
        if count > 0:
            assert below(D, near, price, order, cuts, toll, k, 5.0, count - 1, 10**9)[2] == -1
            assert below(D, near, price, order, cuts, toll, k, 5.0, 5000, 0)[2] == -1


def all_groups(n, k):
    masks = (np.flatnonzero([mask >> i & 1 for i in range(n)]) for mask in range(1, 2**n))
    return np.array([np.pad(g, (0, 2 * k - 1 - g.size), constant_values=-1) for g in masks if k <= g.size < 2 * k])


@pytest.mark.parametrize("nodes", [0, 1, 1000])
def test_branching_finds_the_best_choice_and_a_bound_at_any_node(nodes, compiled):
    rng = random.Random(9)
    for _ in range(10 if compiled else 2):
        n, k = rng.randint(5, 8), 2
        X = np.array([[float(rng.randint(-3, 3)) for _ in range(2)] for _ in range(n)])
        groups, ref = all_groups(n, k), least_sse(X.tolist(), k)
        cost, upper = costs(distances(X), groups), ref + 1.0
        proof = branch(groups, cost, no_cuts(n), k, upper, 1e-9, nodes)
        assert proof.bound <= ref + 1e-9
        if nodes == 1000:
            assert cost[proof.groups].sum() == pytest.approx(ref, abs=1e-9)
            assert proof.bound == pytest.approx(ref, abs=1e-8)
            assert branch(groups, cost, no_cuts(n), k, ref, 1e-9, nodes).groups.size == 0


def test_an_impossible_choice_is_reported_as_none():
    taken, possible = choose(np.array([[0, 1, -1]]), np.ones(1), no_cuts(4), None, 10, 100)
    assert taken.size == 0
    assert not possible


def test_groups_are_added_to_the_programme_once():
    master = Master(distances(np.arange(4.0)[:, None]), 2)
    pairs = np.array([[0, 1, -1], [2, 3, -1]])
    assert master.add(pairs) == 2
    assert master.add(pairs) == 0
    assert master.solve().value == pytest.approx(1.0)


def test_sse_is_never_above_the_annealing_start_however_little_is_done(compiled, monkeypatch):
    monkeypatch.setitem(EFFORTS, "quick", Work(1, 5, 1, 0, 100, (), 10, 1, 1))
    for seed in range(5 if compiled else 1):
        X = np.random.default_rng(seed).normal(size=(60 if compiled else 12, 3))
        start = anneal(X, 3, restarts=1, rounds=5, seed=seed, threads=1)
        found = exact(X, 3, "quick", seed=seed)
        assert sse(X, found.labels) <= sse(X, start.labels) * (1 + 1e-12)
        assert 0 <= bound(found) <= sse(X, found.labels)


def test_clusters_so_distant_that_costs_look_infinite_are_solved(compiled):
    rng = np.random.default_rng(3)
    for seed in range(30 if compiled else 2):
        X = np.concatenate([rng.normal(0, 1e-3, 4), rng.normal(1e6, 1e-3, 3)])[:, None]
        assert bound(exact(X, 2, seed=seed)) <= least_sse(X.tolist(), 2) * (1 + 1e-9)


def test_a_missing_bound_is_noted(monkeypatch):
    monkeypatch.setitem(EFFORTS, "quick", Work(1, 5, 0, 0, 100, (), 10, 1, 1))
    partition = exact(np.random.default_rng(0).normal(size=(12, 2)), 3, "quick")
    assert partition.findings[-1].how == "no lower bound was proved; the groups are the best that were found"
    assert gap(partition) == 100


def test_a_remaining_gap_is_noted(monkeypatch):
    monkeypatch.setitem(EFFORTS, "quick", Work(1, 5, 4, 0, 10**6, (), 1, 1, 1))
    X = np.random.default_rng(1).normal(size=(30, 3))
    partition = exact(X, 3, "quick")
    assert 1e-6 < gap(partition) < 100
    assert partition.findings[-1].how == "no partition has an SSE that is lower by more than this"


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X * 0,
        lambda X: X + 1e12,
        lambda X: np.repeat(X[:4], 3, axis=0),
        lambda X: X * 1e300,
        lambda X: X * 5e-324,
        lambda X: X[:, :1],
        lambda X: X[:, :0],
        lambda X: np.column_stack([X, np.ones(len(X))]),
        lambda X: X[:5],
    ],
    ids=["equal", "far off", "repeated", "huge", "denormal", "one column", "no column", "constant", "one group"],
)
def test_odd_tables_are_proved_optimal(change):
    X = change(np.random.default_rng(3).integers(-4, 5, (10, 2)).astype(float))
    partition = exact(X, 3, threads=1)
    assert partition.sizes.min() >= 3
    assert gap(partition) <= 1e-6
    fits = np.abs(X).max(initial=0) < 1e150 and (not X.any() or np.abs(X).max(initial=0) > 1e-150)
    if fits:
        assert bound(partition) <= least_sse(X.tolist(), 3) * (1 + 1e-12)
    else:
        assert [finding.name for finding in partition.findings] == ["gap %"]


def test_the_same_seed_gives_the_same_bytes_with_one_thread_and_two(compiled):
    X = np.random.default_rng(4).normal(size=(120 if compiled else 10, 3))
    one, two = (exact(X, 3, "quick", seed=2, threads=threads) for threads in (1, 2))
    assert one.labels.tobytes() == two.labels.tobytes()
    assert one.findings == two.findings


@pytest.mark.compiled
def test_more_prices_and_cuts_raise_the_bound_which_stays_below_the_optimum():
    X = np.random.default_rng(5).normal(size=(60, 2))
    best = sse(X, exact(X, 3).labels)
    bounds = []
    for cuttings in (0, 1, 5, 20):
        work = Work(2, 50, 200, cuttings, 10**8, (), 0, 1, 1)
        search = Search(X, 3, work, [anneal(X, 3, seed=seed).labels for seed in range(2)])
        search.run()
        bounds.append(search.lower * search.unit)
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1] <= best


def test_a_programme_that_cannot_be_solved_leaves_the_start(monkeypatch):
    monkeypatch.setattr(generation.Master, "solve", lambda self: None)
    monkeypatch.setitem(EFFORTS, "quick", Work(1, 5, 9, 9, 10**5, (2,), 10, 1, 10))
    X = np.random.default_rng(6).normal(size=(12, 2))
    assert bound(exact(X, 3, "quick")) == 0


@pytest.mark.slow
@pytest.mark.compiled
def test_a_quick_run_on_census_is_within_a_tenth_of_a_per_cent(census_sample):
    # An annealing of the specification reaches 655.96; the optimum, proved by a normal run, is 654.7714.
    partition = exact(census_sample, 3, "quick", threads=1)
    found = sse(census_sample, partition.labels)
    assert bound(partition) <= 654.7714 <= found + 1e-4
    assert found <= 655.97
    assert gap(partition) <= 0.1


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("seconds", [1.5, 4.0])
def test_a_budget_is_respected(census_sample, seconds):
    exact(census_sample[:40], 3, "quick")
    start = time.monotonic()
    with budget(seconds):
        partition = exact(census_sample, 3, "thorough", threads=1)
        assert cut_short()
    assert time.monotonic() - start <= seconds
    assert 3 <= partition.sizes.min()
    assert 0 <= bound(partition) <= 654.7714


def test_many_rows_are_refused():
    with pytest.raises(MethodError, match=r"^exact: X has 2001 rows; at most 2000 are possible. Use anneal.$"):
        exact(np.zeros((2001, 1)), 3)


def test_large_groups_are_refused():
    with pytest.raises(MethodError, match=r"^exact: k must be at most 6; got 7. Use anneal for larger groups.$"):
        exact(np.zeros((30, 1)), 7)


def test_without_the_solver_it_says_what_to_install_and_auto_chooses_another_method(monkeypatch):
    from shoal.cluster.methods import auto as automatic
    from shoal.cluster.methods import exact as proving

    for module in (automatic, proving):
        monkeypatch.setattr(module, "solver_is_installed", lambda: False)
    with pytest.raises(MethodError, match=r"pip install 'shoal\[exact\]'"):
        exact(np.arange(20.0).reshape(-1, 1), 3)
    assert automatic.plan(60, 2, 3, "thorough").method == "anneal"
