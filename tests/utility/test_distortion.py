"""Distortion and moments: figures worked out by hand, ranges, and tables that have nothing to lose."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.prepare.hierarchy import from_lines
from shoal.privacy.measures.pairs import Pair
from shoal.utility.distortion import (
    average_size,
    cells_changed,
    changed,
    classification_metric,
    discernibility,
    entropy_loss,
    taxonomy_loss,
    trade_off,
)
from shoal.utility.moments import OBJECTS, Numbers, eigenvalue_difference, errors, il1s, numbers_of


def column(before, after, kind="nominal", form="mode", name="a", **more):
    return Pair(name, kind, form, pa.chunked_array([before]), pa.chunked_array([after]), **more)


def chunked(cells):
    return pa.chunked_array([pa.array(cells)])


def test_cells_that_are_not_what_they_were_are_counted():
    # One of three names, two of three numbers, one of three gaps that was filled.
    names = column(["x", "y", None], ["x", "x", None])
    numbers = column([1.0, 2.0, 4.0], [1.5, 1.5, 4.0], "numeric", "mean")
    gaps = column(pa.array([1.0, None, None]), pa.array([1.0, 1.0, None]), "numeric", "mean")
    assert [int(changed(one).sum()) for one in (names, numbers, gaps)] == [1, 2, 1]
    assert cells_changed([names, numbers, gaps]) == 4


def test_a_truthful_cell_is_changed_if_it_leaves_something_open():
    ages = column([1, 2, 4], ["1–2", "1–2", "4"], "numeric", "range")
    towns = column(["x", "y", "z"], ["{x, y}", "{x, y}", "z"], form="set")
    gaps = column(pa.array(["x", None, None]), pa.array(["x or missing", "x or missing", None]), form="set")
    assert changed(ages).tolist() == changed(towns).tolist() == changed(gaps).tolist() == [True, True, False]


TOWNS = from_lines(
    [
        ["Paris", "France", "Europe", "*"],
        ["Lyon", "France", "Europe", "*"],
        ["Rome", "Italy", "Europe", "*"],
        ["Tokyo", "Japan", "Asia", "*"],
    ],
    "towns",
)


def test_taxonomy_loss_worked_out_by_hand():
    labels = np.array([0, 0, 1, 1, 1])
    age = column([0, 2, 4, 8, 10], [0] * 5, "numeric", name="age")
    # Ranges: 2/10 for two rows, 6/10 for three.
    assert taxonomy_loss([age], labels) == pytest.approx(2 * 0.2 + 3 * 0.6)
    town = column(["Paris", "Lyon", "Paris", "Rome", "Rome"], ["Paris"] * 5, name="town")
    # Three names. Without a tree: (2 - 1)/(3 - 1) for each class.
    assert taxonomy_loss([town], labels) == pytest.approx(5 * 0.5)
    # France is 1 of 3 levels up, Europe 2.
    assert taxonomy_loss([town], labels, {"town": TOWNS}) == pytest.approx(2 * 1 / 3 + 3 * 2 / 3)
    assert taxonomy_loss([age, town], labels, {"town": TOWNS}) == pytest.approx(2.2 + 8 / 3)


def test_a_gap_beside_names_is_below_the_root_alone():
    town = column(pa.array(["Paris", None, None]), pa.array(["Paris"] * 3), name="town")
    # The first class holds a town and a gap: the whole tree; the second a gap alone: nothing.
    assert taxonomy_loss([town], np.array([0, 0, 1]), {"town": TOWNS}) == 2.0


def test_discernibility_and_average_size_worked_out_by_hand():
    sizes = np.array([3, 2, 1])
    # k = 2: 9 + 4, and the row that is alone counts all 6.
    assert discernibility(sizes, 2) == 9 + 4 + 6 * 1
    assert discernibility(sizes, 1) == 9 + 4 + 1
    assert average_size(sizes, 2) == 6 / (3 * 2)


def test_classification_metric_worked_out_by_hand():
    labels, label = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 0])
    # k = 2: one row of the first class, none of the second, and the row that is alone.
    assert classification_metric(labels, label, 2) == pytest.approx(2 / 6)
    assert classification_metric(labels, label, 1) == pytest.approx(1 / 6)


def test_trade_off_worked_out_by_hand():
    # Two classes of two rows that decide the label: one bit is gained, one is lost: 1 / (1 + 1).
    assert trade_off(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])) == pytest.approx((0.5, 1.0, 1.0))
    # Classes that say nothing of the label gain nothing; one class of all rows loses nothing.
    assert trade_off(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])) == pytest.approx((0.0, 0.0, 1.0))
    assert trade_off(np.zeros(4, int), np.array([0, 1, 0, 1])) == (0.0, 0.0, 0.0)
    # Every row alone: 1 bit gained, log2 4 = 2 lost.
    assert trade_off(np.arange(4), np.array([0, 0, 1, 1])) == pytest.approx((1 / 3, 1.0, 2.0))


def test_entropy_loss_worked_out_by_hand():
    # Below x stand a and b alike, one bit for two of three rows; below y nothing is open.
    assert entropy_loss(chunked(["a", "b", "c"]), chunked(["x", "x", "y"])) == pytest.approx(2 / 3)
    assert entropy_loss(chunked(["a", "b", None]), chunked(["a", "b", None])) == pytest.approx(0, abs=1e-12)
    assert entropy_loss(chunked(["a", "b", None, "d"]), chunked(["z"] * 4)) == pytest.approx(2.0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30), st.randoms())
def test_figures_of_classes_keep_their_range_whatever_the_order_of_rows(rows, rng):
    def figures(some):
        labels = np.unique([a for a, _ in some], return_inverse=True)[1].reshape(-1)
        label = np.unique([b for _, b in some], return_inverse=True)[1].reshape(-1)
        texts = chunked([str(b) for _, b in some])
        town = column(texts.combine_chunks(), texts.combine_chunks())
        sizes = np.bincount(labels)
        return (
            discernibility(sizes, 2),
            classification_metric(labels, label, 2),
            *trade_off(labels, label),
            entropy_loss(texts, chunked([str(a) for a, _ in some])),
            taxonomy_loss([town], labels),
        )

    found, n = figures(rows), len(rows)
    assert n <= found[0] <= n * n
    assert 0 <= found[1] <= 1
    assert 0 <= found[2] < 1
    assert found[3] <= found[4] + 1e-9
    assert 0 <= found[5] <= math.log2(4) + 1e-9
    assert 0 <= found[6] <= n
    mixed = rows.copy()
    rng.shuffle(mixed)
    assert figures(mixed) == pytest.approx(found, abs=1e-9)


def two(before, after):
    return Numbers(np.array(before, float), np.array(after, float))


def test_errors_of_values_and_means_worked_out_by_hand():
    numbers = two([[1], [2], [4]], [[1.5], [1.5], [5]])
    found = errors(numbers, "values")
    # Differences 0.5, 0.5, 1; relative 0.5, 0.25, 0.25.
    assert (found.mse, found.mae, found.variation) == pytest.approx((1.5 / 3, 2 / 3, 1 / 3))
    found = errors(numbers, "means")
    # Means 7/3 and 8/3.
    assert (found.mse, found.mae, found.variation) == pytest.approx((1 / 9, 1 / 3, 1 / 7))
    assert il1s(numbers) == pytest.approx(2 / 3 / math.sqrt(2))


def test_errors_of_covariances_and_correlations_worked_out_by_hand():
    # Variances 1 and 1, covariance 1 before; the second column is turned round after: covariance -1.
    numbers = two([[-1, -1], [1, 1]], [[-1, 1], [1, -1]])
    found = errors(numbers, "covariances")
    assert (found.mse, found.mae, found.variation) == pytest.approx((4 / 3, 2 / 3, 2 / 3))
    found = errors(numbers, "correlations")
    assert (found.mse, found.mae, found.variation) == pytest.approx((4.0, 2.0, 2.0))
    assert eigenvalue_difference(numbers) == pytest.approx(0.0)


def test_half_the_spread_leaves_a_quarter_of_the_eigenvalues():
    numbers = two([[-1, -1], [1, 1]], [[-0.5, -0.5], [0.5, 0.5]])
    assert eigenvalue_difference(numbers) == pytest.approx(0.75)
    # One axis of variance 2 before and 1/2 after, with loadings 1 and 1/2; scores ±√2 and half of that.
    found = errors(numbers, "loadings")
    assert (found.mse, found.mae, found.variation) == pytest.approx((0.25, 0.5, 0.5))
    found = errors(numbers, "scores")
    assert (found.mse, found.mae, found.variation) == pytest.approx((0.5, math.sqrt(0.5), 0.5))


def test_axes_that_point_the_other_way_are_turned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) @ np.diag([3.0, 2.0, 1.0])
    for of in OBJECTS:
        assert errors(two(X, X), of) == pytest.approx((0, 0, 0), abs=1e-12)


def test_what_is_nothing_before_has_no_mean_variation():
    numbers = two([[-1, -1], [-1, 1], [1, -1], [1, 1]], [[-1, -1], [1, 1], [-1, -1], [1, 1]])
    found = errors(numbers, "correlations")
    assert (found.mse, found.variation) == (1.0, None)


def test_numbers_are_measured_in_deviations_and_say_what_was_left_out():
    cells = pa.array([1.0, 3.0, None, 1.0, 3.0])
    flat = column([7.0] * 5, [7.0] * 5, "numeric", "mean", "b")
    text = column([1.0] * 5, ["1–2"] * 5, "numeric", "range", "c")
    found = numbers_of([column(cells, cells, "numeric", "mean"), flat, text, column(["x"] * 5, ["x"] * 5)])
    assert found.before.tolist() == [[1.0], [3.0], [1.0], [3.0]]
    assert found.left_out == "; rows left out for missing values: 1; constant columns left out: 1"
    assert errors(found, "correlations") is None


@pytest.mark.parametrize(
    "columns",
    [
        [],
        [column(["x"], ["x"])],
        [column([7.0, 7.0], [7.0, 8.0], "numeric", "mean")],
        [column(pa.array([1.0, 2.0]), pa.array([None, None], pa.float64()), "numeric", "mean")],
        [column(pa.array([], pa.float64()), pa.array([], pa.float64()), "numeric", "mean")],
    ],
    ids=["none", "names", "constant", "emptied", "no rows"],
)
def test_columns_without_numbers_to_compare_give_none(columns):
    assert numbers_of(columns) is None


def test_a_release_of_one_class_correlates_with_nothing_and_keeps_no_variance():
    X = np.random.default_rng(1).normal(size=(40, 3))
    numbers = two(X, np.broadcast_to(X.mean(axis=0), X.shape))
    assert eigenvalue_difference(numbers) == pytest.approx(1.0)
    assert errors(numbers, "correlations").variation == pytest.approx(1.0)


@given(st.integers(0, 10_000))
def test_moments_do_not_know_the_order_of_rows(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 20)), int(rng.integers(1, 4))
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    order = rng.permutation(n)
    for of in OBJECTS:
        one, other = errors(two(X, Y), of), errors(two(X[order], Y[order]), of)
        assert one is other is None or one == pytest.approx(other, rel=1e-6, abs=1e-9)
        assert one is None or min(one) >= 0
    assert il1s(two(X, Y)) == pytest.approx(il1s(two(X[order], Y[order])))
