"""The scikit-learn compatible transformer, and what it shares with `ReleaseThenFit`."""

import re
import traceback
from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self, Unpack, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from shoal.catalogue import methods
from shoal.catalogue.sections import parameters_of
from shoal.errors import DataError, PolicyError, listed, shortened
from shoal.model.options import MakingOptions, Output, TableOptions, with_options
from shoal.model.policy import Policy, PolicySource
from shoal.model.release import Release
from shoal.pipeline.line import anonymize

QUOTES = re.compile(r"[:\n\[]|(, not)? *(?<!\w)['\"]")  # where a message of scikit-learn may begin to quote cells
LABEL = "y"  # name of the column appended for labels, as that of the argument
NO_TRANSFORM = (
    "Anonymizer has no transform: a row that was not part of the fit belongs to no class, and "
    "publishing it would break the guarantee. Anonymize all rows together with fit_transform. To score a model on "
    "original rows, use shoal.ReleaseThenFit."
)


class EstimatorOptions(TableOptions, MakingOptions, total=False):
    """Options of `anonymize` that are parameters of the estimators, except the method."""

    parameters: Mapping[str, int | float | str | bool] | None
    output: Output | None
    policy: PolicySource
    random_state: Any
    threads: int | None
    budget: float | None


OPTIONS = tuple(get_type_hints(EstimatorOptions))


class ReleasingEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: options of `anonymize` as parameters, and a release made with them."""

    def _set_options(self, method: str | None, options: EstimatorOptions) -> None:
        """Store the parameters unchanged, as scikit-learn requires."""
        self.method = method
        for name in OPTIONS:
            setattr(self, name, options.get(name))

    def _make_release(self, source: Any, **more: Any) -> Release:
        """Return the release of a table; `more` overrides parameters."""
        method: object = self.method
        if not isinstance(method, str | None):  # not refused earlier, as scikit-learn requires
            who = type(self).__name__
            raise PolicyError(f"{who}: method must be the name of a method; got {shortened(method)}. Write k as k=5.")
        given = {name: getattr(self, name) for name in ("method", *OPTIONS) if name != "random_state"} | more
        state = self.random_state
        if state is not None:
            whole = isinstance(state, Integral)
            given["seed"] = int(state) if whole else int(check_random_state(state).randint(2**31 - 1))
        return anonymize(source, **given)

    def _learns_from_labels(self) -> bool:
        """Return whether the method uses labels."""
        return "label" in methods.load(Policy.of(self.policy, method=self.method).method.name).uses

    def _role_of_labels(self) -> str:
        """Return the role of labels passed as y: sensitive if a constraint concerns sensitive columns."""
        asked = Policy.of(self.policy, l=self.l, l_kind=self.l_kind, t=self.t, constraints=self.constraints).constraints
        return "sensitive" if asked.unanswered({"quasi", "keep", "items"}) else "keep"

    def _numbers(self, X: Any, y: Any = "no_validation", *, least: int = 2, **how: Any) -> Any:
        """Return X, of at least `least` rows, or X and y as arrays; errors are cut before they quote a cell."""
        try:
            return validate_data(
                self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=least, **how
            )
        except Exception as problem:  # noqa: BLE001 - numpy and the caller's own types raise anything
            error = refused(type(self).__name__, problem, "X or y cannot be read as numbers")
        raise error from None


class Anonymizer(TransformerMixin, ReleasingEstimator):  # type: ignore[misc]
    """Anonymize rows by clustering, in the style of scikit-learn.

    There is no `transform`: a row that was not part of the fit belongs to no class, and publishing it would break the
    guarantee. Anonymize all rows together with `fit_transform`.

    In a scikit-learn `Pipeline` it can therefore only be the last step: `fit_transform` of the pipeline works, but no
    model can follow, and the pipeline has no `transform` or `predict`. To train a model on the release of its training
    rows, in cross-validation for instance, use `shoal.ReleaseThenFit`.

    Parameters
    ----------
    method : str, optional
        A method of `shoal.methods()`; by default that of the policy, or "auto".
    policy : Policy, mapping or path, optional
        Settings that the other parameters do not override.
    random_state : int, RandomState instance or None
        Random seed. If None, every fit draws a new one from the system, kept in `release_.policy.seed`.
    **options
        As in `shoal.anonymize`: k, l, t and the other constraints, the roles of columns (for frames), `parameters` of
        the method, refine, output, missing, protect, accept, threads and budget. For arrays, `y` is the label.

    Attributes
    ----------
    release_ : Release
        Verdicts, findings, and `save` to write it.
    labels_ : int64 array of shape (n,)
        The group of each row.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal import Anonymizer
    >>> X = np.array([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]])
    >>> Anonymizer(k=3).fit_transform(X).ravel().tolist()
    [1.98, 1.98, 1.98, 12.06, 12.06, 12.06]
    """

    @with_options("Anonymizer", parameters_of)
    def __init__(self, method: str | None = None, **options: Unpack[EstimatorOptions]) -> None:
        self._set_options(method, options)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Anonymize X.

        Parameters
        ----------
        X : array of shape (n, d) or frame
        y : array of shape (n,), optional
            The label of each row of an array, for methods that learn from labels; otherwise ignored.

        Returns
        -------
        self
        """
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
            source = X
        else:
            numbers = self._numbers(X)
            source = pa.table({f"x{place}": column for place, column in enumerate(numbers.T)})
        more: dict[str, Any] = {}
        self._label = None
        if y is not None and self.label is None and self._learns_from_labels():
            if is_frame(X):
                raise DataError("Anonymizer: with a frame, include the label as a column and name it: label='class'.")
            self._label = LABEL
            source = source.append_column(LABEL, pa.array(_classes(y, len(numbers))))
            more = {"label": LABEL, self._role_of_labels(): [LABEL]}
        self.release_ = self._make_release(source, **more)
        self.labels_ = self.release_.labels
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:
        """Anonymize X, and return the released rows in the order of X.

        Parameters
        ----------
        X : array of shape (n, d) or frame
        y : array of shape (n,), optional
            As in `fit`.

        Returns
        -------
        array or frame
            Of the type of X.
        """
        data = self.fit(X, y).release_.aligned()
        if is_frame(X):
            return data
        refuse_text("Anonymizer", data)
        return np.column_stack([_floats(data.column(name)) for name in data.column_names if name != self._label])

    def __getattr__(self, name: str) -> Any:
        """Explain why there is no `transform`."""
        message = NO_TRANSFORM if name == "transform" else f"'{type(self).__name__}' has no attribute {name!r}"
        raise AttributeError(message)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the published columns: all but the identifiers."""
        check_is_fitted(self, "release_")
        names = [name for name in self.release_.table.column_names if name != self._label]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Declare that missing values are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def is_frame(X: Any) -> bool:
    """Return whether X has named columns."""
    return hasattr(X, "columns") or isinstance(X, pa.Table)


def refuse_text(who: str, released: pa.Table) -> None:
    """Refuse released columns of text, such as ranges, where X was an array of numbers."""
    texts = [name for name in released.column_names if pa.types.is_string(released.schema.field(name).type)]
    if texts:
        raise DataError(
            f"{who}: {listed(texts)} would be published as text, such as ranges, which an array of numbers cannot "
            "hold. Give X as a frame, or publish numbers: output='same-schema'."
        )


class CellTypeError(DataError, TypeError):
    """Cells of a type that is not a number; scikit-learn expects a TypeError."""


def refused(who: str, problem: Exception, what: str) -> DataError:
    """Return an error that quotes no cell: of scikit-learn's own messages the beginning, otherwise `what` failed."""
    module = ""
    for frame, _ in traceback.walk_tb(problem.__traceback__):
        module = frame.f_globals.get("__name__") or ""
    # The text of a KeyError is the key, which may be a cell.
    told = module.partition(".")[0] == "sklearn" and not isinstance(problem, LookupError)
    own = QUOTES.split(str(problem))[0].rstrip(" .(=") if told else ""
    error = CellTypeError if own and isinstance(problem, TypeError) else DataError
    return error(f"{who}: {own or f'{what} ({type(problem).__name__})'}.")


def _classes(y: Any, n: int) -> NDArray[np.int64]:
    """Return the labels of an array as integers; refuse anything but one label per row, without quoting it."""
    try:
        given = np.asarray(y)
        names = given.astype(str) if given.dtype.kind in "OSU" else given
        codes = np.unique(names, return_inverse=True)[1].reshape(-1)
    except (TypeError, ValueError):
        given = codes = np.zeros(0, np.int64)
    if given.shape != (n,):
        raise DataError(f"Anonymizer: y must be {n} labels, one per row; got an array of shape {given.shape}.")
    return codes.astype(np.int64)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return a numeric column with NaN for missing values."""
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
