"""Rules: reading them, gathering their records, the split of a rule's records, and what is refused."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import rules as naive
from shoal.errors import MethodError, ReadError
from shoal.model.transactions import Transactions
from shoal.transactions.disassociation.partition import recursive
from shoal.transactions.disassociation.rules import by_rules, held_rules, read_rules, rule_facts

LABELS = ("a", "b", "c", "d e")


def random_case(rng, most=40):
    """Records, rules and sizes, with many ties; rules that few or no records hold among them."""
    n_items = rng.randint(2, 9)
    weights = [rng.choice((1, 1, 3)) for _ in range(n_items)]
    records = []
    for _ in range(rng.randint(1, most)):
        count = rng.randint(1, min(6, n_items))
        records.append(sorted(set(rng.choices(range(n_items), weights, k=count))))
    rules = []
    for _ in range(rng.randint(0, 7)):
        rule = sorted(rng.sample(range(n_items), rng.randint(2, min(3, n_items))))
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


def partition_of_rest(records, n_items, k, delta):
    """What the twin does with records of no rule: the partition under test is not that one."""

    def rest(others):
        order, cuts = recursive(*flat([records[r] for r in others]), n_items, k, delta)
        return [[others[place] for place in cluster] for cluster in clusters(order, cuts)]

    return rest


@pytest.mark.parametrize("part", range(4))
def test_clusters_are_those_of_the_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(150 if compiled else 25):
        records, n_items, rules, k, delta = random_case(rng)
        found = clusters(*by_rules(*flat(records), n_items, arrays(rules), k, delta))
        ref = naive.by_rules(
            [set(record) for record in records],
            [set(rule) for rule in rules],
            k,
            delta,
            partition_of_rest(records, n_items, k, delta),
        )
        assert found == ref


@given(st.integers(0, 10**6))
def test_every_cluster_has_k_to_delta_records_and_every_record_is_in_one(seed):
    records, n_items, rules, k, delta = random_case(random.Random(seed))
    indptr, items = flat(records)
    before = indptr.copy(), items.copy()
    order, cuts = by_rules(indptr, items, n_items, arrays(rules), k, delta)
    assert sorted(order.tolist()) == list(range(len(records)))
    assert cuts[0] == 0
    assert cuts[-1] == len(records)
    if len(records) >= k:
        assert np.diff(cuts).min() >= k
        assert np.diff(cuts).max() <= delta
    assert order.dtype == cuts.dtype == np.int64
    assert all((a == b).all() for a, b in zip(before, (indptr, items), strict=True))


@given(st.integers(0, 10**6))
def test_the_rules_of_a_record_are_those_that_it_holds(seed):
    records, n_items, rules, _, _ = random_case(random.Random(seed))
    held = held_rules(*flat(records), n_items, arrays(rules))
    for r, record in enumerate(records):
        ref = [i for i, rule in enumerate(rules) if set(rule) <= set(record)]
        assert held.rules[held.ptr[r] : held.ptr[r + 1]].tolist() == ref
    assert held.supports.tolist() == [sum(set(rule) <= set(record) for record in records) for rule in rules]


def test_the_rarest_rule_comes_first():
    # Rule {1, 2} has two records, and {0, 1} holds both of them too.
    records = [[0, 1], [0, 1], [0, 1, 2], [0, 1, 2]]
    assert clusters(*by_rules(*flat(records), 3, arrays([[0, 1], [1, 2]]), 2, 4)) == [[0, 1], [2, 3]]


def test_a_record_that_no_rule_could_take_goes_where_its_rule_is():
    # {0, 1} takes records 0 to 2; {1, 2} has only record 3 left, and most of its records are with {0, 1}.
    records = [[0, 1, 2], [0, 1, 2], [0, 1], [1, 2, 3], [4], [4]]
    rules = arrays([[0, 1], [1, 2]])
    assert clusters(*by_rules(*flat(records), 5, rules, 2, 4)) == [[0, 1, 2, 3], [4, 5]]


def test_fewer_than_k_records_of_no_rule_join_the_last_cluster_which_is_halved_beyond_delta():
    records = [[0, 1]] * 5 + [[2], [3]]
    assert clusters(*by_rules(*flat(records), 4, arrays([[0, 1]]), 3, 5)) == [[0, 1, 2, 3], [4, 5, 6]]
    assert clusters(*by_rules(*flat(records), 4, arrays([[0, 1]]), 3, 7)) == [[0, 1, 2, 3, 4, 5, 6]]


def test_identical_records_are_cut_evenly():
    records = [[0, 1]] * 11
    order, cuts = by_rules(*flat(records), 2, arrays([[0, 1]]), 2, 4)
    assert order.tolist() == list(range(11))
    assert np.diff(cuts).tolist() == [4, 4, 3]


def test_without_rules_and_without_records_nothing_fails():
    records = [[0], [1], [0], [1], [0, 1]]
    expected = clusters(*recursive(*flat(records), 2, 2, 3))
    assert clusters(*by_rules(*flat(records), 2, [], 2, 3)) == expected
    order, cuts = by_rules(*flat([]), 2, arrays([[0, 1]]), 2, 3)
    assert order.size == 0
    assert cuts[-1] == 0


def test_a_rule_that_is_given_twice_counts_once():
    records = [[0, 1], [0, 1], [1, 2], [1, 2], [0, 2]]
    once = by_rules(*flat(records), 3, arrays([[0, 1], [1, 2]]), 2, 3)
    twice = by_rules(*flat(records), 3, arrays([[0, 1], [1, 2], [1, 0], [0, 1, 1]]), 2, 3)
    assert clusters(*once) == clusters(*twice)


def test_facts_say_what_clusters_can_preserve():
    records = [[0, 1], [0, 1], [0, 1], [1, 2], [2, 3]]
    order, cuts = np.arange(5), np.array([0, 2, 5])
    facts = rule_facts(*flat(records), 4, arrays([[0, 1], [2, 3], [0, 3]]), 2, order, cuts)
    assert [(fact.support, fact.gathered, fact.reached, fact.unpreservable) for fact in facts] == [
        (3, 2, True, False),
        (1, 0, False, True),
        (0, 0, False, True),
    ]
    assert facts[0].share == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", range(3))
def test_facts_are_those_counted_by_hand(seed):
    rng = random.Random(seed)
    for _ in range(30):
        records, n_items, rules, k, delta = random_case(rng)
        order, cuts = by_rules(*flat(records), n_items, arrays(rules), k, delta)
        facts = rule_facts(*flat(records), n_items, arrays(rules), k, order, cuts)
        for rule, fact in zip(rules, facts, strict=True):
            counts = [sum(set(rule) <= set(records[r]) for r in cluster) for cluster in clusters(order, cuts)]
            assert fact.support == sum(counts)
            assert fact.gathered == sum(count for count in counts if count >= k)


def test_rules_are_read_one_a_line_with_comments_and_each_once():
    text = "# chosen by the holder\n\nb a\n a  b # again\nc b a\n"
    assert [rule.tolist() for rule in read_rules(text, LABELS)] == [[0, 1], [0, 1, 2]]
    assert all(rule.dtype == np.int32 for rule in read_rules(text, LABELS))


def test_labels_with_blanks_are_read_from_json():
    assert [rule.tolist() for rule in read_rules('[["d e", "a"], ["b", "c"]]', LABELS)] == [[0, 3], [1, 2]]
    assert [rule.tolist() for rule in read_rules("[[7, 12]]", ("7", "12"))] == [[0, 1]]


def test_an_unknown_item_is_refused_by_its_line_and_never_named():
    with pytest.raises(ReadError, match="line 2 has 1 item not found in the data") as caught:
        read_rules("a b\na SECRET\n", LABELS)
    assert "SECRET" not in str(caught.value)
    with pytest.raises(ReadError, match="rule 1 has 2 items not found in the data") as caught:
        read_rules('[["SECRET", "OTHER"]]', LABELS)
    assert "SECRET" not in str(caught.value)
    assert [rule.tolist() for rule in read_rules("a SECRET\na b", LABELS, missing="ignore")] == [[0, 1]]


@pytest.mark.parametrize("text", ["a b\n\na\n", "a b\n\na a # b\n"])
def test_a_rule_of_one_item_is_refused_by_its_line(text):
    with pytest.raises(ReadError, match="line 3 has 1 different items; a rule needs at least 2"):
        read_rules(text, LABELS)


@pytest.mark.parametrize("text", ['[["a", "SECRET"', '["SECRET"]', '[["a", ["SECRET"]]]', '[["a", true]]', "[" * 5000])
def test_json_that_is_not_a_list_of_lists_is_refused_without_showing_it(text):
    with pytest.raises(ReadError, match="read_rules: ") as caught:
        read_rules(text, LABELS)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_makes_no_sense_is_refused():
    records = flat([[0, 1], [0, 1]])
    with pytest.raises(MethodError, match="by_rules: rule 1 has 1 different items; a rule needs at least 2"):
        by_rules(*records, 2, arrays([[0, 0]]), 2, 3)
    with pytest.raises(MethodError, match="rule 1 has an item number outside 0 to 1"):
        by_rules(*records, 2, arrays([[0, 2]]), 2, 3)
    with pytest.raises(MethodError, match="got k=2 and delta=2. Raise delta or lower k"):
        by_rules(*records, 2, arrays([[0, 1]]), 2, 2)
    with pytest.raises(MethodError, match="missing must be"):
        read_rules("", LABELS, missing="drop")


@pytest.mark.compiled
def test_frequent_pairs_of_bms1_are_gathered(data_file):
    with data_file("bms1.dat").open() as lines:
        data = Transactions.of(line.split() for line in lines)
    number = {label: place for place, label in enumerate(data.labels)}
    pairs = [("10311", "12487"), ("33449", "33469"), ("10295", "10307")]
    rules = [np.array(sorted(number[label] for label in pair), np.int32) for pair in pairs]
    order, cuts = by_rules(data.indptr, data.items, len(data.labels), rules, 3, 60)
    facts = rule_facts(data.indptr, data.items, len(data.labels), rules, 3, order, cuts)
    assert np.diff(cuts).min() >= 3
    assert np.diff(cuts).max() <= 60
    assert all(fact.share > 0.9 for fact in facts)
