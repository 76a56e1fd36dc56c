"""KDE++: groups of k rows, the naive twin, limits, labels of any kind, the form as printed, and its card."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import kde_pp as naive
from shoal.catalogue import methods
from shoal.cluster.search.limits import Limits
from shoal.density.curve import KERNELS
from shoal.errors import GuaranteeError, MethodError
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values
from shoal.som.methods import kde_pp
from strategies import tables_with_k


def labelled(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + 2.0 * y[:, None], np.array(["no", "yes"])[y]


@given(tables_with_k(most=30), st.sampled_from(KERNELS), st.integers(1, 4), st.integers(0, 99))
def test_every_group_holds_k_to_2k_minus_1_rows(table, kernel, classes, seed):
    X, k = table
    before = X.copy()
    X.setflags(write=False)
    label = np.random.default_rng(seed).integers(0, classes, len(X))
    partition = kde_pp(X, k, kernel, effort="none", label=label, seed=seed)
    assert partition.n == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1
    assert np.array_equal(X, before)


@pytest.mark.parametrize("seed", range(12))
def test_groups_before_the_search_are_those_of_the_naive_twin(seed):
    # Numbers without ties, and classes so small that each has one prototype.
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(8, 30)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    X, label = rng.normal(size=(n, d)), np.arange(n) % int(rng.integers(2, 4))
    X[:, 0] += label
    ref = naive.kde_pp(X.tolist(), label.tolist(), k, [np.random.default_rng((seed, 5)) for _ in range(2)])
    assert kde_pp(X, k, effort="none", label=label, seed=seed).labels.tolist() == ref


@pytest.mark.parametrize("effort", ["none", "swift"])
def test_k_holds_and_threads_do_not_matter(effort):
    X, label = labelled(150)
    one, two = (kde_pp(X, 4, effort=effort, label=label, threads=threads) for threads in (1, 2))
    assert one.sizes.min() >= 4
    assert np.array_equal(one.labels, two.labels)
    assert one.notes == two.notes


def test_labels_may_be_words_or_numbers():
    X, label = labelled()
    words, numbers = kde_pp(X, 4, label=label), kde_pp(X, 4, label=(label == "yes").astype(int))
    assert np.array_equal(words.labels, numbers.labels)
    assert words.notes[-1].startswith("kde_pp: learnt from 2 label values; column weights range from ")


def test_a_single_label_is_enough_to_make_groups():
    X, _ = labelled()
    partition = kde_pp(X, 4, label=["same"] * len(X))
    assert partition.sizes.min() >= 4
    assert partition.notes == ("kde_pp: the label has only one value, so nothing can be learnt from it.",)


def test_a_label_of_a_few_rows_each_is_enough():
    X, _ = labelled(30)
    assert kde_pp(X, 4, label=np.arange(30) // 3).sizes.min() >= 4


@pytest.mark.parametrize("asked", [{"l": 2}, {"t": 0.4}])
def test_limits_hold_even_on_the_label_itself(asked):
    X, label = labelled()
    constraints, sensitive = Constraints(k=3, **asked), {"label": Values((label == "yes").astype(np.int64))}
    free = kde_pp(X, 3, label=label)
    held = kde_pp(X, 3, label=label, limits=Limits.of(constraints, sensitive))
    assert failing(free.labels, constraints, sensitive).any()
    assert not failing(held.labels, constraints, sensitive).any()
    assert held.sizes.min() >= 3


def test_as_printed_it_is_refused_or_returned_as_it_is():
    X = np.repeat([[0.0], [1.0], [9.0], [10.0]], 5, axis=0)
    label = ["a"] * 10 + ["b"] * 10
    partition = kde_pp(X, 5, mode="printed", label=label)
    assert partition.sizes.min() >= 5
    with pytest.raises(GuaranteeError) as caught:
        kde_pp(X, 15, mode="printed", label=label)
    assert str(caught.value).endswith(" and k is 15. Nothing is released. Set mode to 'strict'.")


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (None, "there are no labels to learn from. Name the label column (label=COLUMN), or use kde."),
        (["a"], "label must be 80 values, one per row; got an array of shape (1,)."),
    ],
)
def test_labels_that_cannot_teach_are_refused(label, words):
    with pytest.raises(MethodError) as caught:
        kde_pp(labelled()[0], 3, label=label)
    assert str(caught.value).startswith(f"kde_pp: {words}")


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("kde_pp")
    assert card.function is kde_pp
    assert (card.ensures, card.data) == ({"k", "l", "t"}, "numeric")
    assert card.uses == {"label", "limits", "seed", "threads"}
    assert card.check({"k": 3})["width"] == 0.5
    assert all(parameter.help for parameter in card.params.values())
