"""Warm-up: compile the loops of methods ahead of their first use, several methods at once.

Each method releases small tables that lead it through its loops: few rows and many, numbers and categories, with and
without constraints on sensitive values. The compiled loops go to the cache that later runs use; the environment
variable NUMBA_CACHE_DIR names another folder for it, which the image of a container can hold.
"""

from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

from shoal.catalogue import methods as section
from shoal.errors import InfeasibleError, MethodError, UseError, listed
from shoal.exploration.asked import whole
from shoal.exploration.spawned import Failure, cores, spread
from shoal.io.sample import sample
from shoal.model.asking import one_or_several
from shoal.model.options import with_options
from shoal.model.progress import silently, step, tick
from shoal.pipeline.line import anonymize

EVERY, USUAL = "all", "auto"
LARGE = 12_000  # rows: beyond about 10,000, some methods use other loops
DROPPED, SENSITIVE = ("patient_id", "name"), "diagnosis"
NUMBERS = ("height_cm", "weight_kg", "systolic", "days", "cost_eur")


@dataclass(frozen=True)
class Task:
    """A small release by one method: its rows, whether the table has numbers only, and what is asked besides k."""

    method: str
    rows: int
    numeric: bool
    asked: Mapping[str, Any] = field(default_factory=dict)


@with_options("warmup")
def warmup(methods: str | Iterable[str] = (), *, jobs: int | None = None) -> tuple[str, ...]:
    """Compile the loops of methods ahead of their first use.

    Parameters
    ----------
    methods : str or iterable of str, optional
        Names of `shoal.methods()`, or "all". By default "auto": what releases need if no method is named.
    jobs : int, optional
        Number of processes at once; all cores by default.

    Returns
    -------
    tuple of str
        The names of the methods that are ready.
    """
    names = _names(methods)
    tasks = [task for name in names for task in _tasks(name)]
    wanted = cores() if jobs is None else whole(jobs, "jobs", 1, who="warmup")
    step("compile")
    failed: dict[str, str] = {}
    with closing(spread(compile_loops, tasks, min(wanted, len(tasks)), isolated=True)) as results:
        for done, (number, result) in enumerate(results, start=1):
            if isinstance(result, Failure):
                failed[tasks[number].method] = result.reason
            tick(done, len(tasks))
    step("")
    if failed:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise UseError(f"warmup: {listed(failed)} could not be compiled. {reasons}")
    return tuple(names)


def compile_loops(task: Task) -> None:
    """Make a small release, whose groups do not matter."""
    table = sample(task.rows)
    kept = [*NUMBERS, SENSITIVE] if task.numeric else [name for name in table.column_names if name not in DROPPED]
    with silently(), suppress(InfeasibleError):
        anonymize(table.select(kept), k=5, sensitive=[SENSITIVE], method=task.method, seed=0, **task.asked)


def _names(methods: str | Iterable[str]) -> list[str]:
    """Return the methods to compile, by their own names."""
    given = one_or_several(methods, "warmup", "methods", MethodError) or [USUAL]
    if EVERY in given:
        return [card.name for card in section.cards().values() if card.data != "sets"]
    return list(dict.fromkeys(section.load(name).name for name in given))


def _tasks(name: str) -> list[Task]:
    """Return small releases that need most loops of a method."""
    card = section.load(name)
    mixed = card.data == "mixed" or name == USUAL
    rows = [400, LARGE] if card.most_rows is None else [min(400, card.most_rows)]
    label = {"label": SENSITIVE} if "label" in card.uses else {}
    kinds = [numeric for numeric in (True, False) if (card.data != "mixed" if numeric else mixed)]
    return [Task(name, n, numeric, {**limits, **label}) for numeric in kinds for n in rows for limits in ({}, {"l": 2})]
