"""Whether the policy of a release folder is one that shoal publishes: as it writes it, and as it would accept it.

The rules are those of `prepare.complete`, implemented independently, since an untrusted policy need not have passed
through it.
"""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from shoal.catalogue import methods, models, requested_model
from shoal.errors import ShoalError
from shoal.model.column import FORMS
from shoal.model.policy import Policy

MOST_POLICY = 1 << 20


def published_text(policy: Policy) -> str:
    """Return the text of the file that shoal writes for a published policy.

    It has no seed, no words and codes for missing values, no levels and trees of quasi-identifiers and no comments, and
    its keys have a fixed order.
    """
    levels = {
        name: policy.columns[name].order or ()
        for name in policy.names("sensitive")
        if policy.columns[name].kind == "ordinal" and policy.columns[name].order
    }
    return policy.published(levels).to_toml()


def refusals(policy: Policy) -> Iterator[str]:
    """Yield the reasons why `anonymize` would not have made a release with this policy."""
    if problem := policy.constraints.unanswered({column.role for column in policy.columns.values()}):
        yield problem
    if len(policy.names("items")) > 1:
        yield "several columns hold items"
    yield from _columns(policy)
    yield from _named(policy)
    yield from _others(policy)
    yield from _method(policy)


def uninstalled(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the models and methods of a policy that are not known here."""
    known = {*models.names()} - {*models.broken()}
    yield from (("model", name) for name in policy.constraints.others if name not in known)
    known = {*methods.aliases, *methods.names()} - {*methods.broken()}
    if policy.method.name not in known:
        yield "method", policy.method.name


def _columns(policy: Policy) -> Iterator[str]:
    """Yield what is wrong with single columns."""
    for name, column in policy.columns.items():
        if column.kind is None:
            yield f"column {name!r} has no kind"
        elif column.role == "quasi" and column.kind == "set":
            yield f"column {name!r} holds sets and is a quasi-identifier"
        elif column.role == "quasi" and (column.form is None or column.form not in FORMS[column.kind]):
            yield f"column {name!r} has no suitable form"
        elif column.role == "items" and not column.separator:
            yield f"column {name!r} has no separator"
        elif column.role == "sensitive" and column.kind == "ordinal" and not column.order:
            yield f"column {name!r} is ordinal and has no levels"
        elif isinstance(column.hierarchy, str):
            yield f"the hierarchy of column {name!r} is a file or a keyword"


def _named(policy: Policy) -> Iterator[str]:
    """Yield what is wrong with label and weight."""
    for what, fitting in (("label", ("sensitive", "keep")), ("weight", ("keep", "identifier"))):
        name = getattr(policy, what)
        if name is None:
            continue
        column = policy.columns.get(name)
        if column is None or column.role not in fitting or (what == "weight" and column.kind != "numeric"):
            yield f"the {what} is missing or has an unsuitable role or kind"


def _others(policy: Policy) -> Iterator[str]:
    """Yield which models cannot be requested in `constraints.others`."""
    for name in policy.constraints.others:
        try:
            requested_model(name)
        except ShoalError:
            if ("model", name) not in uninstalled(policy):
                yield f"constraints.others names {name!r}, which is not the model of an installed plug-in"


def _method(policy: Policy) -> Iterator[str]:
    """Yield what is wrong with the method; its parameters could otherwise carry arbitrary text."""
    name, given = policy.method.name, policy.method.parameters
    if given and ("method", name) not in uninstalled(policy):
        try:
            methods.load(name).check({"k": policy.constraints.k, **given})
        except ShoalError:
            yield f"parameters of method {name!r} are unknown or out of range"


def unused_levels(policy: Policy, data: pa.Table) -> list[str]:
    """Return the sensitive columns whose levels or trees name values that `data`, without spreadsheet guards, lacks."""
    found = []
    held = dict(zip(data.column_names, data.columns, strict=True))
    for name in policy.names("sensitive"):
        column = policy.columns[name]
        if name in held and (column.order or isinstance(column.hierarchy, dict)):
            cells = held[name]
            if pa.types.is_dictionary(cells.type):
                cells = cells.cast(cells.type.value_type)
            used = set(pc.unique(cells.cast(pa.string())).to_pylist())
            leaves = list(_leaves(column.hierarchy.items())) if isinstance(column.hierarchy, dict) else []
            empty = isinstance(column.hierarchy, dict) and _has_empty(column.hierarchy)
            if empty or not {*(column.order or ()), *leaves} <= used:
                found.append(name)
    return found


def _has_empty(nested: object) -> bool:
    """Return whether a node of nested tables has nothing below it."""
    if isinstance(nested, dict):
        return not nested or any(_has_empty(below) for below in nested.values())
    return isinstance(nested, list | tuple) and (not nested or any(_has_empty(below) for below in nested))


def _leaves(nested: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Yield the values of nested tables."""
    for _, below in nested:
        for one in below if isinstance(below, list | tuple) else [below]:
            if isinstance(one, dict):
                yield from _leaves(one.items())
            else:
                yield str(one)
