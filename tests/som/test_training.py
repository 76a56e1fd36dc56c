"""Self-organizing maps: where they start, how they learn, what they tell, and the errors of published data."""

import csv
import random

import numpy as np
import pytest

import shoal.som.training as module
from naive import som as naive
from shoal.som.grid import Grid, grid_for
from shoal.som.nearest import nearest
from shoal.som.training import Map, Training, laid_out, means_of, som, train


class Narrow(Training):
    """A training in which no unit heeds another."""

    def sigma(self, share, grid):
        return 0.01


def z_scored(path):
    """The numbers before the last column, by their population standard deviation, without constant columns."""
    with path.open(encoding="utf-8", newline="") as lines:
        X = np.array([row[:-1] for row in list(csv.reader(lines))[1:]], np.float64)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def assert_same_as_twin(X, units, epochs, linear=False):
    """Whether the map is that of the twin; nothing is said where rounding decides which prototype is nearest."""
    grid = grid_for(X, units)
    start = laid_out(X, grid)
    try:
        ref = naive.trained(X.tolist(), start.tolist(), (grid.rows, grid.columns), epochs, linear, clear=1e-9)
    except naive.TooCloseError:
        return False
    comp = train(X, Map(grid, start), Training(epochs=epochs, linear=linear)).prototypes
    np.testing.assert_allclose(comp, ref, rtol=0, atol=1e-9 * max(1.0, np.abs(X).max()))
    return True


@pytest.mark.parametrize(
    ("linear", "figures"), [(False, [4, 2 * 2**0.5, 2, 2**0.5, 1]), (True, [4, 3.25, 2.5, 1.75, 1])]
)
def test_sigma_falls_from_a_quarter_of_the_longer_side_to_1(linear, figures):
    how, grid = Training(linear=linear), Grid(14, 5)
    assert [how.sigma(share, grid) for share in (0, 0.25, 0.5, 0.75, 1)] == pytest.approx(figures)


@pytest.mark.parametrize("sides", [(1, 1), (4, 2), (4, 4)])
def test_sigma_is_never_below_1(sides):
    for how in (Training(), Training(linear=True)):
        assert [how.sigma(share, Grid(*sides)) for share in (0, 0.5, 1)] == [1, 1, 1]


def test_the_start_is_laid_along_the_two_principal_axes():
    X = np.array([[11.0, 22.0], [11.0, 18.0], [9.0, 22.0], [9.0, 18.0]])
    found = laid_out(X, Grid(3, 2))
    assert found == pytest.approx(np.array([[9, 18], [11, 18], [9, 20], [11, 20], [9, 22], [11, 22]], float))


def test_the_largest_entry_of_an_axis_is_positive():
    for sign in (1, -1):
        X = sign * np.array([[-2.0, 1.0], [2.0, -1.0]])
        assert laid_out(X, Grid(2, 1)) == pytest.approx(np.array([[-2.0, 1.0], [2.0, -1.0]]))


def test_a_start_of_one_column_or_one_unit():
    X = np.array([[0.0], [2.0]])
    assert laid_out(X, Grid(3, 1)).tolist() == [[0], [1], [2]]
    assert laid_out(X, Grid(1, 1)).tolist() == [[1]]
    assert laid_out(X, Grid(2, 2)).tolist() == [[0], [0], [2], [2]]


@pytest.mark.parametrize("n", [3, 50])
def test_a_random_start_is_made_of_rows_by_the_seed(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    found = [laid_out(X, Grid(4, 3), "random", seed) for seed in (1, 1, 2)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    assert {tuple(row) for row in found[0].tolist()} <= {tuple(row) for row in X.tolist()}


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_batch_training_is_that_of_the_twin(seed, linear):
    X = np.random.default_rng(seed).normal(size=(30 + seed, 1 + seed))
    assert assert_same_as_twin(X, 12, 1, linear)
    assert assert_same_as_twin(X, 12, 6, linear)


def test_batch_training_is_that_of_the_twin_on_whole_numbers():
    rng, done = random.Random(0), 0
    for _ in range(60):
        n, d, span = rng.randint(2, 30), rng.randint(1, 4), rng.choice([1, 9, 1000])
        X = np.array([[float(rng.randint(-span, span)) for _ in range(d)] for _ in range(n)])
        done += assert_same_as_twin(X, rng.randint(0, 15), rng.randint(1, 4))
    assert done > 15


def test_where_nothing_counts_a_prototype_keeps_its_place():
    sums = np.array([[6.0, 3.0, 3.0], [0.0, 0.0, 0.0]])
    assert means_of(sums, np.array([[7.0, 7.0], [8.0, 9.0]])).tolist() == [[2, 1], [8, 9]]


def test_a_unit_that_no_row_is_near_keeps_its_prototype():
    start = Map(Grid(3, 1), np.array([[0.0], [5.0], [99.0]]))
    found = train(np.array([[1.0], [2.0], [6.0]]), start, Narrow(epochs=5))
    assert found.prototypes.tolist() == [[1.5], [6], [99]]
    assert start.prototypes.tolist() == [[0], [5], [99]]


def test_a_map_lies_where_the_rows_are():
    X = np.random.default_rng(0).normal(size=(200, 2))
    before, after = Map(grid_for(X), laid_out(X, grid_for(X))).errors(X)[0], som(X).errors(X)[0]
    assert after < 0.8 * before
    assert som(X).hits(X).sum() == 200


@pytest.mark.compiled
@pytest.mark.parametrize("start", ["pca", "random"])
def test_rows_one_by_one_are_about_as_good_as_all_at_once(start):
    X = np.random.default_rng(1).normal(size=(400, 3))
    batch = som(X).errors(X)
    online = som(X, training=Training(online=True, start=start)).errors(X)
    assert online[0] == pytest.approx(batch[0], rel=0.1)
    assert online[1] < batch[1] + 0.1


def test_rows_one_by_one_come_by_the_seed():
    X = np.random.default_rng(2).normal(size=(20, 2))
    one, same, other = (som(X, 6, Training(online=True), seed=seed).prototypes for seed in (3, 3, 4))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("online", [False, True])
def test_distances_counted_in_steps_make_another_map(online):
    X = np.random.default_rng(3).normal(size=(25, 2))
    maps = [som(X, 20, Training(epochs=3, online=online), steps=steps).prototypes for steps in (False, True)]
    assert not np.allclose(*maps)


def test_the_same_table_gives_the_same_map_by_any_number_of_threads(monkeypatch):
    import shoal.som.nearest as looking

    X = np.random.default_rng(4).normal(size=(60, 3))
    alone = som(X).prototypes
    monkeypatch.setattr(looking, "LONG", 1)
    monkeypatch.setattr(looking, "ROUND", 16)
    assert np.array_equal(som(X.copy(), threads=2).prototypes, alone)


@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 1), (7, 3)])
def test_equal_rows_make_a_map_of_one_unit(n, d, online):
    X = np.full((n, d), 2.5)
    found = som(X, training=Training(online=online))
    assert (found.grid.rows, found.grid.columns) == (1, 1)
    assert found.prototypes == pytest.approx(X[:1])
    assert found.errors(X) == pytest.approx((0, 0))
    assert found.u_matrix().tolist() == [0]


def test_a_constant_column_stays_constant():
    X = np.column_stack([np.random.default_rng(5).normal(size=(30, 2)), np.full(30, 4.0)])
    assert som(X).prototypes[:, 2] == pytest.approx(4.0)


def test_a_part_of_many_rows_is_enough_to_train_on(monkeypatch):
    monkeypatch.setattr(module, "TRAINED", 50)
    monkeypatch.setattr(module, "EACH", 1)
    X = np.random.default_rng(6).normal(size=(500, 2))
    some = [som(X, 12, seed=seed) for seed in (0, 0, 1)]
    assert np.array_equal(some[0].prototypes, some[1].prototypes)
    assert not np.array_equal(some[0].prototypes, some[2].prototypes)
    monkeypatch.setattr(module, "TRAINED", 500)
    assert some[0].errors(X)[0] == pytest.approx(som(X, 12).errors(X)[0], rel=0.25)


def test_cells_and_hits_by_hand():
    flat = Map(Grid(3, 1), np.array([[0.0], [1.0], [5.0]]))
    X = np.array([[0.2], [2.9], [1.0], [-7.0]])
    assert flat.cells(X).tolist() == nearest(X, flat.prototypes).tolist() == [0, 1, 1, 0]
    assert flat.hits(X).tolist() == [2, 2, 0]


def test_errors_by_hand():
    X = np.array([[0.25], [6.0]])
    assert Map(Grid(1, 3), np.array([[0.0], [1.0], [5.0]])).errors(X) == (0.625, 0.0)
    # The two nearest of the first row are now at the ends of the line.
    assert Map(Grid(1, 3), np.array([[0.0], [5.0], [1.0]])).errors(X) == (0.625, 0.5)


def test_a_u_matrix_by_hand():
    line = Map(Grid(1, 3), np.array([[0.0], [1.0], [5.0]]))
    assert line.u_matrix().tolist() == [1, 2.5, 4]
    # Of four hexagons, the first of the lower row touches both above it, the first above only that one below.
    four = Map(Grid(2, 2), np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [0.0, 0.0]]))
    assert four.u_matrix() == pytest.approx([(5 + 10) / 2, (5 + 5 + 5) / 3, (10 + 5 + 10) / 3, (5 + 10) / 2])


@pytest.mark.parametrize("hexagonal", [False, True])
def test_a_u_matrix_is_that_of_the_twin(hexagonal):
    prototypes = np.random.default_rng(7).normal(size=(20, 3))
    ref = naive.u_matrix(prototypes.tolist(), (5, 4), hexagonal)
    assert Map(Grid(5, 4, hexagonal), prototypes).u_matrix() == pytest.approx(ref)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "sides", "error", "topographic"),
    [
        ("wine", (10, 7), 1.882, 0.017),
        ("glass", (9, 8), 1.139, 0.023),
        ("ecoli", (12, 8), 0.869, 0.009),
        ("yeast", (16, 12), 1.109, 0.031),
    ],
)
def test_the_errors_of_public_data_are_those_of_the_specification(name, sides, error, topographic, data_file):
    X = z_scored(data_file(f"{name}.csv"))
    found = som(X)
    assert (found.grid.rows, found.grid.columns) == sides
    assert found.errors(X)[0] == pytest.approx(error, rel=0.02)
    assert found.errors(X)[1] == pytest.approx(topographic, abs=0.02)
