"""Explore: many releases of one table, compared by risk and utility.

1. A grid of methods, k, l, t and parameters is turned into points. Each is a policy.
2. A pre-flight on a sample estimates their cost; what is too expensive is left out and reported.
3. Each point is released, verified and measured in a separate process, the method of `auto` first, and saved at once if
   there is a folder: a saved point is not run again. The page in the folder is drawn again as points arrive.
4. Points that do not fit into the budget are left out and named; the same call continues with them.
5. Points that no other clearly dominates form the Pareto front. Nothing is chosen: that is up to whoever is responsible
   for the data.
"""

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from shoal.catalogue.sections import parameters_of
from shoal.exploration.aims import aim_of, references
from shoal.exploration.asked import MOST, ExploreOptions, base_of, folder_of, whole
from shoal.exploration.budget import USUAL, Budget, Schedule
from shoal.exploration.exploration import Exploration
from shoal.exploration.fingerprints import known_points, marks_of
from shoal.exploration.folder import Folder
from shoal.exploration.growing import GrowingPage
from shoal.exploration.memory import at_once
from shoal.exploration.plan import EVERY, grid
from shoal.exploration.points import DONE, FAILED, Aims, Outcome, Task, attempt
from shoal.exploration.preflight import (
    LIGHT,
    LONGEST,
    Probe,
    Probed,
    Shape,
    affordable,
    estimate,
    probe,
    probes,
    seconds_of,
)
from shoal.exploration.selection import SUITABLE, Preferred, ordered, suitable
from shoal.exploration.sources import Watched, fingerprint, shared
from shoal.exploration.spawned import Failure, cores, spread
from shoal.io.containers import is_container
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
@with_options("explore", lambda given: parameters_of({"methods": EVERY, **given}))
def explore(
    source: Any,
    *,
    policy: PolicySource = None,
    methods: str | Iterable[str] = SUITABLE,
    k: int | Iterable[int] | None = None,
    l: float | Iterable[float] | None = None,  # noqa: E741
    t: float | Iterable[float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    utility: str | None = None,
    risk: str | None = None,
    folds: int = 5,
    seeds: int = 1,
    attacks: bool = False,
    budget: float | None = USUAL,
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
        As in `anonymize`.
    policy : Policy, mapping or path, optional
        The roles of columns and all other settings, except the method and k. The options below override it.
    methods : str or iterable of str
        Names of `shoal.methods()`, "all", or "suitable": the one that `auto` chooses, and those that suit the table
        according to their cards.
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
        Seconds in total, 300 by default, at most a tenth of them for the pre-flight; None for no limit. The method that
        `auto` chooses is run first, then cheap methods before expensive ones. What does not fit is left out and named,
        and the same call with the same folder continues with it. Runs are complete or left out: no result depends on
        the budget. With one job, which runs in this process, the last run is not stopped at the end of the budget.
    longest : float
        Maximum seconds of a single run, as estimated by the pre-flight.
    jobs : int, optional
        Number of processes at once; all cores by default, fewer if memory is short. The figures do not depend on it.
    output : path, optional
        A private folder for finished points, so that the same call resumes where it stopped. Only one exploration can
        use it at a time. The form of output is part of the policy: `policy={"output": "truthful"}`.
    dry_run : bool
        Whether to stop after the pre-flight; `.estimate` of the result is then the expected cost.
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
    limits = Budget(None if budget is None else in_seconds(budget, "explore"))
    folds, seeds = whole(folds, "folds", 2, MOST), whole(seeds, "seeds", 1, MOST)
    wanted = cores() if jobs is None else whole(jobs, "jobs", 1)
    longest, output = in_seconds(longest, "explore", "longest"), None if output is None else folder_of(output)
    base, given = base_of(policy, options), {} if parameters is None else parameters
    usual = isinstance(methods, str) and methods == SUITABLE
    points, skipped = grid(base, EVERY if usual else methods, k=k, l=l, t=t, parameters=given, seeds=seeds)
    aims = Aims(aim_of(utility, "utility", base), aim_of(risk, "risk", base), folds, bool(attacks))
    with ExitStack() as held:
        where = held.enter_context(shared(source))
        files = Watched(where, base)
        step("read")
        table = read_for(source, base)
        shape = Shape.of(table)
        # A policy that does not fit, or publishes too much unchanged, is refused first.
        named, _ = complete(Policy.of(points[0].policy, method="auto", parameters={}, k=2), table, profile(table))
        refuse_unique_kept(arrange(table, named.seeded()).data, named)
        preferred = Preferred.of(named, shape.rows)
        if usual:
            points, others = suitable(points, preferred, given)
            skipped = others or skipped
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
        stated = {point.name: seconds_of(point, Probed(), shape) for point in left}
        known = _probed(probes(ordered(left, preferred, stated), table, aims), lines, folder, wanted, limits.trials)
        del table
        kept, expensive, costs, megabytes = affordable(left, known, shape, longest=longest)
        kept = ordered(kept, preferred, costs)
        expected = estimate(kept, costs, megabytes, wanted)
        schedule = Schedule(kept, costs, limits)
        announce(f"explore: {expected}; {within(limits.seconds)}.{schedule.warning()}")
        path = isinstance(source, str | os.PathLike)
        made = Exploration(
            outcomes=(),
            skipped=(*skipped, *expensive),
            aims=aims,
            rows=shape.rows,
            columns=shape.columns,
            estimate=expected,
            policies={point.name: point.policy for point in points},
            source=os.fsencode(Path(source).name).decode("utf-8", "replace") if path else "",
            frame=None if path or is_container(source) else source,
            folder=None if folder is None else folder.place,
            label=base.label,
            budget=limits.seconds,
            waiting=tuple(point.name for point in kept),
        ).with_outcomes(found)
        if dry_run:
            return replace(made, waiting=())
        # Found in advance, so that the growing picture has them too.
        made = replace(made, references=references(aims.utility, where.table(), base) if kept or found else {})
        threads = max(1, cores() // expected.jobs)
        tasks = (Task(where, point, aims, threads) for point in schedule)
        with closing(spread(attempt, tasks, expected.jobs, limits.runs, isolated=wanted > 1)) as results:
            _run(results, schedule, made, found, files, marks, folder)
        step("")
        made = replace(made.with_outcomes(found), waiting=(), skipped=(*made.skipped, *schedule.late()))
        if folder is not None:
            made.save(folder)
    return made


def within(seconds: float | None) -> str:
    """State the budget."""
    return "no budget" if seconds is None else f"the budget is {seconds:g} s"


def _run(
    results: Iterator[tuple[int, Any]],
    schedule: Schedule,
    made: Exploration,
    found: dict[str, Outcome],
    files: Watched,
    marks: Mapping[str, str],
    folder: Folder | None,
) -> None:
    """Receive every point, and save each as soon as it is finished, unless a file has changed meanwhile."""
    step("explore")
    files.refuse_changes()
    with ExitStack() as held:
        page = GrowingPage(lambda: made.with_outcomes(found).sketch(folder)) if folder is not None else None
        if page is not None:
            held.enter_context(page)
        before = len(found)
        for number, result in results:
            files.refuse_changes()
            point = schedule.started[number]
            failed = isinstance(result, Failure)
            outcome = Outcome.of(point, FAILED, reason=result.reason) if failed else result
            if folder is not None and outcome.status == DONE:
                folder.keep(f"points/{marks[point.name]}", outcome.as_dict())
            found[point.name] = outcome
            schedule.finished(point, outcome.seconds)
            if page is not None:
                page.changed()
            tick(len(found), before + len(made.waiting))


def _probed(
    tasks: Sequence[Probe], marks: Mapping[str, str], folder: Folder | None, jobs: int, until: float
) -> dict[str, Probed]:
    """Return the measured costs of the methods of these points; those of an earlier run are reused.

    A method that is not measured before `until` has no entry.
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
    return known
