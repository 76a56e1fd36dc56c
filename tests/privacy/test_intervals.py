"""Wilson's interval: figures worked out by hand, its ends, and that it holds the share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy.measures.intervals import wilson


def test_figures_worked_out_by_hand():
    # 5 of 10: middle (0.5 + 0.19207) / 1.38415 = 0.5; half 1.41592 * 0.18605 = 0.26341.
    assert wilson(5, 10) == pytest.approx((0.236593, 0.763407), abs=1e-6)
    # None of 100: z² / (n + z²) = 3.84146 / 103.84146.
    assert wilson(0, 100) == pytest.approx((0.0, 0.036993), abs=1e-6)


def test_without_trials_anything_may_be():
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 5000), st.floats(0, 1))
def test_the_interval_holds_the_share_and_ends_at_nothing_and_all(trials, part):
    successes = part * trials
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    assert wilson(0, trials)[0] == 0
    assert wilson(trials, trials)[1] == 1
    mirrored = wilson(trials - successes, trials)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-9)
