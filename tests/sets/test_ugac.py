"""Ants: the clusters of the twin, an end in every case, fairness, and what is refused."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import ugac as naive
from shoal.errors import MethodError
from shoal.model.transactions import Transactions
from shoal.transactions.disassociation import ugac
from shoal.transactions.disassociation.disassociate import disassociate
from shoal.transactions.disassociation.partition import recursive
from shoal.transactions.disassociation.ugac import by_ants, feasible


def random_case(rng, most=40):
    """Records that hold several of the rules at once, so that ants compete."""
    n_items = rng.randint(3, 8)
    records = [sorted(set(rng.choices(range(n_items), k=rng.randint(1, 6)))) for _ in range(rng.randint(1, most))]
    rules = []
    for _ in range(rng.randint(0, 7)):
        rule = sorted(rng.sample(range(n_items), 2))
        if rule not in rules:
            rules.append(rule)
    k = rng.randint(1, 4)
    return records, n_items, rules, k, rng.randint(2 * k - 1, 2 * k + 5)


def flat(records):
    """The two arrays of records."""
    ptr = np.cumsum([0, *map(len, records)], dtype=np.int64)
    return ptr, np.array([item for record in records for item in record], np.int32)


def arrays(rules):
    return [np.array(rule, np.int32) for rule in rules]


def clusters(order, cuts):
    return [order[a:b].tolist() for a, b in pairwise(cuts)]


def shuffled(records, rules, k, seed):
    """The holders of every rule that has an ant, in the order that the seed gives."""
    generator = np.random.Generator(np.random.PCG64(seed))
    queues = []
    for rule in rules:
        own = np.array([r for r, record in enumerate(records) if set(rule) <= set(record)], np.int64)
        if own.size >= k:
            generator.shuffle(own)
            queues.append(own.tolist())
    return queues


@pytest.mark.parametrize("part", range(4))
def test_clusters_are_those_of_the_twin(part, compiled):
    rng = random.Random(part)
    moves = 0
    for seed in range(100 if compiled else 20):
        records, n_items, rules, k, delta = random_case(rng)
        beta, rounds = rng.choice((0.3, 0.6, 0.9, 1.0)), rng.choice((0, 1, 3, 1000))

        def rest(others, records=records, n_items=n_items, k=k, delta=delta):
            found = recursive(*flat([records[r] for r in others]), n_items, k, delta)
            return [[others[place] for place in cluster] for cluster in clusters(*found)]

        found = clusters(*by_ants(*flat(records), n_items, arrays(rules), k, delta, beta, rounds, seed))
        ref, moved = naive.by_ants(
            [set(record) for record in records],
            [set(rule) for rule in rules],
            k,
            delta,
            beta,
            rounds,
            shuffled(records, rules, k, seed),
            rest,
        )
        assert found == ref
        moves += moved
    assert moves > 0


@given(st.integers(0, 10**6), st.floats(0.01, 1.0))
def test_every_cluster_has_k_to_delta_records_and_every_record_is_in_one(seed, beta):
    records, n_items, rules, k, delta = random_case(random.Random(seed))
    order, cuts = by_ants(*flat(records), n_items, arrays(rules), k, delta, beta, seed=seed)
    assert sorted(order.tolist()) == list(range(len(records)))
    if len(records) >= k:
        assert np.diff(cuts).min() >= k
        assert np.diff(cuts).max() <= delta


def gathered(records, n_items, rules, k, beta, rounds, seed=0):
    """Let the ants work, and return what each rule has, its support, its goal and the number of moves."""
    held = ugac._with_ants(*flat(records), n_items, arrays(rules), k)
    ends = np.concatenate(([0], np.cumsum(held.supports))).astype(np.int64)
    own = np.repeat(np.arange(len(records)), np.diff(held.ptr))[np.argsort(held.rules, kind="stable")]
    owner = ugac._first_records(own, ends, len(records))
    goals = np.maximum(beta, k / held.supports)
    moves = ugac._gather(held.ptr, held.rules, own, ends, held.supports, goals, owner, k, rounds)
    return np.bincount(owner[owner >= 0], minlength=len(ends) - 1), held, goals, moves, owner


@pytest.mark.parametrize("seed", range(20))
def test_the_sorted_deficits_fall_with_every_round_until_nobody_moves(seed):
    rng = random.Random(seed)
    records, n_items, rules, k, _ = random_case(rng, most=60)
    last, moved = None, -1
    for rounds in range(200):
        have, held, goals, moves, owner = gathered(records, n_items, rules, k, 0.9, rounds)
        deficits = sorted(np.maximum(0, goals - have / held.supports).tolist(), reverse=True)
        for r in np.flatnonzero(owner >= 0):
            assert owner[r] in held.rules[held.ptr[r] : held.ptr[r + 1]]
        if moves == moved:
            break
        assert last is None or deficits < last
        last, moved = deficits, moves
    else:
        raise AssertionError("the ants moved records in 200 rounds")


def test_two_ants_do_not_steal_one_record_for_ever():
    # Both rules want all records, which hold both: each gets its half, and rounds without end make no difference.
    records = [[0, 1, 2]] * 9
    rules = [[0, 1], [1, 2]]
    have, _, _, _, _ = gathered(records, 3, rules, 2, 1.0, 10**9)
    assert sorted(have.tolist()) == [4, 5]


def test_a_poor_rule_is_given_records_by_a_rich_one():
    # All four records of the second rule hold the first one too; they begin with two each.
    records = [[0, 1, 2]] * 4 + [[0, 1]] * 6
    start, _, _, _, _ = gathered(records, 3, [[0, 1], [1, 2]], 2, 0.6, 0)
    have, _, _, moves, _ = gathered(records, 3, [[0, 1], [1, 2]], 2, 0.6, 100)
    assert start.tolist() == [8, 2]
    assert have.tolist() == [7, 3]
    assert moves == 1


def test_rules_that_fewer_than_k_records_hold_have_no_ant():
    records = [[0, 1]] * 3 + [[1, 2], [2], [2]]
    alone = by_ants(*flat(records), 3, arrays([[0, 1]]), 2, 3)
    beside = by_ants(*flat(records), 3, arrays([[1, 2], [0, 1]]), 2, 3)
    assert clusters(*alone) == clusters(*beside)


def test_what_all_rules_want_is_compared_with_what_is_there():
    records = [[0, 1, 2]] * 10 + [[3]]
    assert feasible(*flat(records), 4, arrays([[0, 1], [1, 2]]), 2, 0.6) == (12, 10, False)
    assert feasible(*flat(records), 4, arrays([[0, 1], [1, 2]]), 2, 0.5) == (10, 10, True)
    assert feasible(*flat(records), 4, arrays([[0, 1], [0, 3]]), 2, 0.6) == (6, 10, True)


def test_the_seed_decides_and_nothing_else():
    rng = random.Random(4)
    records = [sorted(set(rng.choices(range(6), k=4))) for _ in range(60)]
    rules = arrays([[0, 1], [1, 2], [2, 3], [3, 4]])
    runs = [clusters(*by_ants(*flat(records), 6, rules, 2, 5, seed=seed)) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_what_makes_no_sense_is_refused():
    records = flat([[0, 1], [0, 1]])
    rules = arrays([[0, 1]])
    with pytest.raises(MethodError, match="by_ants: beta must be above 0 and at most 1; got 0"):
        by_ants(*records, 2, rules, 2, 3, beta=0)
    with pytest.raises(MethodError, match="by_ants: rounds must be a whole number of at least 0; got -1"):
        by_ants(*records, 2, rules, 2, 3, rounds=-1)
    with pytest.raises(MethodError, match="by_ants: k must be at least 1 and delta at least 2k - 1"):
        by_ants(*records, 2, rules, 3, 4)


@pytest.mark.compiled
def test_on_bms1_ants_end_by_themselves_and_no_rule_is_left_with_nothing(data_file):
    with data_file("bms1.dat").open() as lines:
        data = Transactions.of(line.split() for line in lines)
    supports = data.supports
    top = np.argsort(-supports, kind="stable")[:9].tolist()
    rules = [sorted((a, b)) for place, a in enumerate(top) for b in top[:place]]
    records = [data.items[a:b].tolist() for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)]
    have, _, _, moves, _ = gathered(records, len(data.labels), rules, 3, 0.6, 10_000)
    again = gathered(records, len(data.labels), rules, 3, 0.6, 1_000)
    assert moves == again[3]
    assert moves > 100
    assert have.min() >= 3
    assert not feasible(data.indptr, data.items, len(data.labels), arrays(rules), 3).holds


def test_rules_that_want_more_records_than_there_are_are_said_to():
    data = Transactions.of([["a", "b", "c"]] * 6)
    rules = [np.array(pair, np.int32) for pair in ([0, 1], [0, 2], [1, 2])]
    notes = [disassociate(data, 2, 2, 6, partition="ugac", rules=rules, beta=beta).notes for beta in (0.9, 0.3)]
    assert any("need 18 records at beta=0.9, but only 6 contain all items of a rule" in note for note in notes[0])
    assert notes[1] == ()
