"""k-TCA++: groups of k rows, the cells of the naive twin, labels, views, threads, and what is printed."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.som.nearest as looking
import shoal.som.plus as module
from naive import k_tca_pp as naive
from shoal.catalogue import methods
from shoal.errors import GuaranteeError, MethodError
from shoal.som.grid import grid_for
from shoal.som.methods import k_tca_pp
from shoal.som.plus import taught
from shoal.som.training import laid_out
from shoal.som.views import dealt
from strategies import tables_with_k


def labels_for(X, classes=2):
    """Classes that the first column tells, but for every fifth row."""
    ranks = X[:, 0].argsort().argsort() if X.size else np.arange(len(X))
    return (ranks * classes // len(X) + (np.arange(len(X)) % 5 == 0)) % classes


def grouped(X, k=3, **given):
    return k_tca_pp(X, k, label=labels_for(X), **given)


def cells_of(monkeypatch, X, label, **given):
    """The cells that are finished into groups, and the space in which they are."""
    seen = []
    with monkeypatch.context() as patch:
        patch.setattr(module, "finished", lambda X, cells, k, effort, **_: seen.append((cells, X)) or 0 * cells)
        k_tca_pp(X, 2, label=label, **given)
    return seen[0][0].tolist(), seen[0][1]


def assert_same_as_twin(monkeypatch, X, label, units, rounds, seed):
    columns, grid = dealt(X.shape[1], 3, seed), grid_for(X, units)
    codes, learnt = np.unique(label, return_inverse=True)[1], []

    def teacher(coded):
        weights, book = taught(X, np.array(coded), codes, seed)
        learnt.append(weights)
        return weights.tolist(), book.prototypes.tolist()

    first = (grid.rows, grid.columns), laid_out(X, grid).tolist()
    ref = naive.k_tca_pp(X.tolist(), [some.tolist() for some in columns], first, teacher, rounds=rounds, clear=1e-9)
    comp, space = cells_of(monkeypatch, X, label, units=units, rounds=rounds, seed=seed)
    assert comp == ref
    np.testing.assert_allclose(space, X * learnt[0], atol=1e-6)


@pytest.mark.compiled
@given(tables_with_k(most=40, columns=6), st.integers(0, 99))
@settings(max_examples=40)
def test_every_row_is_in_a_group_of_k_to_2k_minus_1_rows(table, seed):
    X, k = table
    before = X.copy()
    partition = grouped(X, k, seed=seed)
    assert np.array_equal(X, before)
    assert partition.n == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("d", "units", "rounds", "classes"), [(2, 0, 1, 2), (4, 9, 1, 3), (6, 10, 3, 2), (7, 14, 0, 1)]
)
def test_cells_are_those_of_the_naive_twin(d, units, rounds, classes, monkeypatch):
    for seed in range(3):
        X = np.random.default_rng((d, seed)).normal(size=(30, d))
        assert_same_as_twin(monkeypatch, X, labels_for(X, classes), units, rounds, seed)


@pytest.mark.compiled
def test_columns_count_in_the_mean_square_as_before(monkeypatch):
    X = np.random.default_rng(0).normal(size=(80, 4))
    _, space = cells_of(monkeypatch, X, labels_for(X))
    weights = space[0] / X[0]
    assert space == pytest.approx(X * weights)
    assert (weights**2).mean() == pytest.approx(1)
    assert len(set(weights.round(3))) > 1


@pytest.mark.compiled
def test_cells_do_not_follow_the_label_alone(monkeypatch):
    X = np.random.default_rng(9).normal(size=(200, 4))
    label = np.arange(200) % 2
    cells, _ = cells_of(monkeypatch, X, label)
    mixed = [cell for cell in set(cells) if len({label[i] for i in range(200) if cells[i] == cell}) == 2]
    assert len(mixed) > 0.5 * len(set(cells))


def test_what_is_learnt_is_told_but_no_label():
    X = np.random.default_rng(9).normal(size=(40, 4))
    views, labels = k_tca_pp(X, 3, label=["secret"] * 20 + ["other"] * 20).notes
    assert re.fullmatch(
        r"k_tca_pp: learnt from 2 label values; column weights range from \d\.\d\d to \d\.\d\d\.", labels
    )
    assert "secret" not in views + labels
    assert "only one value, so nothing can be learnt" in k_tca_pp(X, 3, label=["one"] * 40).notes[1]


@pytest.mark.parametrize("views", [1, 2, 3, 1000])
def test_any_number_of_views(views):
    X = np.random.default_rng(1).normal(size=(40, 5))
    partition = grouped(X, 4, views=views)
    assert partition.sizes.min() >= 4
    assert f"k_tca_pp: {min(views, 2)} view" in partition.notes[0]


def test_views_may_be_given():
    X = np.random.default_rng(2).normal(size=(40, 3))
    assert "k_tca_pp: 3 views," in grouped(X, 4, views=1, view_of=[2, 0, 1]).notes[0]
    assert np.array_equal(grouped(X, 4, view_of=[5, 5, 5]).labels, grouped(X, 4, views=1).labels)


@pytest.mark.compiled
def test_any_number_of_threads_gives_the_same_groups(monkeypatch):
    monkeypatch.setattr(looking, "LONG", 1)
    monkeypatch.setattr(looking, "ROUND", 16)
    X = np.random.default_rng(3).normal(size=(90, 4))
    one, two = (grouped(X, 3, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert one.notes == two.notes


@pytest.mark.compiled
def test_the_result_depends_on_the_seed_alone():
    X = np.random.default_rng(4).normal(size=(60, 8))
    assert np.array_equal(grouped(X, 3, seed=5).labels, grouped(X, 3, seed=5).labels)
    assert len({tuple(grouped(X, 3, seed=seed).labels) for seed in range(6)}) > 1


@pytest.mark.compiled
@pytest.mark.parametrize("units", [1, 2, 200])
def test_any_number_of_units(units):
    X = np.random.default_rng(5).normal(size=(40, 4))
    assert grouped(X - X.mean(axis=0), 3, units=units).sizes.min() >= 3


def test_as_printed_it_is_refused_where_k_is_not_reached():
    X = np.random.default_rng(6).normal(size=(60, 4))
    with pytest.raises(GuaranteeError) as caught:
        grouped(X, 30, mode="printed")
    assert re.fullmatch(
        r"k_tca_pp: in the published form, the smallest group has \d+ rows?, and k is 30\. "
        r"Nothing is released\. Set mode to 'strict'\.",
        str(caught.value),
    )


def test_as_printed_it_is_kept_where_k_is_reached():
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 6, axis=0)
    partition = k_tca_pp(X, 6, mode="printed", label=np.repeat([0, 1], 6))
    assert partition.sizes.tolist() == [6, 6]
    assert partition.notes == ("k_tca_pp: in the published form, the smallest group has 6 rows.",)


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("k_tca_pp")
    assert card.function is k_tca_pp
    assert (card.ensures, card.data) == ({"k", "l", "t"}, "numeric")
    assert card.uses == {"label", "limits", "seed", "threads", "view_of"}
    assert card.check({"k": 3}) == {
        "k": 3,
        "views": 3,
        "rounds": 1,
        "units": 0,
        "mode": "strict",
        "effort": "swift",
    }
    assert all(parameter.help for parameter in card.params.values())


@pytest.mark.parametrize(
    "wrong", [{"views": 0}, {"rounds": -1}, {"units": -1}, {"mode": "loose"}, {"effort": "much"}, {"k": 1}]
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(MethodError, match=rf"^k_tca_pp: {next(iter(wrong))} must be "):
        k_tca_pp(np.zeros((9, 2)), **{"k": 3, "label": [0] * 9, **wrong})


def test_without_labels_it_is_refused():
    with pytest.raises(MethodError) as caught:
        k_tca_pp(np.zeros((9, 2)), 3)
    message = "there are no labels to learn from. Name the label column (label=COLUMN), or use k_tca."
    assert str(caught.value) == f"k_tca_pp: {message}"


def test_labels_must_be_one_a_row():
    with pytest.raises(
        MethodError, match=r"^k_tca_pp: label must be 9 values, one per row; got an array of shape \(8,\)\.$"
    ):
        k_tca_pp(np.zeros((9, 2)), 3, label=[0] * 8)
