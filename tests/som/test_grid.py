"""The grid of a map: its size, its places, its neighbours, and how far units are from each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import som as naive
from shoal.som.grid import Grid, grid_for

SIDES = [(1, 1), (1, 4), (4, 1), (2, 2), (5, 3), (4, 6)]
LATTICES = pytest.mark.parametrize("hexagonal", [True, False], ids=["hexagonal", "rectangular"])


def spread_of(most, least, n=100):
    """A table of n rows, a multiple of 4, with these variances along its axes and no covariance."""
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    return np.tile(corners * np.sqrt([least, most]), (n // 4, 1))


@pytest.mark.parametrize(
    ("most", "least", "hexagonal", "sides"),
    [
        (1, 1, True, (7, 7)),  # 50 units: sqrt(50 x 0.866) = 6.58, 50 / 7 = 7.1
        (1, 1, False, (7, 7)),  # sqrt(50) = 7.07
        (4, 1, True, (10, 5)),  # sqrt(25 x 0.866) = 4.65
        (4, 1, False, (10, 5)),  # sqrt(25) = 5
        (16, 1, True, (17, 3)),  # sqrt(12.5 x 0.866) = 3.29, 50 / 3 = 16.7
        (49, 1, False, (17, 3)),  # sqrt(50 / 7) = 2.67
        (64, 1, True, (7, 7)),  # 1 x 50 < 64: taken as even
        (1, 0, False, (7, 7)),  # all on a line: taken as even
    ],
)
def test_sides_by_hand(most, least, hexagonal, sides):
    grid = grid_for(spread_of(most, least), hexagonal=hexagonal)
    assert (grid.rows, grid.columns) == sides


@pytest.mark.parametrize(("n", "units"), [(4, 10), (16, 20), (100, 50), (400, 100)])
def test_a_map_has_about_5_roots_of_n_units(n, units):
    assert grid_for(spread_of(4, 1, n), hexagonal=False).units == pytest.approx(units, rel=0.2)


def test_a_number_of_units_may_be_given():
    grid = grid_for(spread_of(4, 1), 8, hexagonal=False)
    assert (grid.rows, grid.columns) == (4, 2)
    assert grid_for(spread_of(4, 1), 1).units == 1


def test_one_column_is_taken_as_even():
    grid = grid_for(np.arange(100.0)[:, None], hexagonal=False)
    assert (grid.rows, grid.columns) == (7, 7)


@pytest.mark.parametrize("d", [0, 1, 3])
def test_equal_rows_have_one_unit(d):
    assert grid_for(np.full((30, d), 3.5)).units == 1
    assert grid_for(np.full((1, d), 3.5), 50).units == 1


@given(st.integers(1, 60), st.integers(1, 5), st.integers(0, 80), st.integers(0, 99), st.booleans())
def test_the_longer_side_is_first_and_units_are_about_as_many_as_wanted(n, d, units, seed, hexagonal):
    X = np.random.default_rng(seed).integers(-2, 3, (n, d)).astype(np.float64)
    grid = grid_for(X, units, hexagonal=hexagonal)
    wanted = units or 5 * np.sqrt(n)
    assert grid.rows >= grid.columns >= 1
    assert grid.units == 1 or grid.units <= 1.5 * wanted + 1


@LATTICES
@pytest.mark.parametrize("sides", SIDES)
def test_places_are_those_of_the_twin(sides, hexagonal):
    comp = Grid(*sides, hexagonal).places
    ref = [naive.place(unit, sides[1], hexagonal) for unit in range(sides[0] * sides[1])]
    np.testing.assert_allclose(comp, ref, atol=1e-12)


@LATTICES
@pytest.mark.parametrize("sides", SIDES)
def test_squared_distances_are_those_of_the_places(sides, hexagonal):
    grid = Grid(*sides, hexagonal)
    ref = ((grid.places[:, None] - grid.places[None]) ** 2).sum(axis=2)
    comp = [grid.near(grid.squared, unit) for unit in range(grid.units)]
    np.testing.assert_allclose(comp, ref, atol=1e-12)


@LATTICES
@pytest.mark.parametrize("sides", SIDES)
def test_steps_are_counted_from_neighbour_to_neighbour(sides, hexagonal):
    grid = Grid(*sides, hexagonal, steps=True)
    for unit in range(grid.units):
        ref = naive.steps(unit, sides, hexagonal)
        assert np.sqrt(grid.near(grid.squared, unit)).tolist() == ref


@LATTICES
@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("sides", SIDES)
def test_neighbours_are_those_of_the_twin(sides, hexagonal, steps):
    found = Grid(*sides, hexagonal, steps).neighbours
    for unit, around in enumerate(found):
        assert around[around >= 0].tolist() == sorted(naive.next_to(unit, sides, hexagonal))


def test_a_unit_has_six_neighbours_inside_and_fewer_at_the_border():
    counts = (Grid(4, 4).neighbours >= 0).sum(axis=1).reshape(4, 4)
    assert counts.tolist() == [[2, 4, 4, 3], [5, 6, 6, 3], [3, 6, 6, 5], [3, 4, 4, 2]]


def test_a_square_has_eight_neighbours_inside_and_fewer_at_the_border():
    counts = (Grid(3, 3, hexagonal=False).neighbours >= 0).sum(axis=1).reshape(3, 3)
    assert counts.tolist() == [[3, 5, 3], [5, 8, 5], [3, 5, 3]]


@LATTICES
@pytest.mark.parametrize("steps", [False, True])
def test_adjacent_units_are_neighbours_or_the_same(hexagonal, steps):
    grid = Grid(4, 5, hexagonal, steps)
    one, two = (part.reshape(-1) for part in np.mgrid[:20, :20])
    ref = [a == b or b in grid.neighbours[a] for a, b in zip(one, two, strict=True)]
    assert grid.adjacent(one, two).tolist() == ref


def test_a_kernel_is_1_at_home_and_falls_with_distance():
    grid = Grid(2, 3, hexagonal=False)
    assert grid.near(grid.kernel(0.5), 0) == pytest.approx(np.exp([0, -2, -8, -2, -4, -10]))


@LATTICES
@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("sides", SIDES)
def test_spread_is_the_product_with_the_whole_matrix(sides, hexagonal, steps):
    grid = Grid(*sides, hexagonal, steps)
    kernel, sums = grid.kernel(1.3), np.random.default_rng(1).normal(size=(grid.units, 3))
    whole = np.array([grid.near(kernel, unit) for unit in range(grid.units)])
    assert np.allclose(whole, whole.T)
    np.testing.assert_allclose(grid.spread(kernel, sums), whole @ sums, atol=1e-12)
