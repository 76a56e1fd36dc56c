"""Mining: itemsets, supports and rules as their twin and three other programs find them, and what is refused."""

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from naive import mining as naive
from shoal.errors import MethodError
from shoal.io.transactions import read as read_transactions
from shoal.model.transactions import Transactions
from shoal.transactions.itemsets import eclat, mining
from shoal.transactions.itemsets.mining import (
    frequent_itemsets,
    itemset_supports,
    pair_supports,
    rules,
    triple_supports,
)

MARK = "Zebedee4711"
baskets = st.lists(st.sets(st.integers(0, 8), max_size=6), max_size=25)


def made(records):
    """Transactions of whole numbers that all occur, and the same as lists of item numbers."""
    data = Transactions.of([[str(item) for item in record] for record in records])
    cuts = data.indptr.tolist()
    return data, [data.items[a:b].tolist() for a, b in pairwise(cuts)]


def random_records(rng):
    items, most = rng.randint(1, 9), rng.randint(1, 7)
    return [[rng.randrange(items) for _ in range(rng.randint(0, most))] for _ in range(rng.randint(0, 30))]


def paired(rows, supports):
    return list(zip(map(tuple, rows.tolist()), supports.tolist(), strict=True))


@pytest.fixture(scope="module")
def bms1(data_file):
    return read_transactions(data_file("bms1.dat"))


@pytest.fixture(scope="module")
def groceries(data_file):
    return read_transactions(data_file("groceries.dat"))


# The twin


@pytest.mark.parametrize("part", range(4))
def test_itemsets_and_their_order_are_those_of_the_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(100 if compiled else 20):
        data, records = made(random_records(rng))
        least, longest = rng.randint(1, 4), rng.choice([None, 1, 2, 3, 4])
        comp = frequent_itemsets(data, least, longest=longest)
        ref = naive.frequent(records, least, longest)
        assert list(zip(comp.tuples(), comp.supports.tolist(), strict=True)) == ref


@pytest.mark.parametrize("part", range(3))
def test_pairs_and_triples_are_those_of_the_twin(part, compiled):
    rng = random.Random(10 + part)
    for _ in range(100 if compiled else 20):
        data, records = made(random_records(rng))
        least = rng.randint(1, 3)
        assert paired(*pair_supports(data)) == naive.of_size(records, 1, 2)
        assert paired(*triple_supports(data, least)) == naive.of_size(records, least, 3)


@pytest.mark.parametrize("part", range(3))
def test_supports_of_given_itemsets_are_those_of_the_twin(part, compiled):
    rng = random.Random(20 + part)
    for _ in range(100 if compiled else 20):
        data, records = made(random_records(rng))
        d = len(data.labels)
        asked = [[rng.randrange(-1, d) for _ in range(rng.randint(0, 4))] for _ in range(10)]
        assert itemset_supports(data, asked).tolist() == [naive.support(records, itemset) for itemset in asked]


@pytest.mark.parametrize("part", range(3))
def test_rules_and_their_order_are_those_of_the_twin(part, compiled):
    rng = random.Random(30 + part)
    for _ in range(100 if compiled else 20):
        data, records = made(random_records(rng))
        least, tenths = rng.randint(1, 3), rng.randint(1, 10)
        comp = rules(data, least, tenths / 10, None)
        ref = naive.rules(records, least, Fraction(tenths, 10))
        assert [(rule.antecedent, rule.consequent, rule.support) for rule in comp] == [rule[:3] for rule in ref]
        for rule, (_, _, _, share, lift) in zip(comp, ref, strict=True):
            assert rule.confidence == float(share)
            assert rule.lift == pytest.approx(float(lift), rel=1e-12)
        assert rules(data, least, tenths / 10, 3) == comp[:3]


# Properties


@given(baskets, st.integers(1, 5))
def test_no_itemset_has_more_support_than_a_part_of_it(records, least):
    found = frequent_itemsets(made(records)[0], least)
    supports = dict(zip(found.tuples(), found.supports.tolist(), strict=True))
    assert all(support >= least for support in supports.values())
    for itemset, support in supports.items():
        for place in range(len(itemset) if len(itemset) > 1 else 0):
            assert supports[itemset[:place] + itemset[place + 1 :]] >= support


@given(baskets)
def test_counting_what_was_found_finds_the_same_supports(records):
    data, _ = made(records)
    before = data.indptr.copy(), data.items.copy()
    found = frequent_itemsets(data, 1)
    pairs, supports = pair_supports(data)
    assert itemset_supports(data, found).tolist() == found.supports.tolist()
    assert itemset_supports(data, found.tuples()).tolist() == found.supports.tolist()
    assert itemset_supports(data, pairs).tolist() == supports.tolist()
    assert np.array_equal(data.indptr, before[0])
    assert np.array_equal(data.items, before[1])


@given(baskets, st.permutations(range(25)))
def test_the_order_of_records_does_not_matter(records, order):
    other = [records[place] for place in order if place < len(records)]
    comp, ref = frequent_itemsets(made(other)[0], 2), frequent_itemsets(made(records)[0], 2)
    assert comp.tuples() == ref.tuples()
    assert comp.supports.tolist() == ref.supports.tolist()


@given(st.integers(1, 100), st.integers(1, 400))
@example(7, 100)
def test_a_share_is_taken_exactly_as_it_is_written(hundredths, n):
    # 0.07 * 100 is a little more than 7 in floating point.
    assert mining._least(hundredths / 100, n) == naive.least_of_share(hundredths, 100, n)


def test_the_number_1_is_one_record_and_the_share_1_is_all_of_them():
    data = Transactions.of([["a", "b"], ["a"]])
    assert frequent_itemsets(data, 1).tuples() == [(0,), (1,), (0, 1)]
    assert frequent_itemsets(data, 1.0).tuples() == [(0,)]


def test_the_first_itemsets_are_those_of_most_support():
    data = Transactions.of([["a", "b"], ["a", "b"], ["a", "b", "c"], ["c"]])
    found = frequent_itemsets(data, 1, most=4)
    assert found.tuples() == [(0,), (1,), (0, 1), (2,)]
    assert found.supports.tolist() == [3, 3, 3, 2]


def test_data_without_records_hold_nothing():
    data = Transactions.of([[], []])
    assert frequent_itemsets(data, 0.5).n == 0
    assert pair_supports(data)[0].shape == (0, 2)
    assert triple_supports(data, 1)[0].shape == (0, 3)
    assert itemset_supports(data, [[], [-1]]).tolist() == [0, 0]
    assert itemset_supports(data, []).size == 0
    assert rules(data) == []


def test_arrays_have_the_types_that_others_rely_on():
    data = Transactions.of([["a", "b", "c"], ["a", "b", "c"]])
    for rows, supports in (pair_supports(data), triple_supports(data, 2), frequent_itemsets(data, 2).of_size(2)):
        assert (rows.dtype, supports.dtype) == (np.int32, np.int64)
    assert itemset_supports(data, [[0]]).dtype == np.int64


@pytest.mark.slow
def test_a_record_of_thousands_of_items_is_counted_in_pairs(compiled):
    size = 3000 if compiled else 60
    data = Transactions.of([map(str, range(size)), ["5", "7"]])
    pairs, supports = pair_supports(data)
    assert len(pairs) == size * (size - 1) // 2
    assert pairs[supports == 2].tolist() == [[5, 7]]


# What is refused


def test_too_many_itemsets_are_refused(monkeypatch):
    data = Transactions.of([[MARK + str(item) for item in range(40)]] * 2)
    monkeypatch.setattr(mining, "MOST_ITEMSETS", 1000)
    for call in (frequent_itemsets, rules):
        with pytest.raises(MethodError, match="more than 1000 itemsets") as caught:
            call(data, 2)
        assert MARK not in str(caught.value)
    assert frequent_itemsets(data, 3).n == 0
    assert frequent_itemsets(data, 2, longest=2).n == 40 + 780


def test_itemsets_that_fill_the_memory_are_refused(monkeypatch):
    data = Transactions.of([map(str, range(40))] * 2)
    monkeypatch.setattr(eclat, "MOST_CELLS", 2000)
    with pytest.raises(MethodError, match="2000 items in all of them"):
        triple_supports(data, 1)
    assert len(pair_supports(data)[0]) == 780


@pytest.mark.parametrize("support", [0, -3, 0.0, 1.5, float("nan"), True, "2"])
def test_a_support_that_is_neither_number_nor_share_is_refused(support):
    with pytest.raises(MethodError, match="mining: support must be a whole number of at least 1, or a share"):
        frequent_itemsets(Transactions.of([["a"]]), support)


@pytest.mark.parametrize("confidence", [0, -0.1, 1.01, float("nan")])
def test_a_confidence_out_of_range_is_refused(confidence):
    with pytest.raises(MethodError, match="mining: confidence must be above 0 and up to 1"):
        rules(Transactions.of([["a"]]), 1, confidence)


def test_numbers_below_one_are_refused():
    data = Transactions.of([["a"]])
    for call in (
        lambda: frequent_itemsets(data, 1, most=0),
        lambda: frequent_itemsets(data, 1, longest=0),
        lambda: rules(data, most=0),
    ):
        with pytest.raises(MethodError, match="must be a whole number of at least 1"):
            call()


@pytest.mark.parametrize("item", [-2, 2])
def test_item_numbers_that_the_data_do_not_have_are_refused(item):
    with pytest.raises(MethodError, match="an item number lies outside 0 to 1"):
        itemset_supports(Transactions.of([[MARK, "b"]]), [[0, item]])


def test_itemsets_are_shown_by_their_figures():
    assert repr(frequent_itemsets(Transactions.of([[MARK, "b"]]), 1)) == "<Itemsets: 3 itemsets of up to 2 items>"


# Other programs


def lines(data):
    return [[int(label) for label in record] for record in data.records()]


def labelled(data, found):
    """Supports by the frozen set of labels."""
    return {
        frozenset(int(data.labels[item]) for item in itemset): support
        for itemset, support in zip(found.tuples(), found.supports.tolist(), strict=True)
    }


def test_random_data_are_mined_as_by_pyfim(compiled):
    fim = pytest.importorskip("fim")
    rng = random.Random(5)
    for _ in range(100 if compiled else 10):
        # pyfim leaves out an item that all records hold, hence the last two.
        data, records = made([*random_records(rng), [98], [99]])
        least = rng.randint(1, 4)
        found = frequent_itemsets(data, least)
        ref = {frozenset(items): count for items, count in fim.eclat(records, target="s", supp=-least, zmin=1)}
        assert dict(zip(map(frozenset, found.tuples()), found.supports.tolist(), strict=True)) == ref


@pytest.mark.compiled
@pytest.mark.parametrize(("share", "count"), [(0.005, 201), (0.001, 3991)])
def test_bms1_is_mined_as_by_pyfim(bms1, share, count):
    fim = pytest.importorskip("fim")
    found = frequent_itemsets(bms1, share)
    assert found.n == count
    ref = fim.eclat(lines(bms1), target="s", supp=100 * share, zmin=1)
    assert labelled(bms1, found) == {frozenset(items): support for items, support in ref}


@pytest.mark.compiled
def test_groceries_are_mined_as_by_efficient_apriori(groceries):
    other = pytest.importorskip("efficient_apriori")
    found = frequent_itemsets(groceries, 0.01)
    levels, _ = other.itemsets_from_transactions([tuple(record) for record in lines(groceries)], 0.01)
    ref = {frozenset(items): support for level in levels.values() for items, support in level.items()}
    assert labelled(groceries, found) == ref


@pytest.mark.compiled
def test_groceries_are_mined_as_by_mlxtend(groceries):
    frequent = pytest.importorskip("mlxtend.frequent_patterns")
    pandas = pytest.importorskip("pandas")
    matrix = np.zeros((groceries.n, len(groceries.labels)), bool)
    matrix[np.repeat(np.arange(groceries.n), groceries.lengths), groceries.items] = True
    ref = frequent.fpgrowth(pandas.DataFrame(matrix), min_support=0.01)
    found = frequent_itemsets(groceries, 0.01)
    comp = dict(zip(map(frozenset, found.tuples()), found.supports.tolist(), strict=True))
    counts = (ref["support"] * groceries.n).round().astype(int)
    assert comp == dict(zip(map(frozenset, ref["itemsets"]), counts.tolist(), strict=True))


@pytest.mark.compiled
def test_rules_of_bms1_are_those_of_pyfim(bms1):
    # pyfim asks for the support of the antecedent, and for that of the whole rule in its mode "o" alone.
    fim = pytest.importorskip("fim")
    records = lines(bms1)
    assert len(fim.arules(records, supp=0.1, conf=80, zmin=2)) == 3240
    wide = [rule for rule in rules(bms1, 48, 0.8, None) if round(rule.support / rule.confidence) >= 60]
    assert len(wide) == 3240
    ref = fim.arules(records, supp=0.1, conf=80, zmin=2, mode="o", report="a")
    comp = rules(bms1, 0.001, 0.8, None)
    assert len(comp) == 1000
    assert {(rule.consequent, rule.antecedent, rule.support) for rule in comp} == {
        (
            bms1.labels.index(str(head)),
            tuple(sorted(bms1.labels.index(str(item)) for item in body)),
            support,
        )
        for head, body, support in ref
    }
    assert rules(bms1) == comp[:50]


# Published figures


@pytest.mark.compiled
def test_pairs_and_triples_of_bms1_have_the_published_counts(bms1):
    pairs, supports = pair_supports(bms1)
    assert len(pairs) == 63_973
    assert int((supports >= 60).sum()) == 1573
    published = [1204, 916, 877, 771, 738, 722, 631, 621, 615, 615, 590, 576, 571, 552, 509, 506, 496]
    assert sorted(supports[supports >= 0.008 * bms1.n].tolist(), reverse=True) == published
    _, triples = triple_supports(bms1, 0.005)
    assert sorted(triples.tolist(), reverse=True) == [417, 351, 335, 322, 315, 310]


@pytest.mark.compiled
def test_whole_milk_and_other_vegetables_are_bought_together_as_published(groceries):
    # arules, Groceries: whole milk 2,513, other vegetables 1,903; both in 0.0748 of the records.
    supports = np.sort(groceries.supports)[::-1]
    assert supports[:2].tolist() == [2513, 1903]
    assert pair_supports(groceries)[1].max() == 736
