"""What the methods of maps share: views, codes, the map of codes, dissolved cells, and k on a thousand tables."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import c_tca as naive_c
from naive import k_tca as naive_k
from shoal.catalogue import methods
from shoal.errors import MethodError
from shoal.som.grid import Grid, grid_for
from shoal.som.nearest import nearest
from shoal.som.tca import (
    Printed,
    coded_by_views,
    columns_of_views,
    dissolved,
    printed_c_tca,
    printed_k_tca,
    topology,
)
from shoal.som.training import Map, Training, laid_out
from shoal.som.views import dealt, maps_of_views

METHODS = ("k_tca", "c_tca", "kde", "k_tca_pp", "c_tca_pp", "kde_pp")
QUICK = Training(epochs=3)


def some_table(rng):
    """A table with a k, now and then of many equal rows, with constant columns, or far off; and labels."""
    n, d = rng.randint(4, 60), rng.randint(1, 6)
    k = rng.randint(2, min(6, n))
    X = np.array([[rng.gauss(0, 1) for _ in range(d)] for _ in range(n)])
    shape = rng.choice(["normal", "ties", "duplicates", "constant", "far off", "equal"])
    if shape == "ties":
        X = np.round(X)
    elif shape == "duplicates":
        X = X[[rng.randrange(rng.randint(1, n)) for _ in range(n)]]
    elif shape == "constant":
        X[:, [j for j in range(d) if rng.random() < 0.5]] = 3.5
    elif shape == "far off":
        X = np.round(X * 10) + 1e9
    elif shape == "equal":
        X[:] = X[0]
    return X, k, [rng.randrange(rng.choice([1, 2, 5])) for _ in range(n)]


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("part", range(4))
def test_every_group_of_hundreds_of_tables_has_k_rows(part):
    rng = random.Random(part)
    cards = {name: methods.load(name) for name in METHODS}
    for turn in range(100):
        X, k, label = some_table(rng)
        for name in METHODS[turn % 2 :: 2]:
            taught = {"label": label} if "label" in cards[name].uses else {}
            partition = cards[name].function(X, k, effort="swift", seed=turn, threads=1, **taught)
            assert partition.n == len(X)
            assert partition.sizes.min() >= k, (name, len(X), k)


@given(st.integers(1, 60), st.integers(1, 12), st.integers(2, 9), st.integers(0, 999))
def test_no_cell_below_k_is_left_unless_it_is_the_only_one(n, m, k, seed):
    rng = np.random.default_rng(seed)
    X, prototypes = (rng.integers(-3, 4, (count, 2)).astype(np.float64) for count in (n, m))
    cells = nearest(X, prototypes)
    before = cells.copy()
    found = dissolved(X, Map(Grid(m, 1), prototypes), cells, k)
    assert np.array_equal(cells, before)
    assert found.tolist() == naive_c.dissolved(X.tolist(), prototypes.tolist(), cells.tolist(), k)
    sizes = np.bincount(found)
    assert sizes[sizes > 0].min() >= min(n, k)


def test_cells_are_dissolved_by_hand():
    map_ = Map(Grid(4, 1), np.array([[0.0], [1.0], [5.0], [9.0]]))
    X = np.array([[0.0], [0.1], [1.0], [4.9], [5.1], [9.0], [9.0], [9.0]])
    # The second cell goes first, to the first one; that has 3 rows then. The third goes to the last but for one row.
    assert dissolved(X, map_, map_.cells(X), 3).tolist() == [0, 0, 0, 3, 3, 3, 3, 3]
    assert dissolved(X, map_, map_.cells(X), 2).tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert dissolved(X, map_, map_.cells(X), 1).tolist() == [0, 0, 1, 2, 2, 3, 3, 3]


def test_views_may_be_given():
    found = columns_of_views(5, [7, -1, 7, 3, -1], 99, 0, "k_tca")
    assert [some.tolist() for some in found] == [[1, 4], [3], [0, 2]]


def test_views_are_dealt_if_none_are_given():
    comp, ref = columns_of_views(9, None, 3, 4, "k_tca"), dealt(9, 3, 4)
    assert all(np.array_equal(one, two) for one, two in zip(comp, ref, strict=True))


@pytest.mark.parametrize(
    ("wrong", "shape"),
    [([0, 1], "(2,)"), ([[0, 1, 1]], "(1, 3)"), (5, "()"), ([0.0, 1.0, 1.0], "(3,)"), (["a", "b", "b"], "(3,)")],
)
@pytest.mark.parametrize("name", ["k_tca", "c_tca", "k_tca_pp", "c_tca_pp"])
def test_views_that_are_not_a_whole_number_a_column_are_refused(name, wrong, shape):
    taught = {"label": [0] * 6} if name.endswith("_pp") else {}
    with pytest.raises(MethodError) as caught:
        methods.load(name).function(np.zeros((6, 3)), 2, view_of=wrong, **taught)
    assert str(caught.value) == (
        f"{name}: view_of must be 3 whole numbers, one per column; got an array of shape {shape}."
    )


@pytest.mark.parametrize(("mixture", "naive"), [("none", naive_k), ("convex", naive_c)])
def test_codes_are_those_of_the_twin(mixture, naive):
    X = np.random.default_rng(1).normal(size=(24, 5))
    columns, grid = dealt(5, 2, 0), grid_for(X, 9)
    first = (grid.rows, grid.columns), laid_out(X, grid).tolist()
    ref = naive.coded(X.tolist(), [some.tolist() for some in columns], *first, 3, 1, clear=1e-9)
    comp = coded_by_views(X, maps_of_views(X, columns, 1, QUICK, units=9)[0], mixture)
    np.testing.assert_allclose(comp, ref, atol=1e-9)


@pytest.mark.compiled
def test_codes_by_mixtures_are_nearer_and_by_all_units_hide_nothing():
    X = np.random.default_rng(2).normal(size=(80, 6))
    X -= X.mean(axis=0)
    lost = [((topology(X, dealt(6, 3, 0), mixture).coded - X) ** 2).sum() for mixture in ("none", "convex", "nnls")]
    assert lost[0] > lost[1] > lost[2]
    assert lost[2] == pytest.approx(0, abs=1e-12)


def test_cells_are_those_of_a_map_of_the_codes():
    X = np.random.default_rng(3).normal(size=(60, 6))
    found = topology(X, dealt(6, 3, 0), training=QUICK)
    assert np.array_equal(found.cells, found.map.cells(found.coded))
    assert len({tuple(row) for row in found.coded.tolist()}) <= 60
    assert (len(found.views), len(found.log)) == (3, 3)


@pytest.mark.parametrize(("columns", "message"), [(2, "1 view,"), (6, "3 views,")])
def test_notes_say_what_the_views_learnt(columns, message):
    X = np.random.default_rng(4).normal(size=(36, columns))
    found = topology(X, dealt(columns, 3, 0), rounds=2, training=QUICK)
    kept = sum(one.accepted for one in found.log)
    sides = f"maps of {found.map.grid.rows} x {found.map.grid.columns} units"
    rest = f"; {kept} of 6 collaborative updates were kept" if columns == 6 else ""
    assert found.notes("k_tca") == (f"k_tca: {message} {sides}{rest}.",)


def test_rows_published_alike_have_one_label():
    found = Printed.of(np.array([[1.0, 2.0], [0.0, 9.0], [1.0, 2.0]]))
    assert found.labels.tolist() == [1, 0, 1]
    assert found.k == 1


@pytest.mark.compiled
def test_as_printed_one_method_reaches_k_and_the_other_does_not():
    X = np.random.default_rng(5).normal(size=(120, 4))
    columns = dealt(4, 2, 0)
    assert printed_k_tca(X, columns).k == 1
    for k in (2, 5, 120):
        found = printed_c_tca(X, columns, k)
        assert found.k >= k
        assert found.published.shape == X.shape
