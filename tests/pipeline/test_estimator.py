"""Anonymizer is compatible with scikit-learn."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import shoal
from shoal.errors import DataError, MethodError

# Checks of scikit-learn that cannot pass, each with the reason: there is none.
EXPECTED_FAILURES: dict[str, str] = {}


CHECKED = [
    shoal.Anonymizer(k=2, parameters={"effort": "quick"}, random_state=0),
    shoal.Anonymizer("mdav", k=2, threads=1, budget=60, random_state=0),
]


class Unreadable:
    """A cell that quotes itself in an exception."""

    def __float__(self):
        raise KeyError("SECRET")


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def X():
    return load_iris().data


def test_rows_of_a_group_are_published_equally(X):
    anonymizer = shoal.Anonymizer(method="mdav", k=5)
    released = anonymizer.fit_transform(X)
    assert released.shape == X.shape
    for label in np.unique(anonymizer.labels_):
        rows = anonymizer.labels_ == label
        assert rows.sum() >= 5
        assert (released[rows] == released[rows][0]).all()
        assert (np.abs(released[rows][0] - X[rows].mean(axis=0)) <= 0.2 * X[rows].std(axis=0).max() + 0.05).all()


def test_output_has_the_requested_frame_type(X):
    pandas_out = shoal.Anonymizer("mdav").set_output(transform="pandas").fit_transform(X)
    assert isinstance(pandas_out, pd.DataFrame)
    assert list(pandas_out.columns) == ["x0", "x1", "x2", "x3"]
    assert isinstance(shoal.Anonymizer("mdav").set_output(transform="polars").fit_transform(X), pl.DataFrame)


def test_mixed_frames_are_accepted_and_identifiers_dropped():
    frame = shoal.sample(60).to_pandas()
    anonymizer = shoal.Anonymizer(k=3, identifiers=("patient_id", "name"), sensitive=("diagnosis",), l=2)
    released = anonymizer.fit_transform(frame)
    assert isinstance(released, pd.DataFrame)
    assert list(anonymizer.get_feature_names_out()) == list(released.columns)
    assert "name" not in released.columns
    assert all(verdict.holds for verdict in anonymizer.release_.verdicts)


def test_it_can_end_a_pipeline(X):
    released = make_pipeline(StandardScaler(), shoal.Anonymizer("mdav", k=4)).fit_transform(X)
    assert np.unique(released, axis=0, return_counts=True)[1].min() >= 4


def test_missing_numbers_are_accepted_and_infinite_ones_are_not(X):
    gappy = X.copy()
    gappy[3, 1] = np.nan
    assert shoal.Anonymizer("mdav").fit_transform(gappy).shape == X.shape
    gappy[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        shoal.Anonymizer("mdav").fit(gappy)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (10**400, "int too large to convert to float"),
        ({"SECRET": 1}, "float() argument must be a string or a real number"),
        ("SECRET", "could not convert string to float"),
        (Unreadable(), "X or y cannot be read as numbers (KeyError)"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_cells_that_are_no_numbers_are_refused_without_being_quoted(cell, message):
    with pytest.raises(DataError) as caught:
        shoal.Anonymizer(k=5).fit(np.array([[cell, 1]] * 30, object))
    assert str(caught.value) == f"Anonymizer: {message}."
    assert caught.value.__context__ is None


def test_text_does_not_fit_into_an_array_and_is_not_quoted(X):
    with pytest.raises(shoal.DataError, match="would be published as text.*Give X as a frame") as refusal:
        shoal.Anonymizer(k=4, output="truthful").fit_transform(X)
    assert "–" not in str(refusal.value)


@pytest.mark.slow
def test_threads_budget_and_refine_reach_the_pipeline(X, monkeypatch):
    plain = shoal.Anonymizer("mdav", k=5, random_state=0).fit(X).release_
    better = shoal.Anonymizer("mdav", k=5, refine="quick", threads=1, random_state=0).fit(X).release_
    assert better.finding("partition SSE") < plain.finding("partition SSE")
    assert better.policy.method.refine == "quick"
    monkeypatch.setattr("shoal.pipeline.allowance.MARGIN", 1e9)  # the steps after the search get the whole budget
    early = shoal.Anonymizer("mdav", k=5, refine="thorough", budget=625).fit(X).release_
    assert "a budget of 625 s ended the search early" in " ".join(early.notes)
    for wrong in ({"budget": 0}, {"threads": 0}, {"refine": "well"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            shoal.Anonymizer(k=5, **wrong).fit(X)


def test_there_is_no_transform_for_new_rows():
    assert not hasattr(shoal.Anonymizer(), "transform")
    with pytest.raises(AttributeError, match="belongs to no class.*fit_transform.*ReleaseThenFit"):
        shoal.Anonymizer().transform([[1.0]])
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = shoal.Anonymizer().no_such_name


@pytest.mark.slow
def test_labels_given_with_an_array_reach_a_method_that_learns_from_them():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    taught = shoal.Anonymizer("kde_pp", k=5, random_state=0)
    released = taught.fit_transform(X, names)
    assert released.shape == X.shape
    assert np.unique(released, axis=0, return_counts=True)[1].min() >= 5
    assert taught.release_.finding("classes of one label %") > 50
    assert taught.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3"]
    with pytest.raises(MethodError, match="kde_pp: there are no labels to learn from"):
        shoal.Anonymizer("kde_pp", k=5).fit(X)
    assert_array_equal(
        shoal.Anonymizer("mdav", k=5, random_state=1).fit_transform(X, y),
        shoal.Anonymizer("mdav", k=5, random_state=1).fit_transform(X),
    )


@pytest.mark.parametrize("y", [[1, 2], np.zeros((150, 2)), ["SECRET"], [[1], [2, 3]], 3, [{}] * 149], ids=str)
def test_labels_other_than_one_per_row_are_refused_without_being_quoted(y):
    with pytest.raises(DataError, match="Anonymizer: y must be 150 labels, one per row") as caught:
        shoal.Anonymizer("kde_pp", k=5).fit(load_iris().data, y)
    assert "SECRET" not in str(caught.value)


def test_labels_of_a_frame_are_one_of_its_columns():
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.raises(DataError, match="include the label as a column and name it"):
        shoal.Anonymizer("kde_pp", k=5).fit(X, y)
    both = shoal.Anonymizer("kde_pp", k=5, label="target", keep=["target"]).fit_transform(X.assign(target=y))
    assert both["target"].tolist() == y.tolist()


def test_limits_on_the_labels_of_an_array_hold():
    X, y = load_iris(return_X_y=True)
    mixed = np.where(np.arange(150) % 3 == 0, 2 - y, y)
    found = shoal.Anonymizer("kde_pp", k=5, l=2).fit(X, mixed).release_
    assert found.finding("classes of one label %") == 0
