"""The short loop for few rows rounds as blocks do: the groups are the same, also where rounding decides."""

import numpy as np
import pytest

from shoal.cluster.methods.mdav import mdav
from shoal.cluster.search import carving, carving_few

TABLES = {
    "random": lambda rng, n: rng.normal(size=(n, 3)),
    "ties": lambda rng, n: rng.integers(0, 4, (n, 2)).astype(np.float64),
    "rounded": lambda rng, n: rng.integers(0, 7, (n, 4)) * 0.1,
    "outliers": lambda rng, n: np.round(rng.standard_cauchy((n, 2)), 1),
    "equal": lambda rng, n: np.zeros((n, 1)),
}


@pytest.mark.parametrize("leftover", ["group", "nearest"])
@pytest.mark.parametrize("table", TABLES)
def test_few_rows_are_grouped_as_by_blocks(table, leftover, compiled, monkeypatch):
    rng = np.random.default_rng(7)
    # Blocks lay out the rest when a quarter of the rows has gone, which changes how sums are rounded.
    monkeypatch.setattr(carving_few, "THIRDS", 0)
    for n in (4, 10, 31, 33, 65, 200) if compiled else (4, 10, 33):
        X = TABLES[table](rng, n)
        for k in (2, 3, 5):
            if n >= k:
                monkeypatch.setattr(carving, "FEW", n)
                few = mdav(X, k, leftover).labels
                monkeypatch.setattr(carving, "FEW", 0)
                assert np.array_equal(few, mdav(X, k, leftover).labels), (n, k)
