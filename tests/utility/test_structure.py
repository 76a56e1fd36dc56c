"""Structure, clusters and queries: by hand, against scikit-learn, and where nothing can be measured."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score

from shoal.errors import MethodError
from shoal.privacy.measures.pairs import Pair
from shoal.utility import validity
from shoal.utility.moments import numbers_of
from shoal.utility.structure import combined_utility, joint_utility, query_errors, structural_utility
from shoal.utility.validity import calinski_harabasz, davies_bouldin, silhouette, standardized


def column(before, after, kind="nominal", form="mode", name="a", **more):
    return Pair(name, kind, form, pa.chunked_array([before]), pa.chunked_array([after]), **more)


def number(before, after, name="a"):
    return column(pa.array(before, pa.float64()), pa.array(after, pa.float64()), "numeric", "mean", name)


def test_structural_utility_worked_out_by_hand():
    # Sorted 0 1 9 10 and 0.5 0.5 9.5 9.5: each value moves by half, of a range of 10.
    pair = number([0, 1, 9, 10], [0.5, 0.5, 9.5, 9.5])
    assert structural_utility([pair]) == {"a": pytest.approx(1 - 0.5 / 10)}
    # The deviation is that of -5 -4 4 5, the root of (25 + 16 + 16 + 25)/4.
    assert structural_utility([pair], "deviation") == {"a": pytest.approx(1 - 0.5 / np.sqrt(20.5))}
    # x falls from 2/4 to 3/4: half of (1/4 + 1/4).
    names = column(["x", "x", "y", "z"], ["x", "x", "x", "z"])
    assert structural_utility([names])["a"] == structural_utility([names], "deviation")["a"] == 0.75


def test_levels_and_dates_have_a_structure_too():
    levels = column(["low", "mid", "high"], ["mid", "mid", "mid"], "ordinal", order=("low", "mid", "high"))
    assert structural_utility([levels])["a"] == pytest.approx(1 - (2 / 3) / 2)
    days = pa.array([0, 10], pa.date32())
    assert structural_utility([column(days, days, "date", "mean")]) == {"a": 1.0}


def test_columns_that_cannot_move_or_are_empty_have_all_or_nothing():
    gaps = [None, None]
    assert structural_utility([number([3, 3], [3, 3])])["a"] == 1.0
    assert structural_utility([number([3, 3], [3, 4])])["a"] == 0.0
    assert structural_utility([number([3, 4], gaps)])["a"] == 0.0
    assert structural_utility([number(gaps, gaps)])["a"] == 1.0
    # Missing values are left out on both sides.
    assert structural_utility([number([0, 10, None], [0, 10, 10])])["a"] == pytest.approx(1 - (10 / 6) / 10)
    assert structural_utility([number([0, 1], [50, 50])])["a"] == 0.0
    assert structural_utility([column(["x"], ["{x}"], form="set")]) == {}
    assert structural_utility([number([], [])]) == {}


def test_shuffling_every_column_keeps_structure_and_loses_what_is_joint():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1)) + 0.1 * rng.normal(size=(400, 3))
    shuffled = np.column_stack([rng.permutation(values) for values in X.T])
    pairs = [number(X[:, j], shuffled[:, j], f"x{j}") for j in range(3)]
    assert set(structural_utility(pairs).values()) == {1.0}
    assert joint_utility(numbers_of(pairs)) < 0.6
    same = [number(X[:, j], X[:, j], f"x{j}") for j in range(3)]
    assert joint_utility(numbers_of(same)) == pytest.approx(1.0)


def test_joint_utility_worked_out_by_hand():
    # A correlation of 1 becomes -1: all is lost.
    pairs = [number([0, 1], [0, 1], "x"), number([0, 1], [1, 0], "y")]
    assert joint_utility(numbers_of(pairs)) == pytest.approx(0.0)
    assert joint_utility(numbers_of(pairs[:1])) is None


def test_combined_utility_weighs_both():
    assert combined_utility(0.8, 0.9) == pytest.approx(0.85)
    assert combined_utility(0.8, 0.9, alpha=0.25) == pytest.approx(0.875)
    with pytest.raises(MethodError, match="between 0 and 1; got 1.5"):
        combined_utility(0.8, 0.9, alpha=1.5)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30), st.randoms())
def test_structural_utility_keeps_its_range_whatever_the_order_of_rows(rows, rng):
    mixed = rows.copy()
    rng.shuffle(mixed)
    for by in ("range", "deviation"):
        one, other = (
            structural_utility(
                [
                    number(*zip(*some, strict=True)),
                    column(*(list(map(str, side)) for side in zip(*some, strict=True)), name="b"),
                ],
                by,
            )
            for some in (rows, mixed)
        )
        assert one == pytest.approx(other)
        assert all(0 <= value <= 1 for value in one.values())


def blobs(seed, n=60, d=2, classes=6):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return rng.normal(size=(n, d)) + labels[:, None], labels


def test_indices_worked_out_by_hand():
    X, labels = np.array([[0.0], [2.0], [10.0], [12.0]]), np.array([0, 0, 1, 1])
    # Both classes have a spread of 1, their means 1 and 11 are 10 apart.
    assert davies_bouldin(X, labels) == (pytest.approx(0.2), 2, None)
    # Of 0 and 12: a = 2, b = 11; of 2 and 10: a = 2, b = 9.
    assert silhouette(X, labels) == (pytest.approx((9 / 11 + 7 / 9) / 2), 4, None)
    # SSE = 4, SST = 4 + 4 x 25: (100 / 1) / (4 / 2).
    assert calinski_harabasz(X.T, labels) == pytest.approx(50.0)


@pytest.mark.parametrize("seed", range(10))
def test_indices_are_those_of_scikit_learn(seed):
    X, labels = blobs(seed)
    assert davies_bouldin(X, labels)[0] == pytest.approx(davies_bouldin_score(X, labels))
    assert silhouette(X, labels)[0] == pytest.approx(silhouette_score(X, labels))
    assert calinski_harabasz(X.T, labels) == pytest.approx(calinski_harabasz_score(X, labels))


@pytest.mark.parametrize("seed", range(5))
def test_indices_do_not_know_the_order_of_rows(seed):
    X, labels = blobs(seed, n=40)
    order = np.random.default_rng(seed).permutation(40)
    for index in (davies_bouldin, silhouette):
        assert index(X, labels) == pytest.approx(index(X[order], labels[order]))
    assert calinski_harabasz(X.T, labels) == pytest.approx(calinski_harabasz(X[order].T, labels[order]))


def test_a_silhouette_of_some_rows_is_close_to_that_of_all(monkeypatch):
    X, labels = blobs(0, n=400)
    whole, rows, sure = silhouette(X, labels)
    monkeypatch.setattr(validity, "SAMPLED", 300)
    monkeypatch.setattr(validity, "DISTANCES", 400 * 200)
    monkeypatch.setattr(validity, "CELLS", 1000)
    some, asked, (low, high) = silhouette(X, labels)
    assert (rows, asked, sure) == (400, 200, None)
    assert some == pytest.approx(whole, abs=0.05)
    assert low < whole < high < low + 0.2


def test_a_sample_of_classes_is_counted_as_it_is_drawn(monkeypatch):
    X, labels = blobs(0, n=400, classes=100)
    monkeypatch.setattr(validity, "SAMPLED", 60)
    monkeypatch.setattr(validity, "DISTANCES", 100 * 30)
    found = davies_bouldin(X, labels)
    assert found.of == 30
    assert found.interval[0] < found.value < found.interval[1]


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        (np.zeros((0, 1)), np.zeros(0, int)),
        (np.ones((3, 1)), np.zeros(3, int)),
        (np.ones((3, 0)), np.array([0, 0, 1])),
    ],
    ids=["no rows", "one class", "no columns"],
)
def test_classes_that_are_no_clusters_have_no_index(X, labels):
    assert davies_bouldin(X, labels) is silhouette(X, labels) is calinski_harabasz(X.T, labels) is None


def test_rows_that_are_all_alone_or_all_alike_have_no_index_of_spread():
    X = np.arange(3.0)[:, None]
    assert silhouette(X, np.arange(3)) is calinski_harabasz(X.T, np.arange(3)) is None
    assert calinski_harabasz(np.array([[0.0, 0.0, 1.0, 1.0]]), np.array([0, 0, 1, 1])) is None
    assert davies_bouldin(np.ones((4, 1)), np.array([0, 0, 1, 1])) == (0.0, 2, None)


def test_standardized_columns_have_one_scale_and_no_gaps():
    town = column(["x", "x", "y"], ["x"] * 3)
    flat, empty = number([5, 5, 5], [5] * 3), number([None] * 3, [None] * 3)
    X = standardized([number([0, None, 2], [1] * 3), town, flat, empty, column(["x"] * 3, ["x"] * 3)])
    root = np.sqrt(0.5)
    assert X.tolist() == [[-1, root, 0], [0, root, 0], [1, 0, root]]
    assert standardized([]).shape == (0, 0)
    many = column([str(place) for place in range(80)] * 2, ["0"] * 160)
    assert standardized([many]).shape == (160, validity.NAMES + 1)
    assert (standardized([many]) > 0).sum() == 160


def table_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=n), rng.choice(list("abcdefghij"), n)


def test_an_unchanged_table_answers_every_query_rightly():
    x, y, town = table_of(500)
    errors = query_errors([number(x, x), number(y, y, "b"), column(town, town, name="c")])
    assert errors.size == 1000
    assert not errors.any()


def test_a_release_without_its_values_answers_queries_wrongly():
    x, _, _ = table_of(500)
    # All rows are published at 0: each range holds all of them, or none.
    errors = query_errors([number(x, np.zeros(500))])
    # None of the rows for nearly all ranges: the error is the count itself.
    assert np.median(errors) == 1.0
    assert errors.max() > 3


def test_queries_worked_out_by_hand():
    # 5 of 100 rows are x, and y and z have more than 20%: only x can be asked for. After, 4 are.
    before = ["x"] * 5 + ["y"] * 45 + ["z"] * 50
    after = ["x"] * 4 + ["y"] * 46 + ["z"] * 50
    errors = query_errors([column(before, after)])
    assert set(errors.tolist()) == {1 / 5}
    # 3 of 500 rows are too few to be asked for, and no other query is small enough.
    assert query_errors([column(["x"] * 3 + ["y"] * 497, ["y"] * 500)]).size == 0


@pytest.mark.parametrize(
    "columns",
    [
        [],
        [column(["x"], ["{x}"], form="set")],
        [number([], [])],
        [number([None] * 9, [None] * 9)],
        [number([1] * 9, [1] * 9)],
    ],
    ids=["none", "truthful", "no rows", "all missing", "constant"],
)
def test_where_nothing_can_be_asked_there_is_no_error(columns):
    assert query_errors(columns).size == 0


def test_the_same_seed_asks_the_same_queries():
    x, y, _ = table_of(300)
    pairs = [number(x, np.round(x)), number(y, np.round(y), "b")]
    assert query_errors(pairs, 7).tolist() == query_errors(pairs, 7).tolist()
    order = np.random.default_rng(0).permutation(300)
    moved = [number(x[order], np.round(x)[order]), number(y[order], np.round(y)[order], "b")]
    assert query_errors(moved, 7).tolist() == query_errors(pairs, 7).tolist()
