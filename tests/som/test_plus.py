"""The ++ layer: labels as numbers, weights of columns, cells of any class, and labels that cannot teach."""

import numpy as np
import pytest

import shoal.som.plus as module
from figures import standardized
from naive import lvq as naive
from shoal.cluster.search.finish import as_printed
from shoal.errors import GuaranteeError, MethodError
from shoal.som.lvq import wlvq2
from shoal.som.plus import MOST_CLASSES, classes_of, plus, printed_plus, taught


def telling_and_noise(n=120, seed=1):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    X = np.column_stack([rng.normal(size=n) + 2.0 * codes, rng.normal(size=(n, 2))])
    return standardized(X), codes


def test_labels_become_numbers_in_the_order_of_their_names():
    assert classes_of(["b", "a", "c", "a"], 4, "it").tolist() == [1, 0, 2, 0]
    assert classes_of([30, 10, 30], 3, "it").tolist() == [1, 0, 1]
    assert classes_of([True, False], 2, "it").tolist() == [1, 0]
    assert classes_of(["only"] * 3, 3, "it").tolist() == [0, 0, 0]


def test_without_a_label_it_is_refused_with_what_to_take():
    with pytest.raises(MethodError) as caught:
        classes_of(None, 4, "kde_pp")
    message = "there are no labels to learn from. Name the label column (label=COLUMN), or use kde."
    assert str(caught.value) == f"kde_pp: {message}"


@pytest.mark.parametrize("label", [[1, 2, 3], [[1], [2], [3], [4]], "a", []])
def test_labels_that_are_not_one_a_row_are_refused_without_showing_any(label):
    shape = np.asarray(label).shape
    with pytest.raises(MethodError) as caught:
        classes_of(label, 4, "k_tca_pp")
    assert str(caught.value) == f"k_tca_pp: label must be 4 values, one per row; got an array of shape {shape}."


@pytest.mark.parametrize("n", [200, 1001])
def test_too_many_classes_are_refused(n):
    with pytest.raises(MethodError) as caught:
        classes_of(np.arange(n), n, "kde_pp")
    assert str(caught.value) == (
        f"kde_pp: the label has {n:,} different values for {n:,} rows; expected at most 1,000 classes "
        "of several rows each. Name another column, or use kde."
    )


def test_many_classes_of_several_rows_each_may_teach():
    assert classes_of(np.arange(3000) % MOST_CLASSES, 3000, "it").max() == MOST_CLASSES - 1
    with pytest.raises(MethodError, match="^it: the label has 1,001 different values for 5,005 rows"):
        classes_of(np.arange(5005) % (MOST_CLASSES + 1), 5005, "it")


def test_weights_are_those_of_the_coded_rows_with_a_mean_square_of_1():
    X, codes = telling_and_noise()
    coded = np.round(X)
    weights, book = taught(X, coded, codes, 0)
    learnt = wlvq2(coded, codes, seed=0).weights
    assert (weights**2).mean() == pytest.approx(1)
    assert weights / weights[0] == pytest.approx(learnt / learnt[0])
    assert book.weights.tolist() == [1.0, 1.0, 1.0]


def test_prototypes_are_those_of_the_rows_in_the_weighted_space():
    X, codes = telling_and_noise()
    weights, book = taught(X, np.round(X), codes, 0)
    assert book.prototypes.tolist() == wlvq2(X * weights, codes, weight_rate=0.0, seed=0).prototypes.tolist()


def test_many_classes_have_fewer_prototypes_each(monkeypatch):
    X, codes = telling_and_noise(120)
    assert np.bincount(taught(X, X, codes, 0)[1].classes).tolist() == [8, 8]
    monkeypatch.setattr(module, "BOOK", 7)
    assert np.bincount(taught(X, X, codes, 0)[1].classes).tolist() == [3, 3]
    monkeypatch.setattr(module, "BOOK", 1)
    assert np.bincount(taught(X, X, codes, 0)[1].classes).tolist() == [1, 1]


def test_a_row_is_in_the_cell_of_the_nearest_prototype_of_whatever_class():
    X, codes = telling_and_noise()
    # Rows of the wrong class in the midst of the other must not have cells of their own.
    codes = codes.copy()
    codes[:6] = 1 - codes[:6]
    weights, book = taught(X, X, codes, 0)
    cells = book.cells(X * weights)
    assert cells.tolist() == naive.nearest((X * weights).tolist(), book.prototypes.tolist())
    assert (book.classes[cells] != codes).any()


def test_groups_hold_k_rows_and_the_notes_say_what_was_learnt():
    X, codes = telling_and_noise()
    partition = plus("it", X, X, codes, 4, "none", None, 0, 1)
    weights, _ = taught(X, X, codes, 0)
    assert partition.sizes.min() >= 4
    assert partition.sizes.max() <= 7
    assert partition.notes == (
        f"it: learnt from 2 label values; column weights range from {weights.min():.2f} to {weights.max():.2f}.",
    )


def test_one_label_alone_teaches_nothing_and_does_no_harm():
    X, codes = telling_and_noise(30)
    partition = plus("it", X, X, 0 * codes, 4, "none", None, 0, 1)
    assert partition.sizes.min() >= 4
    assert partition.notes == ("it: the label has only one value, so nothing can be learnt from it.",)


def test_as_printed_the_nearest_prototype_is_published():
    X, codes = telling_and_noise()
    found = printed_plus(X, codes)
    assert len(np.unique(found.published, axis=0)) == found.labels.max() + 1 <= 20
    assert found.k == np.bincount(found.labels).min()
    assert np.isfinite(found.published).all()


def test_as_printed_prototypes_of_fewer_than_k_rows_are_refused():
    X, codes = telling_and_noise()
    found = printed_plus(X, codes)
    smallest = found.k
    partition = as_printed("it", found.labels, smallest, None)
    assert partition.sizes.min() == smallest
    with pytest.raises(GuaranteeError, match=f"^it: in the published form, the smallest group has {smallest} row"):
        as_printed("it", found.labels, smallest + 1, None)
