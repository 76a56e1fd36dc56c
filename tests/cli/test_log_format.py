"""Progress lines on stderr: where there is no terminal, or in the form that was asked for."""

import io
import json
import re
import sys
import time

import pytest

import shoal
from command_line import shoal_command
from shoal.cli import log
from shoal.cli.log import LogFormat, logged
from shoal.io.data_file import write_data
from shoal.model.progress import announce, silently, step, tick

LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +\d+\.\d s  ([a-z-]+)( .*)?")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("input")
    write_data(shoal.sample(120, seed=2), folder, "csv")
    return folder / "data.csv"


@pytest.fixture
def lines(monkeypatch):
    """Run a block under a format, and return its lines."""

    def written(form, block):
        stream = io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            with logged(form):
                block()
        return stream.getvalue().splitlines()

    return written


def work():
    step("cluster")
    tick(1, 4)
    announce("auto: mdav")
    step("recode")


def test_a_line_begins_each_step_and_has_each_sentence(lines):
    found = [LINE.fullmatch(line) for line in lines(LogFormat.PLAIN, work)]
    assert [(one[1], (one[2] or "").strip()) for one in found] == [
        ("cluster", ""),
        ("cluster", "auto: mdav"),
        ("recode", ""),
    ]


def test_lines_in_json_have_time_step_elapsed_and_share(lines):
    found = [json.loads(line) for line in lines(LogFormat.JSON, work)]
    assert [list(one) for one in found] == [
        ["time", "step", "elapsed", "done"],
        ["time", "step", "elapsed", "done", "message"],
        ["time", "step", "elapsed", "done"],
    ]
    assert [(one["step"], one["done"]) for one in found] == [("cluster", None), ("cluster", 0.25), ("recode", None)]
    assert all(one["time"].endswith("+00:00") for one in found)
    assert found == sorted(found, key=lambda one: one["elapsed"])


def test_nothing_is_written_if_that_is_asked(lines):
    assert lines(LogFormat.NONE, work) == []


def test_a_step_that_reports_nothing_still_gets_lines(lines, monkeypatch):
    monkeypatch.setattr(log, "EVERY", 0.05)

    def sleep():
        step("cluster")
        tick(3, 4)
        time.sleep(0.6)

    found = [json.loads(line) for line in lines(LogFormat.JSON, sleep)]
    assert len(found) >= 4
    assert {one["step"] for one in found} == {"cluster"}
    assert [one["done"] for one in found[1:]] == [0.75] * (len(found) - 1)


def test_many_ticks_write_few_lines(lines):
    def busy():
        step("cluster")
        for done in range(1000):
            tick(done, 1000)

    assert len(lines(LogFormat.PLAIN, busy)) == 1


def test_a_silent_part_leaves_the_step_as_it_was(lines):
    def nested():
        step("explore")
        with silently():
            step("cluster")
        tick(1, 2)
        announce("half")

    assert [LINE.fullmatch(line)[1] for line in lines(LogFormat.PLAIN, nested)] == ["explore", "explore"]


def test_a_closed_stderr_does_not_disturb_the_work(monkeypatch):
    stream = io.StringIO()
    stream.close()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        with logged(LogFormat.PLAIN):
            work()


def test_a_run_without_a_terminal_writes_its_steps(table, tmp_path):
    words = ("anonymize", table, "-k", 4, "--method", "mdav", "-o", "out", "--private", "mine")
    done = shoal_command(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    steps = [LINE.fullmatch(line)[1] for line in done.err.splitlines()]
    order = [
        "read",
        "profile",
        "encode",
        "cluster",
        "enforce",
        "refine",
        "recode",
        "verify",
        "measure",
        "write",
        "report",
    ]
    assert list(dict.fromkeys(steps)) == order


def test_no_line_contains_a_cell(tmp_path):
    people = shoal.sample(40, seed=3)
    write_data(people, tmp_path, "csv")
    done = shoal_command("anonymize", "data.csv", "-k", 4, "--log-format", "json", "-o", "out", cwd=tmp_path)
    cells = {str(cell) for column in people.columns for cell in column.to_pylist() if isinstance(cell, str)}
    assert not [cell for cell in cells if len(cell) > 3 and cell in done.err]
    assert all(json.loads(line) for line in done.err.splitlines())


def test_the_environment_sets_the_format_and_the_option_overrides_it(table, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_LOG", "none")
    assert shoal_command("profile", table).err == ""
    assert json.loads(shoal_command("profile", table, "--log-format", "json").err.splitlines()[0])["step"] == "read"
    monkeypatch.setenv("SHOAL_LOG", "loud")
    done = shoal_command("profile", table, "--json")
    assert done.code == 2
    assert "SHOAL_LOG" in json.loads(done.out)["error"]["message"]


@pytest.mark.parametrize(
    "words",
    [
        ["demo"], ["init", "x"], ["profile", "x"], ["anonymize", "x", "-o", "o"], ["verify", "x"],
        ["explore", "x", "-o", "o"], ["compare", "x"], ["measure", "x", "y"], ["attack", "x", "y"],
        ["report", "x"], ["warmup"],
        ["sets", "anonymize", "x", "-o", "o"], ["sets", "verify", "x"], ["sets", "reassociate", "x", "-o", "o"],
        ["sets", "distance", "x", "y"], ["sets", "mine", "x"], ["sets", "report", "x", "y"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_command_that_shows_progress_has_the_option(words, tmp_path):
    done = shoal_command(*words, "--log-format", "loud", "--json", cwd=tmp_path)
    assert done.code == 2
    assert "--log-format" in json.loads(done.out)["error"]["message"]
