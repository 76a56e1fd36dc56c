"""wLVQ2: the naive twin, what it predicts, which columns tell, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from figures import standardized
from naive import lvq as naive
from shoal.errors import MethodError
from shoal.som.lvq import _learn, wlvq2
from strategies import tables


def three_clouds(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 12.0 * np.column_stack([y == 1, y == 2]), y


def telling_and_noise(n=400, seed=1):
    """Three columns that tell something of the class, and three that tell nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return standardized(np.hstack([rng.normal(size=(n, 3)) + y[:, None], rng.normal(size=(n, 3))])), y


@given(
    tables(least=2, most=20, columns=6).filter(lambda X: X.shape[1] > 0),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_the_loop_agrees_with_the_naive_twin_to_the_last_digit(X, classes, seed, printed):
    rng = np.random.default_rng(seed)
    codes, owner = rng.integers(0, classes, len(X)), rng.integers(0, classes, 6)
    book = rng.integers(-3, 4, (6, X.shape[1])).astype(np.float64)
    weights, order = rng.uniform(0.05, 2, X.shape[1]), rng.permutation(len(X))
    ref_book, ref_weights = book.tolist(), weights.tolist()
    turned = np.ascontiguousarray(book.T)
    for first, last in ((0.05, 0.04), (0.04, 0.0)):
        _learn(X, codes, order, turned, owner, weights, first, last, 0.6, printed=printed)
        naive.learn(X.tolist(), codes.tolist(), order.tolist(), ref_book, owner, ref_weights, first, last, 0.6, printed)
    assert turned.T.tolist() == ref_book
    assert weights.tolist() == ref_weights


@pytest.mark.parametrize("seed", range(4))
def test_a_whole_training_agrees_with_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    X, codes = rng.integers(-3, 4, (39, 2)).astype(np.float64), np.arange(39) % 3
    book, owner, weights = naive.wlvq2(X.tolist(), codes.tolist(), np.random.default_rng((seed, 5)))
    comp = wlvq2(X, codes, seed=seed)
    assert comp.prototypes.tolist() == book
    assert comp.classes.tolist() == owner
    assert comp.weights.tolist() == weights
    assert weights != [1.0, 1.0]


def test_one_row_in_the_window_pulls_the_right_prototype_and_pushes_the_wrong_one():
    X, codes, book, owner = np.array([[1.0]]), np.array([1]), np.array([[0.9, 1.1125]]), np.array([0, 1])
    weights = np.ones(1)
    _learn(X, codes, np.array([0]), book, owner, weights, 0.5, 0.5, 1.0, printed=False)
    assert book == pytest.approx(np.array([[0.9 - 0.5 * 0.1, 1.1125 - 0.5 * 0.1125]]))
    assert weights[0] == pytest.approx(1 - 0.5 * (0.9 - 1.1125))


@pytest.mark.parametrize(
    ("near", "far", "owner"),
    [(0.9, 1.3, [0, 1]), (0.9, 1.11, [1, 0]), (0.9, 1.11, [1, 1]), (0.9, 1.11, [0, 0])],
    ids=["outside the window", "right", "both right", "both wrong"],
)
def test_nothing_is_learnt_from_other_rows(near, far, owner):
    book, weights = np.array([[near, far]]), np.ones(1)
    row, one = np.array([0]), np.array([1])
    _learn(np.ones((1, 1)), one, row, book, np.array(owner), weights, 0.5, 0.5, 1.0, printed=False)
    assert (book.tolist(), weights.tolist()) == ([[near, far]], [1.0])


@pytest.mark.parametrize("printed", [False, True])
def test_classes_that_lie_apart_are_predicted(printed):
    X, y = three_clouds()
    book = wlvq2(X, y, printed=printed)
    new, classes = three_clouds(seed=9)
    assert book.predict(new).tolist() == classes.tolist()
    # Of 30 rows, one prototype for seven at the most.
    assert book.classes.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]


def test_classes_may_have_any_names():
    X, y = three_clouds(30)
    names = np.array(["north", "mid", "south"])[y]
    assert wlvq2(X, names).predict(X).tolist() == names.tolist()
    assert wlvq2(X, y == 1).predict(X).tolist() == (y == 1).tolist()


@given(tables(most=25).filter(lambda X: X.shape[1] > 0), st.integers(1, 5), st.integers(0, 99))
def test_weights_stay_between_a_twentieth_and_five_and_all_is_finite(X, classes, seed):
    y = np.random.default_rng(seed).integers(0, classes, len(X))
    scale = X.std(axis=0)
    book = wlvq2(
        (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1), y, epochs=5, rate=0.3, weight_rate=1.0, seed=seed
    )
    assert 0.05 <= book.weights.min()
    assert book.weights.max() <= 5
    assert np.isfinite(book.prototypes).all()
    assert set(book.predict(X).tolist()) <= set(y.tolist())


@pytest.mark.parametrize("seed", range(5))
def test_noise_columns_count_less_than_those_that_tell(seed):
    X, y = telling_and_noise(seed=seed)
    weights = wlvq2(X, y, prototypes=1, seed=seed).weights
    assert weights[3:].mean() < 0.95 * weights[:3].mean()


@pytest.mark.compiled
def test_the_ends_of_a_waveform_which_tell_nothing_count_little(data_file):
    table = np.loadtxt(data_file("waveform.csv"), delimiter=",", skiprows=1)
    weights = wlvq2(standardized(table[:, :-1]), table[:, -1]).weights
    assert weights[[0, 20]].max() < 0.5 * weights[4:17].min()


def test_without_a_weight_rate_all_columns_count_the_same():
    X, y = telling_and_noise(100)
    assert wlvq2(X, y, weight_rate=0.0).weights.tolist() == [1.0] * 6


@pytest.mark.compiled
def test_the_form_as_printed_unlearns(data_file):
    table = np.loadtxt(data_file("waveform.csv"), delimiter=",", skiprows=1)[:1500]
    X, y = standardized(table[:, :-1]), table[:, -1]
    derived, printed = ((wlvq2(X, y, printed=form).predict(X) == y).mean() for form in (False, True))
    assert printed < derived


def test_without_epochs_there_are_the_means_of_k_means():
    X = np.repeat([[0.0], [10.0], [20.0]], 8, axis=0) + np.tile([-0.5, 0.5], 12)[:, None]
    book = wlvq2(X, ["a"] * 24, prototypes=3, epochs=0)
    assert sorted(book.prototypes[:, 0]) == [0.0, 10.0, 20.0]


def test_one_class_alone_is_always_predicted():
    X, _ = three_clouds()
    book = wlvq2(X, ["all"] * 90)
    assert set(book.predict(X)) == {"all"}
    assert book.weights.tolist() == [1.0, 1.0]


def test_a_class_of_few_rows_has_few_prototypes():
    X = np.array([[0.0], [2.0], [4.0]] + [[5.0]] * 20 + [[6.0]] * 20)
    book = wlvq2(X, list("aaa" + 20 * "b" + 20 * "c"), prototypes=9, epochs=0)
    # Three rows have their mean, and twenty that are alike are one prototype.
    assert (book.classes.tolist(), book.prototypes.tolist()) == (list("abc"), [[2.0], [5.0], [6.0]])


def test_one_prototype_stands_for_seven_rows_or_more():
    X, names = np.random.default_rng(3).normal(size=(200, 2)), np.repeat(list("abc"), [13, 27, 160])
    book = wlvq2(X, names, epochs=0)
    assert [book.classes.tolist().count(name) for name in "abc"] == [1, 3, 10]


def test_a_single_row_is_its_own_prototype():
    book = wlvq2([[3.0, 4.0]], ["a"])
    assert (book.prototypes.tolist(), book.predict([[9.0, 9.0]]).tolist()) == ([[3.0, 4.0]], ["a"])


def test_cells_are_the_nearest_prototypes_in_the_weighted_space_by_any_number_of_threads():
    X, y = telling_and_noise(100)
    book = wlvq2(X, y)
    ref = naive.nearest((X * book.weights).tolist(), book.prototypes.tolist())
    assert book.cells(X).tolist() == book.cells(X, threads=2).tolist() == ref


def test_the_result_depends_on_the_seed_alone():
    X, y = telling_and_noise(100)
    one, again, other = (wlvq2(X, y, seed=seed).prototypes.tolist() for seed in (4, 4, 5))
    assert one == again
    assert one != other


def test_the_input_is_left_as_it_was():
    X, y = three_clouds(30)
    before = X.copy()
    X.setflags(write=False)
    wlvq2(X, y)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("n", [8, 60])
@pytest.mark.parametrize("columns", [1, 2])
def test_numbers_so_large_that_it_diverges_are_refused(n, columns):
    X = np.random.default_rng(2).normal(size=(n, 2))
    X[:, :columns] *= 1e200
    with pytest.raises(MethodError, match=r"^wlvq2: training diverged\. Bring the columns to one scale, or lower "):
        wlvq2(X, np.arange(n) % 2)


@pytest.mark.parametrize(
    ("X", "y", "got"),
    [
        (np.zeros((3, 2)), [0, 1], "X must have as many rows as y, at least one; got 3 and 2"),
        (np.zeros((3, 2)), np.zeros((3, 2)), "X must have as many rows as y, at least one; got 3 and 6"),
        (np.zeros((0, 2)), [], "X must have as many rows as y, at least one; got 0 and 0"),
        (np.zeros(3), [0, 1, 2], "X must be a matrix of numbers with 2 dimensions; got 1"),
        (np.full((3, 2), np.nan), [0, 1, 2], "X must hold finite numbers only; 6 of its 6 cells"),
    ],
)
def test_wrong_shapes_are_refused(X, y, got):
    with pytest.raises(MethodError, match=f"^wlvq2: {got}"):
        wlvq2(X, y)


@pytest.mark.compiled
def test_nineteen_of_twenty_wines_held_out_are_told(data_file):
    table = np.loadtxt(data_file("wine.csv"), delimiter=",", skiprows=1)
    X, y = table[:, :-1], table[:, -1]
    right = []
    for seed in range(3):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            middle, scale = X[train].mean(axis=0), X[train].std(axis=0)
            book = wlvq2((X[train] - middle) / scale, y[train], seed=seed)
            right.append((book.predict((X[test] - middle) / scale) == y[test]).mean())
    assert np.mean(right) >= 0.95
