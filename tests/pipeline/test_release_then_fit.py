"""ReleaseThenFit trains on released rows, scores original ones, and keeps the conventions of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import shoal

TREE = DecisionTreeClassifier(random_state=0)
CHECKED = [
    shoal.ReleaseThenFit(DecisionTreeClassifier(random_state=0), "mdav", k=2, random_state=0),
    shoal.ReleaseThenFit(Ridge(), "mdav", k=2, random_state=0),
]


# Checks of scikit-learn that cannot pass, each with the reason.
EXPECTED_FAILURES = {
    "check_classifier_data_not_an_array": "whole numbers of a frame are published as such, those of an array as floats"
}


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.slow
def test_a_grid_search_over_k_finds_that_small_groups_teach_more(iris):
    model = shoal.ReleaseThenFit(TREE, method="mdav", random_state=0)
    search = GridSearchCV(model, {"k": [3, 45], "model__max_depth": [3]}, cv=3).fit(*iris)
    found = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    scores = {given["k"]: score for given, score in found}
    assert search.best_params_ == {"k": 3, "model__max_depth": 3}
    assert scores[3] > scores[45]
    assert search.best_estimator_.release_.policy.constraints.k == 3
    assert search.predict(iris[0][:5]).shape == (5,)


def test_the_model_is_trained_on_released_rows_and_scored_on_original_ones(iris):
    class Seeing(DecisionTreeClassifier):
        def fit(self, X, y):
            self.seen_ = X
            return super().fit(X, y)

        def score(self, X, y):
            self.asked_ = X
            return super().score(X, y)

    X, y = iris
    fitted = shoal.ReleaseThenFit(Seeing(random_state=0), method="mdav", k=5, random_state=0).fit(X, y)
    fitted.score(X, y)
    assert np.unique(fitted.model_.seen_, axis=0, return_counts=True)[1].min() >= 5
    np.testing.assert_array_equal(fitted.model_.asked_, X)
    assert all(verdict.holds for verdict in fitted.release_.verdicts)


def test_it_is_what_its_model_is(iris):
    X, y = iris
    tree, ridge = shoal.ReleaseThenFit(TREE, k=3), shoal.ReleaseThenFit(Ridge(), k=3)
    assert is_classifier(tree)
    assert is_regressor(ridge)
    assert hasattr(tree, "predict_proba")
    assert not hasattr(ridge, "predict_proba")
    assert not hasattr(shoal.ReleaseThenFit(RidgeClassifier()), "predict_proba")
    with pytest.raises(NotFittedError):
        tree.predict(X)
    names = np.array(["a", "b", "c"])[y]
    fitted = clone(tree).set_params(method="mdav", model__max_depth=2).fit(X, names)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    assert fitted.predict_proba(X).shape == (150, 3)
    assert fitted.get_params()["model__max_depth"] == 2
    assert tree.get_params()["k"] == 3


def test_a_regressor_learns_from_targets_published_by_class():
    X, y = load_diabetes(return_X_y=True)
    model = shoal.ReleaseThenFit(Ridge(), "mdav", k=3, random_state=0)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.2
    assert model.fit(X, y).release_.policy.columns["shoal: label"].role == "quasi"


def test_a_frame_loses_its_identifiers_in_training_and_in_prediction():
    frame = shoal.sample(120, seed=1).to_pandas()
    X = frame[["patient_id", "height_cm", "systolic"]].copy()
    X.index = np.arange(len(X))[::-1] * 10
    y = (frame["systolic"] > frame["systolic"].median()).to_numpy()
    model = shoal.ReleaseThenFit(TREE, "mdav", k=4, identifiers=["patient_id"], random_state=0).fit(X, y)
    assert "patient_id" not in model.model_.feature_names_in_
    assert model.score(X, y) > 0.8
    assert list(model.release_.aligned().index) == list(X.index)
    with pytest.raises(shoal.DataError, match="one label per row"):
        model.fit(X, y[:-1])


def test_limits_on_the_classes_hold(iris):
    X, y = iris
    mixed = np.where(np.arange(150) % 3 == 0, 2 - y, y)
    fitted = shoal.ReleaseThenFit(TREE, "mdav", k=4, l=2, random_state=0).fit(X, mixed)
    assert fitted.release_.policy.columns["shoal: label"].role == "sensitive"


@pytest.mark.slow
def test_a_policy_says_what_parameters_do_not(iris):
    X, y = iris
    policy = {"constraints": {"k": 7}, "method": {"name": "mdav"}}
    fitted = shoal.ReleaseThenFit(TREE, policy=policy, random_state=0).fit(X, y)
    assert (fitted.release_.policy.constraints.k, fitted.release_.policy.method.name) == (7, "mdav")
    assert shoal.Anonymizer(policy=policy, k=6).fit(X).release_.policy.constraints.k == 6
    one, other = (shoal.Anonymizer("mdav", k=3, random_state=np.random.RandomState(1)).fit_transform(X) for _ in "ab")
    np.testing.assert_array_equal(one, other)


def test_sets_in_a_frame_are_for_the_anonymizer_too():
    frame = pd.DataFrame({"age": [20, 21, 22, 23] * 3, "seen": ["a b", "a b", "a", "b"] * 3})
    lists = frame.assign(seen=frame["seen"].str.split())
    fitted = shoal.Anonymizer(k=3, m=1, items=["seen"]).fit(lists)
    assert any("k^m" in verdict.model for verdict in fitted.release_.verdicts)


def test_a_misspelt_parameter_is_named():
    with pytest.raises(shoal.PolicyError, match="ReleaseThenFit: unknown option 'kk'. Did you mean 'k'?"):
        shoal.ReleaseThenFit(TREE, kk=3)
    with pytest.raises(
        shoal.PolicyError, match=r"Anonymizer: unknown option 'effort'.*parameters=\{'effort': 'quick'\}"
    ):
        shoal.Anonymizer(effort="quick")
