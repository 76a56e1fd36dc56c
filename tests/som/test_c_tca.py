"""C-TCA: groups of k rows, the cells of the naive twin, mixtures, views, threads, and what is printed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.som.nearest as looking
import shoal.som.tca as module
from naive import c_tca as naive
from shoal.catalogue import methods
from shoal.errors import MethodError
from shoal.som.grid import grid_for
from shoal.som.methods import c_tca
from shoal.som.tca import topology
from shoal.som.training import laid_out
from shoal.som.views import dealt
from strategies import tables_with_k


def cells_of(monkeypatch, X, **given):
    """The cells that are finished into groups."""
    seen = []
    with monkeypatch.context() as patch:
        patch.setattr(module, "finished", lambda X, cells, k, effort, **_: seen.append(cells) or 0 * cells)
        c_tca(X, 2, **given)
    return seen[0].tolist()


def start_of(X, units):
    """The sides of the grid for a table, and the start of its map."""
    grid = grid_for(X, units)
    return (grid.rows, grid.columns), laid_out(X, grid).tolist()


def assert_same_as_twin(monkeypatch, X, units, rounds, seed):
    columns = dealt(X.shape[1], 3, seed)
    coded = topology(X, columns, "convex", rounds=rounds, units=units, seed=seed).coded
    ref = naive.c_tca(
        X.tolist(),
        [some.tolist() for some in columns],
        start_of(X, units),
        start_of(coded, units),
        rounds=rounds,
        clear=1e-9,
    )
    assert cells_of(monkeypatch, X, units=units, rounds=rounds, seed=seed) == ref


@pytest.mark.compiled
@given(tables_with_k(most=40, columns=6), st.integers(0, 99))
@settings(max_examples=40)
def test_every_row_is_in_a_group_of_k_to_2k_minus_1_rows(table, seed):
    X, k = table
    before = X.copy()
    partition = c_tca(X, k, seed=seed)
    assert np.array_equal(X, before)
    assert partition.n == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("d", "units", "rounds"), [(2, 0, 1), (4, 9, 1), (5, 12, 0), (6, 10, 3), (7, 14, 1)])
def test_cells_are_those_of_the_naive_twin(d, units, rounds, monkeypatch):
    for seed in range(3):
        X = np.random.default_rng((d, seed)).normal(size=(30, d))
        assert_same_as_twin(monkeypatch, X, units, rounds, seed)


def test_groups_are_made_in_the_space_of_the_table(monkeypatch):
    X, seen = np.random.default_rng(0).normal(size=(20, 4)), []
    monkeypatch.setattr(module, "finished", lambda X, cells, k, effort, **_: seen.append((X, k, effort)) or 0 * cells)
    c_tca(X, 3, effort="none")
    assert np.array_equal(seen[0][0], X)
    assert seen[0][1:] == (3, "none")


@pytest.mark.parametrize("views", [1, 2, 3, 1000])
def test_any_number_of_views(views):
    X = np.random.default_rng(1).normal(size=(40, 5))
    partition = c_tca(X, 4, views=views)
    assert partition.sizes.min() >= 4
    assert f"c_tca: {min(views, 2)} view" in partition.notes[0]


def test_views_may_be_given():
    X = np.random.default_rng(2).normal(size=(40, 3))
    assert "c_tca: 3 views," in c_tca(X, 4, views=1, view_of=[2, 0, 1]).notes[0]
    assert np.array_equal(c_tca(X, 4, view_of=[5, 5, 5]).labels, c_tca(X, 4, views=1).labels)


@pytest.mark.compiled
def test_any_number_of_threads_gives_the_same_groups(monkeypatch):
    monkeypatch.setattr(looking, "LONG", 1)
    monkeypatch.setattr(looking, "ROUND", 16)
    X = np.random.default_rng(3).normal(size=(90, 4))
    one, two = (c_tca(X, 3, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert one.notes == two.notes


@pytest.mark.compiled
def test_the_result_depends_on_the_seed_alone():
    X = np.random.default_rng(4).normal(size=(60, 8))
    assert np.array_equal(c_tca(X, 3, seed=5).labels, c_tca(X, 3, seed=5).labels)
    assert len({tuple(c_tca(X, 3, seed=seed).labels) for seed in range(6)}) > 1


@pytest.mark.compiled
@pytest.mark.parametrize("units", [1, 2, 200])
def test_any_number_of_units(units):
    X = np.random.default_rng(5).normal(size=(40, 4))
    assert c_tca(X - X.mean(axis=0), 3, units=units).sizes.min() >= 3


@pytest.mark.compiled
@pytest.mark.parametrize("k", [2, 5, 30])
def test_as_printed_it_reaches_k(k):
    X = np.random.default_rng(6).normal(size=(60, 4))
    partition = c_tca(X, k, mode="printed")
    smallest = partition.sizes.min()
    assert smallest >= k
    assert partition.notes == (f"c_tca: in the published form, the smallest group has {smallest} rows.",)


def test_more_than_half_of_all_rows_are_one_group_as_printed():
    X = np.random.default_rng(7).normal(size=(20, 4))
    assert c_tca(X, 11, mode="printed").groups == 1


@pytest.mark.compiled
def test_mixtures_are_of_units_next_to_each_other_or_of_all(monkeypatch):
    X = np.random.default_rng(8).normal(size=(50, 6))
    assert cells_of(monkeypatch, X) == cells_of(monkeypatch, X, mixture="convex")
    assert cells_of(monkeypatch, X) != cells_of(monkeypatch, X, mixture="nnls")
    assert c_tca(X, 4, mixture="nnls").sizes.min() >= 4


def test_it_is_found_by_its_names_and_carries_its_card():
    card = methods.load("c_tca")
    assert card.function is c_tca
    assert methods.load("constrained_cmvm").function is c_tca
    assert (card.ensures, card.data) == ({"k", "l", "t"}, "numeric")
    assert card.uses == {"limits", "seed", "threads", "view_of"}
    assert card.check({"k": 3}) == {
        "k": 3,
        "views": 3,
        "rounds": 1,
        "units": 0,
        "mixture": "convex",
        "mode": "strict",
        "effort": "swift",
    }
    assert all(parameter.help for parameter in card.params.values())


@pytest.mark.parametrize(
    "wrong",
    [{"views": 0}, {"rounds": -1}, {"units": -1}, {"mixture": "none"}, {"mode": "loose"}, {"effort": "much"}, {"k": 1}],
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(MethodError, match=rf"^c_tca: {next(iter(wrong))} must be "):
        c_tca(np.zeros((9, 2)), **{"k": 3, **wrong})
