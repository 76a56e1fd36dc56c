"""A budget and a memory limit for the whole run: kept, or refused beforehand, and nothing is written."""

import json
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import shoal
from command_line import shoal_command
from shoal.catalogue import Task, methods
from shoal.errors import InfeasibleError, PolicyError
from shoal.io.data_file import write_data
from shoal.model.progress import budget, left, reserve, spent, step, tick
from shoal.pipeline import allowance, memory_watch
from shoal.pipeline.memory_watch import held_memory
from shoal.pipeline.run_cost import RunCost, Writing


def table(rows=60):
    rng = np.random.default_rng(3)
    return pa.table({name: rng.standard_normal(rows) for name in "abc"})


def cost(before=0.0, grouping=0.0, least=0.0, after=0.0, megabytes=0.0):
    return RunCost("mdav", {}, "", before, grouping, least, after, megabytes)


def test_a_run_that_cannot_end_in_time_is_refused_before_its_groups_are_formed(monkeypatch):
    monkeypatch.setattr("shoal.pipeline.allowance.run_cost", lambda *_: cost(least=30.0, after=40.0))
    monkeypatch.setattr("shoal.pipeline.line.make_groups", lambda *_: pytest.fail("groups were formed"))
    with pytest.raises(InfeasibleError, match=r"at least about 7\d s, more than budget \(60 s\). Nothing was written"):
        shoal.anonymize(table(), k=3, budget=60)


def test_a_run_that_needs_more_memory_than_allowed_is_refused_beforehand(monkeypatch):
    monkeypatch.setattr("shoal.pipeline.allowance.run_cost", lambda *_: cost(megabytes=3000.0))
    monkeypatch.setattr("shoal.pipeline.line.make_groups", lambda *_: pytest.fail("groups were formed"))
    with pytest.raises(InfeasibleError, match=r"needs about 3,100 MB, more than memory \(2,000 MB\)"):
        shoal.anonymize(table(), k=3, memory="2GB")


def test_a_file_larger_than_the_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    write_data(table(2_000), tmp_path, "csv")
    monkeypatch.setattr(allowance, "PROGRAM", 0.0)
    monkeypatch.setattr("shoal.pipeline.allowance.make_ready", lambda *_: pytest.fail("the table was read"))
    with pytest.raises(InfeasibleError, match="memory"):
        shoal.anonymize(tmp_path / "data.csv", k=3, memory=100_000)


def test_searches_leave_time_for_the_steps_after_them(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    with allowance.allowing(60, None):
        allowance.check_affordable(cost(least=10.0, after=20.0))
        assert left() == pytest.approx(60 - allowance.MARGIN * 20)
        assert spent(60 - allowance.MARGIN * 20) == pytest.approx(1.0)
    assert spent() == 0.0


def test_a_run_stops_when_its_budget_is_used_up_and_only_then(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with allowance.allowing(5, None):
        step("cluster")
        now[0] = 4.9
        tick(1, 2)
        now[0] = 5.1
        with pytest.raises(InfeasibleError, match="the budget of 5 s was used up before the release was complete"):
            tick(2, 2)
        step("")  # the end of a run that has written everything is no tick


def test_a_budget_of_searches_alone_never_stops_a_run(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with budget(5):
        reserve(2)
        now[0] = 9.0
        step("cluster")
        assert spent() == pytest.approx(3.0)


def test_a_block_without_limits_has_those_of_the_one_around_it():
    with allowance.allowing(60, None, Writing(saved=True)):
        with allowance.allowing(None, None):
            assert allowance.current().seconds == 60
        with allowance.allowing(7, None):
            assert allowance.current().seconds == 7
        assert allowance.current().writing.saved
    assert allowance.current().seconds is None


ON_LINUX = pytest.mark.skipif(held_memory() is None, reason="the system does not say how much memory a process holds")


@ON_LINUX
def test_a_run_that_nears_its_memory_ends_at_the_next_tick_and_the_watch_with_it():
    said = []
    most = (held_memory() + 400) * 1e6
    threads = threading.active_count()
    with allowance.allowing(None, most, beyond=said.append):
        step("measure")
        held = np.ones(20_000_000)
        assert not said
        held = np.ones(64_000_000)
        time.sleep(5 * memory_watch.EVERY)
        with pytest.raises(InfeasibleError, match="which is not enough for this run. Nothing was written"):
            tick(1, 2)
    assert held.size == 64_000_000
    assert len(said) == 1
    assert threading.active_count() == threads
    tick(1, 2)


@ON_LINUX
def test_a_frame_is_refused_at_once_if_the_process_already_holds_more(monkeypatch):
    monkeypatch.setattr("shoal.pipeline.allowance.make_ready", lambda *_: pytest.fail("the table was read"))
    for memory in ("0.1MB", "250MB", held_memory() * 0.9e6):
        with pytest.raises(InfeasibleError, match="this run needs about"):
            shoal.anonymize(table(), k=3, memory=memory)


@ON_LINUX
@pytest.mark.slow
@pytest.mark.process
def test_a_command_beyond_its_memory_ends_with_one_sentence_and_exit_3(tmp_path):
    script = textwrap.dedent(
        """
        import sys, time
        import numpy as np
        import shoal.pipeline.line
        from shoal.cli.app import main
        def greedy(*_):
            held = np.ones(10**8)
            time.sleep(60)
        shoal.pipeline.line.make_groups = greedy
        main()
        """
    )
    write_data(table(), tmp_path, "csv")
    words = ["anonymize", "data.csv", "-k", "3", "--memory", "600MB", "-o", "out", "--json", "--log-format", "none"]
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=tmp_path, capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1
    assert "--memory is 600 MB, which is not enough for this run" in done.stderr
    assert json.loads(done.stdout)["error"]["kind"] == "InfeasibleError"
    assert not (tmp_path / "out").exists()


def test_a_run_that_is_late_at_its_end_is_stopped_before_its_files_appear(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with allowance.allowing(5, None):
        release = shoal.anonymize(table(), k=3, method="mdav", seed=1)
        now[0] = 6.0
        with pytest.raises(InfeasibleError, match="used up"):
            release.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_outer_limit_holds_inside_an_inner_one(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with allowance.allowing(5, None), allowance.allowing(50, None):
        now[0] = 6.0
        with pytest.raises(InfeasibleError, match="the budget of 5 s"):
            step("cluster")


@pytest.mark.parametrize("memory", ["0GB", "2 potatoes", True, -1, 10**400, float("nan"), None.__class__, "GB"])
def test_only_amounts_of_memory_are_accepted(memory):
    with pytest.raises(PolicyError, match="memory must be an amount of memory such as 2GB"):
        shoal.anonymize(table(), k=3, memory=memory)


def test_other_errors_pass_unchanged():
    with pytest.raises(ZeroDivisionError), allowance.allowing(9, "2GB"):
        _ = 1 / 0


@pytest.mark.slow
def test_the_command_line_counts_the_writing_of_reports(tmp_path):
    write_data(table(400), tmp_path, "csv")
    words = ("anonymize", "data.csv", "-k", 3, "--method", "mdav", "--json", "--log-format", "none")
    refused = shoal_command(*words, "-o", "out", "--private", "mine", "--budget", "0.01", cwd=tmp_path)
    assert refused.code == 3
    assert "--no-report" in refused.err
    assert not (tmp_path / "out").exists()
    assert shoal_command(*words, "-o", "out", "--budget", "600", "--memory", "4GB", cwd=tmp_path).code == 0
    plan = shoal_command(*words, "--dry-run", "--budget", "0.01", cwd=tmp_path)
    assert plan.code == 3


@pytest.mark.parametrize("name", [name for name in methods.names() if methods.load(name).built_in])
def test_every_method_says_what_it_costs(name):
    card = methods.load(name)
    small, large = (card.cost(Task(rows, 10)) for rows in (1_000, 100_000))
    assert 0 < small.seconds <= large.seconds
    assert 0 < small.megabytes < large.megabytes
