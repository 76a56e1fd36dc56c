"""ReleaseThenFit trains on released rows, scores on original ones, and follows the conventions of scikit-learn."""

import traceback

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
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
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.slow
def test_a_grid_search_over_k_prefers_small_groups(iris):
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


def test_it_has_the_type_and_methods_of_its_model(iris):
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
    assert model.fit(X, y).release_.policy.columns["y"].role == "quasi"


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
    assert fitted.release_.policy.columns["y"].role == "sensitive"


@pytest.mark.slow
def test_a_policy_sets_what_parameters_cannot(iris):
    X, y = iris
    policy = {"constraints": {"k": 7}, "method": {"name": "mdav"}}
    fitted = shoal.ReleaseThenFit(TREE, policy=policy, random_state=0).fit(X, y)
    assert (fitted.release_.policy.constraints.k, fitted.release_.policy.method.name) == (7, "mdav")
    assert shoal.Anonymizer(policy=policy, k=6).fit(X).release_.policy.constraints.k == 6
    one, other = (shoal.Anonymizer("mdav", k=3, random_state=np.random.RandomState(1)).fit_transform(X) for _ in "ab")
    np.testing.assert_array_equal(one, other)


def test_columns_of_sets_reach_the_anonymizer_too():
    frame = pd.DataFrame({"age": [20, 21, 22, 23] * 3, "seen": ["a b", "a b", "a", "b"] * 3})
    lists = frame.assign(seen=frame["seen"].str.split())
    fitted = shoal.Anonymizer(k=3, m=1, items=["seen"]).fit(lists)
    assert any("k^m" in verdict.model for verdict in fitted.release_.verdicts)


def test_a_misspelt_parameter_is_named():
    with pytest.raises(shoal.PolicyError, match="ReleaseThenFit: unknown option 'kk'. Did you mean 'k'?"):
        shoal.ReleaseThenFit(TREE, kk=3)
    with pytest.raises(
        shoal.PolicyError, match=r"Anonymizer: unknown option 'effort'.*parameters=\{'effort': \.\.\.\}"
    ):
        shoal.Anonymizer(effort="quick")


def test_the_seed_has_the_name_of_the_interface_it_is_used_in():
    for make in (shoal.Anonymizer, lambda **given: shoal.ReleaseThenFit(DecisionTreeClassifier(), **given)):
        with pytest.raises(shoal.PolicyError, match="unknown option 'seed'. Did you mean 'random_state'?"):
            make(seed=1)
    with pytest.raises(shoal.PolicyError, match="unknown option 'random_state'. Did you mean 'seed'?"):
        shoal.anonymize(shoal.sample(10), random_state=1)


def test_errors_name_the_argument_of_the_labels(iris):
    X, y = iris
    with pytest.raises(shoal.InfeasibleError, match="the whole column 'y' only reaches 3"):
        shoal.ReleaseThenFit(DecisionTreeClassifier(), k=3, l=9).fit(X, y)


def test_a_frame_may_have_a_column_called_y(iris):
    X, y = iris
    frame = pd.DataFrame(X[:, :2], columns=["x", "y"])
    fitted = shoal.ReleaseThenFit(DecisionTreeClassifier(), k=3, random_state=0).fit(frame, y)
    assert fitted.release_.table.column_names == ["x", "y", "y_"]
    assert fitted.score(frame, y) > 0.5
    anonymizer = shoal.Anonymizer(k=3).fit(frame)
    assert list(anonymizer.get_feature_names_out()) == ["x", "y"]


@pytest.mark.parametrize("rows", [np.array([["Zebedee", 1, 2, 3]], object), np.array([4711.5, 1, 2, 3])])
def test_rows_that_cannot_be_predicted_are_refused_without_quoting_a_cell(iris, rows):
    X, y = iris
    model = shoal.ReleaseThenFit(TREE, k=5, random_state=0).fit(X, y)
    for ask in (model.predict, lambda rows: model.score(rows, y[:1])):
        with pytest.raises(shoal.DataError, match="^ReleaseThenFit: ") as caught:
            ask(rows)
        printed = "".join(traceback.format_exception(caught.value))
        assert not any(cell in printed for cell in ("Zebedee", "4711", "4.7115"))


def test_text_does_not_fit_into_an_array_and_is_not_quoted(iris):
    X, y = iris
    with pytest.raises(shoal.DataError, match="would be published as text.*Give X as a frame") as refusal:
        shoal.ReleaseThenFit(DecisionTreeClassifier(), k=5, output="truthful").fit(X, y)
    assert "–" not in str(refusal.value)


@pytest.mark.filterwarnings("error")
def test_it_is_displayed_in_a_notebook_without_warnings():
    assert "ReleaseThenFit" in shoal.ReleaseThenFit(DecisionTreeClassifier(), k=5)._repr_html_()
    assert "Anonymizer" in shoal.Anonymizer(k=5)._repr_html_()


def refuse(ask, message, kind=shoal.DataError):
    """Call a function that is to fail with this message, and with nothing behind it."""
    with pytest.raises(kind) as caught:
        ask()
    assert str(caught.value) == message
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


class Failing(ClassifierMixin, BaseEstimator):
    """A model that quotes a cell, as soon as it is trained or later."""

    def __init__(self, error, text="SECRET", *, later=False):
        self.error, self.text, self.later = error, text, later

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self if self.later else self.predict(X)

    def predict(self, X):
        raise self.error(self.text)

    def score(self, X, y):
        return self.text


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, AttributeError, RuntimeError, MemoryError])
@pytest.mark.parametrize("text", ["SECRET", "cell SECRET: bad"])
def test_whatever_a_model_raises_is_named_by_its_type_alone(iris, error, text):
    X, y = iris
    message = f"ReleaseThenFit: the model failed ({error.__name__})."
    refuse(lambda: shoal.ReleaseThenFit(Failing(error, text), k=5).fit(X, y), message)
    later = shoal.ReleaseThenFit(Failing(error, text, later=True), k=5).fit(X, y)
    refuse(lambda: later.predict(X), message)
    refuse(lambda: later.score(X, y), "ReleaseThenFit: the model failed (ValueError).")


@pytest.mark.parametrize("problem", ["KeyError(4711)", "IndexError('SECRET')", "LookupError('SECRET')"])
def test_of_errors_of_scikit_learn_only_sentences_are_shown(iris, problem):
    inside = {"__name__": "sklearn.somewhere"}
    exec(f"def fail(*_):\n    raise {problem}", inside)
    failing = Failing(KeyError, later=True)
    fitted = shoal.ReleaseThenFit(failing, k=5).fit(*iris)
    fitted.model_.predict = inside["fail"]
    refuse(lambda: fitted.predict(iris[0]), f"ReleaseThenFit: the model failed ({problem.split('(')[0]}).")


def test_errors_of_shoal_and_of_models_that_are_not_fitted_keep_their_type(iris):
    X, y = iris
    for error, message in ((shoal.DataError, "SECRET"), (NotFittedError, "ReleaseThenFit: the model is not fitted.")):
        model = shoal.ReleaseThenFit(Failing(error, later=True), k=5).fit(X, y)
        refuse(lambda model=model: model.predict(X), message, error)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (TREE, np.array(["SECRET", 1] * 75, object), "y cannot be read as one class per row (TypeError)"),
        (TREE, np.array([{"SECRET": 1}] * 150, object), "Unknown label type: unknown. Give one class per row"),
        (TREE, np.array([np.inf, 1.5] * 75), "Input y contains infinity or a value too large for dtype"),
        (Ridge(), np.array([np.inf, 1.5] * 75), "Input y contains infinity or a value too large for dtype"),
        (Ridge(), np.array([10**400, 1] * 75, object), "int too large to convert to float"),
        (Ridge(), np.array(["SECRET", 1] * 75, object), "could not convert string to float"),
    ],
)
def test_targets_that_cannot_be_used_are_refused_without_being_quoted(iris, model, y, message):
    frame = pd.DataFrame(iris[0], columns=list("abcd"))
    refuse(lambda: shoal.ReleaseThenFit(model, k=5).fit(frame, y), f"ReleaseThenFit: {message}.")


def test_ragged_rows_are_refused(iris):
    fitted = shoal.ReleaseThenFit(TREE, k=5).fit(*iris)
    message = "ReleaseThenFit: X cannot be read as rows of equal length (ValueError)."
    refuse(lambda: fitted.predict([[4711.0], [1.0, 2.0]]), message)


def test_errors_of_the_model_quote_no_cell(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = shoal.ReleaseThenFit(DecisionTreeClassifier(), k=3)
    text = frame.assign(a="SECRET")
    for ask in (lambda: model.fit(text, y), lambda: model.fit(frame, y).predict(text)):
        refuse(ask, "ReleaseThenFit: the model failed (ValueError).")  # the text is that of pandas
    array = shoal.ReleaseThenFit(DecisionTreeClassifier(), k=3).fit(X, y)
    refuse(lambda: array.predict([["SECRET"] * 4]), "ReleaseThenFit: could not convert string to float.")
    known = pd.DataFrame({"town": ["a", "b"] * 75})
    coded = shoal.ReleaseThenFit(make_pipeline(OneHotEncoder(), DecisionTreeClassifier()), k=3, keep="town")
    coded.fit(known.assign(n=X[:, 0]), y)
    unseen = known.assign(n=X[:, 0], town="SECRET")
    refuse(lambda: coded.predict(unseen), "ReleaseThenFit: Found unknown categories.")
    with pytest.raises(shoal.DataError, match="model must be a scikit-learn estimator; got None"):
        shoal.ReleaseThenFit(None, k=3).fit(X, y)
