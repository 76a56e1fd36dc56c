"""Two releases laid over each other, and the order of rows: by hand, on raw copies and on ordinary releases."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_inference import attacked, case_of, people, shuffled

import shoal
from shoal.errors import DataError
from shoal.model.table import Table
from shoal.privacy.attacks.attack import Clock, Profile
from shoal.privacy.attacks.composition import candidates, intersect, intersection, order_kept, row_order, suspects
from shoal.privacy.measures import space
from shoal.privacy.measures.case import Case


def released(k=5, **options):
    return shoal.anonymize(people(), k=k, l=2, sensitive=["ill"], keep=["town"], method="mdav", **options)


def small():
    """Return six rows in two classes of three."""
    return case_of(
        pa.table({"age": [1, 2, 3, 7, 8, 9], "ill": list("abcabc")}),
        pa.table({"age": [2, 2, 2, 8, 8, 8], "ill": list("abcabc")}),
    )


def test_candidates_worked_out_by_hand():
    assert candidates(np.array([0, 0, 0, 1, 1, 1]), np.array([3, 3, 9, 9, 9, 3])).tolist() == [2, 2, 1, 2, 2, 1]


def test_what_two_releases_leave_worked_out_by_hand():
    crossing = intersect(small(), np.array([0, 0, 1, 1, 1, 1]))
    # The third row is alone in both of its classes, and k = 5 is more than any class has.
    assert crossing.candidates.tolist() == [2, 2, 1, 3, 3, 3]
    assert (crossing.below, crossing.single) == (1.0, pytest.approx(1 / 6))


def test_the_intersection_attack_worked_out_by_hand():
    other = pa.table({"age": [1.5, 1.5, 7.5, 7.5, 7.5, 7.5], "ill": list("abcabc")})
    found = attacked(intersection, replace(small(), other=other))
    # Ages 1 and 2 lie in {1, 2, 3} and in {1, 2}: 1/2 each. 3 is nearer to 1.5 than to 7.5 and is not found.
    # 7, 8 and 9 lie in {7, 8, 9} and in {3, 7, 8, 9}: 1/3 each.
    assert found.successes == pytest.approx(2 / 2 + 3 / 3)
    assert found.trials == 6
    assert found.power == 1.0


def test_two_raw_copies_leak_and_shuffled_columns_do_not():
    table = people()
    bare = attacked(intersection, replace(case_of(table), other=table))
    assert (bare.outcome, bare.rate) == ("leak", 1.0)
    for seed in range(3):
        mixed = case_of(table, shuffled(table, seed), other=shuffled(table, seed + 10))
        assert attacked(intersection, mixed).outcome == "no evidence"


def test_the_same_release_twice_tells_no_more_than_one():
    release = released()
    found = attacked(
        intersection, Case(release.aligned(), release.policy, original=Table.of(people()), other=release.aligned())
    )
    assert found.outcome == "no evidence"
    assert found.rate <= 1 / 5
    assert "for 0.0% of the rows, fewer than k = 5" in found.note


def test_two_releases_with_another_k_tell_more_than_either():
    release, other = released(), released(k=7).aligned()
    found = attacked(intersection, Case(release.aligned(), release.policy, original=Table.of(people()), other=other))
    assert found.outcome == "leak"
    assert found.rate > 1 / 5


def test_without_another_release_nothing_is_tried():
    found = attacked(intersection, case_of(people()))
    assert (found.trials, found.outcome) == (0, "not tried")
    assert found.note.startswith("it needs another release (")
    none = people(0)
    assert attacked(intersection, case_of(none, other=none)).note == "there are no rows"


def test_another_release_of_other_rows_or_columns_is_refused():
    table = people()
    with pytest.raises(DataError, match="the other release has 599 rows; the first has 600"):
        attacked(intersection, case_of(table, other=table.slice(1)))
    with pytest.raises(DataError, match="the other release has no column 'age'"):
        attacked(intersection, case_of(table, other=table.drop_columns(["age"])))
    with pytest.raises(DataError, match="the other release has 2 rows; the first has 600"):
        intersect(case_of(table), np.array([0, 1]))


def test_an_intersection_whose_time_is_up_says_so(monkeypatch):
    monkeypatch.setattr(space, "BLOCK", 60_000)
    found = attacked(intersection, case_of(people(), other=people()), Clock(0.0))
    assert "time ran out after 100 of 600 targets" in found.note
    assert (found.trials, found.outcome) == (100, "leak")


def test_suspects_are_whole_classes_and_all_that_tie():
    found = suspects(small(), ("age",), np.array([0, 5, 2]), Clock())
    assert found.who.tolist() == [0, 1, 0]
    assert found.row.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.owner.tolist() == [0, 0, 0, 1, 1, 1]
    every = suspects(small(), (), np.array([0, 5]), Clock())
    assert (every.who.tolist(), every.row.tolist()) == ([0, 0], [0, 1, 2, 3, 4, 5])


def test_order_worked_out_by_hand():
    # Rows 0 and 1 keep their order, rows 2 and 3 do not, and rows 0 and 4 stand at one place.
    pairs = np.array([[0, 1], [2, 3], [0, 4]])
    assert order_kept(np.arange(5), np.array([0, 2, 4, 3, 0]), pairs).tolist() == [1.0, 0.0, 0.5]


def test_a_file_in_the_order_of_the_table_leaks_and_a_shuffled_one_does_not():
    case = case_of(people())
    bare = attacked(row_order, case)
    assert (bare.outcome, bare.rate, bare.trials) == ("leak", 1.0, 300)
    assert "positions in the file are not known" in bare.note
    assert attacked(row_order, replace(case, places=np.arange(600))).outcome == "leak"
    for seed in range(60):
        mixed = attacked(row_order, replace(case, places=np.random.default_rng(seed).permutation(600)))
        assert mixed.outcome == "no evidence"
        assert mixed.rate == pytest.approx(0.5, abs=0.1)


def test_a_file_that_stands_backwards_leaks_too():
    found = attacked(row_order, case_of(people(), places=np.arange(600)[::-1].copy()))
    assert (found.outcome, found.rate) == ("leak", 1.0)
    assert "rank correlation -1.000; read backwards" in found.note


def test_a_file_that_is_half_in_order_leaks():
    rng = np.random.default_rng(0)
    places = np.argsort(np.argsort(np.arange(600) + 300 * rng.normal(size=600)))
    found = attacked(row_order, case_of(people(), places=places))
    assert found.outcome == "leak"
    assert 0.55 < found.rate < 0.9


def test_a_written_release_keeps_no_order():
    release = released()
    case = Case(release.aligned(), release.policy, original=Table.of(people()), places=release._making.position)
    assert attacked(row_order, case).outcome == "no evidence"


def test_the_order_is_that_in_which_the_rows_were_read():
    order = np.random.default_rng(3).permutation(600)
    case = case_of(people())
    case = replace(case, original=case.before.take(order), released=people().take(pa.array(order)), places=order)
    assert attacked(row_order, case).rate == 1.0


def test_rows_that_are_alike_in_every_cell_are_a_tie_and_others_still_leak():
    alike = pa.table({"age": ["40"] * 600})
    case = case_of(people(), places=np.arange(600))
    assert attacked(row_order, replace(case, released=alike)).rate == 0.5
    halves = pa.table({"age": ["40", "50"] * 300})
    found = attacked(row_order, replace(case, released=halves))
    assert (found.outcome, found.rate) == ("leak", pytest.approx(0.75, abs=0.1))


@pytest.mark.parametrize("n", [0, 1])
def test_the_order_of_less_than_two_rows_tells_nothing(n):
    found = attacked(row_order, case_of(people(n)))
    assert (found.trials, found.outcome, found.note) == (0, "not tried", "there are no two rows")


def test_places_of_other_rows_are_refused():
    with pytest.raises(DataError, match="positions of 3 rows are given; the release has 600"):
        attacked(row_order, case_of(people(), places=np.arange(3)))


def test_places_that_tell_no_rows_apart_tell_nothing():
    found = row_order(case_of(people(), places=np.zeros(600, np.int64)), Profile("any", ()), Clock())
    assert (found.rate, found.outcome) == (0.5, "no evidence")


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40), st.randoms())
def test_candidates_are_rows_with_the_same_two_classes_in_any_order(rows, rng):
    one, two = np.array(rows).T
    found = candidates(one, two)
    count = Counter(rows)
    assert found.tolist() == [count[row] for row in rows]
    order = np.array(rng.sample(range(len(rows)), len(rows)))
    assert (candidates(one[order], two[order]) == found[order]).all()
    assert (found <= np.minimum(candidates(one, one), candidates(two, two))).all()


@given(st.permutations(range(12)), st.permutations(range(12)))
def test_reading_one_order_backwards_turns_every_guess(one, two):
    first, second, pairs = np.array(one), np.array(two), np.arange(12).reshape(-1, 2)
    kept = order_kept(first, second, pairs)
    assert set(kept.tolist()) <= {0.0, 1.0}
    assert (order_kept(first, -second, pairs) == 1 - kept).all()
