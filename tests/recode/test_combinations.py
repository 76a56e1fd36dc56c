"""Combinations: no class is published as the combination of fewer than k rows, or almost as that of one."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.recode.combinations import Cells, without_small_combinations
from shoal.recode.groups import Groups
from shoal.recode.table import recode


def groups_of(labels, k):
    return Groups(Partition.of(labels), k, None, np.zeros((len(labels), 0)))


def combinations(table, names):
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def held_by_few(before, after, names, k):
    """Return the published combinations of at least one but fewer than k rows, counted in plain Python."""
    rows = Counter(combinations(before, names))
    return [
        one for one in set(combinations(after, names)) if 0 < rows[one] < k and any(cell is not None for cell in one)
    ]


def exchanged(columns, labels, published, k):
    cells = [
        Cells(pa.chunked_array([pa.array(column)]), pa.array(values, pa.array(column).type))
        for column, values in zip(columns, published, strict=True)
    ]
    found, changed = without_small_combinations(cells, groups_of(labels, k))
    return list(zip(*(one.to_pylist() for one in found), strict=True)), changed


def test_a_combination_of_one_person_is_replaced_by_one_of_nobody():
    rows = [("a", "x")] * 2 + [("b", "y")] * 2 + [("a", "y")]
    columns = list(zip(*rows, strict=True))
    found, changed = exchanged(columns, [0, 0, 1, 1, 0], [["a", "b"], ["y", "y"]], 2)
    assert changed == 1
    assert found == [("a", "x"), ("b", "y")]  # held by k rows; (b, x) would cost the class more


def test_a_combination_of_k_rows_is_left_alone():
    rows = [("a", "x")] * 3 + [("b", "y")] * 3
    found, changed = exchanged(list(zip(*rows, strict=True)), [0] * 3 + [1] * 3, [["a", "b"], ["x", "y"]], 3)
    assert (found, changed) == ([("a", "x"), ("b", "y")], 0)


def test_a_class_gets_missing_cells_if_all_its_combinations_are_rare():
    rows = [(a, b) for a in "pq" for b in "uv"] * 2  # every combination is held by 2 of k = 3 rows
    found, changed = exchanged(list(zip(*rows, strict=True)), [0] * 4 + [1] * 4, [["p", "q"], ["u", "v"]], 3)
    assert changed == 2
    assert all(None in one for one in found)


def test_a_single_column_is_not_a_combination():
    found, changed = exchanged([[1, 2, 3]], [0, 0, 0], [[2]], 3)
    assert (found, changed) == ([(2,)], 0)


def test_no_class_becomes_equal_to_another_if_they_must_stay_distinct():
    rows = [("a", "x")] * 2 + [("a", "y"), ("b", "y"), ("b", "y")]
    columns = [pa.chunked_array([pa.array(column)]) for column in zip(*rows, strict=True)]
    cells = [Cells(columns[0], pa.array(["a", "a"])), Cells(columns[1], pa.array(["x", "y"]))]
    found, _ = without_small_combinations(cells, groups_of([0, 0, 1, 1, 1], 2), keep_distinct=True)
    assert len(set(zip(*(one.to_pylist() for one in found), strict=True))) == 2


names = st.sampled_from(["a", "b", "c"])
rows = st.tuples(names, names, st.integers(0, 4), st.booleans(), st.integers(0, 2))


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(rows, min_size=6, max_size=40), st.integers(2, 4), st.sampled_from(["representative", "mode"]))
def test_published_combinations_have_no_rows_or_at_least_k(rows, k, form):
    first, second, number, truth, labels = zip(*rows, strict=True)
    table = Table.of(pa.table({"first": first, "second": second, "number": number, "truth": truth}))
    kinds = {"first": "nominal", "second": "nominal", "number": "numeric", "truth": "boolean"}
    columns = {name: {"kind": kind, "form": form} for name, kind in kinds.items()}
    encoded = Encoded(np.column_stack([np.array(number, float), np.array(truth, float)]))
    made = recode(table, Partition.of(labels), Policy.of({"columns": columns}, k=k), encoded)
    assert held_by_few(table.data, made.data, list(kinds), k) == []


@pytest.mark.parametrize("method", ["auto", "gower", "mdav", "kmeans"])
def test_releases_of_mixed_tables_show_no_rare_combination(method):
    rng = np.random.default_rng(7)
    n = 300
    table = pa.table(
        {
            "job": rng.choice(["clerk", "nurse", "smith", "judge"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "town": rng.choice(list("ABCDEF"), n),
            "age": rng.integers(20, 60, n),
            "hours": rng.choice([20, 30, 40], n),
        }
    )
    release = shoal.anonymize(table, k=5, method=method, seed=1)
    assert held_by_few(table, release.aligned(), table.column_names, 5) == []


def test_in_a_sparse_table_no_row_differs_from_a_class_in_just_one_cell():
    rng = np.random.default_rng(3)
    table = pa.table({f"c{j}": rng.choice(["u", "v", "w"], 200) for j in range(12)})
    release = shoal.anonymize(table, k=5, seed=1)
    before, after = combinations(table, table.column_names), set(combinations(release.aligned(), table.column_names))
    for one in after:
        beside = sum(sum(a != b for a, b in zip(one, row, strict=True)) == 1 for row in before)
        assert beside != 1


def test_medoids_are_rows_and_the_release_notes_it():
    rng = np.random.default_rng(3)
    table = pa.table({f"c{j}": rng.choice(["u", "v", "w"], 200) for j in range(6)})
    policy = {"columns": {name: {"form": "medoid"} for name in table.column_names}}
    release = shoal.anonymize(table, policy=policy, k=5, seed=1, method="gower")
    assert set(combinations(release.aligned(), table.column_names)) <= set(combinations(table, table.column_names))
    assert any("medoids" in note for note in release.notes)
    assert not any("medoids" in note for note in shoal.anonymize(table, k=5, seed=1).notes)
