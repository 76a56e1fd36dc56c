"""Shared chunks: those of the twin, which items are admitted, and clusters that must stay open."""

import random
from itertools import combinations, pairwise

import numpy as np
import pytest

from naive import disassociation as naive
from naive.random_sets import random_limits, random_records
from shoal.transactions.disassociation.partition import recursive
from shoal.transactions.disassociation.shared import shared
from shoal.transactions.disassociation.vertical import vertical


def flat(records):
    """Return records as two flat arrays."""
    return np.cumsum([0, *map(len, records)], dtype=np.int64), np.array([i for r in records for i in r], np.int32)


def joined(clusters, k, m, levels, n_items=None, **options):
    """Return the chunks and terms of each cluster, and the chunks of each joint, as the twin gives them."""
    records = [record for cluster in clusters for record in cluster]
    indptr, items = flat(records)
    n_items = n_items or 1 + max((i for r in records for i in r), default=0)
    cuts = np.cumsum([0, *map(len, clusters)], dtype=np.int64)
    chunked = vertical(indptr, items, n_items, cuts, k, m)
    made = shared(indptr, items, n_items, cuts, chunked, k, m, levels, **options)
    own = []
    for a, b in pairwise(chunked.ptr):
        own.append((by_chunk(chunked.item[a:b], chunked.chunk[a:b]), chunked.item[a:b][made.left[a:b]].tolist()))
    joints = {}
    for joint, (a, b) in enumerate(pairwise(made.ptr)):
        joints[tuple(range(made.low[joint], made.high[joint]))] = by_chunk(made.item[a:b], made.chunk[a:b])
    return own, joints


def by_chunk(items, chunks):
    return [items[chunks == chunk].tolist() for chunk in range(int(chunks.max(initial=-1)) + 1)]


def random_clusters(rng, most=50):
    records, q = random_records(rng, most=most, items=14)
    k, m, delta = random_limits(rng, largest=4)
    records = sorted(records)
    order, cuts = recursive(*flat(records), q, k, delta)
    rows = [records[row] for row in order.tolist()]
    return [rows[a:b] for a, b in pairwise(cuts)], q, k, m


@pytest.mark.parametrize("part", range(4))
def test_shared_chunks_are_those_of_the_twin(part, compiled):
    rng = random.Random(part)
    found = 0
    for _ in range(200 if compiled else 60):
        clusters, q, k, m = random_clusters(rng)
        levels = rng.randint(0, 4)
        own, joints = joined(clusters, k, m, levels, q)
        ref_own, ref_joints = naive.shared(clusters, k, m, levels)
        assert own == ref_own
        assert joints == ref_joints
        found += len(joints)
    assert found > (50 if compiled else 5)


def test_a_shared_chunk_is_km_anonymous_and_its_items_are_in_no_other_chunk_of_the_joint(compiled):
    rng = random.Random(50)
    for _ in range(100 if compiled else 10):
        clusters, q, k, m = random_clusters(rng)
        own, joints = joined(clusters, k, m, 3, q, looks=rng.choice([0, 5, 10**7]))
        for joint, chunks in joints.items():
            rows = [set(record) for c in joint for record in clusters[c]]
            domains = [set(chunk) for c in joint for chunk in own[c][0]]
            domains += [set(chunk) for other, theirs in joints.items() if set(other) & set(joint) for chunk in theirs]
            for chunk in chunks:
                assert naive.is_anonymous([row & set(chunk) for row in rows], k, m)
                assert [domain for domain in domains if domain & set(chunk)] == [set(chunk)]
                assert not any(set(chunk) & set(own[c][1]) for c in joint)


def test_no_item_is_lost_and_none_is_in_two_places_of_a_cluster():
    rng = random.Random(60)
    for _ in range(100):
        clusters, q, k, m = random_clusters(rng)
        own, joints = joined(clusters, k, m, 4, q)
        for c, (chunks, terms) in enumerate(own):
            items = sorted({i for record in clusters[c] for i in record})
            theirs = [i for joint, shared in joints.items() if c in joint for chunk in shared for i in chunk]
            assert (
                sorted([*terms, *(i for chunk in chunks for i in chunk), *(i for i in theirs if i in items)]) == items
            )


# Items 0 and 1 meet once, so their chunks do not cover the cluster; 3 is too rare for it, and keeps it open.
OPEN = [[0, 3], [0, 1], [1]]


def test_an_item_goes_back_if_it_is_all_that_keeps_a_cluster_open():
    assert joined([OPEN, OPEN], 2, 2, 1) == ([([[0], [1]], [3]), ([[0], [1]], [3])], {})


def test_the_rarest_item_goes_back_and_the_others_stay():
    # 3 is in 3 records of both clusters, 4 in 4 of them; both are in too few of each.
    one, two = [[0, 3, 4], [0, 4], [0, 1], [1], [1]], [[0, 3, 4], [0, 3, 4], [0, 1], [1], [1]]
    own, joints = joined([one, two], 3, 2, 1)
    assert own == [([[0], [1]], [3]), ([[0], [1]], [3])]
    assert joints == {(0, 1): [[4]]}


def test_a_cluster_whose_own_chunks_cover_it_may_be_closed():
    covered = [[0, 3], [0], [0]]
    assert joined([covered, covered], 2, 2, 1) == ([([[0]], []), ([[0]], [])], {(0, 1): [[3]]})
    open_by_another = [[0, 3, 4], [0, 1], [1]]
    own, joints = joined([covered, open_by_another], 2, 2, 1)
    assert own == [([[0]], []), ([[0], [1]], [4])]
    assert joints == {(0, 1): [[3]]}


def test_an_item_of_a_chunk_of_one_cluster_is_not_shared():
    common, rare = [[0], [0], [0, 1], [0, 1]], [[0, 1], [0, 2], [0]]
    own, joints = joined([common, rare], 2, 2, 3)
    assert own[1][1] == [1, 2]
    assert joints == {}


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_a_shared_itemset_that_is_rare_as_a_whole_is_torn_if_all_of_it_may_be_known(n):
    # With k = n, all items are together in n - 1 records of one cluster, and each n - 1 of them in one of the other.
    whole = list(range(1, n + 1))
    one = [[0, *whole]] * (n - 1) + [[0]] * n
    two = [[0, *part] for part in combinations(whole, n - 1)] + [[0]] * n
    assert joined([one, two], n, n - 1, 1)[1] == {(0, 1): [whole]}
    assert joined([one, two], n, n, 1)[1] == {(0, 1): [whole[:-1], whole[-1:]]}


def test_levels_beyond_the_number_of_clusters_change_nothing():
    rng = random.Random(70)
    for _ in range(30):
        clusters, q, k, m = random_clusters(rng)
        enough = max(0, len(clusters) - 1).bit_length()
        assert joined(clusters, k, m, enough, q) == joined(clusters, k, m, 16, q)


def test_an_item_of_many_records_of_a_joint_is_tested_over_several_words():
    # 0 and 1 are moved to the term sets of clusters that they do not cover, so they are frequent in the joint.
    clusters = [[[0, 2], [0, 1], [1]]] * 3 + [[[0], [0, 1], [1]]] * 60
    own, joints = joined(clusters, 2, 3, 6)
    assert (own, joints) == naive.shared(clusters, 2, 3, 6)
