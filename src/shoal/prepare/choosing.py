"""Choosing the output and, for `auto`, the method on mixed columns, by the kinds of columns.

| the policy | the output | the method of `auto` |
| --- | --- | --- |
| asks for protection from minimality | as below | `bisection` |
| gives hierarchies, or asks for truthful output | truthful | `cover` with hierarchies, else `grow` |
| has a nominal column, and no row weights | same-schema | `gower` |
| else | same-schema | chosen among the methods on numbers, by `cluster.methods.auto` |
"""

from collections.abc import Mapping

from shoal.errors import PolicyError
from shoal.model.policy import BLIND, Column, Method, Policy

CATEGORICAL = ("nominal", "boolean")


def truthful(policy: Policy) -> bool:
    """Return whether the published values must be true of each row: if requested, or if a hierarchy is given."""
    given = any(column.hierarchy is not None and column.role == "quasi" for column in policy.columns.values())
    return policy.output == "truthful" or (policy.output is None and given)


def choose(policy: Policy, columns: Mapping[str, Column]) -> tuple[Method, str]:
    """Return the method, and a note if `auto` chose one for mixed columns.

    `columns` has every column of the table, with role and kind.
    """
    method = policy.method
    if policy.protect is not None:
        _protectable(policy, columns)
    if policy.protect is not None and method.name != BLIND:
        note = f"auto: chose {BLIND}, because the policy asks for protection from {policy.protect}"
        return method.model_copy(update={"name": BLIND}), note
    quasi = [column for column in columns.values() if column.role == "quasi"]
    if method.name != "auto" or (method.refine != "none" and not truthful(policy)):
        return method, ""
    if truthful(policy):
        given = any(column.hierarchy is not None for column in quasi)
        name, why = ("cover", "hierarchies are given") if given else ("grow", "no hierarchies are given")
        why = f"the output is truthful and {why}"
    elif policy.weight is None and any(column.kind in CATEGORICAL for column in quasi):
        name, why = "gower", "the table has nominal columns"
    else:
        return method, ""
    effort = method.parameters.get("effort", "quick")
    note = f"auto: chose {name}, effort {effort}, because {why}"
    return method.model_copy(update={"name": name}), note


def _protectable(policy: Policy, columns: Mapping[str, Column]) -> None:
    """Refuse protection from minimality attacks without constraints on sensitive values, which alone enable them."""
    if not policy.constraints.on_sensitive() or all(column.role != "sensitive" for column in columns.values()):
        raise PolicyError(
            f"policy: protect is {policy.protect!r}, which is about constraints on sensitive values, and the policy "
            "has none. Name a sensitive column and set l, t, alpha, beta or delta, or leave protect out."
        )
