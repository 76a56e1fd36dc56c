"""Explore: many releases of one table, weighed against each other.

1. A grid of methods, k, l, t and parameters becomes points. Each is a policy.
2. A pre-flight on a sample tells what they will cost; what is too dear is left out and named.
3. Each point is released, verified and measured in a process of its own, and kept at once if there is a folder: a point
   that is there already is not done again.
4. What nothing else clearly beats is the front. Nothing is chosen: that is for whoever answers for the data.
"""

import hashlib
import json
import math
import os
import secrets
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from importlib.metadata import version
from inspect import signature
from numbers import Real
from pathlib import Path
from typing import Any

from shoal.errors import PolicyError, listed, near
from shoal.explore.aims import aim_of
from shoal.explore.exploration import Exploration
from shoal.explore.folder import Folder
from shoal.explore.plan import EVERY, Point, Skipped, grid
from shoal.explore.points import DONE, FAILED, Aims, Outcome, Task, attempt
from shoal.explore.preflight import LONGEST, Estimate, Probed, Shape, affordable, estimate, probe, probes
from shoal.explore.sources import Source, fingerprint, shared
from shoal.explore.spawned import Failure, cores, spread
from shoal.io.files import read
from shoal.model.policy import Policy
from shoal.model.progress import announce, step, tick
from shoal.model.table import Table
from shoal.pipeline.line import netted
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile

__all__ = ["explore"]

FIXED = {"policy", "k", "l", "t", "method", "parameters"}


@netted
def explore(
    source: Any,
    *,
    policy: Policy | dict[str, Any] | str | Path | None = None,
    methods: str | Iterable[str] = EVERY,
    k: Any = None,
    l: Any = None,  # noqa: E741
    t: Any = None,
    parameters: Mapping[str, Any] | None = None,
    utility: str | None = None,
    risk: str | None = None,
    folds: int = 5,
    seeds: int = 1,
    attacks: bool = False,
    budget: float | None = None,
    longest: float = LONGEST,
    jobs: int | None = None,
    output: str | Path | None = None,
    dry_run: bool = False,
    **wishes: Any,
) -> Exploration:
    """Try many releases of a table, and find those that nothing else clearly beats in risk and utility.

    Parameters
    ----------
    source : path or frame
    policy : Policy, mapping or path, optional
        Roles, and l and t where none are given here. Its method and k are not used.
    methods : str or iterable of str
        Names of `shoal.methods()`, or "all".
    k, l, t : number or iterable of numbers, optional
        k is 3, 5, 10 and 20 if not given.
    parameters : mapping, optional
        A value or several by the name of a parameter, or by METHOD.NAME.
    utility, risk : str, optional
        A measure of `shoal.measures()`, an attack, or "honest" for the utility. If not given: honest separability with
        a label, the cell loss without; and the marketer risk.
    folds : int
        For intervals, and for honest figures.
    seeds : int
        From how many seeds methods that draw by chance are run.
    attacks : bool
        Whether each release is attacked.
    budget : float, optional
        Seconds in all, half of them for the pre-flight at the most. The cheapest points come first; what would not fit
        is left out, and no run begins later. A run is never cut short: what comes out can be repeated.
    longest : float
        Seconds that one run may take by the pre-flight.
    jobs : int, optional
        How many processes may work at once; all cores if not given. The figures do not depend on it.
    output : path, optional
        A private folder: it keeps what is done, so that the same call goes on where it was stopped.
    dry_run : bool
        Whether to stop after the pre-flight.
    **wishes
        As in `anonymize`: identifiers, quasi, sensitive, keep, hierarchies, label, weight, missing, refine, seed,
        header.

    Returns
    -------
    Exploration

    Guarantee
    ---------
    Every point that is done has been verified as by `anonymize`, and the policies of the front make the same bytes
    again. Nothing is chosen.
    """
    start = time.monotonic()
    folds, seeds = _whole(folds, "folds", 2), _whole(seeds, "seeds", 1)
    workers = cores() if jobs is None else _whole(jobs, "jobs", 1)
    seconds = None if budget is None else _seconds(budget, "budget")
    base = _base(policy, wishes)
    points, skipped = grid(base, methods, k=k, l=l, t=t, parameters=parameters, seeds=seeds)
    aims = Aims(aim_of(utility, "utility", base), aim_of(risk, "risk", base), folds, bool(attacks))
    step("read")
    table = read(source, base.null_words, header=base.header)
    shape = Shape.of(table)
    complete(points[0].policy, table, profile(table))  # a policy that does not fit is refused before anything is done
    folder = None if output is None else Folder(output)
    with shared(source) as where:
        key = secrets.token_bytes(32) if folder is None else folder.key
        marks = _marks(points, aims, fingerprint(where, base, key))
        found = _kept(points, marks, folder)
        left = [point for point in points if point.name not in found]
        step("pre-flight")
        end = math.inf if seconds is None else start + seconds / 2
        known = _tried(left, _lines(points, marks), table, aims, folder, workers, end)
        del table
        kept, dear, costs, megabytes = affordable(
            left, known, shape, jobs=workers, longest=_seconds(longest, "longest")
        )
        skipped += dear
        until = None
        if seconds is not None:
            rest = seconds - (time.monotonic() - start)
            kept, late = _within(kept, costs, rest * workers)
            skipped, until = [*skipped, *late], time.time() + rest
        else:
            kept = sorted(kept, key=lambda point: -costs[point.name])
        expected = estimate(kept, costs, megabytes, workers)
        announce(f"explore: {expected}.")
        if not dry_run:
            found |= _run(kept, marks, where, aims, workers, until, folder, len(found))
    step("")
    outcomes = [found[point.name] for point in points if point.name in found]
    made = _exploration(source, base, points, outcomes, skipped, aims, shape, expected, folder)
    if folder is not None and not dry_run:
        made.save(folder)
    return made


def _run(
    points: Sequence[Point],
    marks: Mapping[str, str],
    source: Source,
    aims: Aims,
    jobs: int,
    until: float | None,
    folder: Folder | None,
    before: int,
) -> dict[str, Outcome]:
    """Try every point, and keep each as soon as it is done."""
    step("explore")
    threads = max(1, cores() // jobs)
    tasks = [Task(source, point, aims, threads, until) for point in points]
    found: dict[str, Outcome] = {}
    with closing(_spread(attempt, tasks, jobs)) as results:
        for number, result in results:
            point = points[number]
            outcome = result
            if isinstance(result, Failure):
                outcome = Outcome.of(point, FAILED, reason=result.reason)
            elif folder is not None and outcome.status == DONE:
                folder.keep(marks[point.name], outcome.as_dict())
            found[point.name] = outcome
            tick(before + len(found), before + len(points))
    return found


def _tried(
    points: Sequence[Point],
    marks: Mapping[str, str],
    table: Table,
    aims: Aims,
    folder: Folder | None,
    jobs: int,
    until: float,
) -> dict[str, Probed]:
    """Return what trials on a sample tell of the methods of these points; those of an earlier run are not repeated.

    Trials that half of the budget is not enough for are left out, and so are their methods.
    """
    tasks = probes(points, table, aims)
    held = {} if folder is None else folder.trials()
    known = {task.line: Probed.from_dict(held[marks[task.line]]) for task in tasks if marks[task.line] in held}
    new = [task for task in tasks if task.line not in known]
    with closing(_spread(probe, new, jobs, until)) as results:
        for number, result in results:
            line = new[number].line
            known[line] = Probed(reason=f"{line}: {result.reason}") if isinstance(result, Failure) else result
            if folder is not None and not isinstance(result, Failure):
                held[marks[line]] = result.as_dict()
                folder.keep_trials(held)
            tick(len(known), len(tasks))
    for task in new:
        known.setdefault(task.line, Probed(reason=f"{task.line}: half of the budget was used up before it was tried."))
    return known


def _spread(
    work: Any, tasks: Sequence[Any], jobs: int, until: float = math.inf
) -> Generator[tuple[int, Any], None, None]:
    """Do every task; processes end with the generator, also when it is closed early."""
    yield from spread(work, tasks, jobs, until)


def _marks(points: Sequence[Point], aims: Aims, table: str) -> dict[str, str]:
    """Return a mark for each point that changes with whatever its figures depend on."""
    weighed = [aims.utility.name, aims.risk.name, aims.folds, aims.attacks]
    found = {}
    for point in points:
        facts = [version("shoal"), point.policy.as_dict(), point.seeds, weighed, table]
        found[point.name] = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
    return found


def _lines(points: Sequence[Point], marks: Mapping[str, str]) -> dict[str, str]:
    """Return a mark for each line: trials depend on the same things as its first point, done already or not."""
    return {point.line: marks[point.name] for point in reversed(points)}


def _kept(points: Sequence[Point], marks: Mapping[str, str], folder: Folder | None) -> dict[str, Outcome]:
    """Return the points that were done earlier."""
    found: dict[str, Outcome] = {}
    for point in points if folder is not None else ():
        facts = folder.point(marks[point.name]) if folder is not None else None
        try:
            if facts is not None:
                found[point.name] = Outcome.from_dict({**facts, "name": point.name})
        except (KeyError, TypeError):
            continue  # of another make: it is done anew
    return found


def _within(points: Sequence[Point], costs: Mapping[str, float], seconds: float) -> tuple[list[Point], list[Skipped]]:
    """Return the points that fit a budget, the cheapest first, and those that do not."""
    kept: list[Point] = []
    late: list[Skipped] = []
    spent = 0.0
    for point in sorted(points, key=lambda point: costs[point.name]):
        spent += costs[point.name]
        if spent <= seconds:
            kept.append(point)
        else:
            late.append(Skipped(point.name, f"{point.name}: would take the exploration beyond its budget."))
    return kept, late


def _exploration(
    source: Any,
    base: Policy,
    points: Sequence[Point],
    outcomes: Sequence[Outcome],
    skipped: Sequence[Skipped],
    aims: Aims,
    shape: Shape,
    expected: Estimate,
    folder: Folder | None,
) -> Exploration:
    """Put together what was found."""
    path = isinstance(source, str | os.PathLike)
    return Exploration(
        outcomes=tuple(outcomes),
        skipped=tuple(skipped),
        aims=aims,
        rows=shape.rows,
        columns=shape.columns,
        estimate=expected,
        policies={point.name: point.policy for point in points},
        source=Path(source).name if path else "",
        frame=None if path else source,
        folder=None if folder is None else folder.place,
        label=base.label,
    )


def _base(policy: Policy | dict[str, Any] | str | Path | None, wishes: Mapping[str, Any]) -> Policy:
    """Return what is the same for every point, with files of hierarchies named in full."""
    known = set(signature(Policy.of).parameters) - FIXED
    for name in wishes:
        if name not in known:
            raise PolicyError(
                f"explore: there is no wish {name!r}. There are {listed(sorted(known), 30)}.{near(name, known)}"
            )
    base = Policy.of(policy, **wishes)
    columns = {}
    for name, column in base.columns.items():
        tree = column.hierarchy
        whole = isinstance(tree, str) and Path(tree).is_file()
        columns[name] = column.model_copy(update={"hierarchy": str(Path(str(tree)).absolute())}) if whole else column
    return base.model_copy(update={"columns": columns}) if columns else base


def _whole(value: Any, name: str, least: int) -> int:
    """Return a whole number, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise PolicyError(f"explore: {name} must be a whole number of at least {least}; got {value!r}.")
    return value


def _seconds(value: Any, name: str) -> float:
    """Return a number of seconds, or refuse it."""
    seconds = float(value) if not isinstance(value, bool) and isinstance(value, Real) else math.nan
    if not 0 < seconds < math.inf:
        raise PolicyError(f"explore: {name} must be a number of seconds above 0; got {value!r}.")
    return seconds
