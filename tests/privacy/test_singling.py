"""Singling out: statements worked out by hand, a raw copy, and releases that single nobody out."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_inference import attacked, case_of, people, shuffled

import shoal
from shoal.model.table import Table
from shoal.prepare.hierarchy import from_lines
from shoal.privacy.attacks.attack import Clock, Profile
from shoal.privacy.attacks.singling import Column, Statements, isolating, limits, raw, singling_out, stated
from shoal.privacy.measures import space
from shoal.privacy.measures.case import Case


def statements(**parts):
    """Return statements of which nothing is said but what is given."""
    nothing = {
        "column": np.zeros(0, np.int64),
        "row": np.zeros(0, np.int64),
        "rows": np.zeros(0, np.int64),
        "chosen": np.zeros((0, 2), bool),
        "tolerance": np.zeros(0),
    }
    return Statements(**{**nothing, **parts})


def numbers(released, cells):
    values = np.array(released, np.float64)
    return Column(np.arange(values.size), np.array(cells, np.float64), values, values)


def names(released, cells):
    return Column(np.array(released), np.array(cells))


def test_statements_about_one_column_worked_out_by_hand():
    column = numbers([2, 3, 9], [1, 2, 3, 3, 9])
    one, several = isolating([column], statements(column=np.zeros(3, int), row=np.arange(3)), Clock())
    # 2 and 9 occur once and 3 twice; two cells are at most 2, and one is at least 9.
    assert one.tolist() == [True, False, True, False, True]
    assert several.size == 0


def test_statements_about_several_columns_worked_out_by_hand():
    columns = [numbers([10, 20, 30], [10, 11, 20, 30]), names([0, 1, 1], [0, 0, 1, 0])]
    spread = np.std([10, 20, 30])
    parts = statements(
        rows=np.array([0, 0, 1, 2]),
        chosen=np.array([[True, True], [True, True], [True, False], [True, True]]),
        tolerance=np.array([0, 1.01 / spread, 0, 0]),
    )
    # 10 and a: one row. 9 to 11 and a: two rows. 20: one row. 30 and b: no row.
    assert isolating(columns, parts, Clock())[1].tolist() == [True, False, True, False]


def test_missing_cells_are_stated_too():
    column = numbers([np.nan, 1, np.nan], [np.nan, 1, 1, 2])
    one, _ = isolating([column], statements(column=np.zeros(2, int), row=np.arange(2)), Clock())
    assert one[:2].tolist() == [True, False]


def test_rare_values_are_those_that_fewer_than_2k_rows_have():
    column = names([0] * 10 + [1] * 9 + [2], range(20))
    found = stated([column], 5, np.random.default_rng(0), Clock())
    assert sorted(column.codes[found.row].tolist()) == [1, 2]


def test_tolerance_reaches_to_where_released_rows_look_otherwise():
    # The standard deviation is about 29: 0.03 of it is less than the step of 1, and 0.1 is more.
    columns = [numbers(np.arange(100), np.arange(100))] * 2
    found = stated(columns, 5, np.random.default_rng(0), Clock())
    assert set(found.tolerance) == {0.03}
    assert found.chosen.all()
    assert set(stated(columns, 5, np.random.default_rng(0), Clock(0.0)).tolerance) == {0.0}


def test_the_same_words_are_said_once():
    columns = [names([0, 1] * 50, range(100)), names([0] * 100, range(100))]
    found = stated(columns, 5, np.random.default_rng(0), Clock())
    assert found.rows.size == 2


def test_a_raw_copy_leaks_and_shuffled_columns_do_not():
    table = people()
    bare = attacked(singling_out, case_of(table))
    assert bare.outcome == "leak"
    assert bare.rate > 0.9
    for seed in range(3):
        mixed = attacked(singling_out, case_of(table, shuffled(table, seed)))
        assert mixed.outcome == "no evidence"
        assert mixed.rate == pytest.approx(mixed.baseline, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"method": "mdav", "keep": ["town"]}, {"method": "grow", "output": "truthful"}])
def test_an_ordinary_release_with_k_and_l_shows_no_leak(options):
    release = shoal.anonymize(people(), k=5, l=2, sensitive=["ill"], **options)
    case = Case(release.aligned(), release.policy, original=Table.of(people()), control=Table.of(people(600, seed=1)))
    found = attacked(singling_out, case)
    assert found.outcome == "no evidence"
    assert found.rate < 0.2 < found.power
    assert found.control is not None


def test_true_ranges_never_hold_of_fewer_rows_than_their_class():
    release = shoal.anonymize(people(), k=5, sensitive=["ill"], method="grow", output="truthful")
    case = Case(release.aligned(), release.policy, original=Table.of(people()))
    assert attacked(singling_out, case).successes == 0


def test_rows_that_lie_together_in_a_release_are_told_from_luck():
    # Half of the rows are published as they are: more than 0.37 of the statements about several columns hold of one.
    table = people()
    mixed = shuffled(table)
    half = [
        pa.chunked_array([table.column(j).combine_chunks()[:450], mixed.column(j).combine_chunks()[450:]])
        for j in range(6)
    ]
    found = attacked(singling_out, case_of(table, pa.table(half, table.column_names)))
    assert found.outcome == "leak"


def test_control_rows_are_spoken_of_by_the_same_statements():
    table = people()
    same = attacked(singling_out, case_of(table, control=Table.of(table)))
    assert same.control == same.rate
    assert same.outcome != "leak"
    fewer = attacked(singling_out, case_of(table, control=Table.of(people(100, seed=1))))
    assert "there are 100 control rows for 600" in fewer.note


def test_the_limits_of_ranges_and_of_nodes_hold_their_cells():
    days = [dt.date(1970, 1, 1) + dt.timedelta(days=day) for day in range(4)]
    table = pa.table({"day": days, "size": [1.5, 2.5, None, 4.0], "age": [31, 32, 45, 46]})
    released = pa.table(
        {
            "day": ["1970-01-01–1970-01-04"] * 4,
            "size": ["1.5–4.0 or missing"] * 4,
            "age": ["30s", "30s", "40s", "40s"],
        }
    )
    tree = from_lines([["31", "30s", "*"], ["32", "30s", "*"], ["45", "40s", "*"], ["46", "40s", "*"]], "age")
    forms = {"day": ("date", "range"), "size": ("numeric", "range"), "age": ("numeric", "tree")}
    form = {"columns": {name: {"kind": kind, "form": how} for name, (kind, how) in forms.items()}}
    case = case_of(table, released, form=form, trees={"age": tree})
    for column in case.columns:
        cells, low, high = limits(case, column)
        there = ~np.isnan(cells)
        assert ((low <= cells) & (cells <= high))[there].all()
    low, high = limits(case, case.columns[2])[1:]
    assert high[0] < low[2]


def test_the_raw_case_publishes_the_table_itself():
    case = raw(case_of(people(), shuffled(people())))
    assert case.released.equals(people())
    assert not any(column.truthful for column in case.columns)


@pytest.mark.parametrize(("n", "outcome"), [(0, "not tried"), (1, "too weak to tell"), (3, "leak")])
def test_very_few_rows_are_attacked_without_a_word(n, outcome):
    found = attacked(singling_out, case_of(people(n)))
    assert found.outcome == outcome
    assert 0 <= found.baseline <= 1


def test_degenerate_tables_single_nobody_out():
    same = pa.table({"age": [1.0] * 30, "town": ["a"] * 30, "ill": ["x"] * 30})
    found = attacked(singling_out, case_of(same))
    assert found.successes == 0
    gone = pa.table({"age": pa.nulls(30, pa.float64()), "town": pa.nulls(30, pa.string()), "ill": ["x"] * 30})
    assert attacked(singling_out, case_of(same, gone)).successes == 0


def test_somebody_who_knows_nothing_has_nothing_to_state():
    found = singling_out(case_of(people()), Profile("knows nothing", ()), Clock())
    assert (found.trials, found.outcome, found.note) == (0, "not tried", "there is nothing to state")


def test_an_attack_whose_time_is_up_says_so(monkeypatch):
    monkeypatch.setattr(space, "BLOCK", 60_000)
    found = attacked(singling_out, case_of(people()), Clock(0.0))
    assert "time ran out" in found.note
    assert found.trials < 300


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=25), st.randoms())
def test_counts_are_those_of_a_slow_twin_and_do_not_depend_on_the_order_of_rows(rows, rng):
    cells, kinds = np.array(rows).T
    columns = [numbers(cells, cells), names(kinds, kinds)]
    drawn = stated(columns, 2, np.random.default_rng(rng.randrange(1000)), Clock())
    one, several = isolating(columns, drawn, Clock())
    order = np.array(rng.sample(range(len(rows)), len(rows)))
    moved = [column.some(order) for column in columns]
    again = isolating(moved, drawn, Clock())
    assert (one == again[0]).all()
    assert (several == again[1]).all()
    spread = columns[0].spread
    for row, chosen, width, found in zip(drawn.rows, drawn.chosen, drawn.tolerance, several, strict=True):
        true = 0
        for cell, kind in rows:
            near = abs(cell - cells[row]) <= width * spread + 1e-12 or not chosen[0]
            true += near and (kind == kinds[row] or not chosen[1])
        assert found == (true == 1)
