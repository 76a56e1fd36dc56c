"""Hardening: every m items are in k records or none, little is lost, and nothing could be given back."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.harden import harden as naive_harden
from naive.harden import holds
from shoal.errors import InfeasibleError, MethodError
from shoal.model.progress import listening
from shoal.model.transactions import Transactions
from shoal.privacy.verdict.km import verify_plain
from shoal.transactions.disassociation.disassociate import disassociate
from shoal.transactions.distinct import Distinct
from shoal.transactions.reassociation.breaches import breaches
from shoal.transactions.reassociation.harden import harden_km
from shoal.transactions.reassociation.reassociate import reassociate

records_of_letters = st.lists(st.sets(st.sampled_from("abcdefg")), max_size=14)


def random_records(rng):
    """Records of few items, many of them equal, so that most rules of ties are needed."""
    items = rng.randint(1, 7)
    kinds = [rng.sample(range(items), rng.randint(0, items)) for _ in range(rng.randint(1, 8))]
    return [sorted(rng.choice(kinds)) for _ in range(rng.randint(0, 16))]


@pytest.mark.parametrize("part", range(4))
def test_what_is_left_is_what_the_twin_leaves(part, compiled):
    rng = random.Random(part)
    for _ in range(150 if compiled else 30):
        records, k, m = random_records(rng), rng.randint(2, 4), rng.randint(1, 4)
        comp = harden_km(Transactions.of([map(str, record) for record in records]), k, m)
        ref, rounds = naive_harden(records, k, m)
        assert [tuple(map(int, record)) for record in comp.data.records()] == ref
        assert comp.rounds == rounds
        assert comp.suppressed == sum(map(len, records)) - sum(map(len, ref))


@given(records_of_letters, st.integers(1, 5), st.integers(1, 8))
def test_every_m_items_are_in_k_records_or_none(records, k, m):
    found = harden_km(Transactions.of(records), k, m)
    left = [tuple(record) for record in found.data.records()]
    assert holds(left, k, m)
    assert verify_plain(found.data, k, m).holds


@given(records_of_letters, st.integers(1, 4), st.integers(1, 4))
def test_nothing_is_added_and_what_is_lost_is_counted(records, k, m):
    data = Transactions.of(records)
    found = harden_km(data, k, m)
    before, after = Counter(data.items.tolist()), Counter()
    for label, support in zip(found.data.labels, found.data.supports.tolist(), strict=True):
        after[data.labels.index(label)] = support
        assert support > 0
    assert after <= before
    assert found.suppressed == (before - after).total()
    assert found.occurrences == data.items.size
    assert found.data.inputs == len(records)
    assert found.data.records() == sorted(found.data.records())


@given(records_of_letters, st.integers(2, 4), st.integers(1, 3), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(records, k, m, rng):
    shuffled = list(records)
    rng.shuffle(shuffled)
    one, two = harden_km(Transactions.of(records), k, m), harden_km(Transactions.of(shuffled), k, m)
    assert one.data.records() == two.data.records()


@given(records_of_letters, st.integers(1, 4), st.integers(1, 4))
def test_data_that_hold_are_left_alone(records, k, m):
    left = harden_km(Transactions.of(records), k, m).data
    again = harden_km(left, k, m)
    assert again.suppressed == 0
    assert again.data.records() == left.records()


def test_a_record_loses_the_item_that_mends_most():
    records = ["abc"] * 3 + ["def"] * 3 + ["abcd"]
    found = harden_km(Transactions.of(records), 2, 2)
    assert found.suppressed == 1
    assert found.share == 1 / 22
    assert [("".join(record)) for record in found.data.records()] == ["abc"] * 4 + ["def"] * 3


def test_an_item_whose_loss_would_make_others_rare_is_spared():
    # {a, x} is rare. Without x the record would leave {x, y} to one record; a has enough others.
    records = ["axy", "xy", "ab", "ab", "ab", "ay", "ay"]
    found = harden_km(Transactions.of(records), 2, 2)
    assert found.suppressed == 1
    assert ["x", "y"] in found.data.records()


def test_items_that_are_gone_have_no_label():
    found = harden_km(Transactions.of(["ab", "ab", "abz"]), 2, 2)
    assert found.data.labels == ("a", "b")


def test_labels_that_are_all_numbers_afterwards_are_in_the_order_of_numbers():
    data = Transactions.of([["10", "9"]] * 3 + [["word"]])
    found = harden_km(data, 2, 1)
    assert data.labels == ("10", "9", "word")
    assert found.data.labels == ("9", "10")
    assert found.data.records() == [["9", "10"]] * 3


def test_records_that_lose_everything_are_counted():
    found = harden_km(Transactions.of(["a", "a", "b", ""]), 2, 2)
    assert (found.data.n, found.data.empty, found.data.inputs) == (2, 2, 4)
    nothing = harden_km(Transactions.of([]), 2, 2)
    assert (nothing.data.n, nothing.suppressed, nothing.share) == (0, 0, 0)


def test_long_records_that_are_alike_are_no_trouble(compiled):
    # Every record holds all of a long one that is there often enough, so that deep itemsets need not be counted.
    length = 60 if compiled else 12
    records = [[str(i) for i in range(length)]] * 5 + [[str(i) for i in range(4)]]
    found = harden_km(Transactions.of(records), 3, 40)
    assert found.suppressed == 0


def test_occurrences_are_counted_in_the_rare_itemsets_that_they_stand_in():
    # Records ab (twice), abc, c: rare at k = 2 are {a, c} and {b, c}, and {a, b, c} begins with {a, b}.
    indptr, items = np.array([0, 2, 5, 6]), np.array([0, 1, 0, 1, 2, 2], np.int32)
    rare, fragile, work = breaches(Distinct(indptr, items, np.array([2, 1, 1])), 3, 2, 3, 1000)
    assert rare.tolist() == [0, 0, 2, 2, 3, 0]
    assert fragile[2:].tolist() == [0, 0, 1, 1]
    assert breaches(Distinct(indptr, items, np.array([2, 1, 1])), 3, 2, 3, work)[2] == work
    assert work - 1 < breaches(Distinct(indptr, items, np.array([2, 1, 1])), 3, 2, 3, work - 1)[2] <= work


@pytest.mark.parametrize("m", [1, 2, 3])
def test_work_beyond_the_limit_is_refused_and_the_same_everywhere(m):
    rng = random.Random(m)
    data = Transactions.of([rng.sample("abcdefghijkl", 6) for _ in range(60)])
    free = harden_km(data, 4, m)
    low, high = 0, 1 << 24
    while high - low > 1:
        middle = (low + high) // 2
        try:
            harden_km(data, 4, m, most=middle)
            high = middle
        except InfeasibleError:
            low = middle
    assert 60 < high < 1 << 23
    assert harden_km(data, 4, m, most=high).data.records() == free.data.records()
    with pytest.raises(InfeasibleError, match="harden: suppressing rare itemsets takes more work than allowed"):
        harden_km(data, 4, m, most=high - 1)


def test_progress_goes_from_size_to_size():
    ticks = []
    with listening(lambda _step, done, total: ticks.append((done, total))):
        harden_km(Transactions.of(["abc", "abc", "abd"]), 2, 3)
    assert ticks == sorted(ticks)
    assert {total for _, total in ticks} == {3}


@pytest.mark.parametrize(("name", "k", "m"), [("k", 0, 2), ("m", 2, 0)])
def test_parameters_out_of_range_are_refused(name, k, m):
    with pytest.raises(MethodError, match=f"harden: {name} must be a whole number of at least 1; got 0"):
        harden_km(Transactions.of(["ab"]), k, m)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("k", "m", "most"), [(2, 2, 0.01), (3, 3, 0.02)])
def test_a_neighbour_of_bms1_loses_little(data_file, k, m, most):
    # The specification's greedy loses 0.63% and 2.3%; bar B10 is 1% and 3%.
    with data_file("bms1.dat").open() as lines:
        data = Transactions.of(line.split() for line in lines)
    drawn = reassociate(disassociate(data, k, m, 20, levels=0).published, seed=1)
    found = harden_km(drawn, k, m)
    assert found.share < most
    assert verify_plain(found.data, k, m).holds
