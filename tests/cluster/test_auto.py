"""Auto: what it chooses, notes and estimates."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from naive.auto import choice
from shoal.catalogue import Task, methods
from shoal.cluster.methods.auto import auto, plan
from shoal.cluster.search.limits import Limits
from shoal.model.policy import Constraints
from shoal.model.progress import listening
from shoal.privacy.verdict.values import Values


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("effort", ["quick", "normal", "thorough"])
def test_it_chooses_what_its_twin_chooses(effort, limited, weighted):
    for n in (2, 9, 10, 300, 301, 50_000, 50_001, 3_999_999, 4_000_001):
        for d in (0, 1, 2, 100):
            for k in (2, 4, 5, 10):
                comp = plan(n, d, k, effort, limited=limited, weighted=weighted).method
                assert comp == choice(n, d, k, limited, effort, weighted), (n, d, k)


@pytest.mark.compiled
def test_it_announces_its_choice_before_it_starts_and_in_a_note():
    X = np.random.default_rng(0).normal(size=(60, 2))
    messages = []
    with listening(lambda *_: None, messages.append):
        partition = auto(X, 20, "quick")
    assert partition.notes[0] == (
        "auto: chose anneal, effort quick, because a search gives the lowest information loss."
    )
    assert messages == [partition.notes[0].rstrip(".")]


def test_one_column_gets_the_optimum():
    X = np.column_stack([[0.0, 1.0, 2.0, 9.0, 10.0, 11.0, 12.0], np.ones(7)])
    partition = auto(X, 3)
    assert partition.labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert "univariate" in partition.notes[0]


@pytest.mark.compiled
def test_thorough_effort_on_few_rows_is_proved_optimal_unless_rows_have_weights():
    X = np.random.default_rng(4).normal(size=(9, 2))
    partition = auto(X, 3, "thorough", threads=1)
    assert partition.notes[0].startswith("auto: chose exact, effort thorough, because a table this small has an answer")
    assert partition.findings[-1].how == "proved optimal: no partition has a lower SSE"
    assert {finding.name for finding in partition.findings} == {"proved lower bound of SSE", "gap %"}
    assert plan(9, 2, 3, "thorough", weighted=True).method == "anneal"


def test_fewer_than_2k_rows_are_one_group():
    assert auto(np.random.default_rng(0).normal(size=(9, 2)), 5).groups == 1


def test_limits_are_met_by_a_search(compiled):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60 if compiled else 16, 2))
    limits = Limits.of(Constraints(k=3, l=2), {"a": Values((X[:, 0] > 0).astype(np.int64))})
    partition = methods.load("anneal").function(X, 3, "quick", 1, 10, limits=limits)
    members = [np.flatnonzero(partition.labels == group) for group in range(partition.groups)]
    assert all(limits.met(rows) for rows in members)
    assert plan(60, 2, 3, "quick", limited=True).method == "anneal"


@pytest.mark.compiled
def test_it_runs_the_chosen_method_and_nothing_else():
    X = np.random.default_rng(3).normal(size=(80, 3))
    chosen = methods.load("anneal").function
    assert_array_equal(auto(X, 4, "quick", seed=2).labels, chosen(X, 4, "quick", seed=2).labels)


def test_more_rows_more_effort_and_fewer_threads_cost_more():
    def cost(rows, effort="quick", threads=2):
        return methods.load("auto").cost(Task(rows, 10, 5, {"effort": effort}, threads=threads))

    base = cost(200_000)
    assert cost(400_000).seconds > base.seconds
    assert cost(200_000, "thorough").seconds > base.seconds
    assert cost(200_000, threads=1).seconds > base.seconds
    assert cost(400_000).megabytes > base.megabytes
