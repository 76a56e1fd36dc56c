"""KDE: cells and groups, the naive twin, the form as printed, threads, and its card."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures import sse
from naive import finish
from naive import kde as naive
from shoal.catalogue import methods
from shoal.cluster.search.limits import Limits
from shoal.density.bandwidth import BANDWIDTHS
from shoal.density.curve import KERNELS
from shoal.density.kde import coding, kde
from shoal.errors import GuaranteeError, MethodError
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values
from strategies import tables_with_k


def two_clouds(n=40):
    rng = np.random.default_rng(5)
    return rng.normal(size=(n, 2)) + 20 * (np.arange(n)[:, None] % 2)


@given(tables_with_k(most=40), st.sampled_from(KERNELS), st.sampled_from(sorted(BANDWIDTHS)))
def test_every_group_holds_k_to_2k_minus_1_rows(table, kernel, rule):
    X, k = table
    before = X.copy()
    X.setflags(write=False)
    partition = kde(X, k, kernel, rule, effort="none")
    assert partition.n == len(X)
    assert k <= partition.sizes.min()
    assert partition.sizes.max() <= 2 * k - 1
    assert np.array_equal(X, before)


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel != "uniform"])
def test_groups_before_the_search_are_those_of_the_naive_twin(kernel):
    # Numbers without ties, which would be broken by the last digits of two ways to sum a density. Heights of a uniform
    # kernel are multiples of one number, and always tie.
    rng = np.random.default_rng(3)
    for _ in range(12):
        k = int(rng.integers(2, 4))
        X = np.round(rng.normal(size=(int(rng.integers(k, 15)), int(rng.integers(1, 4)))), 3)
        rule, width = str(rng.choice(["silverman", "scott"])), float(rng.choice([0.3, 1.0]))
        comp = kde(X, k, kernel, rule, width, effort="none").labels.tolist()
        assert comp == naive.kde(X.tolist(), k, kernel=kernel, rule=rule, width=width)


@given(tables_with_k(most=30), st.sampled_from(KERNELS), st.sampled_from([0.3, 1.0]))
def test_whole_numbers_are_grouped_from_their_cells_as_by_the_naive_twin(table, kernel, width):
    X, k = table[0] if table[0].shape[1] else np.zeros((len(table[0]), 1)), table[1]
    cells = coding(X, kernel, width=width, least=k).cells.tolist()
    assert kde(X, k, kernel, width=width, effort="none").labels.tolist() == finish.finished(X.tolist(), cells, k)


def test_the_docstring_example_in_two_columns():
    X = [[0.0, 5.0], [1.0, 5.0], [9.0, 5.0], [10.0, 5.0], [10.0, 90.0], [9.0, 91.0]]
    partition = kde(X, 2)
    assert partition.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert partition.notes == ("kde: columns have 2 peaks.",)


def test_rows_with_the_same_codes_form_a_cell():
    X = np.array([[0.0, 3.0], [0.0, 4.0], [7.0, 3.0], [0.0, 3.0], [7.0, 3.0]])
    found = coding(X)
    assert found.cells.tolist() == [0, 1, 2, 0, 2]
    assert found.published.tolist() == X.tolist()


@given(tables_with_k(most=25))
def test_cells_are_the_distinct_published_rows(table):
    X = table[0] if table[0].shape[1] else np.zeros((len(table[0]), 1))
    found = coding(X, width=0.3)
    ref = np.unique(found.published, axis=0, return_inverse=True)[1].reshape(-1)
    assert found.cells.tolist() == ref.tolist()


def test_many_columns_of_many_parts_are_still_distinguished():
    # 2 to the power of 80 possible cells would not fit into a machine integer.
    X = np.random.default_rng(1).integers(0, 2, (30, 80)).astype(np.float64)
    assert np.unique(coding(X).cells).size == 30


def test_as_printed_cells_of_fewer_than_k_rows_are_refused():
    with pytest.raises(GuaranteeError) as caught:
        kde([[0.0], [1.0], [9.0], [10.0], [200.0]], 2, mode="printed")
    assert str(caught.value) == (
        "kde: in the published form, the smallest group has 1 row, and k is 2. "
        "Nothing is released. Set mode to 'strict'."
    )
    with pytest.raises(GuaranteeError, match=r"^kde: .* the smallest group has 2 rows, and k is 3\."):
        kde([[0.0], [1.0], [9.0], [10.0]], 3, mode="printed")


def test_as_printed_cells_of_k_rows_are_returned_unchanged():
    partition = kde(two_clouds(), 5, mode="printed", width=2.0)
    assert partition.labels.tolist() == [0, 1] * 20
    assert partition.notes == (
        "kde: columns have 2 peaks.",
        "kde: in the published form, the smallest group has 20 rows.",
    )


def test_the_final_search_does_not_raise_the_loss():
    X = two_clouds()
    assert sse(X, kde(X, 3, effort="swift").labels) <= sse(X, kde(X, 3, effort="none").labels)


@pytest.mark.parametrize("effort", ["none", "swift"])
def test_any_number_of_threads_gives_the_same_groups(effort):
    X = np.random.default_rng(2).normal(size=(150, 5))
    one, two = (kde(X, 4, effort=effort, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert one.notes == two.notes


def test_limits_on_sensitive_values_hold():
    X, constraints = two_clouds(60), Constraints(k=3, l=2)
    # One cloud has one value almost throughout.
    sensitive = {"a": Values(np.where(np.arange(60) % 2, 0, np.arange(60) % 3).astype(np.int64))}
    partition = kde(X, 3, limits=Limits.of(constraints, sensitive))
    assert not failing(partition.labels, constraints, sensitive).any()


@pytest.mark.parametrize("tiny", [1e-150, 1e-170, 5e-324])
def test_a_column_of_tiny_numbers_does_no_harm(tiny):
    X = np.column_stack([np.arange(12.0) % 3 * tiny, np.arange(12.0)])
    assert kde(X, 3, effort="none").sizes.min() >= 3


def test_it_is_found_by_name_and_has_its_card():
    card = methods.load("kde")
    assert card.function is kde
    assert (card.ensures, card.data, card.uses) == ({"k", "l", "t"}, "numeric", {"limits", "seed", "threads"})
    assert card.check({"k": 3}) == {
        "k": 3,
        "kernel": "gaussian",
        "bandwidth": "silverman",
        "width": 1.0,
        "mode": "strict",
        "effort": "swift",
    }
    assert all(parameter.help for parameter in card.params.values())


@pytest.mark.parametrize(
    "wrong", [{"width": 0.0}, {"width": 101}, {"kernel": "cosine"}, {"bandwidth": "sj"}, {"mode": "lax"}]
)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(MethodError, match=f"^kde: {next(iter(wrong))} must be "):
        kde(np.zeros((9, 2)), 3, **wrong)


def test_pictures_show_no_value_that_fewer_than_k_rows_share():
    x = np.append(np.random.default_rng(0).normal(50, 10, 299), 987.0)
    [drawn] = coding(x[:, None], least=5).sketches(x[:, None], 5)
    assert drawn.places.max() <= np.sort(x)[-5]
    assert drawn.heights.max() > 0
    apart = np.concatenate([np.arange(50) / 50, [30.0], 60 + np.arange(50) / 50])
    [drawn] = coding(apart[:, None], least=5).sketches(apart[:, None], 5)
    assert (drawn.heights[np.abs(drawn.places - 30) < 10] == 0).all()
    assert drawn.heights[[0, -1]].min() > 0
