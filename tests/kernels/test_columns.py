"""The algebra of columns: the twin, the laws of joins, and losses that never fall."""

import random

import numpy as np
import pytest

from callable_loops import add, clear, join_loss, loss, pair_loss
from mixed import random_table
from naive.columns import loss as naive_loss
from shoal.kernels.columns import Range, Set, Tree, columns_of, hulls_of


def hull_of(columns, rows):
    hull = hulls_of(columns, 1)
    for row in rows:
        add(columns, hull, 0, row)
    return hull


def same(one, two):
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_losses_are_those_of_the_naive_twin(part, compiled):
    rng = random.Random(part)
    for _ in range(150 if compiled else 20):
        n = rng.randint(1, 8)
        rows, what, weights, columns = random_table(rng, n, rng.randint(1, 5))
        some = [rng.randrange(n) for _ in range(rng.randint(1, n))]
        ref = naive_loss([rows[i] for i in some], what, weights)
        hull = hull_of(columns, some)
        assert loss(columns, hull, 0) == pytest.approx(ref, abs=1e-12)
        more = rng.randrange(n)
        ref = naive_loss([rows[i] for i in (*some, more)], what, weights)
        assert join_loss(columns, hull, 0, more, np.inf) == pytest.approx(ref, abs=1e-12)
        one, two = rng.randrange(n), rng.randrange(n)
        ref = naive_loss([rows[one], rows[two]], what, weights)
        assert pair_loss(columns, one, two, np.inf) == pytest.approx(ref, abs=1e-12)


def test_joining_is_commutative_associative_and_idempotent(compiled):
    rng = random.Random(9)
    for _ in range(100 if compiled else 15):
        n = rng.randint(2, 9)
        *_, columns = random_table(rng, n, rng.randint(1, 5))
        some = [rng.randrange(n) for _ in range(rng.randint(1, 6))]
        shuffled = rng.sample(some, len(some))
        once = hull_of(columns, some)
        assert same(once, hull_of(columns, shuffled))
        assert same(once, hull_of(columns, [*some, *some]))


def test_a_loss_lies_between_0_and_1_and_never_falls_when_a_row_joins(compiled):
    rng = random.Random(10)
    for _ in range(100 if compiled else 15):
        n = rng.randint(2, 9)
        *_, columns = random_table(rng, n, rng.randint(1, 5))
        hull, before = hulls_of(columns, 1), 0.0
        assert loss(columns, hull, 0) == 0
        for row in range(n):
            add(columns, hull, 0, row)
            now = loss(columns, hull, 0)
            assert before - 1e-12 <= now <= 1 + 1e-12
            before = now


def test_above_the_limit_any_number_above_it_may_be_returned():
    columns = columns_of([np.array([0, 4]), np.array([0, 1])], [Set(5), Range(np.array([0.0, 1.0]))])
    assert pair_loss(columns, 0, 1, np.inf) == pytest.approx(0.625)
    assert 0.1 < pair_loss(columns, 0, 1, 0.1) <= 0.625
    assert 0.1 < join_loss(columns, hull_of(columns, [0]), 0, 1, 0.1) <= 0.625


def test_a_cleared_hull_is_empty():
    *_, columns = random_table(random.Random(1), 6, 4)
    hull = hull_of(columns, range(6))
    clear(columns, hull, 0)
    assert same(hull, hulls_of(columns, 1))


def test_columns_that_cannot_lose_anything_lose_nothing():
    columns = columns_of(
        [np.zeros(2, int)] * 4,
        [Set(1), Range(np.zeros(0), missing=True), Range(np.array([3.0])), Tree(np.zeros(0))],
    )
    assert loss(columns, hull_of(columns, [0, 1]), 0) == 0


def test_more_names_than_a_word_has_bits_are_distinguished():
    columns = columns_of([np.array([0, 64, 128, 299])], [Set(300)])
    assert loss(columns, hull_of(columns, range(4)), 0) == pytest.approx(3 / 299)
