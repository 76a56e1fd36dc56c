"""The options of the public functions, each declared once.

A function takes those of one dictionary as keyword arguments: `**options: Unpack[PolicyOptions]`. Editors complete
their names and mypy rejects a misspelt one; `with_options` does the same at run time, and writes the names out in the
signature that `help`, notebooks and the reference show.

None always means that the option is not given.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, get_args, get_type_hints

import numpy as np

from shoal.errors import PolicyError, listed, near, shortened
from shoal.model.asking import argument
from shoal.model.constraints import ANSWERED_BY, LKind

Accept = Literal["unique-kept"]
(UNIQUE_KEPT,) = get_args(Accept)
Output = Literal["same-schema", "truthful"]
Missing = Literal["own-value", "suppress-row", "refuse"]
Protect = Literal["minimality"]
Refine = Literal["none", "swift", "quick", "normal", "thorough"]
Known = Literal["all", "all-but-one", "three"]
ReportFormat = Literal["html", "md", "json"]
MOST_SHOWN = 40  # options that a message lists
# The same thing in other functions and libraries: scikit-learn's word first, ours after it.
SYNONYMS = {
    "random_state": ("seed",),
    "random_seed": ("seed", "random_state"),
    "seed": ("random_state",),
    "n_jobs": ("threads", "jobs"),
    "quasi_identifiers": ("quasi",),
    "qi": ("quasi",),
    "qid": ("quasi",),
    "estimator": ("model",),
    "base_estimator": ("model",),
    "time_limit": ("budget",),
    "target": ("label",),
    "algorithm": ("method",),
    "drop": ("identifiers",),
    "fmt": ("format",),
    **dict.fromkeys(("df", "data", "X", "frame", "table", "original"), ("source", "original")),
}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class ConstraintOptions(TypedDict, total=False):
    """The constraints that most releases have."""

    k: int | None
    l: float | None  # noqa: E741
    t: float | None


class OtherConstraintOptions(TypedDict, total=False):
    """How l is counted, m for sets, and all others by name."""

    l_kind: LKind | None
    m: int | None
    constraints: Mapping[str, Any] | None


class RoleOptions(TypedDict, total=False):
    """What the columns of a table are, and how it is read."""

    identifiers: Iterable[str] | None
    quasi: Iterable[str] | None
    sensitive: Iterable[str] | None
    keep: Iterable[str] | None
    items: Iterable[str] | None
    hierarchies: Mapping[str, Any] | None
    label: str | None
    weight: str | None
    missing: Missing | None
    header: bool | None


class TableOptions(ConstraintOptions, OtherConstraintOptions, RoleOptions, total=False):
    """The options for judging an existing table."""


class MethodOptions(TypedDict, total=False):
    """How rows are grouped."""

    method: str | None
    parameters: Mapping[str, int | float | str | bool] | None


class MakingOptions(TypedDict, total=False):
    """Further options for making a release."""

    refine: Refine | None
    protect: Protect | None
    accept: Iterable[Accept] | Accept | None


class PolicyOptions(TableOptions, MethodOptions, MakingOptions, total=False):
    """Everything that a policy may say of a release."""

    output: Output | None
    seed: int | None


def with_options(
    who: str, parameters_of: Callable[[Mapping[str, Any]], Iterable[str]] | None = None
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Refuse an unknown keyword argument with a suggestion, and spell out all options in the signature.

    `who` begins the message. `parameters_of` takes the keyword arguments and returns the parameters of the method that
    they choose, which belong into `parameters`.

    Examples
    --------
    >>> from typing import Unpack
    >>> @with_options("judge")
    ... def judge(table, **options: Unpack[ConstraintOptions]): ...
    >>> list(signature(judge).parameters)
    ['table', 'k', 'l', 't']
    >>> judge([], kk=5)
    Traceback (most recent call last):
    shoal.errors.PolicyError: judge: unknown option 'kk'. Did you mean 'k'?
    """

    def decorated(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        spelled_out = _spelled_out(signature(function))
        known = [name for name in spelled_out.parameters if name not in ("self", "cls")]
        flags = {name for name, one in spelled_out.parameters.items() if one.annotation is bool}

        @wraps(function)
        def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            for name, value in kwargs.items():
                if name not in known:
                    own = () if parameters_of is None else parameters_of(kwargs)
                    raise PolicyError(f"{who}: unknown option {name!r}.{_remedy(name, known, own)}")
                if name in flags and not isinstance(value, bool | np.bool_):
                    raise PolicyError(f"{who}: {argument(name)} must be True or False; got {shortened(value)}.")
            return function(*args, **kwargs)

        checked.__signature__ = spelled_out  # type: ignore[attr-defined]
        return checked

    return decorated


def _spelled_out(declared: Signature) -> Signature:
    """Return the signature with the keys of `**options` as keyword arguments."""
    parameters: list[Parameter] = []
    for one in declared.parameters.values():
        if one.kind is not Parameter.VAR_KEYWORD:
            parameters.append(one)
            continue
        [options] = get_args(one.annotation)
        parameters += [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in get_type_hints(options).items()
        ]
    return declared.replace(parameters=parameters)


def _remedy(name: str, known: list[str], own: Iterable[str]) -> str:
    """Return what to write instead of an unknown option; its value may be a cell and is not quoted."""
    if same := next((one for one in SYNONYMS.get(name, ()) if one in known), None):
        return f" Did you mean {same!r}?"
    if name in ANSWERED_BY and "constraints" in known:
        return f" Write constraints={{{name!r}: ...}}."
    if name not in own and (meant := near(name, known)):
        return meant
    if name not in own and near(name, own):
        return f"{near(name, own)} Parameters of the method go into parameters={{'NAME': ...}}."
    if name in own:
        return f" A parameter of the method goes into parameters={{{name!r}: ...}}."
    return f" Known: {listed(known, MOST_SHOWN)}."
