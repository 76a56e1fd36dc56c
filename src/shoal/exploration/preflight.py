"""Pre-flight: estimates the cost of an exploration before it starts.

1. Each method is run on 250 random rows, and on 1,000 if that is fast enough, with the smallest and the largest k. A
   first run is not timed, because it may compile. Seconds are processor time. A method whose turn does not come before
   the time of the pre-flight is up has the seconds of its card.
2. Time consists of a fixed part, and of one that grows with the number of rows as the card of the method says; for
   other k it is interpolated between the two that were tried.
3. Points that would exceed the time limit, or the free memory by themselves, are left out, with the reason. Where
   memory is too short for several at once, fewer processes are used.

Estimates are accurate to a factor of two or three.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.catalogue import Task, methods
from shoal.errors import MethodError, ShoalError, counted
from shoal.exploration.memory import SPARE, at_once, free
from shoal.exploration.plan import Point, Skipped
from shoal.exploration.points import Aims, one_run, peak
from shoal.exploration.spawned import cores
from shoal.model.policy import Policy
from shoal.model.progress import silently
from shoal.model.table import Table

FEW, SOME = 250, 1_000  # rows of the timing runs
SLOW = 2.0  # seconds after which a timing run is repeated
PATIENCE = 5.0  # seconds that the larger timing run may take
LONGEST = 60.0  # seconds that one run may take
LIGHT = 200.0  # megabytes that a process takes at least
START = 3.0  # seconds until a process is ready
LEAST = 0.5  # seconds of the shortest run
SLOWER = 1.5  # factor between two timing runs from which a fixed part can be told apart
DEEPER = 2.0  # factor by which trees on distinct rows take longer than on repeated rows


@dataclass(frozen=True)
class Shape:
    """The size of a table: rows, columns, and megabytes in memory."""

    rows: int
    columns: int
    megabytes: float

    @classmethod
    def of(cls, table: Table) -> "Shape":
        """Return the size of a table."""
        return cls(table.n, len(table.names), table.data.nbytes / 1e6)


@dataclass(frozen=True, eq=False)
class Probe:
    """A timing run of a method: on a sample, with two policies that differ in k."""

    line: str
    policies: tuple[Policy, ...]
    sample: pa.Table
    aims: Aims


@dataclass(frozen=True)
class Probed:
    """The measured cost of a method: rows, k and seconds of each timing run, and the peak megabytes.

    `bounded` are the seconds that do not grow with the number of rows. `reason` says why the method cannot work on any
    part of this table, if so.
    """

    rows: tuple[int, ...] = ()
    k: tuple[int, ...] = ()
    made: tuple[float, ...] = ()
    measured: tuple[float, ...] = ()
    megabytes: float = 0.0
    reason: str = ""
    bounded: tuple[float, ...] = ()

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Probed":
        """Restore it from `as_dict`."""
        known: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in facts.items()}
        return cls(**known)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Estimate:
    """The cost of an exploration: number of runs, approximate seconds and megabytes, and processes.

    It is `short` if memory does not suffice for as many processes as requested.
    """

    runs: int
    seconds: float
    megabytes: float
    jobs: int
    short: bool = False

    def __str__(self) -> str:
        """Summarize it in one line."""
        if not self.runs:
            return "nothing left to run"
        processes = counted(self.jobs, "process", "processes")
        more = "; not enough memory for more at once" if self.short else ""
        cost = f"about {_round(self.seconds)} s and {_round(self.megabytes)} MB"
        return f"{counted(self.runs, 'run')}, {cost} in {processes}{more}"


def probes(points: Sequence[Point], table: Table, aims: Aims) -> list[Probe]:
    """Return the timing runs for these points: one for each method with its parameters, on a sample of the table."""
    some = np.sort(np.random.default_rng(0).permutation(table.n)[:SOME])
    sample = table.data.take(pa.array(some))
    found = []
    for line in dict.fromkeys(point.line for point in points if _within_rows(point.method, table.n)):
        own = sorted((point for point in points if point.line == line), key=lambda point: point.k)
        ends = {point.k: point.policy for point in (own[0], own[-1])}
        found.append(Probe(line, tuple(ends.values()), sample, aims))
    return found


def probe(task: Probe) -> Probed:
    """Run a method on a sample, and return how long it took."""
    whole, first = task.sample.num_rows, True
    times: list[tuple[int, int, float, float, float]] = []
    method, columns = task.policies[0].method.name, task.sample.num_columns
    for policy in task.policies:
        for rows in dict.fromkeys((min(FEW, whole), whole)):
            k = max(2, min(policy.constraints.k, rows // 4))
            smaller = Policy.of(policy, k=k)
            larger = times and rows > FEW
            expected = times[-1][2] * _times_as_long(method, columns, times[-1][0], rows) if larger else 0.0
            if expected > PATIENCE:
                continue
            sample = task.sample.slice(0, rows)
            try:
                with silently():
                    if first:
                        one_run(sample, smaller, 0, task.aims, 1)
                        first = False
                    run = one_run(sample, smaller, 0, task.aims, 1)
                    if run.made > SLOW:  # another loop may have been compiled for this many rows
                        again = one_run(sample, smaller, 0, task.aims, 1)
                        run = min(run, again, key=lambda one: one.made)
            except MethodError as problem:
                if not times:
                    return Probed(reason=str(problem))
                continue
            except ShoalError:
                continue  # a sample may lack what the table has
            times.append((rows, policy.constraints.k, run.made, run.measured, run.bounded))
    rows_, ks, made, measured, bounded = (tuple(column) for column in zip(*times, strict=True)) if times else ((),) * 5
    return Probed(rows_, ks, made, measured, peak(), bounded=bounded)


def seconds_of(point: Point, probed: Probed, shape: Shape) -> float:
    """Return the approximate seconds of all runs of a point on one core."""
    ends = sorted(set(probed.k))
    if not ends:
        return _stated(point.method, shape) * point.runs
    at = [_grown(point.method, probed, k, shape) for k in ends]
    return float(np.interp(np.log(point.k), np.log(ends), at)) * point.runs


def affordable(
    points: Sequence[Point], known: Mapping[str, Probed], shape: Shape, *, longest: float = LONGEST
) -> tuple[list[Point], list[Skipped], dict[str, float], dict[str, float]]:
    """Return the points within the limits, those beyond them, and the seconds and megabytes of each.

    `known` has the measured costs by line; `longest` are the seconds that one run may take.
    """
    kept: list[Point] = []
    skipped: list[Skipped] = []
    seconds: dict[str, float] = {}
    megabytes: dict[str, float] = {}
    available = free()
    for point in points:
        probed = known.get(point.line, Probed())
        cost = seconds_of(point, probed, shape)
        held = max(probed.megabytes, LIGHT) + _megabytes(point.method, shape)
        reason = probed.reason
        if not _within_rows(point.method, shape.rows):
            limit = methods.load(point.method).most_rows
            reason = f"{point.method}: accepts at most {limit:,} rows; the table has {shape.rows:,}."
        elif not reason and cost / point.runs > longest:
            one = f"one run would take about {_round(cost / point.runs)} s on {shape.rows:,} rows"
            reason = f"{point.name}: {one}; the limit is {longest:g} s."
        elif not reason and available is not None and held > SPARE * available:
            reason = f"{point.name}: one run would take about {_round(held)} MB; {_round(available)} MB are free."
        if reason:
            skipped.append(Skipped(point.name, reason))
            continue
        kept.append(point)
        seconds[point.name], megabytes[point.name] = cost, held
    return kept, _joined(points, skipped), seconds, megabytes


def estimate(
    points: Sequence[Point], seconds: Mapping[str, float], megabytes: Mapping[str, float], jobs: int
) -> Estimate:
    """Return the joint cost of points, from the seconds (on one core) and megabytes (of one process) of each."""
    if not points:
        return Estimate(0, 0.0, 0.0, jobs)
    costs = [seconds[point.name] for point in points]
    runs = sum(point.runs for point in points)
    most = max(megabytes[point.name] for point in points)
    busy = at_once(jobs, len(points), most)
    whole = START + max(sum(costs) / min(busy, cores()), *costs)
    return Estimate(runs, whole, 150.0 + most * busy, busy, busy < min(jobs, len(points)))


def _within_rows(method: str, n: int) -> bool:
    """Return whether a method accepts this many rows."""
    most = methods.load(method).most_rows
    return most is None or n <= most


def _stated(method: str, shape: Shape) -> float:
    """Return the seconds of a run according to the card of its method."""
    return LEAST + methods.load(method).cost(Task(shape.rows, shape.columns)).seconds


def _times_as_long(method: str, columns: int, rows: int, more: int) -> float:
    """Return how many times as long a method takes for more rows, according to its card."""
    cost = methods.load(method).cost
    return cost(Task(more, columns)).seconds / cost(Task(rows, columns)).seconds


def _grown(method: str, probed: Probed, k: int, shape: Shape) -> float:
    """Return the seconds of a run on all rows, extrapolated from samples."""
    trials = [place for place, one in enumerate(probed.k) if one == k]
    last = trials[-1]
    rows, made, measured = probed.rows[last], probed.made[last], probed.measured[last]
    fixed = 0.0
    if len(trials) > 1:
        few, quick = probed.rows[trials[0]], probed.made[trials[0]]
        more = max(SLOWER, _times_as_long(method, shape.columns, few, rows))
        fixed = max(0.0, min(quick, made) - max(0.0, made - quick) / (more - 1))
    grown = fixed + (made - fixed) * _times_as_long(method, shape.columns, rows, shape.rows)
    bounded = DEEPER * probed.bounded[last] if probed.bounded else 0.0
    return float(grown + measured * shape.rows / rows + bounded)


def _joined(points: Sequence[Point], skipped: Sequence[Skipped]) -> list[Skipped]:
    """Return what is left out, in one entry for a method of which nothing remains."""
    method = {point.name: point.method for point in points}
    gone = {one.name for one in skipped}
    found: dict[str, Skipped] = {}
    for one in skipped:
        name = method[one.name]
        whole = all(point.name in gone for point in points if point.method == name)
        found.setdefault(name if whole else one.name, Skipped(name if whole else one.name, one.reason))
    return list(found.values())


def _megabytes(method: str, shape: Shape) -> float:
    """Return the megabytes that a method on this table needs beyond those on a sample."""
    return 3 * shape.megabytes + methods.load(method).cost(Task(shape.rows, shape.columns)).megabytes


def _round(value: float) -> str:
    """Format a figure with two significant digits."""
    power = 10 ** max(0, int(np.floor(np.log10(max(value, 1.0)))) - 1)
    return f"{round(max(value, 1.0) / power) * power:,.0f}"
