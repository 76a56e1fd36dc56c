"""Views: how columns are dealt, what maps learn from each other, when it is kept, and the index that decides."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal.som.views as module
from naive import som as naive
from shoal.som.grid import Grid, grid_for
from shoal.som.nearest import cell_sums, nearest
from shoal.som.training import Map, Training, laid_out, means_of
from shoal.som.views import View, davies_bouldin, dealt, disagreement, maps_of_views

QUICK = Training(epochs=4)


def learnt(monkeypatch, X, views, own, strength, printed=False):
    """What a view makes of the others, whatever the index says of it."""
    falling = iter(range(99, 0, -1))
    with monkeypatch.context() as patch:
        patch.setattr(module, "davies_bouldin", lambda *_: float(next(falling)))
        view, measured = module._learn(X, views, own, views[0].map.grid.kernel(1.0), strength, printed, 1)
    assert measured == (99.0, 98.0, True)
    return view


def three_views(seed=0, n=40):
    """A table of six columns and a map of each pair of them."""
    X = np.random.default_rng(seed).normal(size=(n, 6))
    return X, maps_of_views(X, [np.array([0, 3]), np.array([1, 4]), np.array([2, 5])], 0, QUICK, units=12)[0]


def twin_views(seed=0):
    """A table of two columns and two views of both that agree."""
    X = np.random.default_rng(seed).normal(size=(40, 2))
    grid = grid_for(X, 12)
    start = Map(grid, laid_out(X, grid))
    view = View(np.arange(2), start, start.cells(X))
    return X, [view, View(view.columns, view.map, view.cells.copy())]


@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 99))
def test_columns_are_dealt_into_disjoint_views_of_almost_equal_size(d, views, seed):
    found = dealt(d, views, seed)
    sizes = [len(some) for some in found]
    assert sorted(np.concatenate(found).tolist()) == list(range(d))
    assert all((np.diff(some) > 0).all() for some in found)
    assert max(sizes) - min(sizes) <= 1
    assert len(found) == (1 if d < 4 else min(views, d // 2))


@pytest.mark.parametrize("d", [0, 1, 2, 3])
def test_fewer_than_four_columns_are_one_view(d):
    [only] = dealt(d, 3, 0)
    assert only.tolist() == list(range(d))


def test_the_deal_comes_from_the_seed():
    first, same, other = ([some.tolist() for some in dealt(12, 3, seed)] for seed in (5, 5, 6))
    assert first == same
    assert first != other


@pytest.mark.parametrize("own", [0, 1, 2])
def test_what_is_learnt_has_the_least_objective_of_all_prototypes(own, monkeypatch):
    X, views = three_views()
    strength = np.ones(3)
    after = learnt(monkeypatch, X, views, own, strength).map.prototypes
    grid = (views[0].map.grid.rows, views[0].map.grid.columns)
    cells = [view.cells.tolist() for view in views]
    weights = np.array(naive.weights_of(cells[own], grid))
    for other in {0, 1, 2} - {own}:
        weights += strength[other] ** 2 * np.array(naive.disagreement(cells[own], cells[other], grid))
    rows = X[:, views[own].columns]

    def objective(prototypes):
        return (weights * ((rows[:, None] - prototypes[None]) ** 2).sum(axis=2)).sum()

    least, rng = objective(after), np.random.default_rng(1)
    assert least <= objective(views[own].map.prototypes)
    for size in (1e-3, 1e-1, 1.0):
        assert least < objective(after + size * rng.normal(size=after.shape))
    slope = 2 * (weights[:, :, None] * (after[None] - rows[:, None])).sum(axis=0)
    assert slope == pytest.approx(np.zeros_like(slope), abs=1e-9)


def test_views_that_agree_are_heeded_most_and_change_nothing(monkeypatch):
    X, views = twin_views()
    grid, kernel, strength = views[0].map.grid, views[0].map.grid.kernel(1.0), np.ones(2)
    assert not disagreement(X, views[0].cells, views[1].cells, grid, kernel).any()
    after = learnt(monkeypatch, X, views, 0, strength)
    plain = means_of(grid.spread(kernel, cell_sums(X, views[0].cells, grid.units)), views[0].map.prototypes)
    assert strength.tolist() == [1, 10]
    assert np.array_equal(after.map.prototypes, plain)
    assert np.array_equal(after.cells, nearest(X, plain))


def test_strength_grows_by_half_the_ratio_of_nearness_to_disagreement(monkeypatch):
    X, views = three_views()
    grid = (views[0].map.grid.rows, views[0].map.grid.columns)
    strength = np.array([1.0, 1.0, 9.99])
    learnt(monkeypatch, X, views, 0, strength)
    near = sum(map(sum, naive.weights_of(views[0].cells.tolist(), grid)))
    far = sum(map(sum, naive.disagreement(views[0].cells.tolist(), views[1].cells.tolist(), grid)))
    assert strength == pytest.approx([1, 1 + near / (2 * far), 10])


def test_as_printed_prototypes_that_are_at_rest_are_doubled(monkeypatch):
    X, views = twin_views()
    grid, kernel, at = views[0].map.grid, views[0].map.grid.kernel(1.0), views[0].map.prototypes
    for _ in range(500):
        at, before = means_of(grid.spread(kernel, cell_sums(X, nearest(X, at), grid.units)), at), at
        if np.array_equal(at, before):
            break
    still = View(np.arange(2), Map(grid, at), nearest(X, at))
    assert learnt(monkeypatch, X, [still, still], 0, np.ones(2)).map.prototypes == pytest.approx(at)
    assert learnt(monkeypatch, X, [still, still], 0, np.ones(2), printed=True).map.prototypes == pytest.approx(2 * at)


def test_as_printed_strength_is_not_squared(monkeypatch):
    X, views = three_views()
    strength = np.ones(3)
    after = learnt(monkeypatch, X, views, 0, strength, printed=True).map.prototypes
    view, kernel, grid = views[0], views[0].map.grid.kernel(1.0), views[0].map.grid
    rows = np.ascontiguousarray(X[:, view.columns])
    sums = grid.spread(kernel, cell_sums(rows, view.cells, grid.units))
    for other in (1, 2):
        sums += strength[other] * disagreement(rows, view.cells, views[other].cells, grid, kernel)
    assert after - view.map.prototypes == pytest.approx(means_of(sums, view.map.prototypes))


@pytest.mark.parametrize("printed", [False, True])
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_the_log_has_an_entry_for_each_view_and_round(rounds, printed):
    X = np.random.default_rng(2).normal(size=(50, 7))
    views, log = maps_of_views(X, dealt(7, 3, 0), rounds, QUICK, units=12, printed=printed)
    assert [(one.number, one.view) for one in log] == [(turn, view) for turn in range(rounds) for view in range(3)]
    assert len(views) == 3
    for one in log:
        assert one.accepted == (one.after < one.before)
        assert len(one.strength) == 2
        assert all(1 <= strength <= 10 for strength in one.strength)


@pytest.mark.parametrize("printed", [False, True])
def test_what_does_not_lower_the_index_is_not_kept(printed):
    counts = Counter()
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(40, 6))
        columns = dealt(6, 3, seed)
        alone, none = maps_of_views(X, columns, 0, QUICK, units=12)
        after, log = maps_of_views(X, columns, 1, QUICK, units=12, printed=printed)
        assert none == []
        for one in log:
            same = np.array_equal(alone[one.view].map.prototypes, after[one.view].map.prototypes)
            assert same == (not one.accepted)
            counts[one.accepted] += 1
    assert counts[printed] > 0


def test_one_view_is_a_map_and_learns_nothing():
    X = np.random.default_rng(3).normal(size=(30, 3))
    [view], log = maps_of_views(X, [np.arange(3)], 5, QUICK)
    assert log == []
    assert np.array_equal(view.cells, view.map.cells(X))


@pytest.mark.parametrize("seed", range(5))
def test_views_learn_as_the_twin_does(seed):
    X = np.random.default_rng(seed).normal(size=(24, 5))
    columns, grid = dealt(5, 2, seed), grid_for(X, 10)
    start = laid_out(X, grid)
    ref, accepted = naive.maps_of_views(
        X.tolist(), [some.tolist() for some in columns], (grid.rows, grid.columns), start.tolist(), 4, 3, clear=1e-9
    )
    comp, log = maps_of_views(X, columns, 3, QUICK, units=10)
    assert [one.accepted for one in log] == accepted
    for view, (prototypes, cells) in zip(comp, ref, strict=True):
        assert view.cells.tolist() == cells
        np.testing.assert_allclose(view.map.prototypes, prototypes, atol=1e-9)


@pytest.mark.parametrize("sides", [(1, 1), (3, 4), (5, 2)])
def test_disagreement_is_that_of_the_twin(sides):
    rng = np.random.default_rng(4)
    grid = Grid(*sides)
    X, here, there = rng.normal(size=(30, 3)), *(rng.integers(0, grid.units, 30) for _ in range(2))
    ref = np.array(naive.disagreement(here.tolist(), there.tolist(), sides)).T @ np.column_stack([X, np.ones(30)])
    np.testing.assert_allclose(disagreement(X, here, there, grid, grid.kernel(1.0)), ref, atol=1e-12)


def test_the_index_by_hand():
    X = np.array([[-1.0], [1.0], [12.0], [27.0], [33.0]])
    prototypes = np.array([[0.0], [10.0], [-500.0], [30.0]])
    assert davies_bouldin(X[:3], prototypes, np.array([0, 0, 1])) == pytest.approx((1 + 2) / 10)
    # Widths 1, 2 and 3: the worst ratios are 3/10, 3/10 and 5/20.
    assert davies_bouldin(X, prototypes, np.array([0, 0, 1, 3, 3])) == pytest.approx((0.3 + 0.3 + 0.25) / 3)


def test_the_index_of_one_cell_is_infinite():
    assert davies_bouldin(np.ones((3, 2)), np.ones((4, 2)), np.full(3, 2)) == float("inf")


def test_prototypes_that_are_the_same_count_as_very_near():
    X, prototypes = np.array([[0.0], [2.0]]), np.ones((2, 1))
    assert davies_bouldin(X, prototypes, np.array([0, 1])) == pytest.approx(2e12)


@given(st.integers(1, 30), st.integers(1, 3), st.integers(1, 6), st.integers(0, 99))
def test_the_index_is_that_of_the_twin(n, d, m, seed):
    rng = np.random.default_rng(seed)
    X, prototypes = (rng.integers(-4, 5, (count, d)).astype(np.float64) for count in (n, m))
    cells = rng.integers(0, m, n)
    ref = naive.davies_bouldin(X.tolist(), prototypes.tolist(), cells.tolist())
    assert davies_bouldin(X, prototypes, cells) == pytest.approx(ref)


def test_views_that_differ_in_width_and_constant_columns_are_fine():
    X = np.column_stack([np.random.default_rng(5).normal(size=(20, 3)), np.full((20, 2), 7.0)])
    views, log = maps_of_views(X, [np.array([3, 4]), np.array([0, 1, 2])], 2, QUICK, units=9)
    assert views[0].map.prototypes == pytest.approx(7.0)
    assert [one.before for one in log if one.view == 0] == [float("inf")] * 2
