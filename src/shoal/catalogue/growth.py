"""How time and memory of a method grow with its input: declared on its card, read by estimates and explorations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

ROWS, COLUMNS, K = 10_000, 10, 5  # the input for which a card states seconds
FLAT = 15  # columns that cost as much as what does not depend on columns
BYTES_PER_CELL = 64  # of a matrix, its copies and the arrays of a method


@dataclass(frozen=True)
class Task:
    """What a method is to do: rows, columns, k, parameters, whether limits on sensitive values bind, and threads."""

    rows: int
    columns: int
    k: int = K
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limited: bool = False
    threads: int = 1


@dataclass(frozen=True)
class Cost:
    """Approximate seconds, and megabytes on top of what the table takes."""

    seconds: float
    megabytes: float


Costing = Callable[[Task], Cost]


@dataclass(frozen=True)
class Growth:
    """How time and memory of a method grow with the number of rows n.

    Parameters
    ----------
    power : float
        Time grows as n to this power.
    linear_beyond : int, optional
        From this many rows on, the table is divided into cells, and time and memory grow as n.
    bytes_per_pair : float
        Memory per pair of rows, on top of what every method needs for a table.
    seconds : float
        For 10,000 rows of 10 columns and k = 5 on one core, to within a factor of two.
    k_power : float
        Time grows as k to this power: -1 if it is proportional to the number of groups.
    efforts : mapping of str to float
        Time as a multiple of `seconds` for each value of the parameter `effort`.
    limited : float
        Time as a multiple of `seconds` under limits on sensitive values.
    parallel : float
        The share of the time that several threads share, from 10,000 rows on.
    """

    power: float = 2.0
    linear_beyond: int | None = None
    bytes_per_pair: float = 0.0
    seconds: float = 5.0
    k_power: float = 0.0
    efforts: Mapping[str, float] = field(default_factory=dict)
    limited: float = 1.0
    parallel: float = 0.0

    def __call__(self, task: Task) -> Cost:
        """Return the cost of a task.

        Examples
        --------
        >>> Growth(2.0, seconds=3.0)(Task(20_000, 10)).seconds
        12.0
        """
        n = task.rows
        within = n if self.linear_beyond is None else min(n, self.linear_beyond)
        seconds = self.seconds * (within / ROWS) ** self.power * n / max(1, within)
        seconds *= (task.columns + FLAT) / (COLUMNS + FLAT) * (task.k / K) ** self.k_power
        seconds *= self.efforts.get(str(task.parameters.get("effort", "")), 1.0) * (self.limited if task.limited else 1)
        shared = self.parallel if n >= ROWS else 0.0
        seconds *= 1 - shared + shared / task.threads
        return Cost(seconds, (BYTES_PER_CELL * n * task.columns + self.bytes_per_pair * within * within) / 1e6)
