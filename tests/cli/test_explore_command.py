"""`shoal explore`: what it prints, what it writes, and how it ends."""

import json

import pytest
import typer
from typer.testing import CliRunner

import shoal
from shoal.cli import exploring
from shoal.errors import MethodError, ShoalError
from shoal.io.data_file import write_data

ROLES = ["--identifier", "patient_id", "--identifier", "name", "--sensitive", "diagnosis"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("input")
    write_data(shoal.sample(120, seed=2), folder, "csv")
    return folder / "data.csv"


def run(*words, code=0):
    app = typer.Typer()
    app.callback()(lambda: None)
    exploring.add_to(app)
    done = CliRunner(env={"SHOAL_LOG": "none"}).invoke(
        app, ["explore", *(str(word) for word in words)], terminal_width=200
    )
    if code is None:
        raise done.exception
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def test_it_prints_the_pareto_front_and_the_next_command_and_chooses_nothing(table, tmp_path):
    out = tmp_path / "explored"
    output = run(table, "--methods", "mdav,kde_pp", "-k", "3,6", "-l", "2", "--jobs", 1, "-o", out, *ROLES)
    assert "mdav-k3-l2" in output
    assert "mdav-k6-l2" in output
    assert "Left out: kde_pp: it needs a label" in output
    assert "2 releases were verified and measured" in output
    assert "can itself leak information" in output
    assert "front/NAME.toml -o release --private mine" in output
    assert (out / "explore.html").is_file()


def test_it_states_the_budget_how_many_points_were_computed_and_how_to_go_on(table, tmp_path):
    words = [table, "--methods", "mdav", "-k", "3,6", "--jobs", 1, "-o", tmp_path / "explored", *ROLES]
    short = run(*words, "--budget", 0.001, code=3)
    assert "Computed: 0 of 2 points, with a budget of 0.001 s." in short
    assert "Left out for lack of time: mdav-k3, mdav-k6." in short
    assert "The same command continues with them." in short
    whole = run(*words, "--budget", 0)
    assert "Computed: 2 of 2 points, with no budget." in whole
    assert "lack of time" not in whole


def test_a_dry_run_prints_the_estimate_alone(table):
    output = run(table, "--methods", "mdav", "-k", "3,5", "--dry-run", "--jobs", 1, *ROLES)
    assert output.startswith("Expected: 2 runs, about ")
    assert output.endswith("; the budget is 300 s.\n")
    assert output.count("\n") == 1


def test_json_is_the_whole_exploration(table, tmp_path):
    words = ["--methods", "mdav", "-k", "4", "--jobs", 1, "-o", tmp_path / "explored", "--json", *ROLES]
    facts = json.loads(run(table, *words))
    assert facts["front"] == ["mdav-k4"]
    assert facts["folder"] == str(tmp_path / "explored")
    assert facts["points"][0]["verdicts"][0]["holds"]


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_without_comparable_releases_it_gives_the_reason_and_exits_with_3(table, tmp_path, json):
    words = ["--methods", "mdav", "-k", "5000", "--jobs", 1, "-o", tmp_path / "explored", *ROLES]
    output = run(table, *words, *json, code=3)
    assert "mdav-k5000" in output
    assert "choose, then" not in output


def test_parameters_are_part_of_the_grid(table):
    words = ["--methods", "mdav,tfrp", "-k", "4", "--parameter", "second=true,false", "--dry-run", "--jobs", 1, *ROLES]
    assert run(table, *words).startswith("Expected: 3 runs")


@pytest.mark.parametrize(
    "words",
    [
        ["-k", "3"],
        ["-k", "three", "--dry-run"],
        ["--parameter", "effort", "--dry-run"],
        ["--parameter", "effort=", "--dry-run"],
    ],
)
def test_wrong_usage_exits_with_2(table, words):
    run(table, *words, code=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--longest", "nan"], "longest must be a number of seconds above 0; got nan"),
        (["--budget", "inf"], "budget must be a number of seconds above 0"),
        (["-k", "9" * 400], "k must be whole numbers of at most"),
        (["-l", "9" * 400], "l must be numbers of at most"),
        (["--risk", "intersection"], "'intersection' needs another release"),
        (["--methods", ","], "no method is named"),
    ],
)
def test_a_refusal_is_a_sentence_and_nothing_is_written(table, tmp_path, words, message):
    with pytest.raises(ShoalError, match=message) as caught:
        run(table, "--methods", "mdav", "-o", tmp_path / "explored", *ROLES, *words, code=None)
    assert caught.value.exit_code == 2
    assert not (tmp_path / "explored").exists()


def test_a_folder_in_use_by_another_process_is_refused_with_2(table, tmp_path):
    from shoal.exploration.folder import Folder

    words = ["--methods", "mdav", "--dry-run", "-o", tmp_path / "explored", *ROLES]
    with Folder(tmp_path / "explored"), pytest.raises(ShoalError, match="another exploration is using") as caught:
        run(table, *words, code=None)
    assert caught.value.exit_code == 2


@pytest.mark.slow
def test_more_jobs_than_tasks_leave_nothing_out(table):
    words = ["--methods", "mdav", "-k", "3,5", "--dry-run", "--jobs", 500, *ROLES]
    assert "Left out" not in run(table, *words)


def test_errors_are_those_of_shoal(table):
    with pytest.raises(MethodError, match="unknown method 'mdaf'"):
        run(table, "--methods", "mdaf", "--dry-run", code=None)
    with pytest.raises(ShoalError, match="does not exist"):
        run("nowhere.csv", "--methods", "mdav", "--dry-run", code=None)
