"""What every method in the registry must do. A new method gets these tests free."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import shoal
from shoal import registry
from shoal.errors import InfeasibleError, MethodError

NUMERIC = [name for name in registry.names() if registry.load(name).data == "numeric"]
SHAPES = {
    "normal": lambda chance, n: chance.normal(size=(n, 3)),
    "ties": lambda chance, n: chance.integers(0, 3, (n, 2)).astype(float),
    "constant": lambda chance, n: np.zeros((n, 2)),
    "no columns": lambda chance, n: np.zeros((n, 0)),
    "one column": lambda chance, n: chance.exponential(size=(n, 1)),
    "half equal": lambda chance, n: np.where(np.arange(n)[:, None] % 2, 1.0, chance.normal(size=(n, 2))),
    "wide": lambda chance, n: chance.normal(size=(n, 40)),
    "far off": lambda chance, n: chance.integers(0, 99, (n, 2)) + 1e12,
    "an outlier": lambda chance, n: np.vstack([chance.normal(size=(n - 1, 2)), [[1e9, 1e9]]]),
}

pytestmark = pytest.mark.parametrize("name", NUMERIC)


def run(name, X, k):
    card = registry.load(name)
    return card.function(X, **card.check({"k": k}))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_row_is_in_a_group_of_at_least_k_rows(name, shape):
    chance = np.random.default_rng(11)
    for n, k in itertools.product((6, 7, 12, 31, 60), (2, 3, 6)):
        X = SHAPES[shape](chance, n)
        before = X.copy()
        partition = run(name, X, k)
        assert partition.n == n
        assert partition.sizes.min() >= k
        assert_array_equal(X, before)


def test_the_same_matrix_gives_the_same_partition(name):
    X = np.random.default_rng(1).normal(size=(80, 3))
    assert_array_equal(run(name, X, 4).labels, run(name, X.copy(), 4).labels)


def test_memory_order_does_not_matter(name):
    X = np.random.default_rng(2).normal(size=(50, 3))
    assert_array_equal(run(name, X, 4).labels, run(name, np.asfortranarray(X), 4).labels)


def test_as_many_rows_as_k_are_one_group(name):
    assert run(name, np.arange(5.0)[:, None], 5).groups == 1


def test_fewer_rows_than_k_are_refused(name):
    with pytest.raises(InfeasibleError, match="k is 5"):
        run(name, np.arange(4.0)[:, None], 5)


@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, "5", None, True])
def test_a_k_that_is_no_whole_number_of_at_least_two_is_refused(name, bad):
    with pytest.raises(
        MethodError, match=rf"^{name}: (k must be a whole number of at least 2|parameter 'k' is missing)"
    ):
        run(name, np.arange(9.0)[:, None], bad)


def test_an_unknown_parameter_is_refused_with_the_known_ones(name):
    with pytest.raises(MethodError, match="there is no parameter 'kk'"):
        registry.load(name).check({"kk": 3})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(name, bad):
    X = np.zeros((6, 2))
    X[3, 1] = bad
    with pytest.raises(MethodError):
        run(name, X, 2)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_judge_confirms_on_the_written_file_what_the_card_promises(name, format, tmp_path):
    table = shoal.sample(120, seed=3)
    release = shoal.anonymize(table, method=name, k=4, l=2, identifiers=["patient_id", "name"], sensitive=["diagnosis"])
    folder = release.save(tmp_path / "out", format=format)
    checked = shoal.verify(folder)
    assert checked.holds
    assert checked.verdicts[0].found >= 4


def test_permuted_rows_give_the_same_release(name):
    table = shoal.sample(90, seed=4).drop_columns(["patient_id", "name"])
    order = np.random.default_rng(0).permutation(90)
    one, two = (shoal.anonymize(t, method=name, k=3) for t in (table, table.take(pa.array(order))))
    assert one.table.equals(two.table)
