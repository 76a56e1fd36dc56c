"""Sets that are reshuffled within groups."""

import random
from collections import Counter

import numpy as np
import pytest

from naive.inside import least_support
from shoal.model.transactions import Transactions
from shoal.transactions.reassociation.inside import exchanged


def some_data(rng, most=60):
    n, groups = rng.randint(1, most), rng.randint(1, 4)
    sets = [[item for item in "abcdefgh"[: rng.randint(1, 8)] if rng.random() < 0.4] for _ in range(n)]
    labels = np.unique([rng.randrange(groups) for _ in range(n)], return_inverse=True)[1].reshape(-1)
    return Transactions.of(sets), labels, sets


def as_sets(data, rows, items):
    found = [[] for _ in range(data.inputs)]
    for row, item in zip(rows.tolist(), items.tolist(), strict=True):
        found[row].append(data.labels[item])
    return found


@pytest.mark.parametrize("seed", range(30))
def test_inside_a_group_every_m_items_are_in_k_rows_or_none(seed):
    rng = random.Random(seed)
    for _ in range(5):
        data, labels, _ = some_data(rng)
        k, m = rng.randint(1, 5), rng.randint(1, 3)
        rows, items = exchanged(data, labels, k, m, seed)
        least = least_support(labels.tolist(), as_sets(data, rows, items), m)
        assert least is None or least >= k


def test_no_item_is_in_more_rows_of_a_group_than_before():
    rng = random.Random(1)
    for turn in range(30):
        data, labels, sets = some_data(rng)
        after = as_sets(data, *exchanged(data, labels, 2, 2, turn))
        for group in range(labels.max() + 1):
            had, has = (
                Counter(item for row in np.flatnonzero(labels == group) for item in given[row])
                for given in (sets, after)
            )
            assert all(has[item] <= had[item] for item in has)


@pytest.mark.compiled
def test_a_large_group_is_cut_into_clusters_and_keeps_what_is_common():
    rng = random.Random(2)
    sets = [["flu", "cough"] if rng.random() < 0.5 else ["gout", rng.choice("abc")] for _ in range(900)]
    data = Transactions.of(sets)
    rows, items = exchanged(data, np.zeros(900, np.int64), 5, 2, 0)
    after = as_sets(data, rows, items)
    together = sum({"flu", "cough"} <= set(one) for one in after)
    assert together > 0.9 * sum({"flu", "cough"} <= set(one) for one in sets)
    assert least_support([0] * 900, after, 2) >= 5


def test_the_same_seed_gives_the_same_sets_and_another_one_others():
    rng = random.Random(3)
    sets = [[item for item in "abcdef" if rng.random() < 0.5] for _ in range(40)]
    data, labels = Transactions.of(sets), np.zeros(40, np.int64)
    one, again, other = (as_sets(data, *exchanged(data, labels, 3, 1, seed)) for seed in (5, 5, 6))
    assert one == again
    assert one != other


def test_rows_without_any_item_are_left_alone():
    data = Transactions.of([[], [], []])
    rows, items = exchanged(data, np.zeros(3, np.int64), 2, 2, 0)
    assert rows.size == items.size == 0
