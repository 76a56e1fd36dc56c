"""Mixtures: convex ones are those of the twin, in the hull, and never far from the best; others may be exact."""

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from naive import som as naive
from shoal.som.grid import Grid
from shoal.som.mixture import convex_mixture, nnls_mixture
from shoal.som.training import Map, som

SQUARE = Map(Grid(2, 2, hexagonal=False), np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))


def around(map_, cell):
    """The prototypes of a unit and of those next to it."""
    near = map_.grid.neighbours[cell]
    return map_.prototypes[[cell, *near[near >= 0]]]


def mapped(seed, n=60, d=3):
    X = np.random.default_rng(seed).normal(size=(n, d))
    map_ = som(X, 15)
    return X, map_, map_.cells(X)


@pytest.mark.slow
def test_a_row_among_prototypes_is_met():
    X = np.array([[0.5, 0.5], [0.5, 0.25], [0.75, 0.5]])
    assert convex_mixture(X, SQUARE, SQUARE.cells(X)) == pytest.approx(X, abs=0.01)


def test_a_row_outside_goes_to_the_nearest_edge():
    X = np.array([[2.0, 0.5], [5.0, 9.0]])
    assert convex_mixture(X, SQUARE, SQUARE.cells(X)) == pytest.approx(np.array([[1, 0.5], [1, 1]]), abs=0.01)


def test_one_unit_is_its_own_mixture():
    map_ = Map(Grid(1, 1), np.array([[2.0, 3.0]]))
    assert convex_mixture(np.array([[9.0, -9.0]]), map_, np.zeros(1, np.int64)) == pytest.approx(map_.prototypes)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-17, 1e17])
def test_prototypes_of_any_size_are_mixed(size):
    for sides in ((1, 1), (2, 1)):
        map_ = Map(Grid(*sides), np.full((sides[0], 2), size))
        found = convex_mixture(np.array([[1.0, -2.0], [0.0, 5.0]]), map_, np.zeros(2, np.int64))
        assert found == pytest.approx(np.full((2, 2), size))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_mixtures_are_those_of_the_twin(d):
    X, map_, cells = mapped(d, d=d)
    ref = [naive.mixture(row, around(map_, cell).tolist()) for row, cell in zip(X.tolist(), cells, strict=True)]
    np.testing.assert_allclose(convex_mixture(X, map_, cells), ref, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_mixture_is_a_mean_of_a_unit_and_those_next_to_it(seed):
    X, map_, cells = mapped(seed)
    for mixed, cell in zip(convex_mixture(X, map_, cells), cells, strict=True):
        near = around(map_, cell)
        # Shares of at least 0 that add up to 1 and give the mixture, but for a little in each column.
        sides = np.vstack([near.T, -near.T])
        bounds = np.concatenate([mixed, -mixed]) + 1e-7
        found = linprog(np.zeros(len(near)), sides, bounds, np.ones((1, len(near))), [1.0], bounds=(0, None))
        assert found.status == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_mixture_is_between_the_best_matching_unit_and_the_best_one(seed):
    X, map_, cells = mapped(seed)
    for row, mixed, cell in zip(X, convex_mixture(X, map_, cells), cells, strict=True):
        near, heavy = around(map_, cell), 1e4
        away = np.linalg.norm(row - mixed)
        assert away <= np.linalg.norm(row - near[0]) + 1e-12
        # With a heavy penalty for sums other than 1, the least distance is a little below the true one.
        least = nnls(np.vstack([near.T, np.full(len(near), heavy)]), np.append(row, heavy))[1]
        assert least - 1e-9 <= away <= least + 0.25


def test_mixtures_are_nearer_than_the_nearest_prototype():
    X, map_, cells = mapped(1, n=200)
    one = np.linalg.norm(X - map_.prototypes[cells], axis=1)
    several = np.linalg.norm(X - convex_mixture(X, map_, cells), axis=1)
    assert (several <= one + 1e-12).all()
    assert several.mean() < one.mean()


def test_the_order_of_rows_does_not_matter_and_the_input_is_left_as_it_was():
    X, map_, cells = mapped(2)
    before = X.copy(), cells.copy()
    backwards = convex_mixture(np.ascontiguousarray(X[::-1]), map_, np.ascontiguousarray(cells[::-1]))
    assert np.array_equal(backwards[::-1], convex_mixture(X, map_, cells))
    assert np.array_equal(X, before[0])
    assert np.array_equal(cells, before[1])


@pytest.mark.parametrize("seed", range(3))
def test_on_columns_around_zero_a_mixture_of_all_is_the_row_itself(seed):
    X, map_, _ = mapped(seed)
    X = X - X.mean(axis=0)
    assert nnls_mixture(X, map_) == pytest.approx(X, abs=1e-9)


def test_a_mixture_of_all_has_no_share_below_zero():
    map_ = Map(Grid(2, 1), np.array([[1.0, 0.0], [0.0, 2.0]]))
    X = np.array([[3.0, 5.0], [-1.0, 4.0], [-1.0, -1.0]])
    assert nnls_mixture(X, map_) == pytest.approx(np.array([[3.0, 5.0], [0.0, 4.0], [0.0, 0.0]]))
