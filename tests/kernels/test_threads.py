"""Threads: results in order, progress reported in the caller's thread, budgets passed on."""

import threading
import time

import pytest

from shoal.errors import MethodError
from shoal.kernels.threads import each, thread_count
from shoal.model.progress import budget, listening, spent, tick


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(threads):
    def slow_first(number):
        time.sleep(0.02 * (number == 0))
        return number * number

    assert each(slow_first, range(7), threads) == [number * number for number in range(7)]


@pytest.mark.parametrize("threads", [1, 3])
def test_ticks_of_tasks_are_reported_as_parts_of_the_whole_in_one_thread(threads):
    ticks = []

    def work(_):
        for done in range(4):
            tick(done, 4)
            time.sleep(0.01)

    with listening(lambda step, done, total: ticks.append((threading.get_ident(), done / total))):
        each(work, range(3), threads)
    assert {thread for thread, _ in ticks} == {threading.get_ident()}
    shares = [share for _, share in ticks]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_budget_reaches_the_threads():
    with budget(1e-9):
        assert all(share >= 1 for share in each(lambda _: spent(), range(3), 2))
    assert each(lambda _: spent(), range(3), 2) == [0, 0, 0]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_error_ends_the_work(threads):
    def fail(number):
        if number == 1:
            raise MethodError("broken")
        return number

    with pytest.raises(MethodError, match="broken"):
        each(fail, range(4), threads)


def test_all_cores_are_used_by_default():
    assert thread_count(None, "x") >= 1
    assert thread_count(3, "x") == 3
