"""Values that are published as they are: by hand, on raw copies and on releases."""

import numpy as np
import pyarrow as pa
from test_inference import attacked, case_of, people, shuffled

import shoal
from shoal.pipeline import judging
from shoal.privacy.unchanged import unchanged_columns, unchanged_values


def ill(values, ages=None, **more):
    """Return people of whom the illness is published as it is, and the age as the same for all."""
    n = len(values)
    table = pa.table({"age": list(range(n)) if ages is None else ages, "ill": values})
    return case_of(table, pa.table({"age": [n // 2] * n, "ill": values}), **more)


def test_unique_rows_worked_out_by_hand():
    found = attacked(unchanged_values, ill(["flu"] * 30 + ["gout"] * 3 + ["rare"]))
    assert (found.successes, found.trials, found.baseline) == (1, 34, 1 / 34)
    assert found.power == 1.0
    assert "unchanged: 'ill'; 4 of 34 rows hold a value of 'ill' that fewer than k rows hold" in found.note


def test_nearly_unique_numbers_leak():
    found = attacked(unchanged_values, ill([str(number) for number in range(60)]))
    assert (found.rate, found.outcome) == (1.0, "leak")


def test_columns_tell_together_what_none_tells_alone():
    one, two = np.divmod(np.arange(36), 6)
    table = pa.table({"age": np.arange(36), "a": one.astype(str), "b": two.astype(str)})
    case = case_of(table, table.set_column(0, "age", pa.array([18] * 36)), sensitive=("a", "b"))
    found = attacked(unchanged_values, case)
    assert (found.successes, found.outcome) == (36, "leak")
    assert found.note == "unchanged: 'a', 'b'"


def test_a_quasi_identifier_counts_if_no_cell_of_it_was_changed():
    table = people(40)
    assert [*unchanged_columns(case_of(table))] == table.column_names
    mixed = table.set_column(0, "age", pa.array(np.zeros(40)))
    assert [*unchanged_columns(case_of(table, mixed))] == ["pay", "height", "town", "ill", "cost"]


def test_a_raw_copy_leaks_and_shuffled_columns_do_not():
    table = people()
    bare = attacked(unchanged_values, case_of(table))
    assert (bare.outcome, bare.rate) == ("leak", 1.0)
    for seed in range(3):
        mixed = attacked(unchanged_values, case_of(table, shuffled(table, seed), sensitive=("ill", "cost")))
        assert mixed.outcome == "no evidence"


def test_the_rate_is_the_share_of_unique_rows_that_is_found_in_the_release():
    table = people()
    release = shoal.anonymize(table, k=5, sensitive=["ill"], keep=["town", "height"])
    found = judging.attack(table, release, only=["unchanged values"])[0]
    assert 100 * found.rate == release.finding("rows unique in unchanged columns %")
    assert found.rate > 0


def test_without_an_unchanged_column_nobody_is_found():
    table = pa.table({"age": list(range(30))})
    found = attacked(unchanged_values, case_of(table, pa.table({"age": [15] * 30}), sensitive=()))
    assert (found.successes, found.trials, found.outcome) == (0, 30, "no evidence")
    assert found.note == "no column is published as it is"
    assert attacked(unchanged_values, ill([])).note == "the release has no rows"
