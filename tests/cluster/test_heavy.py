"""The groups with most of the loss are searched once more, and no others change."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from shoal.cluster.methods.mdav import mdav
from shoal.cluster.search.heavy import lightened
from shoal.cluster.search.limits import Limits
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values
from shoal.utility.loss import sse

RNG = np.random.default_rng(0)
TAILED = RNG.standard_t(1.5, (400, 3))
EVEN = np.repeat(100.0 * np.arange(100), 4)[:, None] + np.tile(np.arange(4.0), 100)[:, None]


def mixed_up(X, k=4, seed=1):
    """Groups of MDAV whose outermost rows have been exchanged."""
    labels = mdav(X, k).labels.copy()
    far = np.argsort(-np.abs(X).max(axis=1))[:30]
    labels[far] = np.random.default_rng(seed).permutation(labels[far])
    return labels


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 2])
def test_the_loss_of_a_few_heavy_groups_is_reduced(threads):
    start = mixed_up(TAILED)
    found = lightened(TAILED, start, 4, "swift", None, 0, threads)
    ones = np.ones(400)
    assert sse(TAILED, found, ones) < 0.7 * sse(TAILED, start, ones)
    assert np.bincount(found).min() >= 4
    assert_array_equal(found, lightened(TAILED, start, 4, "swift", None, 0, 1))


def test_evenly_spread_loss_is_left_unchanged():
    start = mdav(EVEN, 4).labels
    assert lightened(EVEN, start, 4, "swift", None, 0, 1) is start
    few = mdav(TAILED[:40], 4).labels
    assert lightened(TAILED[:40], few, 4, "swift", None, 0, 1) is few


@pytest.mark.compiled
def test_limits_still_hold():
    values = Values((np.arange(400) % 2).astype(np.int64))
    start = np.arange(400) // 4
    asked = Constraints(k=4, l=2)
    found = lightened(TAILED, start, 4, "swift", Limits.of(asked, {"a": values}), 0, 1)
    assert not failing(found, asked, {"a": values}).any()
    assert sse(TAILED, found, np.ones(400)) < sse(TAILED, start, np.ones(400))
