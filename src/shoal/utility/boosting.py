"""Gradient boosting for measures: trees that take gaps as they come.

Threads of a small fit wait for each other at every node of every tree. On a machine that has other things to do they
wait a hundred times longer than they work, so that fewer rows than `MANY` are left to one of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

__all__ = ["boosted"]

MANY = 100_000


@contextmanager
def boosted(rows: int, seed: int) -> Iterator[Any]:
    """Give a classifier that has not learnt yet, for as long as the block runs.

    Parameters
    ----------
    rows : int
        That it will learn from, about.
    seed : int
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1, user_api="openmp") if rows < MANY else nullcontext():
        yield HistGradientBoostingClassifier(random_state=seed)
