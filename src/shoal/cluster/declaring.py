"""Declaration of the built-in methods: one card gives the checks, the signature and the documentation.

A built-in method is written for inputs that are already checked:

    @numeric_method("anneal", ensures={"k"}, params={"effort": EFFORT}, uses={"seed", "threads"})
    def anneal(X: Floats, k: int, effort: str, *, run: Run) -> Partition:

Callers see `anneal(X, k, effort="quick", *, seed=0, threads=None)`: the defaults come from the card, and the options
listed in `uses` arrive in `run`. The docstring gets the sections Parameters and Returns unless it has its own. Plug-ins
may simply decorate a function with `shoal.catalogue.method`.
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from inspect import Parameter as Argument
from inspect import Signature, cleandoc
from textwrap import fill, indent
from types import MappingProxyType
from typing import Any

from numpy.typing import ArrayLike

from shoal.catalogue import Choice, Flag, Number, Whole, method
from shoal.cluster.inputs import Floats, enough_rows, matrix, row_weights
from shoal.cluster.search.limits import Limits
from shoal.errors import MethodError, kind_of
from shoal.kernels.columns import Columns
from shoal.kernels.threads import thread_count
from shoal.model.partition import Partition

K = Whole(2, help="Minimum number of rows per group.")

Method = Callable[..., Partition]
Parameter = Whole | Number | Choice | Flag

TABLES = {
    "X": ("float64 array of shape (n, d), no missing values", "The encoded table, its columns on comparable scales."),
    "columns": ("Columns", "The quasi-identifiers of a mixed table."),
}
RUN = {
    "seed": (0, "int", "Random seed."),
    "threads": (None, "int, optional", "Number of threads; all cores by default. The result does not depend on it."),
    "weights": (None, "array of shape (n,), optional", "How much each row counts in means and SSE."),
    "label": (None, "array of shape (n,)", "The class of each row."),
    "view_of": (None, "array of shape (d,), optional", "The number of each column's view; overrides `views`."),
    "limits": (None, "Limits, optional", "Requirements on the sensitive values of a group."),
}
KINDS = {Whole: "int", Number: "float", Flag: "bool", Choice: "str"}


@dataclass(frozen=True, eq=False)
class Run:
    """The checked options of a run, besides the table and the parameters of the method.

    `who` is the method, for messages; `given` the table and options as passed by the caller. Weights have mean 1.
    `label` and `view_of` are not checked, since their requirements depend on the method.
    """

    who: str
    given: Mapping[str, Any]
    seed: int
    threads: int
    weights: Floats
    limits: Limits | None
    label: ArrayLike | None
    view_of: ArrayLike | None

    @classmethod
    def of(cls, who: str, n: int, given: Mapping[str, Any]) -> "Run":
        """Check the options given for a table of n rows."""
        weights = row_weights(given.get("weights"), n, who)
        threads = thread_count(given.get("threads"), who)
        limits = given.get("limits")
        if limits is not None and len(limits.codes) != n:
            raise MethodError(
                f"{who}: limits must hold the sensitive values of {n} rows, as many as the table has; "
                f"got {len(limits.codes)}."
            )
        return cls(who, given, given.get("seed", 0), threads, weights, limits, given.get("label"), given.get("view_of"))

    @property
    def binding(self) -> Limits | None:
        """The limits, if they require anything."""
        return self.limits if self.limits is not None and self.limits.binding else None


def mixed_columns(columns: Columns, k: int, who: str) -> Columns:
    """Return the columns, or refuse them."""
    if not isinstance(columns, Columns):
        raise MethodError(
            f"{who}: it requires the columns of a mixed table, made by `columns_of`; got {kind_of(columns)}."
        )
    enough_rows(len(columns.codes), k, who)
    return columns


def _declared(
    data: str,
    table: str,
    check: Callable[[Any, int, str], Any],
    name: str,
    *,
    ensures: set[str],
    params: Mapping[str, Parameter] = MappingProxyType({}),
    uses: Set[str] = frozenset(),
    **card: Any,
) -> Callable[[Method], Method]:
    """Return the decorator that turns a function of checked inputs into a method for callers.

    Other fields of a card (`growth`, `most_rows`, `in_cells`, `suits`, `aliases`, `words`) are passed on to `method`.
    """
    params, options = {"k": K, **params}, [option for option in RUN if option in uses]

    def declare(function: Method) -> Method:
        def called(**given: Any) -> Partition:
            passed = {option: given.pop(option) for option in (table, *options) if option in given}
            numbers = check(passed[table], given["k"], name)
            n = len(numbers.codes if isinstance(numbers, Columns) else numbers)
            if options:
                given["run"] = Run.of(name, n, passed)
            return function(numbers, **given)

        called.__module__, called.__name__, called.__qualname__ = function.__module__, name, name
        called.__doc__ = _documented(function.__doc__ or "", table, params, options)
        called.__signature__ = _signature(table, params, options)  # type: ignore[attr-defined]
        return method(name, data=data, ensures=ensures, params=params, uses=set(uses), **card)(called)

    return declare


numeric_method = partial(_declared, "numeric", "X", matrix)
mixed_method = partial(_declared, "mixed", "columns", mixed_columns)


def _signature(table: str, params: Mapping[str, Parameter], options: list[str]) -> Signature:
    """Return the public signature: the table, the parameters of the card, then the options of a run by keyword."""
    either = Argument.POSITIONAL_OR_KEYWORD
    arguments = [Argument(table, either)]
    for name, card in params.items():
        arguments.append(Argument(name, either, default=Argument.empty if card.default is None else card.default))
    arguments += [Argument(option, Argument.KEYWORD_ONLY, default=RUN[option][0]) for option in options]
    return Signature(arguments, return_annotation=Partition)


def _documented(text: str, table: str, params: Mapping[str, Parameter], options: list[str]) -> str:
    """Return a docstring with the sections Parameters and, if missing, Returns before its other sections."""
    entries = [(table, *TABLES[table])]
    for name, card in params.items():
        words = card.words if isinstance(card, Choice) and not callable(card.words) else ()
        choices = ", ".join(f'"{word}"' for word in words)
        kind = f"{{{choices}}}" if words else "int, 2 <= k <= n" if name == "k" else KINDS[type(card)]
        entries.append((name, kind, card.help))
    entries += [(option, *RUN[option][1:]) for option in options]
    listed = "\n".join(f"{name} : {kind}\n{indent(fill(help_, 108), '    ')}" for name, kind, help_ in entries)
    sections = f"Parameters\n----------\n{listed}\n"
    text = cleandoc(text)
    if "Returns\n-------\n" not in text:
        sections += "\nReturns\n-------\nPartition\n"
    # The first section begins at the line above the first underline.
    before, underline, after = text.partition("\n-------")
    summary, _, title = before.rpartition("\n\n") if underline else (before, "", "")
    rest = f"\n{title}{underline}{after}\n" if underline else ""
    return indent(f"{summary}\n\n{sections}{rest}", "    ").strip(" ") + "    "
