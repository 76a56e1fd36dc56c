"""Association: shares and errors of supports, their table, and figures on real data."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, MethodError
from shoal.model.transactions import Transactions
from shoal.transactions.disassociation.disassociate import disassociate
from shoal.transactions.itemsets.association import alpha, association, binned, error_of, rae

supports = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=60)


@given(supports)
def test_the_error_is_symmetric_and_lies_between_0_and_2(pairs):
    s, left = np.array(pairs).T
    errors = rae(s, left)
    assert (errors >= 0).all()
    assert (errors <= 2).all()
    assert errors.tolist() == rae(left, s).tolist()
    assert ((errors == 0) == (s == left)).all()
    assert ((errors == 2) == ((s == 0) != (left == 0))).all()


@given(supports)
def test_the_lines_of_the_table_add_up_to_the_whole(pairs):
    s, left = np.array(pairs).T
    lines, whole = binned(s, left), error_of(s, left)
    assert sum(line.error.itemsets for line in lines) == whole.itemsets == (s > 0).sum()
    assert sum(line.error.total for line in lines) == pytest.approx(whole.total)
    for line in lines:
        inside = [a for a, _ in pairs if a >= line.least and (line.most is None or a <= line.most)]
        assert line.error.itemsets == len(inside)


def test_shares_are_those_computed_by_hand():
    assert alpha([10, 4, 0, 0], [5, 4, 0, 1]).tolist() == [0.5, 1, 1, np.inf]
    assert rae([10, 3, 0], [5, 0, 0]).tolist() == [pytest.approx(2 / 3), 2, 0]
    error = error_of([10, 3, 0], [5, 0, 7])
    assert (error.itemsets, error.alpha) == (2, 0.25)
    assert error.total == pytest.approx(8 / 3)
    assert error.mean == pytest.approx(4 / 3)
    assert error_of([0], [0]).itemsets == 0


def test_supports_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="rae: 2 supports and 1 remaining supports were given"):
        rae([1, 2], [1])
    with pytest.raises(DataError, match="alpha: supports must be finite and at least 0"):
        alpha([1, -2], [1, 1])
    with pytest.raises(DataError, match="binned: supports must be finite"):
        binned([np.nan], [1])


def test_a_publication_of_identical_records_loses_nothing():
    data = Transactions.of([["a", "b", "c"]] * 12)
    published = disassociate(data, 2, 2, 4).published
    for support in ("certain", "expected"):
        found = association(data, published, [np.array([0, 1, 2])], support)
        assert found.pairs.total == 0
        assert found.rules.alpha == pytest.approx(1)
        assert found.floor == 0


def test_pairs_below_k_count_2_and_are_the_floor():
    data = Transactions.of([["a", "b"]] * 5 + [["a", "c"]] + [["d", "e"]] * 5)
    published = disassociate(data, 2, 2, 8, levels=0).published
    found = association(data, published)
    assert found.floor == 2
    assert found.pairs.total >= 2
    assert found.table[0].error.total == 2
    assert found.rules is None
    assert json.loads(json.dumps(found.as_dict()))["pairs"]["itemsets"] == 3


def test_data_without_pairs_have_no_error():
    data = Transactions.of([["a"], ["b"], ["a"], ["b"]])
    assert association(data, disassociate(data, 2, 2, 4).published).pairs.itemsets == 0


def test_an_unknown_support_is_refused():
    data = Transactions.of([["a"]] * 3)
    with pytest.raises(MethodError, match="support must be 'certain' or 'expected'"):
        association(data, disassociate(data, 2, 2, 4).published, support="possible")


@pytest.mark.slow
@pytest.mark.compiled
def test_rules_of_bms1_keep_more_by_rules_than_by_ants_and_more_by_ants_than_without(data_file):
    with data_file("bms1.dat").open() as lines:
        data = Transactions.of(line.split() for line in lines)
    frequent = np.sort(np.argsort(-data.supports, kind="stable")[:12]).astype(np.int32)
    rules = [np.array([a, b]) for place, b in enumerate(frequent) for a in frequent[:place]]
    totals = []
    for partition in ("rules", "ugac", "iterative"):
        guided = None if partition == "iterative" else rules
        made = disassociate(data, 3, 3, 60, partition=partition, rules=guided, levels=0)
        found = association(data, made.published, rules)
        totals.append(found.rules.total)
        assert found.pairs.total >= found.floor > 0
    assert totals == sorted(totals)
    assert totals[0] < 0.5 * totals[2]
