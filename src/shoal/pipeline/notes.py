"""What a holder would want to know before publishing, in sentences without cell values."""

from collections.abc import Mapping

import pyarrow as pa

from shoal.model.findings import Finding
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.privacy.attacks.unchanged import Unchanged
from shoal.privacy.verdict.values import Values
from shoal.recode.steps import has_extremes
from shoal.recode.table import Recoded

__all__ = ["ended_early", "extremes", "respelt", "telling", "unusual", "warnings"]

USUAL = ("encoding utf-8", "delimiter comma")


def unusual(table: Table) -> tuple[str, ...]:
    """Return how the file was read, if that is worth a look."""
    return tuple(f"read with {note}" for note in table.origin.notes if note not in USUAL)


def ended_early(seconds: float | None, *, cut: bool) -> tuple[str, ...]:
    """Return that a budget of seconds was used up, if it was."""
    if not cut or seconds is None:
        return ()
    many = "" if seconds == 1 else "s"
    said = f"a budget of {seconds:g} second{many} ended the search early: another run may give other groups"
    return (f"{said}, and more seconds groups of less loss.",)


def extremes(table: Table, policy: Policy) -> tuple[str, ...]:
    """Return a warning of columns published by mean or range in which a few values lie far from all others."""
    k = policy.constraints.k
    return tuple(
        f"column {name!r} is published by {form}s, and a few of its values lie far from all others: the {form}s of "
        "their classes show about how large they are. Cap such values before the release."
        for name in policy.names("quasi")
        if (form := policy.columns[name].form) in ("mean", "range")
        and policy.columns[name].kind in ("numeric", "date")
        and has_extremes(table.column(name), k)
    )


def telling(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return a warning of columns that decide the label alone, so that figures about it are not worth much."""
    return tuple(
        f"column {name!r} alone decides the label: it may be the label under another name, or made from it. If so, "
        "make it an identifier, or sensitive."
        for name in columns
    )


def respelt(sensitive: Mapping[str, Values]) -> tuple[str, ...]:
    """Return how many spellings of sensitive values counted as values that are spelt in another way."""
    return tuple(
        f"column {name!r}: {column.folded} spelling{'' if column.folded == 1 else 's'} counted as values that are "
        "spelt otherwise: case, spaces, ways to write a letter, a number or a missing value. They are published as "
        'they are. Set spelling = "exact" for the column to count them apart.'
        for name, column in sensitive.items()
        if column.folded
    )


def warnings(recoded: Recoded, policy: Policy, findings: tuple[Finding, ...]) -> list[str]:
    """Return what a holder would want to know before publishing."""
    found = {finding.name: finding.value for finding in findings}
    said = [
        f"column {change.column!r}: {100 * change.emptied / recoded.data.num_rows:.0f} % of its cells are published as "
        "missing, because too few rows share their values. Give it another kind or role, or publish it "
        "truthfully, if it is worth more."
        for change in recoded.ledger
        if change.emptied * 10 >= recoded.data.num_rows
    ]
    medoids = [name for name in policy.names("quasi") if policy.columns[name].form == "medoid"]
    if len(medoids) > 1:
        said.append(
            "classes are published by medoids, which are rows of the table: who knows a person's whole combination "
            "sees that they are in it. The form 'representative' publishes no such rows."
        )
    said += _unchanged(recoded.data, policy)
    if policy.names("sensitive") and policy.constraints.l is None and policy.constraints.t is None:
        said.append("sensitive columns are published as they are; only l or t protects what a class says of its rows.")
    one = found.get("classes of one label %", 0.0)
    if one >= 1 and policy.constraints.l is None and policy.constraints.t is None:
        said.append(
            f"{one:.0f} % of the classes have one label: whoever knows that a person is in such a class knows it. "
            "If that matters, make the label sensitive and ask for l or t."
        )
    if policy.protect is not None and len(policy.names("sensitive")) > 1:
        said.append("protection from minimality looks at sensitive columns one by one, not at what they tell together.")
    if found["classes"] == 1:
        said.append("all rows are in one class: the release says of nobody more than of everybody.")
    return said


def _unchanged(data: pa.Table, policy: Policy) -> list[str]:
    """Return what the columns that are published unchanged give away, from the first rare value on."""
    found, k = Unchanged.of(data, policy), policy.constraints.k
    said = [
        f"column {name!r} is published unchanged and has rare values, each in fewer than {k} rows "
        f"({_rows(rows, k)} in all). Whoever knows that a person has such a value can narrow the person down to these "
        "few rows. Merge rare values into broader ones before the release, or make the column a quasi-identifier."
        for name in found.codes
        if (rows := found.rare(name, k))
    ]
    if found.alone:
        share = 100 * found.alone / found.rows
        many = _rows(found.alone, k) + (f" ({share:.0f} %)" if share >= 1 and found.alone >= k else "")
        said.append(
            f"{many} are unique in the columns that are published unchanged, sensitive and kept together. "
            "Whoever knows these values of a person finds the row."
        )
    return said


def _rows(count: int, k: int) -> str:
    """Write a number of rows so that it does not tell of fewer than k."""
    return f"fewer than {k} rows" if count < k else f"{count:,} rows"
