"""The nearest prototype: brute force, ties to the lowest, any number of columns, prototypes and threads."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import shoal.som.nearest as module
from naive import som as naive
from shoal.som.nearest import cell_sums, nearest, two_nearest


@pytest.fixture(autouse=True, scope="module", params=["all digits", "half of them first"])
def digits(request):
    """Both ways to measure, whatever the size of the tables."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "half of them first":
            patch.setattr(module, "WIDE", 1)
            patch.setattr(module, "SOME", 1)
        yield


@st.composite
def rows_and_prototypes(draw):
    d, span = draw(st.integers(1, 9)), draw(st.sampled_from([1, 2, 9, 1000]))
    numbers = st.integers(-span, span)
    n, m = draw(st.integers(1, 20)), draw(st.integers(1, 20))
    return tuple(draw(arrays(np.int64, (count, d), elements=numbers)).astype(np.float64) for count in (n, m))


@pytest.mark.slow
@given(rows_and_prototypes())
def test_it_is_the_nearest_one_and_of_equals_the_lowest(tables):
    X, prototypes = tables
    ref = [naive.nearest(row, prototypes.tolist()) for row in X.tolist()]
    assert nearest(X, prototypes).tolist() == ref


@given(rows_and_prototypes())
def test_the_two_nearest_are_the_first_two_in_order(tables):
    X, prototypes = tables
    ref = [naive.two_nearest(row, prototypes.tolist()) for row in X.tolist()]
    assert np.column_stack(two_nearest(X, prototypes)).tolist() == [list(pair) for pair in ref]


@pytest.mark.parametrize("d", range(1, 10))
def test_any_number_of_columns_and_prototypes(d, compiled):
    rng = random.Random(d)
    for m in range(1, 21 if compiled else 9):
        rows, prototypes = ([[float(rng.randint(-2, 2)) for _ in range(d)] for _ in range(n)] for n in (12, m))
        comp = nearest(np.array(rows), np.array(prototypes)).tolist()
        assert comp == [naive.nearest(row, prototypes) for row in rows], m


@pytest.mark.parametrize("scale", [1e-14, 1e-9, 1e-6, 1.0, 1e9, 1e15, 1e60])
def test_digits_that_half_of_them_cannot_tell_decide(scale):
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, (30, 9)) * scale
    prototypes = np.repeat(rng.integers(-3, 4, (4, 9)), 6, axis=0) * scale
    prototypes[:, 0] += rng.integers(-3, 4, 24) * 2.0**-30 * scale
    comp = nearest(X, prototypes).tolist()
    away = ((X[:, None, :] / scale - prototypes / scale) ** 2).sum(axis=2)
    assert away[np.arange(30), comp].tolist() == pytest.approx(away.min(axis=1).tolist(), rel=1e-12, abs=1e-14)
    assert len(set(comp)) > 4


def test_several_threads_find_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    X, prototypes = (rng.integers(-2, 3, (n, 5)).astype(np.float64) for n in (101, 17))
    alone = nearest(X, prototypes, threads=1)
    monkeypatch.setattr(module, "LONG", 1)
    monkeypatch.setattr(module, "ROUND", 7)
    assert np.array_equal(nearest(X, prototypes, threads=2), alone)
    assert np.array_equal(nearest(X, prototypes, threads=1), alone)


@pytest.mark.parametrize("m", [1, 7, 8, 9, 16, 20])
def test_among_equal_prototypes_the_first_is_taken(m):
    X, prototypes = np.arange(6.0).reshape(3, 2), np.ones((m, 2))
    first, second = two_nearest(X, prototypes)
    assert nearest(X, prototypes).tolist() == first.tolist() == [0, 0, 0]
    assert second.tolist() == [min(1, m - 1)] * 3


def test_one_prototype_is_the_nearest_and_the_next():
    first, second = two_nearest(np.zeros((2, 1)), np.ones((1, 1)))
    assert (first.tolist(), second.tolist()) == ([0, 0], [0, 0])


def test_no_rows_have_no_prototypes():
    assert nearest(np.empty((0, 3)), np.ones((4, 3))).tolist() == []


def test_the_input_is_left_as_it_was():
    X, prototypes = np.arange(12.0).reshape(4, 3), np.arange(15.0).reshape(5, 3)
    X.setflags(write=False)
    prototypes.setflags(write=False)
    assert nearest(X, prototypes).tolist() == [0, 1, 2, 3]


def test_sums_of_cells_have_the_number_of_rows_behind():
    X = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert cell_sums(X, np.array([2, 0, 2]), 3).tolist() == [[2, 20, 1], [0, 0, 0], [5, 50, 2]]
