"""The plan of a run: everything up to the choice of the method, without running it and without writing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

from shoal.kernels.threads import thread_count
from shoal.model.notes import Note, by_importance
from shoal.model.options import PolicyOptions, with_options
from shoal.model.policy import Policy, PolicySource
from shoal.model.progress import step
from shoal.pipeline.allowance import affordable, allowing
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.notes import about_labels, extremes, hidden, left_out, respelt, unusual
from shoal.pipeline.run_cost import RunCost
from shoal.pipeline.strictness import Strictness


@dataclass(frozen=True)
class PlannedColumn:
    """How a column would be treated; `named` says whether the policy names it."""

    name: str
    role: str
    kind: str | None
    published: str
    named: bool


@dataclass(frozen=True)
class RunPlan:
    """What a run would do; the constraints are feasible for the table as a whole."""

    rows: int
    suppressed: int
    columns: tuple[PlannedColumn, ...]
    constraints: dict[str, Any]
    refine: str
    expected: RunCost
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
            "expected": {"seconds": round(self.expected.seconds, 1), "megabytes": round(self.expected.megabytes)},
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
    memory: str | float | None = None,
    strict: bool = False,
    strict_notes: str | Iterable[str] | None = None,
    **options: Unpack[PolicyOptions],
) -> RunPlan:
    """Return what `anonymize` would do with these arguments, or raise the error that it would raise before clustering.

    Notes on the groups and on what they reveal are not among those of the plan.
    """
    wanted = Policy.of(policy, **options).seeded()
    strictness = Strictness.of(strict, strict_notes)
    workers = thread_count(threads, "anonymize")
    with allowing(budget, memory):
        ready, expected = affordable(source, wanted, strictness, workers)
    named, arranged = ready.policy, ready.arranged
    choice = (Note("auto-choice", f"{expected.choice}."),) if expected.choice else ()
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


def _published(role: str, form: str | None) -> str:
    """Return how a column of this role is published."""
    if role == "quasi":
        return form or ""
    return {"identifier": "dropped", "items": "reshuffled within groups"}.get(role, "unchanged")
