"""What a release tells of the label, and columns that tell it alone."""

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.privacy.measures.case import Case
from shoal.utility.fidelity_measures import labels_disclosed
from shoal.utility.labels import columns_that_decide_label

LABEL = {"role": "keep", "kind": "nominal"}
NUMBER = {"role": "quasi", "kind": "numeric"}
NAME = {"role": "quasi", "kind": "nominal"}


def deciding(label="y", **columns):
    kinds = {name: (NUMBER if isinstance(cells[0], int | float) else NAME) for name, cells in columns.items()}
    policy = Policy.of({"label": label, "columns": {**kinds, "y": LABEL}})
    return columns_that_decide_label(Table.of(pa.table({**columns, "y": Y})), policy)


Y = ["a"] * 60 + ["b"] * 140
ROWS = np.arange(200)


def test_a_column_that_decides_the_label_at_one_cut_is_found():
    assert deciding(stab=(ROWS - 59.5).tolist(), other=(ROWS % 7).tolist()) == ("stab",)


def test_one_mistake_in_two_hundred_does_not_hide_it():
    cells = (ROWS >= 60).astype(int)
    cells[0] = 1
    assert deciding(stab=cells.tolist()) == ("stab",)
    cells[:4] = 1
    assert deciding(stab=cells.tolist()) == ()


def test_names_that_decide_the_label_are_found_unless_there_are_very_many():
    assert deciding(code=[f"{y}{row % 3}" for row, y in zip(ROWS, Y, strict=True)]) == ("code",)
    assert deciding(code=[f"{y}{row}" for row, y in zip(ROWS, Y, strict=True)]) == ()


def test_a_column_that_says_the_commonest_label_tells_nothing():
    policy = Policy.of({"label": "y", "columns": {"x": NUMBER, "y": LABEL}})
    rare = pa.table({"x": (ROWS % 5).tolist(), "y": ["a"] + ["b"] * 199})
    assert columns_that_decide_label(Table.of(rare), policy) == ()


def test_nothing_is_said_without_a_label_or_with_very_many():
    assert deciding(label=None, stab=(ROWS >= 60).tolist()) == ()
    policy = Policy.of({"label": "y", "columns": {"x": NUMBER, "y": {"role": "keep", "kind": "numeric"}}})
    assert columns_that_decide_label(Table.of(pa.table({"x": ROWS, "y": ROWS})), policy) == ()
    assert columns_that_decide_label(Table.of(pa.table({"x": ROWS[:0], "y": ROWS[:0]})), policy) == ()


def test_classes_of_one_label_are_counted_on_what_is_released():
    policy = Policy.of({"label": "y", "columns": {"x": NUMBER, "y": LABEL}})
    data = pa.table({"x": [1, 1, 2, 2, 3, 3], "y": ["a", "a", "a", "b", None, None]})
    [found] = labels_disclosed(Case(data, policy))
    assert found.value == pytest.approx(200 / 3)
    assert labels_disclosed(Case(data, Policy.of({"columns": {"x": NUMBER, "y": LABEL}}))) == ()


def test_a_release_warns_of_a_column_that_decides_the_label():
    table = pa.table({"stab": ROWS - 59.5, "other": ROWS % 7, "y": Y})
    release = shoal.anonymize(table, k=4, keep=["y"], label="y", method="mdav")
    [note] = [note for note in release.notes if "determines the label" in note]
    assert note.startswith("column 'stab' alone determines the label")
    assert release.finding("classes of one label %") > 90
