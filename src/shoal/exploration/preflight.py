"""Pre-flight: what an exploration will cost, found out before it starts.

1. Each method is run on 250 rows by chance, and on 1,000 if that will not take long: with the least k and the largest.
   One run before these is not timed, because it may compile. Seconds are a processor's, as if nobody else used it.
2. Seconds grow as a + b n^e with the number of rows, where e is known of each method; so do those of other k, between
   the two that were tried.
3. Points that would take longer than the limit, or of which one alone would take more memory than there is, are left
   out, and the reason is told. Where memory is short of several at once, fewer processes work.

Estimates are good to a factor of two or three.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.catalogue import methods
from shoal.errors import MethodError, ShoalError
from shoal.exploration.memory import SPARE, at_once, free
from shoal.exploration.plan import Point, Skipped
from shoal.exploration.points import Aims, one_run, peak
from shoal.exploration.spawned import cores
from shoal.model.policy import Policy
from shoal.model.progress import silently
from shoal.model.table import Table

__all__ = ["LONGEST", "Estimate", "Probe", "Probed", "Shape", "affordable", "estimate", "probe", "probes", "seconds_of"]

FEW, SOME = 250, 1_000  # rows of the trials
SLOW = 2.0  # seconds after which a trial is made twice
PATIENCE = 5.0  # seconds that the larger trial may take
LONGEST = 60.0  # seconds that one run may take
LIGHT = 200.0  # megabytes that a process takes at the least
START = 3.0  # seconds until a process is ready
DEEPER = 2.0  # times that trees of many different rows take those of the same rows many times


@dataclass(frozen=True)
class Shape:
    """How large a table is: rows, columns, and megabytes as it was read."""

    rows: int
    columns: int
    megabytes: float

    @classmethod
    def of(cls, table: Table) -> "Shape":
        """Return how large a table is."""
        return cls(table.n, len(table.names), table.data.nbytes / 1e6)


@dataclass(frozen=True, eq=False)
class Probe:
    """What is to be tried of a method: on a sample, with two policies that differ in k."""

    line: str
    policies: tuple[Policy, ...]
    sample: pa.Table
    aims: Aims


@dataclass(frozen=True)
class Probed:
    """What the trials of a method told.

    Parameters
    ----------
    rows, k : tuples of int
        Of each trial.
    made, measured : tuples of float
        Seconds of each.
    megabytes : float
        That the process held.
    reason : str
        Why it can work on no part of this table, if so.
    bounded : tuple of float
        Seconds of what does not take longer for more rows.
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
        """Return what `as_dict` gave, as it was."""
        known: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in facts.items()}
        return cls(**known)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Estimate:
    """What an exploration will cost: how many runs, and about how many seconds and megabytes on so many processes.

    It is `short` if memory is not enough for as many processes as were asked for.
    """

    runs: int
    seconds: float
    megabytes: float
    jobs: int
    short: bool = False

    def __str__(self) -> str:
        """Say it in a line."""
        if not self.runs:
            return "nothing is left to run"
        runs = "1 run" if self.runs == 1 else f"{self.runs:,} runs"
        many = "process" if self.jobs == 1 else "processes"
        more = "; memory is not enough for more at once" if self.short else ""
        return f"{runs}, about {_round(self.seconds)} s and {_round(self.megabytes)} MB in {self.jobs} {many}{more}"


def probes(points: Sequence[Point], table: Table, aims: Aims) -> list[Probe]:
    """Return the trials that tell what these points cost: one for each method with its parameters.

    Parameters
    ----------
    points : sequence of Point
    table : Table
        Of which a sample is taken.
    aims : Aims
    """
    some = np.sort(np.random.default_rng(0).permutation(table.n)[:SOME])
    sample = table.data.take(pa.array(some))
    found = []
    for line in dict.fromkeys(point.line for point in points if _within_rows(point.method, table.n)):
        own = sorted((point for point in points if point.line == line), key=lambda point: point.k)
        ends = {point.k: point.policy for point in (own[0], own[-1])}
        found.append(Probe(line, tuple(ends.values()), sample, aims))
    return found


def probe(task: Probe) -> Probed:
    """Run a method on a sample, and say how long it took.

    Parameters
    ----------
    task : Probe
    """
    whole, first = task.sample.num_rows, True
    times: list[tuple[int, int, float, float, float]] = []
    power = methods.load(task.policies[0].method.name).growth.power
    for policy in task.policies:
        for rows in dict.fromkeys((min(FEW, whole), whole)):
            k = max(2, min(policy.constraints.k, rows // 4))
            smaller = Policy.of(policy, k=k)
            expected = times[-1][2] * (rows / times[-1][0]) ** power if times and rows > FEW else 0.0
            if expected > PATIENCE:
                continue
            sample = task.sample.slice(0, rows)
            try:
                with silently():
                    if first:
                        one_run(sample, smaller, 0, task.aims, 1)
                        first = False
                    run = one_run(sample, smaller, 0, task.aims, 1)
                    if run.made > SLOW:  # another loop may have been compiled for so many rows
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


def seconds_of(point: Point, probed: Probed, n: int) -> float:
    """Return about how many seconds all runs of a point take, on one core.

    Parameters
    ----------
    point : Point
    probed : Probed
        Of its method.
    n : int
        The rows of the table.
    """
    ends = sorted(set(probed.k))
    if not ends:
        return 1.0
    at = [_grown(point.method, probed, k, n) for k in ends]
    one = float(np.interp(np.log(point.k), np.log(ends), at))
    return one * point.runs


def affordable(
    points: Sequence[Point], known: Mapping[str, Probed], shape: Shape, *, longest: float = LONGEST
) -> tuple[list[Point], list[Skipped], dict[str, float], dict[str, float]]:
    """Return the points that can be afforded, those that cannot, and the seconds and megabytes of each.

    Parameters
    ----------
    points : sequence of Point
    known : mapping of str to Probed
        By the line of the point.
    shape : Shape
    longest : float
        Seconds that one run may take.
    """
    kept: list[Point] = []
    skipped: list[Skipped] = []
    seconds: dict[str, float] = {}
    megabytes: dict[str, float] = {}
    room = free()
    for point in points:
        probed = known.get(point.line, Probed())
        cost = seconds_of(point, probed, shape.rows)
        held = max(probed.megabytes, LIGHT) + _megabytes(point.method, shape)
        reason = probed.reason
        if not _within_rows(point.method, shape.rows):
            limit = methods.load(point.method).most_rows
            reason = f"{point.method}: takes at most {limit:,} rows, and the table has {shape.rows:,}."
        elif not reason and cost / point.runs > longest:
            one = _round(cost / point.runs)
            reason = (
                f"{point.name}: one run would take about {one} s on {shape.rows:,} rows; the limit is {longest:g} s."
            )
        elif not reason and room is not None and held > SPARE * room:
            reason = f"{point.name}: one run would take about {_round(held)} MB, and {_round(room)} are free."
        if reason:
            skipped.append(Skipped(point.name, reason))
            continue
        kept.append(point)
        seconds[point.name], megabytes[point.name] = cost, held
    return kept, _joined(points, skipped), seconds, megabytes


def estimate(
    points: Sequence[Point], seconds: Mapping[str, float], megabytes: Mapping[str, float], jobs: int
) -> Estimate:
    """Return what these points cost together.

    Parameters
    ----------
    points : sequence of Point
    seconds, megabytes : mappings of str to float
        By the name of the point, on one core and of one process.
    jobs : int
        How many processes were asked for; there are no more than points, and than memory is enough for.
    """
    if not points:
        return Estimate(0, 0.0, 0.0, jobs)
    costs = [seconds[point.name] for point in points]
    runs = sum(point.runs for point in points)
    most = max(megabytes[point.name] for point in points)
    busy = at_once(jobs, len(points), most)
    whole = START + max(sum(costs) / min(busy, cores()), *costs)
    return Estimate(runs, whole, 150.0 + most * busy, busy, busy < min(jobs, len(points)))


def _within_rows(method: str, n: int) -> bool:
    """Say whether a method takes so many rows."""
    most = methods.load(method).most_rows
    return most is None or n <= most


def _grown(method: str, probed: Probed, k: int, n: int) -> float:
    """Return the seconds of a run on n rows, from those on samples."""
    trials = [place for place, one in enumerate(probed.k) if one == k]
    growth = methods.load(method).growth
    power, cell = growth.power, growth.linear_beyond
    last = trials[-1]
    rows, made, measured = probed.rows[last], probed.made[last], probed.measured[last]
    within = n if cell is None else min(n, max(cell, rows))
    fixed = 0.0
    if len(trials) > 1:
        few, quick = probed.rows[trials[0]], probed.made[trials[0]]
        fixed = max(0.0, min(quick, made) - max(0.0, made - quick) / ((rows / few) ** power - 1))
    grown = fixed + (made - fixed) * float((within / rows) ** power)
    bounded = DEEPER * probed.bounded[last] if probed.bounded else 0.0
    return float((grown * n / within) + measured * n / rows + bounded)


def _joined(points: Sequence[Point], skipped: Sequence[Skipped]) -> list[Skipped]:
    """Return what is left out, in one line for a method of which nothing is left."""
    method = {point.name: point.method for point in points}
    gone = {one.name for one in skipped}
    found: dict[str, Skipped] = {}
    for one in skipped:
        name = method[one.name]
        whole = all(point.name in gone for point in points if point.method == name)
        found.setdefault(name if whole else one.name, Skipped(name if whole else one.name, one.reason))
    return list(found.values())


def _megabytes(method: str, shape: Shape) -> float:
    """Return the megabytes that a table and a method on it take, beyond what a process holds on a sample."""
    growth = methods.load(method).growth
    rows = min(shape.rows, growth.linear_beyond or shape.rows)
    return 3 * shape.megabytes + (64 * shape.rows * shape.columns + growth.bytes_per_pair * rows * rows) / 1e6


def _round(value: float) -> str:
    """Return a figure with two digits that count."""
    power = 10 ** max(0, int(np.floor(np.log10(max(value, 1.0)))) - 1)
    return f"{round(max(value, 1.0) / power) * power:,.0f}"
