"""Pictures of a release in a notebook: before and after, confidential, and never of fewer than k rows."""

import pickle
import re

import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError

K = 5


@pytest.fixture(scope="module")
def release():
    patients = shoal.sample(400, seed=8)
    return shoal.anonymize(patients, k=K, seed=1, identifiers=["patient_id", "name"], sensitive=["diagnosis"])


def rows_in(svg):
    return [int(one.replace(",", "")) for one in re.findall(r"([0-9,]+) rows", svg)]


@pytest.mark.slow
def test_all_quasi_identifiers_are_drawn_before_and_after(release):
    shown = release.plot()
    assert set(shown.columns) <= set(release.policy.names("quasi"))
    assert {"birth_date", "sex", "height_cm"} <= set(shown.columns)
    page = shown._repr_html_()
    assert page.count("<svg") == len(shown.columns)
    assert "Confidential: this shows the original." in page
    assert "before:" in shown.svg["height_cm"]


@pytest.mark.slow
def test_no_number_of_rows_is_below_k(release):
    counts = [rows for svg in release.plot().svg.values() for rows in rows_in(svg)]
    assert counts
    assert all(rows == 0 or rows >= K for rows in counts)


@pytest.mark.slow
def test_one_column_is_drawn_alone_and_an_unchanged_one_once(release):
    assert release.plot("sex").columns == ("sex",)
    kept = release.plot("diagnosis")
    assert "Released unchanged." in kept.caption
    assert "Confidential" not in kept.caption
    assert "before:" not in kept.svg["diagnosis"]


@pytest.mark.slow
def test_a_pickled_release_shows_released_values_alone(release):
    shown = pickle.loads(pickle.dumps(release)).plot("height_cm")
    assert shown.caption.startswith("Released values only")
    assert "before:" not in shown.svg["height_cm"]


def test_a_column_without_a_picture_is_named():
    table = pa.table({"age": [30, 31, 32, 40, 41, 42], "note": pa.array(list("abcdef"))})
    shown = shoal.anonymize(table, k=3, quasi=["note"], seed=1).plot("note")
    assert shown.columns == ()
    assert "Published as missing in every row: note." in shown.caption
    assert repr(shown) == "<Plot: no column>"


def test_names_are_escaped_and_unknown_ones_refused():
    table = pa.table({"<b>age": [30, 31, 32, 40, 41, 42], "sex": list("fffmmm")})
    release = shoal.anonymize(table, k=3, seed=1)
    with pytest.raises(DataError, match="plot: 'sxe' is not a column of the release.*Did you mean 'sex'"):
        release.plot("sxe")
    with pytest.raises(DataError, match="plot: 3 is not a column"):
        release.plot(3)
    assert "<b>age" not in release.plot("<b>age")._repr_html_()
