"""What a whole run will cost: approximate seconds of its steps and megabytes at the peak, before groups are formed.

The method states its own cost on its card. The other steps take a time per cell; the figures below were measured on
two cores by `python -m benchmarks.estimates`, which also checks the estimates. Compiling the loops is not included.
"""

from dataclasses import dataclass, replace
from typing import Any

from shoal.catalogue import Task, methods
from shoal.catalogue.method_card import USUAL
from shoal.model.policy import Policy
from shoal.pipeline.grouping import limits_of
from shoal.pipeline.items import grouped
from shoal.pipeline.ready import Ready

START = 1.0  # seconds until a command has started
READ, PUBLISH, MEASURE = 1.0e-7, 3.0e-7, 5.0e-7  # seconds per cell: to read and encode; to recode and judge; to measure
WRITE, REPORT, HOLD = 5.0e-7, 2.0e-7, 8.0e-7  # to write and check; to draw the public report; and that of the holder
FIXED, DRAWN = 0.3, 0.7  # seconds of measuring and of each report for a table of any size
PROGRAM = 260.0  # megabytes of the program
HELD = 60e-6  # megabytes per cell at the peak, besides what the method needs
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
        return f"about {rounded(max(1.0, self.seconds))} s and {rounded(max(10.0, self.megabytes))} MB"


def run_cost(ready: Ready, threads: int, writing: Writing) -> RunCost:
    """Return the approximate cost of a run on a table that is ready."""
    named, n = grouped(ready.policy, ready.arranged.n), ready.arranged.n
    task = _task(ready, named, threads)
    name, parameters, choice = _chosen(named, task, weighted=ready.encoded.weights is not None)
    card = methods.load(name)
    of_method = card.cost(replace(task, parameters=parameters))
    cells = n * max(1, len(named.columns))
    after = FIXED + cells * (PUBLISH + MEASURE)
    if writing.saved:
        after += cells * WRITE
        after += (DRAWN + cells * REPORT) * writing.report
        after += (cells * HOLD + DRAWN * writing.report) * writing.private
    refining = _refining(named, task)
    grouping = of_method.seconds + refining
    least = 0.0 if card.growth is USUAL else grouping * (SMALLEST_SHARE if card.ends_early else 1.0)
    megabytes = PROGRAM + cells * HELD + of_method.megabytes
    return RunCost(name, parameters, choice, START + cells * READ, grouping, least, after, megabytes)


def rounded(value: float) -> str:
    """Write an estimate with one significant digit.

    Examples
    --------
    >>> rounded(1234.5)
    '1,000'
    """
    return f"{float(f'{value:.0e}'):,.0f}"


def _task(ready: Ready, policy: Policy, threads: int) -> Task:
    """Return the task of the method: for a method on mixed data the quasi-identifiers, else the columns that vary."""
    limits = limits_of(policy, ready.sensitive)
    X = ready.encoded.X
    columns = len(policy.names("quasi")) if ready.encoded.columns is not None else _varying(X)
    limited = limits is not None and limits.binding
    return Task(ready.arranged.n, columns, policy.constraints.k, policy.method.parameters, limited, threads)


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
