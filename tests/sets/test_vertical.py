"""Vertical partitioning: the chunks of its twin, k^m-anonymity, the cover condition, and clusters that are too much."""

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import disassociation as naive
from naive.random_sets import random_limits, random_records
from shoal.errors import MethodError
from shoal.transactions.disassociation import vertical as module
from shoal.transactions.disassociation.bits import ones
from shoal.transactions.disassociation.vertical import NO_RULES, vertical


def flat(records):
    """Return records as two flat arrays."""
    return np.cumsum([0, *map(len, records)], dtype=np.int64), np.array([i for r in records for i in r], np.int32)


def chunked(records, k, m, rules=(), n_items=None, **options):
    """Return (chunks, terms) of one cluster, whether its chunks cover it, and what came out."""
    n_items = n_items or 1 + max((i for r in records for i in r), default=0)
    given_rules = flat(rules) if rules else NO_RULES
    made = vertical(*flat(records), n_items, np.array([0, len(records)]), k, m, given_rules, **options)
    chunks = {}
    for item, chunk in zip(made.item.tolist(), made.chunk.tolist(), strict=True):
        chunks.setdefault(chunk, []).append(item)
    terms = chunks.pop(-1, [])
    return [chunks[c] for c in sorted(chunks)], terms, bool(made.covered[0]), made


def part(records, domain):
    return [set(domain) & set(record) for record in records]


@pytest.mark.parametrize("turn", range(4))
def test_chunks_and_terms_are_those_of_the_twin(turn, compiled):
    rng = random.Random(turn)
    for _ in range(200 if compiled else 10):
        records, q = random_records(rng, most=24, items=10, least=1)
        k, m, _ = random_limits(rng)
        rules = [sorted(rng.sample(range(q), rng.randint(2, min(q, 3)))) for _ in range(rng.randint(0, 3)) if q > 1]
        chunks, terms, covered, made = chunked(records, k, m, rules, q)
        ref_chunks, ref_terms = naive.vertical(records, k, m, rules)
        assert (chunks, terms) == (ref_chunks, ref_terms)
        assert covered == naive.covers(records, ref_chunks, k, m)
        assert made.support.tolist() == [naive.support([i], records) for i in made.item.tolist()]


def test_clusters_of_more_than_64_records_are_torn_alike(compiled):
    rng = random.Random(5)
    for _ in range(40 if compiled else 2):
        records, q = random_records(rng, most=200, items=8, least=60)
        k, m = rng.randint(2, 9), rng.randint(2, 4)
        assert chunked(records, k, m, n_items=q)[:2] == naive.vertical(records, k, m)


@given(st.lists(st.sets(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=30), st.integers(1, 4))
def test_every_chunk_is_km_anonymous_and_every_item_is_somewhere(records, k):
    records = [sorted(record) for record in records]
    for m in (1, 2, 3, 20):
        chunks, terms, _, _ = chunked(records, k, m)
        assert sorted([*terms, *(i for chunk in chunks for i in chunk)]) == sorted({i for r in records for i in r})
        for chunk in chunks:
            assert naive.is_anonymous(part(records, chunk), k, min(m, 6))
        if not terms:
            assert naive.covers(records, chunks, k, m)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_an_itemset_that_is_rare_as_a_whole_is_torn_if_all_of_it_may_be_known(n):
    # All n items are in one record together, and each n - 1 of them in one more: only the whole is rare.
    whole = list(range(n))
    records = [whole, *combinations(whole, n - 1)] + [[n]] * n
    assert chunked(records, 2, n - 1)[0] == [[*whole, n]]
    assert chunked(records, 2, n)[0] == [[*whole[:-1], n], [n - 1]]


def test_several_clusters_do_not_touch_each_other():
    rng = random.Random(2)
    records, q = random_records(rng, most=60, least=60)
    cuts = np.array([0, 7, 20, 21, 60])
    made = vertical(*flat(records), q, cuts, 2, 2)
    for cluster in range(4):
        alone = chunked(records[cuts[cluster] : cuts[cluster + 1]], 2, 2, n_items=q)[3]
        here = slice(made.ptr[cluster], made.ptr[cluster + 1])
        assert made.item[here].tolist() == alone.item.tolist()
        assert made.chunk[here].tolist() == alone.chunk.tolist()


def test_chunks_too_small_to_hide_a_link_lose_the_rarest_item():
    # Items 0 and 1 meet once, so they are in two chunks of 2 records each: 4 is less than 3 + 2 (2 - 1).
    records = [[0], [0, 1], [1]]
    assert not naive.covers(records, [[0], [1]], 2, 2)
    assert chunked(records, 2, 2)[:2] == ([[1]], [0])
    # One more record with both of them, and still none of the chunks tells who has both.
    assert chunked([[0, 2], [0, 1, 2], [1, 2]], 2, 2)[:2] == ([[0, 2], [1]], [])


def test_items_of_a_rule_come_first():
    records = [[0, 1], [0, 1], [0, 1, 2], [1, 2], [0, 2], [0, 2], [1]]
    assert chunked(records, 3, 2)[0][0] == [0, 1]
    assert chunked(records, 3, 2, [[0, 2]])[0][0] == [0, 2]


def test_one_known_item_or_k_of_1_gives_a_single_chunk():
    records = [[0, 1], [1, 2], [0, 2], [3]]
    assert chunked(records, 2, 1)[:2] == ([[0, 1, 2]], [3])
    assert chunked(records, 1, 3)[:2] == ([[0, 1, 2, 3]], [])


def test_m_larger_than_any_record_means_whole_sub_records():
    rng = random.Random(3)
    for _ in range(30):
        records, q = random_records(rng, most=20, items=6, least=1)
        assert chunked(records, 2, 10**9, n_items=q)[0] == naive.vertical(records, 2, 7)[0]


def test_a_spent_budget_closes_chunks_and_keeps_the_promise(compiled):
    rng = random.Random(4)
    for looks in (0, 3, 10, 40):
        for _ in range(20 if compiled else 3):
            records, q = random_records(rng, most=30, items=9, least=4)
            chunks, terms, _, _ = chunked(records, 2, 3, n_items=q, looks=looks)
            for chunk in chunks:
                assert naive.is_anonymous(part(records, chunk), 2, 3)
            assert sorted([*terms, *(i for c in chunks for i in c)]) == sorted({i for r in records for i in r})


def test_without_a_look_only_items_that_need_none_share_a_chunk():
    records = [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 4], [0, 1, 4], [0, 4, 5], [0, 4, 5]]
    assert chunked(records, 2, 2, looks=0)[0] == [[0, 1], [2, 3], [4], [5]]


@pytest.mark.compiled
def test_records_of_thousands_of_items_are_torn():
    long = list(range(10_000))
    records = [long] * 5 + [[0, 1], [5, 70], list(range(65))] * 4
    chunks, _, _, made = chunked(records, 3, 3)
    assert made.item.size == 10_000
    for chunk in chunks:
        few = sorted({*chunk[:6], *chunk[-6:]})
        assert naive.is_anonymous(part(records, few), 3, 3)


def test_more_bits_than_a_machine_holds_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST", 1)
    with pytest.raises(MethodError, match="a cluster of up to 3 records would need 0 MB of bits.*Lower delta"):
        chunked([[0, 1], [0, 1], [0, 1]], 2, 2)


def test_bits_are_counted():
    for word in (0, 1, 2**63, 2**64 - 1, 0x5555555555555555):
        assert ones(np.uint64(word)) == bin(word).count("1")
