"""ReleaseThenFit: a model that is trained on the release of its training rows and scored on original rows.

Cross-validation then shows what anonymization costs anyone who trains a model on the release.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeVar, Unpack

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from shoal.catalogue.sections import parameters_of
from shoal.errors import DataError, ShoalError, kind_of
from shoal.model.asking import one_or_several
from shoal.model.options import with_options
from shoal.pipeline.estimator import LABEL, EstimatorOptions, ReleasingEstimator, is_frame, refuse_text, refused

Method = TypeVar("Method", bound=Callable[..., Any])


def _if_model_has(name: str) -> Callable[[Method], Method]:
    """Return a decorator for a method that exists only if the model has it."""
    check: Callable[[Method], Method] = available_if(lambda self: hasattr(getattr(self, "model_", self.model), name))
    return check


class ReleaseThenFit(MetaEstimatorMixin, ReleasingEstimator):  # type: ignore[misc]
    """Train a model on the release of its training rows; predict and score original rows.

    Parameters
    ----------
    model : estimator
        A scikit-learn classifier or regressor. It is cloned.
    method : str, optional
        A method of `shoal.methods()`; by default that of the policy, or "auto".
    policy : Policy, mapping or path, optional
        Settings that the other parameters do not override.
    random_state : int, RandomState instance or None
        Random seed of the release. If None, every fit draws a new one from the system.
    **options
        As in `shoal.anonymize`. Class labels are published unchanged: kept, or sensitive if a constraint such as l
        needs a sensitive column. The target of a regressor is a quasi-identifier, published per class.

    Attributes
    ----------
    model_ : estimator
        The model, trained on released rows.
    release_ : Release
        The release of the training rows.
    classes_ : array
        The classes, if the model is a classifier.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    No row that is scored influences the release, and the model sees only released rows. This says nothing about what
    the model itself may reveal about them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import shoal
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = shoal.ReleaseThenFit(DecisionTreeClassifier(random_state=0), method="mdav", random_state=0)
    >>> search = GridSearchCV(tree, {"k": [3, 40]}, cv=3).fit(X, y)
    >>> search.best_params_
    {'k': 3}
    """

    @with_options("ReleaseThenFit", parameters_of)
    def __init__(self, model: Any, method: str | None = None, **options: Unpack[EstimatorOptions]) -> None:
        self.model = model
        self._set_options(method, options)

    def fit(self, X: Any, y: Any) -> Self:
        """Release the rows with their labels, and train the model on the release.

        Parameters
        ----------
        X : array of shape (n, d) or frame
        y : array of shape (n,)
            The target.

        Returns
        -------
        self
        """
        if not hasattr(self.model, "fit"):
            raise DataError(f"ReleaseThenFit: model must be a scikit-learn estimator; got {kind_of(self.model)}.")
        source, classes, targets = self._checked(X, y)
        role = "quasi" if classes is None else self._role_of_labels()
        beside, label = _beside(source, targets)
        more: dict[str, Any] = {role: [*one_or_several(getattr(self, role), "ReleaseThenFit", role), label]}
        if classes is not None and self.label is None:
            more["label"] = label
        self.release_ = self._make_release(beside, **more)
        aligned = self.release_.aligned()
        if not is_frame(X):
            refuse_text("ReleaseThenFit", aligned)
        released: Any = nw.from_native(aligned, eager_only=True)
        self._names = [name for name in released.columns if name != label]
        learnt = released.get_column(label).to_numpy()
        if classes is not None:
            learnt = classes[learnt.astype(np.int64)]
        features = released.select(map(nw.col, self._names))
        known = features.to_native() if is_frame(X) else features.to_numpy().astype(np.float64)
        self.model_ = self._without_cells(clone(self.model).fit, known, learnt)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the target of original rows."""
        return self._asked("predict", X)

    def score(self, X: Any, y: Any) -> float:
        """Return the score of the model on original rows."""
        check_is_fitted(self, "model_")
        rows = self._seen(X)
        return self._without_cells(lambda: float(self.model_.score(rows, y)))  # type: ignore[no-any-return]

    @_if_model_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes of original rows."""
        return self._asked("predict_proba", X)

    @_if_model_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities of the classes of original rows."""
        return self._asked("predict_log_proba", X)

    @_if_model_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision function of original rows."""
        return self._asked("decision_function", X)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels known to the model."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.classes_)

    def __sklearn_tags__(self) -> Any:
        """Declare the type of the model: classifier or regressor."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.model)
        tags.estimator_type, tags.regressor_tags = inner.estimator_type, inner.regressor_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags = replace(inner.classifier_tags, multi_label=False)
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.required = True
        return tags

    def _asked(self, name: str, X: Any) -> Any:
        """Call a method of the model on original rows."""
        check_is_fitted(self, "model_")
        return self._without_cells(getattr(self.model_, name), self._seen(X))

    @staticmethod
    def _without_cells(function: Callable[..., Any], *given: Any, what: str = "the model failed") -> Any:
        """Call a function, such as a method of the model; its errors are replaced by errors that quote no cell."""
        error: Exception
        try:
            return function(*given)
        except ShoalError:
            raise
        except NotFittedError:
            error = NotFittedError("ReleaseThenFit: the model is not fitted.")
        except Exception as problem:  # noqa: BLE001 - a model may raise anything
            error = refused("ReleaseThenFit", problem, what)
        raise error from None

    def _seen(self, X: Any) -> Any:
        """Return original rows without the columns that are not published, or refuse them without quoting a cell."""
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return nw.from_native(X, eager_only=True).select(map(nw.col, self._names)).to_native()
        if self._without_cells(np.asarray, X, what="X cannot be read as rows of equal length").ndim == 1:
            raise DataError(
                "ReleaseThenFit: X must have two dimensions; got one. Reshape your data: X.reshape(1, -1) for one row, "
                "X.reshape(-1, 1) for one column."
            )
        return self._numbers(X, least=1, reset=False)

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any] | None, NDArray[Any]]:
        """Return rows as a frame, classes and targets, or refuse them without quoting a cell."""
        numeric, source = is_regressor(self.model), X
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
        else:
            numbers, y = self._numbers(X, y, y_numeric=numeric)
            source = pa.table({f"x{place}": column for place, column in enumerate(numbers.T)})
        what = f"y cannot be read as {'numbers' if numeric else 'one class per row'}"
        return source, *self._without_cells(_numbers if numeric else _classes, y, what=what)


def _numbers(y: Any) -> tuple[None, NDArray[np.float64]]:
    """Return the targets of a regressor, which has no classes."""
    targets = column_or_1d(y, warn=True, dtype=np.float64)
    assert_all_finite(targets, input_name="y")
    return None, targets


def _classes(y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes, and the number of the class of each row."""
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    kind = type_of_target(labels)
    if kind not in ("binary", "multiclass"):
        raise DataError(f"ReleaseThenFit: Unknown label type: {kind}. Give one class per row.")
    classes, numbers = np.unique(labels, return_inverse=True)
    return classes, numbers


def _beside(X: Any, targets: NDArray[Any]) -> tuple[Any, str]:
    """Return the frame with the targets as one more column, and the name of that column."""
    frame: Any = nw.from_native(X, eager_only=True)
    if len(frame) != len(targets):
        raise DataError(f"ReleaseThenFit: X has {len(frame)} rows and y {len(targets)}. Give one label per row.")
    name = LABEL
    while name in frame.columns:
        name += "_"
    column = nw.new_series(name, targets, backend=frame.implementation)
    return frame.with_columns(column).to_native(), name
