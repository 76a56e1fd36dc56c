"""The plan of a run: everything up to the choice of the method, without running it and without writing."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Unpack

from shoal.catalogue import methods
from shoal.kernels.threads import thread_count
from shoal.model.asking import in_seconds
from shoal.model.notes import Note, by_importance
from shoal.model.options import PolicyOptions, with_options
from shoal.model.policy import Policy, PolicySource
from shoal.model.progress import step
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.grouping import limits_of
from shoal.pipeline.items import grouped
from shoal.pipeline.notes import about_labels, extremes, hidden, left_out, respelt, unusual
from shoal.pipeline.ready import Ready, make_ready
from shoal.pipeline.strictness import Strictness
from shoal.prepare.choosing import mixed_cost


@dataclass(frozen=True)
class PlannedColumn:
    """How a column would be treated; `named` says whether the policy names it."""

    name: str
    role: str
    kind: str | None
    published: str
    named: bool


@dataclass(frozen=True)
class Cost:
    """The method, and its approximate cost: None if there is no estimate."""

    method: str
    parameters: dict[str, Any]
    seconds: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True)
class RunPlan:
    """What a run would do; the constraints are feasible for the table as a whole."""

    rows: int
    suppressed: int
    columns: tuple[PlannedColumn, ...]
    constraints: dict[str, Any]
    refine: str
    expected: Cost
    notes: tuple[Note, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return {
            "dry_run": True,
            "rows": self.rows,
            "suppressed": self.suppressed,
            "columns": [vars(column) for column in self.columns],
            "constraints": self.constraints,
            "method": {
                "name": self.expected.method,
                "parameters": self.expected.parameters,
                "refine": self.refine,
            },
            "expected": {"seconds": self.expected.seconds, "megabytes": self.expected.megabytes},
            "notes": [note.as_dict() for note in self.notes],
        }


@without_arrow_errors
@with_options("anonymize")
def plan_of(
    source: Any,
    *,
    policy: PolicySource = None,
    threads: int | None = None,
    budget: float | None = None,
    strict: bool = False,
    strict_notes: str | Iterable[str] | None = None,
    **options: Unpack[PolicyOptions],
) -> RunPlan:
    """Return what `anonymize` would do with these arguments, or raise the error that it would raise before clustering.

    Notes on the groups and on what they reveal are not among those of the plan.
    """
    wanted = Policy.of(policy, **options).seeded()
    strictness = Strictness.of(strict, strict_notes)
    if budget is not None:
        in_seconds(budget, "anonymize")
    workers = thread_count(threads, "anonymize")
    ready = make_ready(source, wanted, strictness)
    named, arranged = ready.policy, ready.arranged
    expected, choice = expected_cost(wanted, ready, workers)
    of_columns = (*extremes(arranged, named), *about_labels(arranged, named), *hidden(arranged, named), *ready.notes)
    on_table = (*respelt(ready.sensitive), *left_out(ready.encoded), *unusual(ready.table), *ready.chosen, *choice)
    found = (*of_columns, *on_table)
    notes = by_importance(note.suppressed(arranged.n, named.constraints.k) for note in found)
    strictness.check_notes(notes)
    step("")
    columns = tuple(
        PlannedColumn(name, one.role, one.kind, _published(one.role, one.form), name in wanted.columns)
        for name, one in named.columns.items()
    )
    return RunPlan(
        arranged.n,
        ready.table.n - arranged.n,
        columns,
        {"k": named.constraints.k, **named.constraints.model_dump(exclude_none=True, exclude_defaults=True)},
        named.method.refine,
        expected,
        notes,
    )


def expected_cost(wanted: Policy, ready: Ready, threads: int) -> tuple[Cost, tuple[Note, ...]]:
    """Return the method that would run with its approximate cost, and the note of `auto` on numbers.

    This is the only place where a plan estimates.
    """
    from shoal.cluster.methods.auto import plan

    named, X = grouped(ready.policy, ready.arranged.n), ready.encoded.X
    method, k = named.method, named.constraints.k
    given = Cost(method.name, dict(method.parameters))
    if wanted.method.name != "auto":
        return given, ()
    if methods.declared(method.name, "data") == "mixed":
        seconds, megabytes = mixed_cost(named, len(named.names("quasi")), ready.arranged.n)
        return replace(given, seconds=seconds, megabytes=megabytes), ()
    if method.name != "auto":
        return given, ()
    limits = limits_of(named, ready.sensitive)
    chosen = plan(
        len(X),
        int((X.max(axis=0) > X.min(axis=0)).sum()),
        k,
        str(method.parameters.get("effort", "quick")),
        limited=limits is not None and limits.binding,
        weighted=ready.encoded.weights is not None,
        threads=threads,
    )
    cost = Cost(chosen.method, chosen.parameters, chosen.seconds, chosen.megabytes)
    return cost, (Note("auto-choice", f"{chosen}."),)


def _published(role: str, form: str | None) -> str:
    """Return how a column of this role is published."""
    if role == "quasi":
        return form or ""
    return {"identifier": "dropped", "items": "reshuffled within groups"}.get(role, "unchanged")
