"""What every method on mixed tables must do. A new method is included automatically."""

import random

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import shoal
from mixed import random_table
from shoal.catalogue import methods
from shoal.cluster.search.limits import Limits
from shoal.errors import InfeasibleError, MethodError, PolicyError
from shoal.kernels.columns import Range, Set, columns_of
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values

MIXED = [name for name in methods.names() if methods.load(name).data == "mixed"]

pytestmark = pytest.mark.parametrize("name", MIXED)


def run(name, columns, k, **given):
    card = methods.load(name)
    parameters = {key: given.pop(key) for key in list(given) if key in card.params}
    return card.function(columns, **card.check({"k": k, **parameters}), **given)


def test_every_row_is_in_a_group_of_at_least_k_rows(name):
    rng = random.Random(1)
    for _ in range(25):
        n = rng.randint(2, 50)
        *_, columns = random_table(rng, n, rng.randint(1, 5))
        k = rng.randint(2, min(6, n))
        before = columns.codes.copy()
        partition = run(name, columns, k)
        assert partition.n == n
        assert partition.sizes.min() >= k
        assert_array_equal(columns.codes, before)


def test_rows_that_are_all_equal_or_have_no_columns_are_grouped(name):
    for columns in (columns_of([np.zeros(12, int)], [Set(1)]), columns_of([np.full(9, 3)], [Range(np.arange(7.0))])):
        assert run(name, columns, 4).sizes.min() >= 4
    assert run(name, columns_of([], [])._replace(codes=np.zeros((8, 0), np.int32)), 3).sizes.min() >= 3


def test_as_many_rows_as_k_are_one_group(name):
    assert run(name, columns_of([np.arange(5)], [Set(5)]), 5).groups == 1


@pytest.mark.parametrize(("n", "k"), [(4, 5), (1, 2), (0, 2)])
def test_fewer_rows_than_k_are_infeasible(name, n, k):
    with pytest.raises(InfeasibleError, match=f"^{name}: k is {k}, but the table has {n} row"):
        run(name, columns_of([np.zeros(n, int)], [Set(2)]), k)


def test_a_matrix_is_refused(name):
    with pytest.raises(MethodError, match=f"^{name}: it requires the columns of a mixed table"):
        run(name, np.zeros((9, 2)), 3)


@pytest.mark.slow
def test_many_columns_and_many_names_are_grouped(name):
    rng = np.random.default_rng(0)
    wide = columns_of([rng.integers(0, 4, 60) for _ in range(200)], [Set(4)] * 200)
    assert run(name, wide, 3, effort="none").sizes.min() >= 3
    tall = columns_of([rng.integers(0, 500, 300)], [Set(500)])
    assert run(name, tall, 3).sizes.min() >= 3


def test_the_same_seed_gives_the_same_groups_on_any_number_of_threads(name):
    *_, columns = random_table(random.Random(2), 300, 4)
    one, two = (run(name, columns, 4, seed=7, threads=threads) for threads in (1, 2))
    assert_array_equal(one.labels, two.labels)


@pytest.mark.parametrize("asked", [{"l": 2}, {"t": 0.4}, {"l": 2, "t": 0.5}, {"l": 1.5, "l_kind": "entropy"}])
def test_limits_hold_before_enforce(name, asked):
    rng = random.Random(3)
    *_, columns = random_table(rng, 150, 3)
    sensitive = {"a": Values(np.array([rng.randrange(3) for _ in range(150)]))}
    constraints = Constraints(k=3, **asked)
    partition = run(name, columns, 3, limits=Limits.of(constraints, sensitive))
    assert not failing(partition.labels, constraints, sensitive).any()


@pytest.mark.slow
@pytest.mark.parametrize("output", ["truthful", "same-schema"])
@pytest.mark.parametrize("missing", ["own-value", "suppress-row"])
def test_the_judge_confirms_on_the_written_file_what_the_card_promises(name, output, missing, tmp_path):
    table = shoal.sample(150, seed=3)
    options = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"], "k": 4, "l": 2}
    release = shoal.anonymize(table, method=name, output=output, missing=missing, **options)
    for format in ("csv", "parquet"):
        checked = shoal.verify(release.save(tmp_path / format, format=format, report=False))
        assert checked.holds
        assert checked.verdicts[0].found >= 4


def test_permuted_rows_give_the_same_release(name):
    table = shoal.sample(90, seed=4).drop_columns(["patient_id", "name"])
    order = np.random.default_rng(0).permutation(90)
    tables = (table, table.take(pa.array(order)))
    one, two = (shoal.anonymize(t, method=name, output="truthful", k=3, seed=1) for t in tables)
    assert one.table.equals(two.table)


def test_no_search_on_numbers_can_follow(name):
    with pytest.raises(PolicyError, match=f"Set the effort of {name} instead"):
        shoal.anonymize(shoal.sample(60, seed=1), method=name, refine="quick", k=3)
