"""Explore: many releases of one table, compared by risk and utility.

1. A grid of methods, k, l, t and parameters is turned into points. Each is a policy.
2. A pre-flight on a sample estimates their cost; what is too expensive is left out and reported.
3. Each point is released, verified and measured in a separate process, and saved at once if there is a folder: a saved
   point is not run again.
4. Points that no other clearly dominates form the Pareto front. Nothing is chosen: that is up to whoever is responsible
   for the data.
"""

import math
import os
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import accumulate
from pathlib import Path
from typing import Any, Unpack

from shoal.exploration.aims import aim_of, references
from shoal.exploration.asked import MOST, ExploreOptions, base_of, folder_of, whole
from shoal.exploration.exploration import Exploration
from shoal.exploration.fingerprints import known_points, marks_of
from shoal.exploration.folder import Folder
from shoal.exploration.memory import at_once
from shoal.exploration.plan import EVERY, Point, Skipped, grid
from shoal.exploration.points import DONE, FAILED, Aims, Outcome, Task, attempt
from shoal.exploration.preflight import LIGHT, LONGEST, Probe, Probed, Shape, affordable, estimate, probe, probes
from shoal.exploration.sources import Watched, fingerprint, shared
from shoal.exploration.spawned import Failure, cores, spread
from shoal.io.text_columns import read_for
from shoal.model.asking import in_seconds
from shoal.model.options import with_options
from shoal.model.policy import Policy, PolicySource
from shoal.model.progress import announce, step, tick
from shoal.model.seeds import drawn_seed
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.prepare.arrange import arrange
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile
from shoal.privacy.attacks.unchanged import refuse_unique_kept


@without_arrow_errors
@with_options("explore")
def explore(
    source: Any,
    *,
    policy: PolicySource = None,
    methods: str | Iterable[str] = EVERY,
    k: int | Iterable[int] | None = None,
    l: float | Iterable[float] | None = None,  # noqa: E741
    t: float | Iterable[float] | None = None,
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
    **options: Unpack[ExploreOptions],
) -> Exploration:
    """Try many releases of a table, and find the Pareto front of risk and utility.

    Parameters
    ----------
    source : path or frame
        A CSV, Parquet or Feather file, or a pandas, polars or pyarrow frame.
    policy : Policy, mapping or path, optional
        The roles of columns and all other settings, except the method and k. The options below override it.
    methods : str or iterable of str
        Names of `shoal.methods()`, or "all".
    k, l, t : number or iterable of numbers, optional
        Values to try; for k 3, 5, 10 and 20 by default.
    parameters : mapping, optional
        Parameters of methods: one value or several, by name or by METHOD.NAME.
    utility, risk : str, optional
        The figures to compare: a measure of `shoal.measures()`, an attack of `shoal.attacks()`, or "honest" for the
        utility. By default, the utility is honest separability if there is a label and cell loss otherwise, and the
        risk is marketer risk.
    folds : int
        Number of folds of jackknife intervals and of "honest".
    seeds : int
        Number of random seeds per randomized method.
    attacks : bool
        Whether each release is attacked, which takes a while.
    budget : float, optional
        Seconds in total, at most half of them for the pre-flight. The cheapest points are run first, and those that
        would not fit are skipped. No run is cut short, so that results are reproducible.
    longest : float
        Maximum seconds of a single run, as estimated by the pre-flight.
    jobs : int, optional
        Number of processes at once; all cores by default, fewer if memory is short. The figures do not depend on it.
    output : path, optional
        A private folder for finished points, so that the same call resumes where it stopped. Only one exploration can
        use it at a time. The form of output is part of the policy: `policy={"output": "truthful"}`.
    dry_run : bool
        Whether to stop after the pre-flight.
    **options
        Roles and other settings that all releases share, as in `anonymize`. If no seed is given, one is drawn from the
        system and kept in the folder.

    Returns
    -------
    Exploration

    Raises
    ------
    ReadError
        If the table cannot be read, or if it or a hierarchy file changes during the run.

    Guarantee
    ---------
    Every finished point has been verified as by `anonymize`, and the policies of the Pareto front reproduce their
    releases byte for byte.
    """
    start = time.monotonic()
    folds, seeds = whole(folds, "folds", 2, MOST), whole(seeds, "seeds", 1, MOST)
    wanted = cores() if jobs is None else whole(jobs, "jobs", 1)
    seconds = None if budget is None else in_seconds(budget, "explore")
    longest, output = in_seconds(longest, "explore", "longest"), None if output is None else folder_of(output)
    base = base_of(policy, options)
    points, skipped = grid(base, methods, k=k, l=l, t=t, parameters=parameters, seeds=seeds)
    aims = Aims(aim_of(utility, "utility", base), aim_of(risk, "risk", base), folds, bool(attacks))
    with ExitStack() as held:
        where = held.enter_context(shared(source))
        files = Watched(where, base)
        step("read")
        table = read_for(source, base)
        shape = Shape.of(table)
        # A policy that does not fit, or publishes too much unchanged, is refused first.
        named, _ = complete(Policy.of(points[0].policy, k=2), table, profile(table))
        refuse_unique_kept(arrange(table, named.seeded()).data, named)
        folder = None if output is None else held.enter_context(Folder(output))
        seed = drawn_seed() if folder is None else folder.seed
        points = [point.started(seed) for point in points]
        marks = marks_of(points, aims, fingerprint(where, base, folder.key if folder else secrets.token_bytes(32)))
        files.refuse_changes()
        found = {} if folder is None else known_points(points, marks, folder)
        left = [point for point in points if point.name not in found]
        step("pre-flight")
        # Timing runs of a line depend on the same inputs as its first point, finished or not.
        lines = {point.line: marks[point.name] for point in reversed(points)}
        end = math.inf if seconds is None else start + seconds / 2
        known = _probed(probes(left, table, aims), lines, folder, wanted, end)
        del table
        kept, expensive, costs, megabytes = affordable(left, known, shape, longest=longest)
        kept, skipped = sorted(kept, key=lambda point: -costs[point.name]), [*skipped, *expensive]
        expected, until = estimate(kept, costs, megabytes, wanted), None
        if seconds is not None:
            rest = seconds - (time.monotonic() - start)
            kept, late = _within(kept, costs, rest * expected.jobs)
            skipped, until = [*skipped, *late], time.time() + rest
            expected = estimate(kept, costs, megabytes, wanted)
        announce(f"explore: {expected}.")
        if not dry_run:
            threads = max(1, cores() // expected.jobs)
            tasks = [Task(where, point, aims, threads, until) for point in kept]
            found |= _run(tasks, files, marks, folder, expected.jobs, wanted > 1, len(found))
        step("")
        outcomes = tuple(found[point.name] for point in points if point.name in found)
        done = any(one.status == DONE for one in outcomes)
        path = isinstance(source, str | os.PathLike)
        made = Exploration(
            outcomes=outcomes,
            skipped=tuple(skipped),
            aims=aims,
            rows=shape.rows,
            columns=shape.columns,
            estimate=expected,
            policies={point.name: point.policy for point in points},
            source=os.fsencode(Path(source).name).decode("utf-8", "replace") if path else "",
            frame=None if path else source,
            folder=None if folder is None else folder.place,
            label=base.label,
            references=references(aims.utility, where.table(), base) if done else {},
        )
        if folder is not None and not dry_run:
            made.save(folder)
    return made


def _run(
    tasks: Sequence[Task],
    files: Watched,
    marks: Mapping[str, str],
    folder: Folder | None,
    jobs: int,
    isolated: bool,
    before: int,
) -> dict[str, Outcome]:
    """Try every point, and save each as soon as it is finished, unless a file has changed meanwhile."""
    step("explore")
    found: dict[str, Outcome] = {}
    files.refuse_changes()
    with closing(spread(attempt, tasks, jobs, isolated=isolated)) as results:
        for number, result in results:
            files.refuse_changes()
            point = tasks[number].point
            failed = isinstance(result, Failure)
            outcome = Outcome.of(point, FAILED, reason=result.reason) if failed else result
            if folder is not None and outcome.status == DONE:
                folder.keep(f"points/{marks[point.name]}", outcome.as_dict())
            found[point.name] = outcome
            tick(before + len(found), before + len(tasks))
    return found


def _probed(
    tasks: Sequence[Probe], marks: Mapping[str, str], folder: Folder | None, jobs: int, until: float
) -> dict[str, Probed]:
    """Return the measured costs of the methods of these points; those of an earlier run are reused.

    Timing runs for which half of the budget does not suffice are left out, and so are their methods.
    """
    held = {} if folder is None else folder.kept("preflight")
    known: dict[str, Probed] = {}
    for task in tasks:
        with suppress(AttributeError, KeyError, TypeError):  # missing, or of another version
            known[task.line] = Probed.from_dict(held[marks[task.line]])
    new = [task for task in tasks if task.line not in known]
    with closing(spread(probe, new, at_once(jobs, len(new), LIGHT), until, isolated=jobs > 1)) as results:
        for number, result in results:
            line = new[number].line
            failed = isinstance(result, Failure)
            known[line] = Probed(reason=f"{line}: {result.reason}") if failed else result
            if folder is not None and not failed:
                held[marks[line]] = result.as_dict()
                folder.keep("preflight", held)
            tick(len(known), len(tasks))
    for task in new:
        known.setdefault(
            task.line, Probed(reason=f"{task.line}: half of the budget was used up before it could be timed.")
        )
    return known


def _within(points: Sequence[Point], costs: Mapping[str, float], seconds: float) -> tuple[list[Point], list[Skipped]]:
    """Return the points that fit a budget, the cheapest first, and those that do not."""
    cheapest = sorted(points, key=lambda point: costs[point.name])
    spent = list(accumulate(costs[point.name] for point in cheapest))
    kept = [point for point, total in zip(cheapest, spent, strict=True) if total <= seconds]
    late = [point.name for point in cheapest[len(kept) :]]
    return kept, [Skipped(name, f"{name}: would exceed the budget of the exploration.") for name in late]
