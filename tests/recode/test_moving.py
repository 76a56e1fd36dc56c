"""Means that fit only the rows of their class are moved towards other rows."""

from itertools import combinations

import numpy as np
import pytest

from shoal.recode.moving import moves


def grouped(n, d, k, seed=0):
    """Return normal rows in classes of neighbours in the first column."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    labels = np.empty(n, np.int64)
    labels[np.argsort(X[:, 0])] = np.minimum(np.arange(n) // k, n // k - 1)
    return X, labels


def stands_out(X, members, place, steps):
    """Return whether a class is the only set of rows that fits, or by far the closest: all sets are tried."""
    sets = np.array(list(combinations(range(len(X)), len(members))))
    away = (np.abs(X[sets].mean(axis=1) - place) / steps).max(axis=1)
    own = (sets == np.sort(members)).all(axis=1)
    fit = away <= 0.5
    if fit.any():
        return bool(fit[own].all() and fit.sum() == 1)
    return bool(own[np.argmin(away)] and (away <= 2 * away.min()).sum() == 1)


@pytest.mark.slow
@pytest.mark.parametrize(("d", "k", "seed"), [(2, 3, 0), (3, 3, 1), (2, 2, 2), (2, 4, 3)])
def test_moved_classes_do_not_stand_out_among_all_sets(d, k, seed):
    X, labels = grouped(40, d, k, seed)
    steps = np.full(d, 0.02)
    found = moves(X, labels, steps)
    moved = np.flatnonzero(found.any(axis=1))
    assert moved.size >= 3
    for one in moved.tolist():
        members = np.flatnonzero(labels == one)
        nearest = np.floor(X[members].mean(axis=0) / steps + 0.5)
        assert k > 3 or stands_out(X, members, nearest * steps, steps)  # all sets of up to three rows are searched
        assert not stands_out(X, members, (nearest + found[one]) * steps, steps)


@pytest.mark.slow
def test_moves_cost_at_most_one_part_in_a_hundred():
    for seed in range(5):
        X, labels = grouped(300, 3, 3, seed)
        steps = np.full(3, 0.05)
        means = np.array([X[labels == one].mean(axis=0) for one in range(labels.max() + 1)])
        places = (np.floor(means / steps + 0.5) + moves(X, labels, steps)) * steps
        spread = X.std(axis=0)
        loss = (((places - means)[labels] / spread) ** 2).sum() / (((X - means[labels]) / spread) ** 2).sum()
        assert 0 < loss <= 0.01
        assert moves(X, labels, steps).any()


def test_nothing_moves_where_no_attack_succeeds():
    X, labels = grouped(300, 7, 3)
    assert not moves(X, labels, np.full(7, 0.05)).any()  # too many columns
    X, labels = grouped(300, 3, 12)
    assert not moves(X, labels, np.full(3, 0.05)).any()  # large classes
    X, labels = grouped(300, 3, 3)
    assert not moves(X, labels, np.full(3, 5.0)).any()  # steps that already cost too much
    X[:, 0] = np.nan
    assert not moves(X, labels, np.full(3, 0.05)).any()  # missing values
    assert not moves(np.zeros((6, 2)), np.arange(6) // 3, np.ones(2)).any()  # no spread


def test_a_missing_value_keeps_only_its_own_class_in_place():
    X, labels = grouped(60, 2, 3)
    steps = np.full(2, 1 / 64)
    X[labels == 0, 0] = np.nan
    here = moves(X, labels, steps)
    assert here.any()
    assert not here[0].any()
    assert (here[1:] == moves(X[labels > 0], labels[labels > 0] - 1, steps)).all()


def test_shifted_and_scaled_rows_move_the_same_way():
    X, labels = grouped(60, 2, 3)
    steps = np.full(2, 1 / 64)
    here = moves(X, labels, steps)
    assert here.any()
    assert (moves(X + 1024, labels, steps) == here).all()
    assert (moves(X * 2.0**300, labels, steps * 2.0**300) == here).all()
