"""Support in published data: exhaustive twins, averages of random draws, shared chunks and terms."""

import random
from itertools import combinations

import numpy as np
import pytest

from naive import support as naive
from shoal.errors import MethodError
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions
from shoal.transactions.disassociation.disassociate import disassociate
from shoal.transactions.itemsets.mining import itemset_supports, pair_supports
from shoal.transactions.itemsets.support import (
    certain_support,
    expected_support,
    numbers_of,
    renumbered,
    support_bounds,
)
from shoal.transactions.reassociation.reassociate import reassociate

N_ITEMS = 7


def published(sizes, chunks, joints=(), terms=(), opened=None, k=2, n_items=N_ITEMS):
    """Make a publication of chunks ("c" or "j", number, list of sub-records) and terms (cluster or -1, item)."""
    scopes, subs = [(kind, number) for kind, number, _ in chunks], []
    for _, _, bag in chunks:
        distinct = sorted({tuple(sorted(sub)) for sub in bag})
        subs.append([(sub, sum(tuple(sorted(one)) == sub for one in bag)) for sub in distinct])
    flat = [one for bag in subs for one in bag]
    return Disassociated(
        k,
        2,
        9,
        tuple(str(item) for item in range(n_items)),
        np.array(sizes, np.int64),
        np.array(opened if opened is not None else [bool(terms)] * len(sizes), np.bool_),
        np.array([number if kind == "c" else -1 for kind, number in scopes], np.int32),
        np.array([number if kind == "j" else -1 for kind, number in scopes], np.int32),
        np.cumsum([0, *map(len, subs)], dtype=np.int64),
        np.cumsum([0, *(len(sub) for sub, _ in flat)], dtype=np.int64),
        np.array([count for _, count in flat], np.int64),
        np.array([item for sub, _ in flat for item in sub], np.int32),
        np.cumsum([0, *map(len, joints)], dtype=np.int64),
        np.array([cluster for joint in joints for cluster in joint], np.int32),
        np.array([cluster for cluster, _ in terms], np.int32),
        np.array([item for _, item in terms], np.int32),
        terms="cluster" if any(cluster >= 0 for cluster, _ in terms) else "global",
    )


def random_bag(rng, domain, slots):
    count = rng.randint(1, max(1, min(slots, 3)))
    return [set(rng.sample(domain, rng.randint(1, len(domain)))) for _ in range(count)]


def random_case(rng, joints=((0, 1), (0, 1, 2)), most=3):
    """A publication and the chunks of the twin; an item is in one chunk at most that a cluster sees."""
    sizes = [rng.randint(1, most) for _ in range(4)]
    home = {}
    for item in range(N_ITEMS):
        joint = rng.choice([None, *range(len(joints))])
        for cluster in range(4):
            if joint is not None and cluster in joints[joint]:
                home[cluster, item] = ("j", joint, 0)
            elif rng.random() < 0.6:
                home[cluster, item] = ("c", cluster, rng.randint(0, 1))
    domains = {}
    for (_, item), chunk in home.items():
        domains.setdefault(chunk, set()).add(item)
    chunks, plain = [], []
    for (kind, number, _), domain in sorted(domains.items()):
        scope = [number] if kind == "c" else joints[number]
        slots = [slot for cluster in scope for slot in range(sum(sizes[:cluster]), sum(sizes[: cluster + 1]))]
        bag = random_bag(rng, sorted(domain), len(slots))
        chunks.append((kind, number, bag))
        plain.append((slots, [frozenset(sub) for sub in bag]))
    return sizes, chunks, joints, plain


def some_itemsets(rng):
    every = [set(c) for size in (1, 2, 3) for c in combinations(range(N_ITEMS), size)]
    return rng.sample(every, 12)


def arrays(itemsets):
    return [np.array(sorted(itemset), np.int32) for itemset in itemsets]


@pytest.mark.parametrize("part", range(3))
def test_supports_are_those_of_the_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(100 if compiled else 20):
        sizes, chunks, joints, plain = random_case(rng, most=9)
        itemsets = some_itemsets(rng)
        made = published(sizes, chunks, joints)
        assert certain_support(made, arrays(itemsets)).tolist() == [naive.certain(plain, i) for i in itemsets]
        ref = [float(naive.expected(plain, sum(sizes), frozenset(i))) for i in itemsets]
        assert expected_support(made, arrays(itemsets)) == pytest.approx(ref, rel=1e-12, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("joints", [(), ((0, 1, 2),), ((0, 1), (0, 1, 2))])
def test_every_re_association_lies_within_the_bounds_and_their_mean_is_expected(joints):
    rng = random.Random(len(joints))
    tried = 0
    while tried < 40:
        sizes, chunks, joints, plain = random_case(rng, joints, most=2)
        plain = [(slots, subs[: len(slots)]) for slots, subs in plain]
        if naive.ways(plain) > 1500:
            continue
        tried += 1
        chunks = [(kind, number, subs) for (kind, number, _), (_, subs) in zip(chunks, plain, strict=True)]
        made = published(sizes, chunks, joints)
        itemsets = some_itemsets(rng)[:6]
        low, high = support_bounds(made, arrays(itemsets))
        means = expected_support(made, arrays(itemsets))
        sure = certain_support(made, arrays(itemsets))
        for place, itemset in enumerate(itemsets):
            least, mean, most = naive.supports(plain, sum(sizes), frozenset(itemset))
            assert sure[place] <= low[place] <= least
            assert most <= high[place]
            assert means[place] == pytest.approx(float(mean))
            if len(joints) < 2 and len(itemset) < 3:
                assert (low[place], high[place]) == (least, most)


def test_expected_support_is_the_average_of_random_draws():
    rng = random.Random(5)
    sizes, chunks, joints, plain = random_case(rng, most=9)
    itemsets = [frozenset(pair) for pair in combinations(range(N_ITEMS), 2)]
    draws = [naive.drawn(plain, sum(sizes), rng) for _ in range(4000)]
    means = [np.mean([sum(i <= record for record in records) for records in draws]) for i in itemsets]
    assert expected_support(published(sizes, chunks, joints), arrays(itemsets)) == pytest.approx(means, abs=0.1)


@pytest.mark.parametrize("opened", [[True, True, False], [False, False, False]])
def test_terms_that_are_given_once_count_once(opened):
    chunks = [("c", 0, [{0, 1}, {0}]), ("c", 1, [{2}, {0, 2}]), ("j", 0, [{3}])]
    terms = [(1, 4), (-1, 5), (-1, 2)]
    made = published([2, 2, 1], chunks, [[0, 1]], terms, opened)
    slots = [[0, 1], [2, 3], [0, 1, 2, 3]]
    plain = [(own, [frozenset(sub) for sub in bag]) for own, (_, _, bag) in zip(slots, chunks, strict=True)]
    hosts = [0, 1, 2, 3] if any(opened) else [0, 1, 2, 3, 4]
    plain += [([2, 3], [frozenset({4})]), (hosts, [frozenset({5})]), (hosts, [frozenset({2})])]
    itemsets = [frozenset(c) for size in (1, 2, 3) for c in combinations(range(6), size)]
    means = expected_support(made, arrays(itemsets), terms="once")
    for itemset, mean in zip(itemsets, means, strict=True):
        assert mean == pytest.approx(float(naive.supports(plain, 5, itemset)[1])), sorted(itemset)


def test_a_listed_term_is_in_one_to_k_minus_1_records_or_in_any_number_if_it_is_alone():
    chunks = [("c", 0, [{0}] * 4), ("c", 1, [{0}] * 4)]
    made = published([5, 5], chunks, (), [(0, 1), (0, 2), (1, 3)], k=3)
    low, high = support_bounds(made, [[1], [3], [0, 1], [0, 3], [1, 2], [1, 3]])
    assert low.tolist() == [1, 1, 0, 0, 0, 0]
    assert high.tolist() == [2, 5, 2, 4, 2, 0]
    # An item of every record meets the term for certain.
    whole = published([5], [("c", 0, [{0}] * 5)], (), [(0, 1), (0, 2)], k=3)
    assert [bound.tolist() for bound in support_bounds(whole, [[0, 1]])] == [[1], [2]]


def test_items_that_are_not_published_have_no_support():
    made = published([3], [("c", 0, [{0, 1}, {0}])])
    itemsets = numbers_of(made.labels, [["0", "1"], ["0", "unheard"], ["1"]])
    assert [itemset.tolist() for itemset in itemsets] == [[0, 1], [0, -1], [1]]
    assert certain_support(made, itemsets).tolist() == [1, 0, 1]
    assert expected_support(made, itemsets).tolist() == [1, 0, 1]
    assert expected_support(made, itemsets, terms="once").tolist() == [1, 0, 1]
    assert [bound.tolist() for bound in support_bounds(made, itemsets)] == [[1, 0, 1]] * 2
    assert renumbered(("a", "b", "c"), ("b", "c", "d")).tolist() == [-1, 0, 1]


def test_an_itemset_with_a_repeated_item_is_the_set():
    made = published([3], [("c", 0, [{0, 1}, {0}])])
    assert certain_support(made, np.array([[1, 0], [1, 1], [0, 0]])).tolist() == [1, 1, 2]


def test_nothing_published_and_nothing_asked_is_no_error():
    empty = published([], [], n_items=0)
    assert certain_support(empty, [[0, 1]]).tolist() == [0]
    assert expected_support(empty, [[0, 1]], terms="once").tolist() == [0]
    assert certain_support(published([3], [("c", 0, [{0}])]), []).size == 0
    assert expected_support(published([3], [("c", 0, [{0}])]), [], terms="once").size == 0
    assert [bound.size for bound in support_bounds(empty, [])] == [0, 0]


def test_empty_itemsets_and_unknown_words_are_refused():
    made = published([3], [("c", 0, [{0, 1}, {0}])])
    with pytest.raises(MethodError, match="certain_support: 1 itemsets are empty"):
        certain_support(made, [[0], []])
    with pytest.raises(MethodError, match="terms must be 'omit' or 'once'"):
        expected_support(made, [[0]], terms="all")


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("name", "k", "m", "delta"), [("bms1.dat", 3, 3, 60), ("groceries.dat", 2, 2, 20)])
def test_on_real_data_the_original_and_its_neighbours_lie_within_what_is_said(data_file, name, k, m, delta):
    with data_file(name).open(encoding="utf-8") as lines:
        data = Transactions.of(line.split() for line in lines)
    made = disassociate(data, k, m, delta, levels=3).published
    pairs, supports = pair_supports(data)
    number = renumbered(data.labels, made.labels)
    low, high = support_bounds(made, number[pairs])
    sure, mean = certain_support(made, number[pairs]), expected_support(made, number[pairs])
    assert (sure <= low).all()
    assert (low <= supports).all()
    assert (low <= mean * (1 + 1e-9)).all()
    assert (mean <= high * (1 + 1e-9) + 1e-9).all()
    drawn = np.zeros(len(pairs))
    for seed in range(3):
        neighbour = reassociate(made, seed=seed)
        found = itemset_supports(neighbour, list(renumbered(data.labels, neighbour.labels)[pairs]))
        assert (low <= found).all()
        assert (found <= high).all()
        drawn += found / 3
    # The mean over all pairs wanders by far less than one pair does.
    assert drawn.sum() == pytest.approx(mean.sum(), rel=0.01)
