"""One point: its releases from every seed, verified and measured. This is what a process of an exploration does."""

import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from shoal.exploration.aims import BOUNDED, NEEDS, Aim, Figure, averaged, figure_of
from shoal.exploration.plan import Point
from shoal.exploration.sources import Source
from shoal.measuring import load_measure
from shoal.model.findings import Attack, Finding, Verdict
from shoal.model.policy import Policy
from shoal.model.progress import silently
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.judging import attack, case_of
from shoal.pipeline.line import anonymize
from shoal.pipeline.write import data_digest

__all__ = ["DONE", "FAILED", "LATE", "Aims", "Outcome", "Task", "attempt", "one_run", "peak"]

DONE, FAILED, LATE = "done", "failed", "not tried"
ALWAYS = ("classes", "smallest class", "information loss %", "cell loss %", "class loss %", "2-way total variation %")
RISKS = ("prosecutor risk", "marketer risk")
LINKAGE = "record linkage"
PDEATHSIG = 1  # PR_SET_PDEATHSIG of prctl(2)
# Attacks: some need what an exploration has not, one repeats every run some hundred times.
NEVER = (
    *NEEDS["another release, which an exploration has not"],
    *NEEDS["control rows, which an exploration has not"],
    "minimality",
)


@dataclass(frozen=True)
class Aims:
    """What is measured of every point: the two figures that are weighed, with their folds, and whether to attack."""

    utility: Aim
    risk: Aim
    folds: int = 5
    attacks: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """A point to be tried, and all that this needs.

    Parameters
    ----------
    source : Source
    point : Point
    aims : Aims
    threads : int
    until : float or None
        The time, as `time.time` has it, after which it is not begun.
    """

    source: Source
    point: Point
    aims: Aims
    threads: int = 1
    until: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a point.

    Parameters
    ----------
    name, method, line : str
        The point, its method, and its method with the parameters of the grid.
    k : int
    l, t : float or None
    parameters : dict
    status : {"done", "failed", "not tried"}
    reason : str
        Why it failed.
    utility, risk : Figure or None
        None also if this table has no such figure.
    figures : dict of str to Figure
        What is measured of every release.
    verdicts, attacks : tuples
    notes : tuple of str
        What the holder should know of this release.
    data : str
        The SHA-256 of the file of data that its policy makes.
    seconds : float
        Of all its runs, by the clock on the wall.
    """

    name: str
    method: str
    line: str
    k: int
    l: float | None  # noqa: E741
    t: float | None
    parameters: dict[str, Any]
    seeds: int
    status: str
    reason: str = ""
    utility: Figure | None = None
    risk: Figure | None = None
    figures: dict[str, Figure] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
    attacks: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    data: str = ""
    seconds: float = 0.0

    @classmethod
    def of(cls, point: Point, status: str, **more: Any) -> "Outcome":
        """Return what became of a point of the grid."""
        asked = point.policy.constraints
        parameters = dict(point.policy.method.parameters)
        return cls(
            point.name,
            point.method,
            point.line,
            asked.k,
            asked.l,
            asked.t,
            parameters,
            point.runs,
            status,
            **more,
        )

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Outcome":
        """Return what `as_dict` gave, as it was."""
        known = dict(facts)
        for name in ("utility", "risk"):
            known[name] = None if known[name] is None else Figure(**known[name])
        known["figures"] = {name: Figure(**one) for name, one in known["figures"].items()}
        known["verdicts"] = tuple(Verdict(**one) for one in known["verdicts"])
        known["attacks"], known["notes"] = tuple(known["attacks"]), tuple(known["notes"])
        return cls(**known)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return asdict(self)


@without_arrow_errors
def attempt(task: Task) -> Outcome:
    """Make the releases of a point, and measure them.

    Parameters
    ----------
    task : Task

    Returns
    -------
    Outcome
    """
    _end_with_parent()
    point = task.point
    if task.until is not None and time.time() > task.until:
        return Outcome.of(point, LATE, reason="the time was up before it could begin.")
    start = time.monotonic()
    with silently():
        runs = [
            one_run(task.source.table(), point.seeded(seed), number, task.aims, task.threads)
            for number, seed in enumerate(point.seeds)
        ]
    names = [name for name in runs[0].figures if all(name in run.figures for run in runs)]
    both = ((task.aims.utility, runs[0].utility), (task.aims.risk, runs[0].risk))
    missing = [aim.name for aim, found in both if found is None]
    return Outcome.of(
        point,
        DONE,
        reason=f"this release has no figure for {' and '.join(missing)}." if missing else "",
        utility=_over([run.utility for run in runs]),
        risk=_over([run.risk for run in runs]),
        figures={name: averaged([run.figures[name] for run in runs]) for name in names},
        verdicts=runs[0].verdicts,
        attacks=tuple(_without_note(one) for one in runs[0].attacks),
        notes=runs[0].notes,
        data=runs[0].data,
        seconds=time.monotonic() - start,
    )


@dataclass(frozen=True)
class Run:
    """One release: what was found, and how many seconds of a processor making and measuring it took.

    What looks at no more than so many rows, however many there are, took `bounded` beside what it `measured`.
    """

    utility: Figure | None
    risk: Figure | None
    figures: dict[str, Figure]
    verdicts: tuple[Verdict, ...]
    attacks: tuple[Attack, ...]
    notes: tuple[str, ...]
    data: str
    made: float
    measured: float
    bounded: float


def one_run(source: Any, policy: Policy, seed: int, aims: Aims, threads: int) -> Run:
    """Make one release and measure it.

    Parameters
    ----------
    source : path or frame
    policy : Policy
    seed : int
        Random seed of the measures; that of the release stands in the policy.
    aims : Aims
    threads : int
    """
    start = time.process_time()
    release = anonymize(source, policy=policy, threads=threads)
    made = time.process_time()
    case = case_of(source, release, seed=seed)
    figures = {one.name: Figure(one.value) for one in release.findings if one.name in ALWAYS}
    figures |= {one.name: Figure(one.value) for name in RISKS for one in _first(load_measure(name).take(case))}
    linked = figure_of(Aim(LINKAGE, "attack", higher=False, how=""), case, source, aims.folds)
    figures |= {} if linked is None else {LINKAGE: linked}
    known, bounded = {LINKAGE: linked}, 0.0
    for aim in (aims.utility, aims.risk):
        if aim.name not in known:
            begin = time.process_time()
            known[aim.name] = figure_of(aim, case, source, aims.folds)
            bounded += time.process_time() - begin if aim.name in BOUNDED else 0.0
    tried: tuple[Attack, ...] = ()
    if aims.attacks:
        from shoal.privacy.attacks.attack import attacks

        tried = attack(source, release, only=[name for name in attacks() if name not in NEVER], seed=seed)
    end = time.process_time()
    return Run(
        known[aims.utility.name],
        known[aims.risk.name],
        figures,
        release.verdicts,
        tried,
        release.notes,
        data_digest(release),
        made - start,
        end - made - bounded,
        bounded,
    )


def peak() -> float:
    """Return the most megabytes that this process has held so far; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most / 1e3


def _over(figures: Sequence[Figure | None]) -> Figure | None:
    """Return the mean over seeds, if every seed has a figure."""
    known = [one for one in figures if one is not None]
    return averaged(known) if known and len(known) == len(figures) else None


def _first(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return the finding that a measure is named after."""
    return findings[:1]


def _without_note(one: Attack) -> dict[str, Any]:
    """Return an attack without its note, which may count few rows."""
    return {name: value for name, value in one.as_dict().items() if name != "note"}


def _end_with_parent() -> None:
    """Have the system end this process when the one that started it is gone, were it by kill -9."""
    if multiprocessing.parent_process() is None or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
    parent = multiprocessing.parent_process()
    if parent is not None and os.getppid() != parent.pid:
        os._exit(1)
