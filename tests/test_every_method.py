"""What every method of the catalogue must do. A new method is included automatically."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import shoal
from shoal.catalogue import methods
from shoal.cluster.search.limits import Limits
from shoal.errors import InfeasibleError, MethodError
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values

NUMERIC = [name for name in methods.names() if methods.load(name).data == "numeric"]
SHAPES = {
    "normal": lambda rng, n: rng.normal(size=(n, 3)),
    "ties": lambda rng, n: rng.integers(0, 3, (n, 2)).astype(float),
    "constant": lambda rng, n: np.zeros((n, 2)),
    "no columns": lambda rng, n: np.zeros((n, 0)),
    "one column": lambda rng, n: rng.exponential(size=(n, 1)),
    "half equal": lambda rng, n: np.where(np.arange(n)[:, None] % 2, 1.0, rng.normal(size=(n, 2))),
    "wide": lambda rng, n: rng.normal(size=(n, 40)),
    "far off": lambda rng, n: rng.integers(0, 99, (n, 2)) + 1e12,
    "an outlier": lambda rng, n: np.vstack([rng.normal(size=(n - 1, 2)), [[1e9, 1e9]]]),
}

pytestmark = pytest.mark.parametrize("name", NUMERIC)


HASTE = {"effort": "quick", "rounds": 10, "restarts": 2}
HELD = {name: {key: HASTE[key] for key in HASTE if key in methods.load(name).params} for name in NUMERIC}


def run(name, X, k, **given):
    """Run a method with its defaults, but quickly."""
    card = methods.load(name)
    if "label" in card.uses:
        given = {"label": np.arange(np.shape(X)[0] if np.ndim(X) else 0) % 3, **given}
    return card.function(X, **card.check({"k": k, **HELD[name]}), **given)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_every_row_is_in_a_group_of_at_least_k_rows(name, shape):
    rng = np.random.default_rng(11)
    counts = (6, 7, 12) if shape == "wide" else (6, 7, 12, 31, 60)  # exact takes long on many wide rows
    for n, k in itertools.product(counts, (2, 3, 6)):
        X = SHAPES[shape](rng, n)
        before = X.copy()
        X.setflags(write=False)
        partition = run(name, X, k)
        assert partition.n == n
        assert partition.sizes.min() >= k
        assert_array_equal(X, before)


@pytest.mark.slow
def test_the_same_matrix_gives_the_same_partition(name):
    X = np.random.default_rng(1).normal(size=(80, 3))
    assert_array_equal(run(name, X, 4).labels, run(name, X.copy(), 4).labels)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["normal", "ties"])
def test_memory_order_does_not_matter(name, shape):
    X = SHAPES[shape](np.random.default_rng(2), 50)
    assert_array_equal(run(name, X, 4).labels, run(name, np.asfortranarray(X), 4).labels)


def test_as_many_rows_as_k_are_one_group(name):
    assert run(name, np.arange(5.0)[:, None], 5).groups == 1


@pytest.mark.parametrize(
    ("n", "k", "rest"),
    [
        (4, 5, "the table has 4 rows. Lower k to 4 or less."),
        (1, 2, "the table has 1 row. At least 2 rows are needed."),
        (0, 2, "the table has 0 rows. At least 2 rows are needed."),
    ],
)
def test_fewer_rows_than_k_are_infeasible(name, n, k, rest):
    with pytest.raises(InfeasibleError) as caught:
        run(name, np.zeros((n, 2)), k)
    assert str(caught.value) == f"{name}: k is {k}, but {rest}"


@pytest.mark.parametrize("bad", [1, 0, -3, 2.5, "5", None, True])
def test_a_k_other_than_an_integer_of_at_least_two_is_refused(name, bad):
    with pytest.raises(
        MethodError, match=rf"^{name}: (k must be a whole number of at least 2|parameter 'k' is missing)"
    ):
        run(name, np.arange(9.0)[:, None], bad)


def test_an_unknown_parameter_is_refused_with_the_known_ones(name):
    with pytest.raises(MethodError, match="unknown parameter 'kk'"):
        methods.load(name).check({"kk": 3})


@pytest.mark.parametrize("hole", [np.nan, np.inf, -np.inf])
def test_cells_that_are_not_finite_are_refused_without_showing_any_value(name, hole):
    X = np.full((6, 2), 4711.0)
    X[3, 1] = hole
    with pytest.raises(MethodError) as caught:
        run(name, X, 2)
    assert str(caught.value).startswith(f"{name}: X must hold finite numbers only; 1 of its 12 cells are")
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("X", [np.zeros(6), np.zeros((2, 3, 4)), np.array([["4711", "2"]] * 6), 3.0])
def test_anything_but_a_matrix_of_numbers_is_refused(name, X):
    with pytest.raises(MethodError, match=rf"^{name}: X must be a matrix of numbers with 2 dimensions; got ") as caught:
        run(name, X, 2)
    assert "4711" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_judge_confirms_on_the_written_file_what_the_card_promises(name, format, tmp_path):
    table = shoal.sample(120, seed=3)
    release = shoal.anonymize(
        table,
        method=name,
        parameters=HELD[name],
        k=4,
        l=2,
        identifiers=["patient_id", "name"],
        sensitive=["diagnosis"],
        label="diagnosis",
    )
    folder = release.save(tmp_path / "out", format=format, report=False)
    checked = shoal.verify(folder)
    assert checked.holds
    assert checked.verdicts[0].found >= 4


@pytest.mark.slow
def test_permuted_rows_give_the_same_release(name):
    table = shoal.sample(90, seed=4).drop_columns(["patient_id", "name"])
    order = np.random.default_rng(0).permutation(90)
    one, two = (
        shoal.anonymize(t, method=name, parameters=HELD[name], k=3, keep=["diagnosis"], label="diagnosis", seed=1)
        for t in (table, table.take(pa.array(order)))
    )
    assert one.table.equals(two.table)


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_groups(name):
    if "threads" not in methods.load(name).uses:
        pytest.skip("it works in one thread")
    X = np.random.default_rng(5).normal(size=(240, 3))
    one, two = (run(name, X, 3, threads=threads) for threads in (1, 2))
    assert_array_equal(one.labels, two.labels)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_groups(name):
    if "seed" not in methods.load(name).uses:
        pytest.skip("it draws no random numbers")
    X = np.random.default_rng(6).normal(size=(90, 3))
    assert_array_equal(run(name, X, 3, seed=7).labels, run(name, X, 3, seed=7).labels)


def test_row_weights_of_one_change_nothing(name):
    if "weights" not in methods.load(name).uses:
        pytest.skip("weights do not guide it")
    X = np.random.default_rng(7).normal(size=(90, 3))
    assert_array_equal(run(name, X, 3, weights=np.full(90, 2.5)).labels, run(name, X, 3).labels)
    uneven = run(name, X, 3, weights=np.random.default_rng(8).uniform(0, 9, 90))
    assert uneven.sizes.min() >= 3


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"l": 2}, {"t": 0.4}, {"l": 2, "t": 0.5}, {"l": 1.5, "l_kind": "entropy"}])
def test_limits_hold_before_enforce_where_the_card_promises_it(name, asked):
    card = methods.load(name)
    if not {"l", "t"} <= card.ensures:
        pytest.skip("its card promises k alone")
    rng = np.random.default_rng(9)
    X = rng.normal(size=(120, 2))
    sensitive = {"a": Values(rng.integers(0, 3, 120)), "b": Values((X[:, 0] > 0.5).astype(np.int64), True)}
    constraints = Constraints(k=3, **asked)
    partition = run(name, X, 3, limits=Limits.of(constraints, sensitive))
    assert not failing(partition.labels, constraints, sensitive).any()


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324])
def test_numbers_whose_squares_overflow_are_grouped_too(name, size):
    X = np.random.default_rng(10).integers(-3, 4, (40, 2)) * size
    partition = run(name, X, 3)
    assert partition.sizes.min() >= 3


@pytest.mark.slow
def test_a_thousand_columns_are_grouped(name):
    X = np.random.default_rng(11).normal(size=(24, 1000))
    assert run(name, X, 3).sizes.min() >= 3
