"""Random streams: even, repeatable, and different for every seed."""

import numpy as np

from callable_loops import uniform
from shoal.kernels.random_streams import stream


def numbers(seed, count=4000):
    state = stream(*seed)
    return np.array([uniform(state) for _ in range(count)])


def test_numbers_are_spread_evenly_from_0_to_1():
    drawn = numbers((7,))
    assert 0 <= drawn.min() < 0.01
    assert 0.99 < drawn.max() < 1
    shares = np.histogram(drawn, 10, (0, 1))[0] / drawn.size
    assert abs(shares - 0.1).max() < 0.02
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.05


def test_a_stream_depends_on_all_of_its_seeds_and_on_nothing_else():
    assert (numbers((1, 2, 3), 50) == numbers((1, 2, 3), 50)).all()
    for other in ((1, 2, 4), (1, 3, 3), (2, 2, 3), (1, 2)):
        assert (numbers((1, 2, 3), 50) != numbers(other, 50)).all()


def test_the_largest_seed_of_a_policy_is_accepted():
    assert numbers((2**64 - 1, 0), 5).max() < 1
