"""Gradient boosting for measures: trees that handle missing values.

Threads of a small fit wait for each other at every node of every tree. On a busy machine they wait a hundred times
longer than they work, so a fit of fewer than `MANY` rows uses one thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from shoal.model.seeds import for_sklearn

MANY = 100_000


@contextmanager
def boosted(rows: int, seed: int) -> Iterator[Any]:
    """Yield an unfitted classifier that will learn from about this many rows, for as long as the block runs."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1, user_api="openmp") if rows < MANY else nullcontext():
        yield HistGradientBoostingClassifier(random_state=for_sklearn(seed))
