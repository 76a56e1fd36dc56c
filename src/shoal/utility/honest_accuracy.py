"""Honest accuracy: whether a classifier trained on the release is right about the original rows.

A classifier is trained on released rows and tested on the original rows of others, in three folds, so that every row is
tested once. For comparison: the same classifier trained on the original, and always predicting the most frequent label.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from shoal.model.findings import Finding
from shoal.model.seeds import for_sklearn
from shoal.privacy.measures.intervals import wilson
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.verdict.values import read_column
from shoal.utility.boosting import boosted
from shoal.utility.fidelity import features

FOLDS = 3


def honest_accuracy(columns: Sequence[Pair], label: pa.ChunkedArray, seed: int = 0) -> tuple[Finding, ...]:
    """Measure accuracy on original held-out rows; nothing if labels or columns do not allow it.

    Columns of truthful forms are left out. `label` is what is predicted, row by row, published unchanged.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    plain = [column for column in columns if not column.truthful]
    y = read_column(label).codes
    counts = np.bincount(y)
    if not plain or counts.size < 2 or counts.min() < FOLDS:
        return ()
    before, after = features(plain)
    right = {"released": 0, "original": 0}
    with boosted(len(y), seed) as untaught:
        for learn, ask in StratifiedKFold(FOLDS, shuffle=True, random_state=for_sklearn(seed)).split(before, y):
            for name, X in (("released", after), ("original", before)):
                model = clone(untaught).fit(X[learn], y[learn])
                right[name] += int((model.predict(before[ask]) == y[ask]).sum())
    n = len(y)
    return (
        _share("honest accuracy %", right["released"], n, "trained on released rows, tested on original ones"),
        _share("accuracy of the original %", right["original"], n, "trained on original rows, tested on others"),
        Finding("majority rate %", 100 * counts.max() / n, "the most frequent label alone", "pair", unit="%"),
    )


def _share(name: str, right: int, n: int, how: str) -> Finding:
    """Return a share in per cent with Wilson's interval."""
    low, high = wilson(right, n)
    return Finding(name, 100 * right / n, how, "pair", (100 * low, 100 * high), unit="%")
