"""Re-association: every sub-record has a record of its own, chance is fair, and clusters do not show."""

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.reassociation import reassociate as naive_reassociate
from shoal.errors import DataError, MethodError
from shoal.kernels.random_streams import stream
from shoal.model.disassociated import Disassociated
from shoal.transactions.reassociation.reassociate import reassociate


def whole(values):
    return np.array(values, np.int64)


def small(values):
    return np.array(values, np.int32)


def published(sizes, chunks, joints=(), terms=(), opened=None, count=None):
    """Build what is published from plain lists: chunks as (cluster or None, joint or None, [(sub-record, count)])."""
    subs = [pair for _, _, held in chunks for pair in held]
    items = [item for sub, _ in subs for item in sub]
    count = count or max([0, *items, *(item for _, item in terms)]) + 1
    return Disassociated(
        k=2,
        m=2,
        delta=10,
        labels=tuple(map(str, range(count))),
        sizes=whole(sizes),
        opened=np.array(opened if opened is not None else [True] * len(sizes), np.bool_),
        chunk_cluster=small([-1 if cluster is None else cluster for cluster, _, _ in chunks]),
        chunk_joint=small([-1 if joint is None else joint for _, joint, _ in chunks]),
        chunk_ptr=whole(np.cumsum([0, *(len(held) for _, _, held in chunks)])),
        sub_ptr=whole(np.cumsum([0, *(len(sub) for sub, _ in subs)])),
        counts=whole([times for _, times in subs]),
        items=small(items),
        joint_ptr=whole(np.cumsum([0, *map(len, joints)])),
        joint_clusters=small([cluster for joint in joints for cluster in joint]),
        term_cluster=small([-1 if cluster is None else cluster for cluster, _ in terms]),
        term_item=small([item for _, item in terms]),
    )


def random_publication(rng):
    """Clusters of up to 6 records, chunks of their own and shared ones; domains are disjoint."""
    sizes = [rng.randint(1, 6) for _ in range(rng.randint(1, 5))]
    chunks, item = [], 0
    joints = [sorted(rng.sample(range(len(sizes)), rng.randint(1, len(sizes)))) for _ in range(rng.randint(0, 2))]
    scopes = [(c, None, sizes[c]) for c in range(len(sizes)) for _ in range(rng.randint(0, 3))]
    scopes += [(None, j, sum(sizes[c] for c in joint)) for j, joint in enumerate(joints) for _ in range(2)]
    for cluster, joint, records in scopes:
        held = Counter()
        for _ in range(rng.randint(1, records)):
            held[tuple(sorted(rng.sample(range(item, item + 3), rng.randint(1, 3))))] += 1
        chunks.append((cluster, joint, sorted(held.items())))
        item += rng.choice([0, 3, 3])
    places = [None, *range(len(sizes))]
    terms = [(rng.choice(places), rng.randint(0, item + 4)) for _ in range(rng.randint(0, 3))]
    return sizes, chunks, joints, terms, [rng.random() < 0.5 for _ in sizes]


def numbers(data):
    return [[int(label) for label in record] for record in data.records()]


@pytest.mark.parametrize("part", range(4))
def test_records_are_those_of_the_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(150 if compiled else 30):
        sizes, chunks, joints, terms, opened = random_publication(rng)
        given_data = published(sizes, chunks, joints, terms, opened)
        seed, once, nonempty = rng.randrange(1000), rng.random() < 0.5, rng.random() < 0.5
        comp = reassociate(given_data, seed, "once" if once else "omit", nonempty, keep_empty=True)
        words = [int(word) for word in stream(seed)]
        ref = naive_reassociate(sizes, opened, chunks, joints, terms, words, once, nonempty)
        assert numbers(comp) == ref


@given(st.integers(0, 10**6))
def test_every_sub_record_is_in_a_record_of_its_own(seed):
    sizes, chunks, joints, terms, opened = random_publication(random.Random(seed))
    for n, (_, _, held) in enumerate(chunks):
        held[:] = [(tuple(10 * n + item % 3 for item in sub), times) for sub, times in held]
    data = reassociate(published(sizes, chunks, joints, terms, opened), seed)
    assert data.inputs == sum(sizes)
    assert data.repeated == 0
    records = numbers(data)
    assert all(records)
    for n, (_, _, held) in enumerate(chunks):
        parts = Counter(tuple(item for item in record if item // 10 == n) for record in records)
        del parts[()]
        wanted = Counter()
        for sub, times in held:
            wanted[tuple(sorted(sub))] += times
        assert parts == wanted


@given(st.integers(0, 10**6))
def test_records_come_out_in_lexicographic_order(seed):
    sizes, chunks, joints, terms, opened = random_publication(random.Random(seed))
    records = numbers(reassociate(published(sizes, chunks, joints, terms, opened), seed, "once", keep_empty=True))
    assert records == sorted(records)
    assert all(one < two for record in records for one, two in pairwise(record))


def test_every_way_to_deal_is_as_likely():
    data = published([4], [(0, None, [((0,), 2)]), (0, None, [((1,), 2)])])
    drawn = Counter(str(numbers(reassociate(data, seed))) for seed in range(3000))
    # Two of four slots twice: both pairs meet in 1 of 6, one of them in 4 of 6, none in 1 of 6.
    assert drawn["[[0], [0], [1], [1]]"] / 3000 == pytest.approx(1 / 6, abs=0.03)
    assert drawn["[[0], [0, 1], [1]]"] / 3000 == pytest.approx(4 / 6, abs=0.03)
    assert drawn["[[0, 1], [0, 1]]"] / 3000 == pytest.approx(1 / 6, abs=0.03)


def test_shared_chunks_reach_every_cluster_of_their_joint_and_no_other():
    data = published([1, 1, 1], [(c, None, [((c,), 1)]) for c in range(3)] + [(None, 0, [((3,), 1)])], [[0, 2]])
    met = Counter(tuple(record) for seed in range(400) for record in numbers(reassociate(data, seed)))
    assert set(met) == {(0,), (1,), (2,), (0, 3), (2, 3)}
    assert met[0, 3] / 400 == pytest.approx(0.5, abs=0.1)


def test_empty_slots_are_left_out_and_counted():
    data = published([5], [(0, None, [((0,), 2)])])
    out = reassociate(data)
    assert (out.n, out.empty, out.inputs) == (2, 3, 5)
    assert out.rows.tolist() == [3, 4]
    kept = reassociate(data, keep_empty=True)
    assert kept.records() == [[], [], [], ["0"], ["0"]]
    assert kept.empty == 0


def test_sub_records_move_to_empty_slots_where_that_is_wished():
    chunks = [(0, None, [((0,), 3)]), (0, None, [((1,), 3)]), (1, None, [((2,), 1)]), (None, 0, [((3,), 3)])]
    data = published([6, 3], chunks, [[0, 1]])
    for seed in range(30):
        out = reassociate(data, seed, nonempty=True)
        assert out.supports.tolist() == [3, 3, 1, 3]
        assert out.n >= 7
    alone = published([6], chunks[:2])
    assert all(reassociate(alone, seed, nonempty=True).lengths.tolist() == [1] * 6 for seed in range(30))
    few = published([6], [(0, None, [((0,), 2)]), (0, None, [((1,), 2)])])
    assert all(reassociate(few, seed, nonempty=True).n == 4 for seed in range(30))


def test_items_in_no_chunk_are_left_out_or_given_once():
    data = published([2, 3], [(0, None, [((0,), 2)])], terms=[(1, 1), (None, 2)], opened=[False, True])
    assert reassociate(data).supports.tolist() == [2, 0, 0]
    for seed in range(20):
        out = reassociate(data, seed, terms="once")
        assert out.supports.tolist() == [2, 1, 1]
        # Both fall into the second cluster, the only one whose records have items beside their chunks.
        assert out.records()[:2] == [["0"], ["0"]]
    closed = published([2], [], terms=[(None, 0)], opened=[False])
    assert reassociate(closed, terms="once").records() == [["0"]]


def test_labels_stay_even_if_their_items_are_gone():
    data = published([2], [(0, None, [((0,), 2)])], count=5)
    assert reassociate(data).labels == data.labels


def test_an_item_that_meets_itself_is_kept_once_and_counted():
    data = published([2], [(0, None, [((0, 1), 2)]), (0, None, [((1,), 2)])])
    out = reassociate(data)
    assert out.records() == [["0", "1"], ["0", "1"]]
    assert out.repeated == 2


def test_nothing_comes_of_nothing():
    data = published([], [], terms=[(None, 0)])
    out = reassociate(data, terms="once", nonempty=True)
    assert (out.n, out.inputs) == (0, 0)


def test_equal_seeds_give_equal_neighbours_and_others_do_not():
    data = published([40], [(0, None, [((i,), 9)]) for i in range(6)])
    one, two, other = reassociate(data, 5), reassociate(data, 5), reassociate(data, 6)
    assert one.items.tobytes() == two.items.tobytes()
    assert one.records() != other.records()


def test_long_records_are_sorted_as_well():
    chunks = [(0, None, [(tuple(range(start, 900, 3)), 2)]) for start in range(3)]
    out = reassociate(published([2], chunks))
    assert numbers(out) == [list(range(900))] * 2


def test_chunks_that_do_not_fit_are_refused_without_naming_items():
    data = published([2], [(0, None, [((7,), 3)]), (0, None, [((8,), 1)])])
    with pytest.raises(DataError, match="reassociate: 1 of 2 chunks hold more sub-records than their cluster or joint"):
        reassociate(data)


def test_a_wish_for_terms_that_is_not_known_is_refused():
    with pytest.raises(MethodError, match="reassociate: terms must be 'omit' or 'once'; got 'twice'"):
        reassociate(published([2], []), terms="twice")
