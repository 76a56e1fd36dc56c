"""One point: its releases for every seed, verified and measured, as done by one process of an exploration."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import TypeAdapter

from shoal.catalogue import attacks, measures
from shoal.exploration.aims import Aim, Figure, averaged, figure_of, linked_sample
from shoal.exploration.plan import Point
from shoal.exploration.sources import Source
from shoal.model.findings import Verdict
from shoal.model.policy import Policy
from shoal.model.progress import silently
from shoal.model.release import Release
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.judging import attack, case_of
from shoal.pipeline.line import anonymize
from shoal.pipeline.write import data_digest

DONE, FAILED = "done", "failed"
ALWAYS = ("classes", "smallest class", "information loss %", "cell loss %", "class loss %", "2-way total variation %")
LINKAGE = "record linkage"
LINKED = 2_000  # rows that are linked, unless this is a figure to be compared
RISKS = ("prosecutor risk", "marketer risk", LINKAGE)  # of the figures of every release


@dataclass(frozen=True)
class Aims:
    """What is measured for every point: the utility and the risk that are compared, and whether to attack."""

    utility: Aim
    risk: Aim
    folds: int = 5
    attacks: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """A point to be tried and what this needs."""

    source: Source
    point: Point
    aims: Aims
    threads: int = 1


@dataclass(frozen=True)
class Outcome:
    """The result of a point; `status` is "done" or "failed", and `reason` why it is not complete.

    `line` is the method with the parameters of the grid. `utility` and `risk` are None also if this table has no such
    figure. `method_notes` are those of the notes that the method gives about itself. `data` is the SHA-256 of the data
    file that its policy makes; `seconds` are the wall time of all its runs.
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
    method_notes: tuple[str, ...] = ()
    data: str = ""
    seconds: float = 0.0

    @classmethod
    def of(cls, point: Point, status: str, **more: Any) -> "Outcome":
        """Return the outcome of a point of the grid."""
        asked, parameters = point.policy.constraints, dict(point.policy.method.parameters)
        place = (point.name, point.method, point.line, asked.k, asked.l, asked.t, parameters, point.runs)
        return cls(*place, status, **more)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Outcome":
        """Restore an outcome from `as_dict`."""
        found: Outcome = TypeAdapter(cls).validate_python(facts)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return asdict(self)


@without_arrow_errors
def attempt(task: Task) -> Outcome:
    """Make the releases of a point, and measure them."""
    point = task.point
    start = time.monotonic()
    with silently():
        runs = [
            one_run(task.source.table(), point.seeded(seed), number, task.aims, task.threads)
            for number, seed in enumerate(point.seeds)
        ]
    first = runs[0]
    names = [name for name in first.figures if all(name in run.figures for run in runs)]
    both = ((task.aims.utility, first.utility), (task.aims.risk, first.risk))
    missing = [aim.name for aim, found in both if found is None]
    return Outcome.of(
        point,
        DONE,
        reason=f"this release has no figure for {' and '.join(missing)}." if missing else "",
        utility=_over([run.utility for run in runs]),
        risk=_over([run.risk for run in runs]),
        figures={name: averaged([run.figures[name] for run in runs]) for name in names},
        **first.facts,
        seconds=time.monotonic() - start,
    )


@dataclass(frozen=True)
class Run:
    """One release: its figures, and the processor time of making and measuring it.

    Measures that use a bounded number of rows took `bounded` seconds, which `measured` does not include.
    """

    utility: Figure | None
    risk: Figure | None
    figures: dict[str, Figure]
    facts: dict[str, Any]  # verdicts, attacks, notes and the digest of the data, as an `Outcome` has them
    made: float
    measured: float
    bounded: float


def one_run(source: Any, policy: Policy, seed: int, aims: Aims, threads: int) -> Run:
    """Make and measure one release of a path or frame; the seed is that of the measures, not of the release."""
    start = time.process_time()
    release = anonymize(source, policy=policy, threads=threads)
    made = time.process_time()
    case = case_of(source, release, seed=seed)
    figures = {one.name: Figure(one.value) for one in release.findings if one.name in ALWAYS}
    measured = (measures.load(name).take(case)[0] for name in RISKS if name != LINKAGE)
    figures |= {one.name: Figure(one.value) for one in measured}
    known: dict[str, Figure | None] = {}
    bounded = 0.0
    for aim in (aims.utility, aims.risk):
        begin = time.process_time()
        known[aim.name] = figure_of(aim, case, source, aims.folds)
        bounded += time.process_time() - begin if aim.bounded else 0.0
    linked = known[LINKAGE] if LINKAGE in known else linked_sample(case, LINKED)
    figures |= {} if linked is None else {LINKAGE: linked}
    facts: dict[str, Any] = {
        "verdicts": release.verdicts,
        "attacks": tuple(_attacked(source, release, seed)) if aims.attacks else (),
        "notes": release.notes,
        "method_notes": tuple(note for note in release.notes if note in release._making.partition.notes),
        "data": data_digest(release),
    }
    end = time.process_time()
    return Run(
        known[aims.utility.name], known[aims.risk.name], figures, facts, made - start, end - made - bounded, bounded
    )


def _attacked(source: Any, release: Release, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the result of each attack without its note, which may count few rows.

    An exploration has neither control rows nor another release, and no time to repeat every run.
    """
    lacking = {"other", "control"}
    only = [name for name, card in attacks.cards().items() if not card.repeats and not lacking & {*card.requires}]
    for one in attack(source, release, only=only, seed=seed):
        yield {name: value for name, value in one.as_dict().items() if name != "note"}


def peak() -> float:
    """Return the peak memory of this process in megabytes; 0 where the system does not report it."""
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
