"""Figures of partitions, from their definitions, for tests of methods."""

import tomllib
from pathlib import Path

import numpy as np


def standardized(X, ddof=0):
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=ddof)


def sse(X, labels, weights=None):
    """Squared distances to the (weighted) means of the groups."""
    weights = np.ones(len(X)) if weights is None else np.asarray(weights)
    total = 0.0
    for group in range(labels.max() + 1):
        rows, w = X[labels == group], weights[labels == group]
        total += float((w[:, None] * (rows - np.average(rows, axis=0, weights=w)) ** 2).sum())
    return total


def golden(name):
    return tomllib.loads((Path(__file__).parent / "golden" / f"{name}.toml").read_text(encoding="utf-8"))
