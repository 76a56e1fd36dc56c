"""What a whole run will cost: approximate seconds of its steps and megabytes at the peak, before groups are formed.

The method states its own cost on its card. The other steps take a time per cell; the figures below were measured on
two cores by `python -m benchmarks.estimates`, which also checks the estimates. Compiling the loops is not included.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.catalogue import Task, methods
from shoal.catalogue.method_card import USUAL
from shoal.model.policy import Policy
from shoal.pipeline.grouping import limits_of
from shoal.pipeline.items import grouped
from shoal.pipeline.ready import Ready
from shoal.utility.plane import MOST_ROWS

START = 0.7  # seconds until a command has started
# Seconds per cell.
READ = 5e-7  # to read, profile and encode
RECODE = {"numeric": 3e-7, "mixed": 2.2e-6}  # to recode and judge, after a method on numbers and on mixed data
MEASURE = 9e-7
WRITE = 5e-7  # to write the release, and to check it
REPORT, HOLD = 3e-7, 4e-6  # to make the public report, and that of the holder for as many cells as are measured in full
SAMPLED, OF_SAMPLE = 1_000_000, 8e-7  # cells from which measures of the holder's report use a sample; seconds per cell
FIXED, DRAWN, HELD = 0.4, 0.3, 0.7  # seconds of measuring and of the two reports for a table of any size
# Megabytes.
PROGRAM = 320.0  # of the program
PER_CELL = 60e-6  # at the peak, besides what the method needs
PRIVATE, WIDE = 100.0, 20e-6  # of the holder's report, and per cell of a matrix with a column per category
CATEGORIES = 100  # of a column of that matrix, at most
SMALLEST_SHARE = 0.3  # of the time of a search that cannot be cut off: its start


@dataclass(frozen=True)
class Writing:
    """What is written after a release is made: nothing, unless it is `saved`."""

    saved: bool = False
    report: bool = False
    private: bool = False


@dataclass(frozen=True)
class RunCost:
    """Approximate seconds before, in and after forming the groups, the least for the groups, and megabytes in all.

    `choice` is the sentence of `auto` on its choice among methods on numbers, if it chose.
    """

    method: str
    parameters: dict[str, Any]
    choice: str
    before: float
    grouping: float
    least: float
    after: float
    megabytes: float

    @property
    def seconds(self) -> float:
        """The seconds of the whole run."""
        return self.before + self.grouping + self.after

    def __str__(self) -> str:
        seconds = self.seconds if self.seconds >= 10 else max(1, round(self.seconds))
        return f"about {rounded(seconds)} s and {rounded(max(10.0, self.megabytes))} MB"


def run_cost(ready: Ready, threads: int, writing: Writing) -> RunCost:
    """Return the approximate cost of a run on a table that is ready."""
    named, n = grouped(ready.policy, ready.arranged.n), ready.arranged.n
    task = _task(ready, named, threads)
    name, parameters, choice = _chosen(named, task, weighted=ready.encoded.weights is not None)
    card = methods.load(name)
    of_method = card.cost(replace(task, parameters=parameters))
    cells = n * max(1, len(named.columns))
    after = FIXED + cells * (RECODE[card.data] + MEASURE)
    megabytes = PROGRAM + cells * PER_CELL + of_method.megabytes
    if writing.saved:
        after += cells * WRITE
    if writing.report:
        after += DRAWN + cells * REPORT
    if writing.report and writing.private:
        after += HELD + min(cells, SAMPLED) * HOLD + max(0, cells - SAMPLED) * OF_SAMPLE
        megabytes += PRIVATE + min(n, MOST_ROWS) * _width(ready) * WIDE
    refining = _refining(named, task)
    grouping = of_method.seconds + refining
    least = 0.0 if card.growth is USUAL else grouping * (SMALLEST_SHARE if card.ends_early else 1.0)
    return RunCost(name, parameters, choice, START + cells * READ, grouping, least, after, megabytes)


def rounded(value: float, *, up: bool = False) -> str:
    """Write an estimate with two significant digits; with `up`, never less than it is.

    Examples
    --------
    >>> rounded(1234.5), rounded(3.4), rounded(2.02, up=True), rounded(301, up=True)
    ('1,200', '3.4', '2.1', '310')
    """
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    figure = step * (math.ceil(value / step - 0.01) if up else round(value / step))
    return f"{figure:,.3g}" if figure < 100 else f"{figure:,.0f}"


def _task(ready: Ready, policy: Policy, threads: int) -> Task:
    """Return the task of the method: for a method on mixed data the quasi-identifiers, else the columns that vary."""
    limits = limits_of(policy, ready.sensitive)
    X = ready.encoded.X
    columns = len(policy.names("quasi")) if ready.encoded.columns is not None else _varying(X)
    limited = limits is not None and limits.binding
    return Task(ready.arranged.n, columns, policy.constraints.k, policy.method.parameters, limited, threads)


def _width(ready: Ready) -> int:
    """Return the columns of a matrix with a column per category, for a table of mixed data; 0 for one of numbers."""
    columns = ready.encoded.columns
    if columns is None:
        return 0
    from shoal.kernels.columns import RANGE

    distinct = columns.codes.max(axis=0) + 1
    return int(np.minimum(distinct, CATEGORIES)[columns.kind != RANGE].sum())


def _varying(X: Any) -> int:
    """Return how many columns of a matrix vary."""
    return int((X.max(axis=0) > X.min(axis=0)).sum()) if len(X) else 0


def _chosen(policy: Policy, task: Task, *, weighted: bool) -> tuple[str, dict[str, Any], str]:
    """Return the method that will run, the parameters given, and for `auto` the sentence on its choice."""
    method = policy.method
    if method.name != "auto":
        return method.name, dict(method.parameters), ""
    from shoal.cluster.methods.auto import plan

    effort = str(method.parameters.get("effort", "quick"))
    found = plan(task.rows, task.columns, task.k, effort, limited=task.limited, weighted=weighted)
    return found.method, found.parameters, str(found)


def _refining(policy: Policy, task: Task) -> float:
    """Return the seconds of the optional search that follows the method."""
    if policy.method.refine == "none":
        return 0.0
    from shoal.cluster.search.effort import search_cost

    return search_cost(replace(task, parameters={"effort": policy.method.refine})).seconds
