"""What a holder or a plug-in gets of a release cannot be used to change the release."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from plug_ins import put
from shoal.catalogue.model_card import ModelCard
from shoal.errors import LeftOut
from shoal.model.policy import Constraints
from shoal.privacy.verdict.classes import Counts
from shoal.privacy.verdict.values import Values

MEASURE = """
from shoal.catalogue import measure
from shoal.model.findings import Finding


@measure("first place", formula="f", better="low", need="groups", cost="n")
def first_place(case):
    \"\"\"Sort an array of the case in place.\"\"\"
    places = case.places
    places.sort()
    return (Finding("first place", float(places[0]), "sorted", "groups", counts_rows=False),)
"""
METHOD = """
import numpy as np

from shoal.catalogue import Whole, method
from shoal.model.partition import Partition


@method("centred", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows in a group.")})
def centred(X, k):
    \"\"\"Centre the matrix in place.\"\"\"
    X -= X.mean(axis=0)
    return Partition.of(np.zeros(len(X), np.int64))
"""


@pytest.fixture
def people():
    return shoal.sample(90, seed=4).select(["height_cm", "weight_kg", "days", "diagnosis"])


def made(frame):
    return shoal.anonymize(frame, k=5, sensitive=["diagnosis"], method="mdav", seed=1)


def test_a_column_added_to_aligned_of_pandas_is_not_in_data(people):
    release = made(people.to_pandas())
    analysis = release.aligned()
    analysis["row"] = range(90)
    analysis.loc[:, "height_cm"] = 0
    del analysis["weight_kg"]
    assert list(release.data) == people.column_names
    assert release.data["height_cm"].tolist() == release.table["height_cm"].to_pylist()
    assert release.aligned().index.tolist() == list(range(90))


def test_a_column_added_to_aligned_of_polars_is_not_in_data(people):
    release = made(pl.from_arrow(people))
    release.aligned().insert_column(0, pl.Series("row", range(90)))
    assert release.data.columns == people.column_names
    assert release.aligned().columns == people.column_names


def test_a_list_that_is_changed_in_aligned_is_the_same_in_data():
    table = pd.DataFrame({"age": [30, 31, 32, 33], "items": [["a", "b"]] * 4})
    release = shoal.anonymize(table, k=2, m=1, items=["items"], quasi=["age"], method="mdav")
    for cell in release.aligned()["items"]:
        cell[0] = "changed"
    assert "changed" not in {word for cell in release.data["items"] for word in cell}


def test_the_arrays_of_a_release_are_read_only(people):
    release = made(people)
    for array in (release.rows, release.labels, shoal.Partition(np.zeros(3, np.int64)).labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("name", ["places", "labels", "sizes", "groups", "matrix"])
def test_the_arrays_of_a_case_are_read_only(people, name):
    case = made(people)._making.case
    with pytest.raises(ValueError, match="read-only"):
        getattr(case, name)[0] = 1


def test_derived_arrays_of_a_case_are_read_only(people):
    case = made(people)._making.case
    counts, pair = case.counts["diagnosis"], case.columns[0]
    arrays = (case.quasi[0].codes, counts.count, counts.column.codes, pair.numbers[0], *pair.codes)
    assert not any(array.flags.writeable for array in arrays)


def test_a_measure_that_sorts_an_array_of_the_case_in_place_fails_and_changes_nothing(people, tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "sorting", MEASURE, measures={"first place": "first_place"})
    release = made(people)
    with pytest.raises(shoal.UseError, match=r"'first place' failed \(ValueError\)"):
        shoal.measure(people, release, only=["first place"])
    assert release.data.equals(release.table)


def test_a_method_that_changes_its_matrix_in_place_fails(people, tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "centring", METHOD, methods={"centred": "centred"})
    with pytest.raises(shoal.UseError, match=r"'centred' failed \(ValueError\)"):
        shoal.anonymize(people, k=5, method="centred")


def test_a_model_of_a_plug_in_cannot_change_the_counts():
    def emptied(counts, _):
        """Empty the classes."""
        counts.column.codes[:] = 0
        return np.zeros(counts.sizes.size)

    card = ModelCard("emptied")
    card(emptied)
    counts = Counts.of(np.array([0, 0, 1, 1]), Values(np.array([0, 1, 0, 1])))
    with pytest.raises(ValueError, match="read-only"):
        card.figures(counts, Constraints(others={"emptied": 1.0}))
    assert counts.column.codes.tolist() == [0, 1, 0, 1]


def test_a_measure_that_wraps_a_function_of_shoal_is_still_a_plug_in(people, tmp_path, monkeypatch):
    source = MEASURE.replace(
        "@measure(", "from functools import wraps\nfrom shoal.model.table import canonical\n\n@measure("
    )
    source = source.replace("def first_place", "@wraps(canonical)\ndef first_place")
    source = source.replace("    places.sort()\n", "").replace(", counts_rows=False", ', part="of 4 rows"')
    put(tmp_path, monkeypatch, "wrapping", source, measures={"first place": "first_place"})
    with pytest.warns(LeftOut, match="must not contain a number"):
        text = made(people).report(people, format="md")
    assert "| first place, of 4 rows" not in text
