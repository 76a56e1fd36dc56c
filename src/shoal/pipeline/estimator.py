"""Anonymizer: the straight line with scikit-learn's manners."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from shoal.catalogue import methods
from shoal.errors import DataError
from shoal.pipeline.line import anonymize

__all__ = ["Anonymizer"]

LABEL = "shoal: label"  # the name of a column of classes that comes beside an array


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Hide each row in a class of rows that look alike.

    There is no `transform`: a row that was not there when the classes were made belongs to none, and
    publishing it would break the guarantee. Anonymize all rows together with `fit_transform`.

    Parameters
    ----------
    method : str
        A method of `shoal.methods()`.
    k, l, l_kind, t : numbers and a word
        The constraints, as in a policy.
    constraints : mapping, optional
        Others by name, such as alpha, beta and delta.
    parameters : mapping, optional
        Parameters of the method, k apart.
    refine : {"none", "swift", "quick", "normal", "thorough"}
        How long a local search improves the groups afterwards.
    identifiers, quasi, sensitive, keep : sequences of str
        Column names, for frames. A column that is not named is a quasi-identifier, or
        dropped if it surely names people or rows.
    hierarchies : mapping, optional
        The tree of a column, for frames: nested mappings and lists, a CSV file, or a word such as "mask".
    label : str, optional
        The column that analysts predict, for frames; sensitive or kept. For arrays, `y` is the label.
    weight : str, optional
        The column of row weights, for frames; kept or an identifier.
    missing : {"own-value", "suppress-row", "refuse"}
        What becomes of rows with missing values.
    output : {"same-schema", "truthful"}, optional
        Whether values keep their type, or what is published of a row is true of it.
    protect : {"minimality"}, optional
        Groups whose making tells almost nothing about sensitive values. It costs information loss.
    seed : int, optional
        Random seed. If not given, every fit draws another one from the system; `release_.policy.seed` has it.
    threads : int, optional
        How many may work at once; all cores if not given. The release does not depend on it.
    budget : float, optional
        Seconds after which a search ends with the best that it has found.
    accept : sequence of str
        Risks that are refused otherwise, by name: "unique-kept".

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

    def __init__(
        self,
        method: str = "auto",
        *,
        k: int = 5,
        l: float | None = None,  # noqa: E741
        l_kind: str = "distinct",
        t: float | None = None,
        constraints: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        refine: str = "none",
        identifiers: Sequence[str] = (),
        quasi: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        keep: Sequence[str] = (),
        hierarchies: Mapping[str, Any] | None = None,
        label: str | None = None,
        weight: str | None = None,
        missing: str = "own-value",
        output: str | None = None,
        protect: str | None = None,
        seed: int | None = None,
        threads: int | None = None,
        budget: float | None = None,
        accept: Sequence[str] = (),
    ) -> None:
        self.method = method
        self.k = k
        self.l = l
        self.l_kind = l_kind
        self.t = t
        self.constraints = constraints
        self.parameters = parameters
        self.refine = refine
        self.identifiers = identifiers
        self.quasi = quasi
        self.sensitive = sensitive
        self.keep = keep
        self.hierarchies = hierarchies
        self.label = label
        self.weight = weight
        self.missing = missing
        self.output = output
        self.protect = protect
        self.seed = seed
        self.threads = threads
        self.budget = budget
        self.accept = accept

    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the release of X.

        Parameters
        ----------
        X : array of shape (n, d) or frame
        y : array of shape (n,), optional
            The classes of the rows of an array, for methods that learn from labels; else it is not looked at.

        Returns
        -------
        self
        """
        if _is_frame(X):
            validate_data(self, X, skip_check_array=True)
            source = X
        else:
            numbers = self._numbers(X)
            source = pa.table({f"x{place}": column for place, column in enumerate(numbers.T)})
        wishes = {name: value for name, value in self.get_params(deep=False).items() if value is not None}
        if self.l is None and self.l_kind == "distinct":
            del wishes["l_kind"]  # the default, which a policy may state only beside l
        if y is not None and self.label is None and "label" in methods.load(self.method).uses:
            if _is_frame(X):
                raise DataError("Anonymizer: with a frame, put the label among its columns and name it: label='class'.")
            source = source.append_column(LABEL, pa.array(_classes(y, len(numbers))))
            role = "sensitive" if self.l or self.t is not None or self.constraints else "keep"
            wishes |= {"label": LABEL, role: [LABEL]}
        self.release_ = anonymize(source, **wishes)
        self.labels_ = self.release_.labels
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:
        """Make the release of X and return its rows in the order of X.

        Parameters
        ----------
        X : array of shape (n, d) or frame
        y : array of shape (n,), optional
            As in `fit`.

        Returns
        -------
        array or frame, as X was
        """
        data = self.fit(X, y).release_.data
        if _is_frame(X):
            return data
        return np.column_stack([_floats(data.column(name)) for name in data.column_names if name != LABEL])

    def _numbers(self, X: Any) -> NDArray[np.float64]:
        """Return X as a matrix of numbers; what scikit-learn says of it is cut before it quotes a cell."""
        try:
            return np.asarray(
                validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2)
            )
        except ValueError as problem:
            said = str(problem).split("\n")[0].split(":")[0].rstrip(".")
        raise DataError(f"Anonymizer: {said}.") from None

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the published columns: all but the identifiers."""
        check_is_fitted(self, "release_")
        names = [name for name in self.release_.table.column_names if name != LABEL]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Say that missing values are welcome and that the fitted rows alone can be given back."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _classes(y: Any, n: int) -> NDArray[np.int64]:
    """Return labels beside an array as numbers; what cannot be one label a row is refused without being quoted."""
    try:
        given = np.asarray(y)
        names = given.astype(str) if given.dtype.kind in "OSU" else given
        codes = np.unique(names, return_inverse=True)[1].reshape(-1)
    except (TypeError, ValueError):
        given = codes = np.zeros(0, np.int64)
    if given.shape != (n,):
        raise DataError(f"Anonymizer: y must be {n} labels, one a row; got an array of shape {given.shape}.")
    return codes.astype(np.int64)


def _is_frame(X: Any) -> bool:
    """Say whether X has named columns."""
    return hasattr(X, "columns") or isinstance(X, pa.Table)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return a column of numbers, not-a-number where it is missing."""
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
