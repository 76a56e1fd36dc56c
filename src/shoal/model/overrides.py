"""A policy's values with some of them replaced by options."""

from collections.abc import Mapping
from numbers import Integral, Number
from os import PathLike
from typing import Any

from shoal.errors import PolicyError, kind_of, shortened
from shoal.model.asking import argument, one_or_several
from shoal.model.constraints import Constraints
from shoal.model.options import PolicyOptions
from shoal.model.plug_ins import MODELS, installed

CONSTRAINTS = ("k", "l", "l_kind", "t", "m")
MAPPINGS = ("constraints", "parameters", "hierarchies")
ROLES = {"identifiers": "identifier", "quasi": "quasi", "sensitive": "sensitive", "keep": "keep", "items": "items"}
TOP = ("label", "weight", "missing", "output", "seed", "header", "protect")


def overridden(values: dict[str, Any], options: PolicyOptions) -> dict[str, Any]:
    """Return the plain values of a policy, as of `Policy.as_dict`, overridden by options; `values` is changed.

    Parameters of the method replace those of the same name; another method starts without any.
    """
    given: dict[str, Any] = dict(options)
    for name in MAPPINGS:
        if not isinstance(given.get(name), Mapping | None):
            raise PolicyError(
                f"policy: {argument(name)} must be a mapping of names to values; got {kind_of(given[name])}."
            )
    _constrain(values.setdefault("constraints", {}), given)
    _choose_method(values.setdefault("method", {}), given)
    _put(values, {name: given.get(name) for name in TOP})
    _put(values, {"accept": one_or_several(given.get("accept"), "policy", "accept") or None})
    columns = values.setdefault("columns", {})
    _give_roles(columns, given)
    _give_hierarchies(columns, given.get("hierarchies") or {})
    return values


def _constrain(constraints: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Set constraints, by their own options or together; one that is given twice must be the same."""
    alone = {name: given.get(name) for name in CONSTRAINTS}
    together = _sorted(given.get("constraints") or {})
    for name, value in together.items():
        own = alone.get(name)
        same = isinstance(own, str | Number) and isinstance(value, str | Number) and own == value
        if own is not None and not same:
            both = f"{shortened(own)} and as {shortened(value)}"
            raise PolicyError(f"policy: {name} is given twice, as {both}. Give it once.")
    before, others = constraints.get("others"), together.get("others")
    if isinstance(before, Mapping) and isinstance(others, Mapping):
        together = {**together, "others": {**before, **others}}
    _put(constraints, {**alone, **together})


def _sorted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return constraints with those that have the name of a plug-in's model under `others`, as in a policy file."""
    own = installed(MODELS).keys() - Constraints.model_fields.keys()
    plain = {name: value for name, value in given.items() if name not in own}
    named = {name: value for name, value in given.items() if name in own}
    others = plain.get("others", {})
    if not named or not isinstance(others, Mapping):
        return plain
    if twice := [name for name, value in named.items() if others.get(name, value) != value]:
        raise PolicyError(f"policy: {twice[0]} is given twice, with different values. Give it once.")
    return {**plain, "others": {**others, **named}}


def _choose_method(method: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Set the method, its parameters and the refinement after it."""
    name = given.get("method")
    if isinstance(name, str) and name != method.get("name", name):
        method.pop("parameters", None)
    if parameters := given.get("parameters"):
        method["parameters"] = dict(method.get("parameters", {}))
        _put(method["parameters"], parameters)
    _put(method, {"name": name, "refine": given.get("refine")})


def _give_roles(columns: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Give columns their roles, one each."""
    named: dict[str, str] = {}
    for option, role in ROLES.items():
        for name in one_or_several(given.get(option), "policy", option):
            if named.setdefault(name, role) != role:
                raise PolicyError(f"policy: column {name!r} is named as {named[name]} and as {role}. Give it one role.")
            columns.setdefault(name, {})["role"] = role


def _give_hierarchies(columns: dict[str, Any], hierarchies: Mapping[str, Any]) -> None:
    """Give columns their hierarchies."""
    for name, given in hierarchies.items():
        tree = str(given) if isinstance(given, PathLike) else given
        if not isinstance(tree, str | Mapping):
            raise PolicyError(
                f"policy: the hierarchy of column {name!r} is {kind_of(tree)}. Give a CSV file, a keyword "
                "such as 'mask', or nested mappings of names to lists of values."
            )
        columns.setdefault(name, {})["hierarchy"] = tree


def _put(values: dict[str, Any], new: Mapping[str, Any]) -> None:
    """Set those of the new values that are not None, integers of other libraries as plain ones."""
    for name, value in new.items():
        if value is not None:
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            values[name] = int(value) if whole else value
