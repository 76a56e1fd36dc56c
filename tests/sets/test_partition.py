"""Horizontal partitioning: the clusters of its twin, their sizes, and the order of records that it begins with."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import disassociation as naive
from naive.random_sets import random_limits, random_records
from shoal.transactions.disassociation.partition import even, guarded, iterative, recursive
from shoal.transactions.lexical import gathered, lexical_order


def flat(records):
    """Return records as two flat arrays."""
    return np.cumsum([0, *map(len, records)], dtype=np.int64), np.array([i for r in records for i in r], np.int32)


def clusters(order, cuts):
    return [order[a:b].tolist() for a, b in pairwise(cuts)]


records_of_few_items = st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=5).map(sorted), max_size=60)


@pytest.mark.parametrize("part", range(4))
def test_the_recursive_clusters_are_those_of_the_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(200 if compiled else 15):
        records, q = random_records(rng, most=60)
        k, _, delta = random_limits(rng)
        comp = clusters(*recursive(*flat(records), q, k, delta))
        assert comp == naive.recursive(records, k, delta)


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize("part", range(3))
def test_the_iterative_clusters_are_those_of_the_twin(part, faithful, compiled):
    rng = random.Random(100 + part)
    for _ in range(200 if compiled else 15):
        records, q = random_records(rng, most=60)
        k, _, delta = random_limits(rng)
        comp = clusters(*iterative(*flat(records), q, k, delta, faithful=faithful))
        assert comp == naive.iterative(records, k, delta, faithful)


def test_thousands_of_items_change_nothing(compiled):
    rng = random.Random(8)
    for _ in range(10 if compiled else 1):
        records = [sorted({int(rng.paretovariate(0.4)) % 9000 for _ in range(6)}) for _ in range(300)]
        for partition, ref in ((recursive, naive.recursive), (iterative, naive.iterative)):
            assert clusters(*partition(*flat(records), 9000, 3, 20)) == ref(records, 3, 20)


@given(records_of_few_items, st.integers(1, 5), st.integers(0, 9))
def test_every_record_is_in_one_cluster_of_k_to_delta_records(records, k, more):
    delta = 2 * k - 1 + more
    for partition in (recursive, iterative):
        indptr, items = flat(records)
        order, cuts = partition(indptr, items, 8, k, delta)
        assert sorted(order) == list(range(len(records)))
        assert cuts[0] == 0
        assert cuts[-1] == len(records)
        sizes = np.diff(cuts)
        assert (sizes <= delta).all()
        assert (sizes >= min(k, len(records))).all()


def test_faithful_clusters_may_be_smaller_than_k():
    records = [[0], [0], [0], [1], [2]]
    assert np.diff(iterative(*flat(records), 3, 3, 5, faithful=True)[1]).tolist() == [3, 1, 1]
    assert np.diff(iterative(*flat(records), 3, 3, 5)[1]).tolist() == [5]


def test_fewer_than_k_records_are_one_cluster_and_no_records_are_none():
    for partition in (recursive, iterative):
        assert partition(*flat([[0], [1]]), 2, 3, 5)[1].tolist() == [0, 2]
        assert partition(*flat([]), 2, 3, 5)[1].tolist() == [0]


def test_records_all_alike_are_cut_evenly():
    order, cuts = recursive(*flat([[0, 1, 2]] * 130), 3, 3, 60)
    assert np.diff(cuts).tolist() == [44, 43, 43]
    assert order.tolist() == list(range(130))


def test_blocks_are_even_and_the_larger_ones_come_first():
    assert even(10, 4).tolist() == [0, 4, 7, 10]
    assert even(0, 4).tolist() == [0]
    assert even(4, 4).tolist() == [0, 4]


def test_a_small_cluster_joins_the_one_before_it_or_the_second_one():
    assert guarded(np.array([0, 5, 6, 11]), 2, 9).tolist() == [0, 6, 11]
    assert guarded(np.array([0, 1, 2, 7]), 3, 9).tolist() == [0, 7]
    assert guarded(np.array([0, 5, 6]), 2, 5).tolist() == [0, 3, 6]
    assert guarded(np.array([0, 1]), 3, 5).tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_rows_come_in_lexicographic_order_and_equal_rows_keep_theirs(seed, compiled):
    rng = random.Random(seed)
    for _ in range(100 if compiled else 10):
        longest = rng.choice([3, 40, 90])
        rows = [[rng.randint(0, 2) for _ in range(rng.randint(0, longest))] for _ in range(rng.randint(0, 50))]
        rows += [[1] * rng.randint(60, 75) for _ in range(rng.randint(0, 30))]
        ptr, values = flat(rows)
        order = lexical_order(ptr, values)
        assert order.tolist() == sorted(range(len(rows)), key=lambda row, rows=rows: rows[row])
        new_ptr, new = gathered(ptr, values, order)
        assert [new[a:b].tolist() for a, b in pairwise(new_ptr)] == sorted(rows)
