"""Budget: the time of an exploration, and which points are started within it.

1. The pre-flight has a tenth of the budget, at most 15 s; a part is kept for drawing the last page.
2. A point is started if its estimated time fits into what is left; otherwise the next one that fits. Estimates are
   corrected by the points that have finished, of the same method if there are any.
3. What is running when the budget ends is stopped. No result depends on that: a point is complete, or left out.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence

from shoal.exploration.plan import Point, Skipped

USUAL = 300.0  # seconds
TRIALS = 15.0  # seconds of the pre-flight
SHARE = 0.1  # of the budget for the pre-flight
CLOSING, MOST_CLOSING = 0.05, 15.0  # share of the budget that is kept for the end, and seconds


class Budget:
    """The times, as of `time.monotonic`, at which parts of an exploration end; None sets no limit."""

    def __init__(self, seconds: float | None) -> None:
        now = time.monotonic()
        self.seconds = seconds
        whole = math.inf if seconds is None else seconds
        self.trials = now + min(TRIALS, SHARE * whole)
        self.runs = now + whole - min(MOST_CLOSING, CLOSING * whole)

    @property
    def left(self) -> float:
        """The seconds left for runs."""
        return self.runs - time.monotonic()


class Schedule:
    """The points of an exploration, in the order given, as long as they fit into the budget."""

    def __init__(self, points: Sequence[Point], seconds: Mapping[str, float], budget: Budget) -> None:
        self.waiting = list(points)
        self.started: list[Point] = []
        self._seconds, self._budget = seconds, budget
        self._done: set[str] = set()
        self._taken: dict[str, list[tuple[float, float]]] = {}  # by line: expected and measured seconds

    def __iter__(self) -> Iterator[Point]:
        """Yield each point that is started; what remains `waiting` did not fit."""
        while (point := next((one for one in self.waiting if self.fits(one)), None)) is not None:
            self.waiting.remove(point)
            self.started.append(point)
            yield point

    def warning(self) -> str:
        """Name the points that do not fit from the start."""
        beyond = [point.name for point in self.waiting if not self.fits(point)]
        return f" One run alone would exceed it: {', '.join(beyond)}." if beyond else ""

    def fits(self, point: Point) -> bool:
        """Return whether a point probably ends in time."""
        return self._seconds[point.name] * self._pace(point.line) <= self._budget.left

    def finished(self, point: Point, seconds: float) -> None:
        """Note how long a point took; one that failed, of 0 seconds, says nothing about others."""
        self._done.add(point.name)
        if seconds:
            self._taken.setdefault(point.line, []).append((self._seconds[point.name], seconds))

    def late(self) -> list[Skipped]:
        """Return the points that were not finished in time."""
        stopped = [one.name for one in self.started if one.name not in self._done]
        words = dict.fromkeys(stopped, "it was stopped at the end of the budget")
        words |= {one.name: "it would have exceeded the budget" for one in self.waiting}
        return [Skipped(name, f"{name}: {why}.", late=True) for name, why in words.items()]

    def _pace(self, line: str) -> float:
        """Return how many times as long as expected points take, so far."""
        known = self._taken.get(line) or [pair for pairs in self._taken.values() for pair in pairs]
        expected, measured = sum(one for one, _ in known), sum(one for _, one in known)
        return measured / expected if expected and measured else 1.0
