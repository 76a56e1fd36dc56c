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
# Seconds on one core and bytes, per row of 8 columns.
SECONDS = {"none": 1.5e-5, "quick": 9e-5, "normal": 3e-4, "thorough": 1.5e-3}
BYTES = 350
LIMITED = 3  # times as long with l or t


def truthful(policy: Policy) -> bool:
    """Return whether the published values must be true of each row: if requested, or if a hierarchy is given."""
    given = any(column.hierarchy is not None and column.role == "quasi" for column in policy.columns.values())
    return policy.output == "truthful" or (policy.output is None and given)


def choose(policy: Policy, columns: Mapping[str, Column], n: int) -> tuple[Method, str]:
    """Return the method, and a note if `auto` chose one for mixed columns.

    `columns` has every column of the table, with role and kind; `n` is the number of rows.
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
    effort = _effort(method)
    seconds, megabytes = mixed_cost(policy, len(quasi), n)
    cost = f"about {_rounded(seconds)} s and {_rounded(megabytes)} MB"
    note = f"auto: chose {name}, effort {effort}, because {why}; expected cost: {cost}"
    return method.model_copy(update={"name": name}), note


def mixed_cost(policy: Policy, columns: int, n: int) -> tuple[float, float]:
    """Return the approximate seconds and megabytes of a method on this many mixed columns and n rows."""
    size, asked = max(1.0, columns / 8), policy.constraints
    longer = 1 if asked.l is None and asked.t is None else LIMITED
    seconds = n * SECONDS.get(_effort(policy.method), 0.0) * size * longer
    return max(1.0, seconds), 100 + n * BYTES * size / 1e6


def _effort(method: Method) -> str:
    """Return the effort of the method."""
    return str(method.parameters.get("effort", "quick"))


def _protectable(policy: Policy, columns: Mapping[str, Column]) -> None:
    """Refuse protection from minimality attacks without constraints on sensitive values, which alone enable them."""
    if not policy.constraints.on_sensitive() or all(column.role != "sensitive" for column in columns.values()):
        raise PolicyError(
            f"policy: protect is {policy.protect!r}, which is about constraints on sensitive values, and the policy "
            "has none. Name a sensitive column and set l, t, alpha, beta or delta, or leave protect out."
        )


def _rounded(value: float) -> str:
    """Return a figure of at least 1 with one significant digit."""
    return f"{float(f'{max(value, 1):.0e}'):,.0f}"
