"""The commands: what they print, what they write, and how they end."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import shoal
from command_line import shoal_command
from shoal.catalogue import methods
from shoal.cli import app as commands
from shoal.errors import PolicyError, ReadError
from shoal.io.data_file import write_data
from shoal.pipeline.allowance import Allowance, current
from shoal.pipeline.run_cost import Writing

SHOAL = [sys.executable, "-c", "from shoal.cli.app import main; main()"]
ROLES = ["--identifier", "patient_id", "--identifier", "name", "--sensitive", "diagnosis"]


def shoal_run(*words, cwd, code=0):
    done = shoal_command(*words, cwd=cwd)
    assert done.code == code, done
    return done


def run(*words, code=0):
    done = CliRunner(env={"SHOAL_LOG": "none"}).invoke(commands.app, [str(word) for word in words])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("input")
    write_data(shoal.sample(200, seed=2), folder, "csv")
    return folder / "data.csv"


@pytest.mark.slow
@pytest.mark.process
def test_demo_ends_with_a_release_and_its_verdicts(tmp_path):
    words = [*SHOAL, "demo", "--rows", "300", "--log-format", "none"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("holds") == 2
    assert {path.name for path in (tmp_path / "shoal-demo").iterdir()} == {"hospital.csv", "private", "release"}
    assert "Everything holds" in shoal_run("verify", "shoal-demo/release", cwd=tmp_path).out
    shoal_run("demo", "--rows", 300, cwd=tmp_path)


@pytest.mark.slow
def test_init_proposes_a_policy_that_anonymize_accepts(table, tmp_path):
    policy = tmp_path / "policy.toml"
    run("init", table, "-o", policy, "-k", 4)
    text = policy.read_text()
    assert tomllib.loads(text)["columns"]["name"]["role"] == "identifier"
    assert text.count("#") > 10
    run("anonymize", table, "--policy", policy, "-o", tmp_path / "out")
    assert shoal.verify(tmp_path / "out").holds


def test_init_names_the_form_that_numbers_have_by_default(tmp_path):
    for town, description in (("", "the mean of the group"), (",town", "the value of a typical row of the group")):
        rows = "".join(f"{age}{',Ulm' if town else ''}\n" for age in [30, 40, 50] * 7)
        (tmp_path / "x.csv").write_text(f"age{town}\n{rows}")
        run("init", tmp_path / "x.csv", "-o", tmp_path / "policy.toml", "--force")
        text = (tmp_path / "policy.toml").read_text()
        assert f'per class\n# (quasi: {description}, or form = "range")' in text
        release = shoal.anonymize(tmp_path / "x.csv", policy=tmp_path / "policy.toml")
        assert release.policy.columns["age"].form == ("representative" if town else "mean")


def test_init_does_not_replace_a_policy_unless_forced(table, tmp_path):
    (tmp_path / "policy.toml").write_text("mine")
    done = shoal_run("init", table, cwd=tmp_path, code=2)
    assert "already exists. Use --force" in done.err
    assert (tmp_path / "policy.toml").read_text() == "mine"
    shoal_run("init", table, "--force", cwd=tmp_path)
    assert "already exists" in shoal_run("init", "no.csv", cwd=tmp_path, code=2).err  # before the table is read
    shoal_run("init", table, "-o", "policies/ward.toml", cwd=tmp_path)
    assert (tmp_path / "policies" / "ward.toml").is_file()


def test_init_refuses_an_existing_file_before_it_reads_the_table(tmp_path):
    (tmp_path / "policy.toml").write_text("mine")
    assert "already exists" in shoal_run("init", "none.csv", cwd=tmp_path, code=2).err


def test_a_proposed_policy_has_no_number_of_fewer_than_k_cells(tmp_path):
    ages = "".join(f"{age}\n" for age in [20, 31, 42, 53, 64, -999, -999])
    (tmp_path / "x.csv").write_text(f"age\n{ages}")
    for k, cells in ((3, "fewer than 3 cells"), (2, "2 cells")):
        shoal_run("init", "x.csv", "-k", k, "--force", cwd=tmp_path)
        assert f"# {cells} share one extreme value" in (tmp_path / "policy.toml").read_text()


def test_profile_prints_every_column_and_the_k_of_the_file(table):
    output = run("profile", table)
    assert "k = 1" in output
    for name in shoal.sample(20).column_names:
        assert name in output
    facts = json.loads(run("profile", table, "--json"))
    assert facts["rows"] == 200


def test_profile_shows_the_roles_of_a_policy_and_counts_by_them(table, tmp_path):
    (tmp_path / "policy.toml").write_text('[columns.sex]\nrole = "quasi"\n\n[columns.name]\nrole = "identifier"\n')
    output = run("profile", table, "--policy", tmp_path / "policy.toml")
    assert "quasi (policy)" in output
    assert "identifier (default)" in output
    assert "quasi-identifiers of the policy" in output


@pytest.mark.slow
def test_anonymize_writes_the_format_of_the_input_by_default(table, tmp_path):
    run("anonymize", table, "-k", 4, *ROLES, "-o", tmp_path / "a")
    assert (tmp_path / "a" / "data.csv").is_file()
    run("anonymize", table, "-k", 4, *ROLES, "-o", tmp_path / "b", "--format", "parquet")
    assert pyarrow.parquet.read_table(tmp_path / "b" / "data.parquet").num_rows == 200


@pytest.mark.slow
def test_anonymize_prints_json_for_programs(table, tmp_path):
    facts = json.loads(
        run(
            "anonymize",
            table,
            "-k",
            4,
            "-l",
            2,
            "-t",
            0.6,
            *ROLES,
            "-o",
            tmp_path / "a",
            "--private",
            tmp_path / "b",
            "--json",
        )
    )
    assert [verdict["model"] for verdict in facts["verdicts"]] == ["k-anonymity", "distinct l-diversity", "t-closeness"]
    assert all(verdict["holds"] for verdict in facts["verdicts"])
    assert facts["rows"] == 200


@pytest.mark.slow
def test_verify_names_differences_and_exits_with_1(table, tmp_path):
    run("anonymize", table, "-k", 4, *ROLES, "-o", tmp_path / "a")
    assert "Everything holds" in run("verify", tmp_path / "a")
    with (tmp_path / "a" / "data.csv").open("a") as file:
        file.write("\n")
    output = run("verify", tmp_path / "a", code=1)
    assert "FAILS" in output
    assert not json.loads(run("verify", tmp_path / "a", "--json", code=1))["holds"]


def test_verify_accepts_any_file(tmp_path):
    (tmp_path / "any.csv").write_text("age,zip\n1,0\n1,1\n2,2\n2,3\n")
    run("verify", tmp_path / "any.csv", "-k", 2, "--quasi", "age")
    run("verify", tmp_path / "any.csv", "-k", 2, code=1)
    run("verify", tmp_path / "any.csv", "-k", 3, "--quasi", "age", code=1)


def test_methods_and_schema_are_listed():
    lines = run("methods").splitlines()
    assert [line for line in lines if line.split()[:2] == ["mdav", "k"]]
    assert [line for line in lines if "split=strict" in line and line.split()[0] == "mondrian"]
    assert [card["name"] for card in json.loads(run("methods", "--json"))] == methods.names()
    assert json.loads(run("schema"))["title"] == "Policy"


def test_one_method_is_shown_in_full():
    shown = " ".join(run("methods", "anneal").split())
    assert shown.startswith("anneal: Search for groups")
    assert "effort one of 'quick', 'normal', 'thorough' quick Duration" in shown
    assert "Ensures by itself: alpha, k, l, t." in shown
    assert "Also uses: l, t and alpha with the sensitive values, the random seed, several threads" in shown
    card = json.loads(run("methods", "anneal", "--json"))
    assert card["params"]["effort"]["words"] == ["quick", "normal", "thorough"]
    assert "Also uses" not in run("methods", "mdav")


@pytest.mark.slow
def test_output_and_hierarchies_reach_the_pipeline(table, tmp_path):
    more = [*ROLES, "--parameter", "effort=none"]
    run("anonymize", table, "-k", 5, *more, "--truthful", "-o", tmp_path / "true")
    assert "–" in (tmp_path / "true" / "data.csv").read_text(encoding="utf-8")
    trees = ["--hierarchy", "postcode=mask", "--hierarchy", "birth_date=calendar"]
    output = run("anonymize", table, "-k", 5, *more, *trees, "-o", tmp_path / "trees")
    assert "auto: chose cover" in output
    policy = tomllib.loads((tmp_path / "trees" / "policy.toml").read_text())
    assert policy["columns"]["postcode"]["form"] == policy["columns"]["birth_date"]["form"] == "tree"
    run("anonymize", table, "-k", 5, *more, *trees, "--same-schema", "-o", tmp_path / "same")
    policy = tomllib.loads((tmp_path / "same" / "policy.toml").read_text())
    assert {column["form"] for column in policy["columns"].values() if "form" in column} == {"representative"}
    for folder in ("true", "trees", "same"):
        assert "Everything holds" in run("verify", tmp_path / folder)


def test_a_column_of_weights_is_used_and_dropped(tmp_path):
    source, out = tmp_path / "survey.csv", tmp_path / "out"
    source.write_text("age,w\n" + "".join(f"{age},{1 + 7 * (age == 40)}\n" for age in (20, 30, 40, 50, 60, 70)))
    run("anonymize", source, "-o", out, "-k", 3, "--weight", "w", "--identifier", "w")
    ages = sorted(pyarrow.csv.read_csv(out / "data.csv")["age"].to_pylist())
    # Without weights the first three would be 30, the mean of 20, 30 and 40.
    assert pyarrow.csv.read_csv(out / "data.csv").column_names == ["age"]
    assert ages[:3] == [37, 37, 37]
    assert ages[3:] == [60, 60, 60]


@pytest.mark.slow
def test_parameters_threads_budget_and_refine_reach_the_pipeline(table, tmp_path, monkeypatch):
    given, anonymize = {}, shoal.anonymize

    def recorded(file, **options):
        given.update(options, limits=current())
        return anonymize(file, method="mdav", k=4)

    monkeypatch.setattr("shoal.pipeline.line.anonymize", recorded)
    words = ["--parameter", "effort=quick", "--parameter", "rounds=30", "--threads", 2, "--refine", "quick"]
    words += ["--budget", 90.5, "--memory", "3GB", "--no-report"]
    run("anonymize", table, "-o", tmp_path / "a", *words)
    assert given["parameters"] == {"effort": "quick", "rounds": 30}
    assert (given["threads"], given["refine"]) == (2, "quick")
    assert given["limits"] == Allowance(90.5, 3000.0, Writing(saved=True))


@pytest.mark.slow
def test_a_command_line_parameter_reaches_the_policy(table, tmp_path):
    run(
        "anonymize",
        table,
        "-k",
        4,
        *ROLES,
        "-o",
        tmp_path / "a",
        "--method",
        "mondrian",
        "--parameter",
        "split=relaxed",
    )
    method = tomllib.loads((tmp_path / "a" / "policy.toml").read_text())["method"]
    assert method == {"name": "mondrian", "parameters": {"split": "relaxed"}, "refine": "none"}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["anonymize", "{table}"], 2, "Missing option"),
        (["anonymize", "{table}", "-o", "out", "-k", "x"], 2, "'-k'"),
        (["anonymize", "{table}", "-o", "out", "-k", "1"], 2, "policy: -k must be at least 2; got 1."),
        (["anonymize", "{table}", "-o", "out", "-k", "201"], 3, "Lower k to 200 or less"),
        (["anonymize", "{table}", "-o", "out", "-l", "99", "--sensitive", "diagnosis"], 3, "Lower l to"),
        (["anonymize", "{table}", "-o", "out", "-l", "2"], 2, "sensitive"),
        (["anonymize", "{table}", "-o", "out", "--sensitive", "diagnose"], 2, "Did you mean 'diagnosis'?"),
        (["anonymize", "{table}", "-o", "out", "--method", "mdaw"], 2, "Did you mean 'mdav'?"),
        (["anonymize", "{table}", "-o", "out", "--missing", "drop"], 2, "missing"),
        (["anonymize", "{table}", "-o", "out", "--missing", "refuse"], 2, "rows have missing values"),
        (["anonymize", "{table}", "-o", "out", "--format", "xls"], 2, "format 'xls'"),
        (["anonymize", "{table}", "-o", "{table}"], 2, "is not a folder"),
        (["anonymize", "{table}", "-o", "out", "--private", "out/x"], 2, "inside the other"),
        (["anonymize", "{table}", "-o", "out", "--policy", "none.toml"], 2, "there is no file 'none.toml'"),
        (["anonymize", "none.csv", "-o", "out"], 2, "none.csv"),
        (["profile", "none.csv"], 2, "none.csv"),
        (["verify", "none"], 2, "none"),
        (["verify", "."], 2, "certificate.json"),
        (["swim"], 2, "No such command"),
        (["methods", "mdaw"], 2, "Did you mean 'mdav'?"),
        (["anonymize", "{table}", "-o", "out", "--parameter", "effort"], 2, "--parameter takes NAME=VALUE"),
        (["anonymize", "{table}", "-o", "out", "--parameter", "=quick"], 2, "--parameter takes NAME=VALUE"),
        (["anonymize", "{table}", "-o", "out", "--parameter", "k=3"], 2, "set it as a constraint"),
        (
            ["anonymize", "{table}", "-o", "out", "--method", "mdav", "--parameter", "gap=3"],
            2,
            "unknown parameter 'gap'",
        ),
        (["anonymize", "{table}", "-o", "out", "--threads", "0"], 2, "'--threads'"),
        (["anonymize", "{table}", "-o", "out", "--budget", "0"], 2, "budget must be a number of seconds above 0"),
        (["anonymize", "{table}", "-o", "out", "--refine", "well"], 2, "policy: --refine must be 'none'"),
    ],
)
def test_wrong_usage_prints_one_clear_sentence_and_writes_nothing(words, code, message, table, tmp_path):
    done = shoal_run(*(word.format(table=table) for word in words), cwd=tmp_path, code=code)
    assert message in " ".join(done.err.replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_an_internal_error_shows_its_location_but_no_data(table, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("the cell was SECRET-VALUE")

    monkeypatch.setattr("shoal.pipeline.ready.encode", broken)
    done = shoal_run("anonymize", table, "-o", "out", cwd=tmp_path, code=70)
    assert "RuntimeError" in done.err
    assert "SECRET" not in done.err + done.out
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(number, table, tmp_path):
    script = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from shoal.pipeline import write
        def slow(*_):
            Path("ready").touch()
            time.sleep(60)
        write.check_folder = slow
        from shoal.cli.app import main
        main()
        """
    )
    words = [sys.executable, "-c", script, "anonymize", str(table), "-k", "4", "-o", "out", "--private", "mine"]
    running = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "ready").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    os.kill(running.pid, number)
    _, output = running.communicate(timeout=30)
    assert running.returncode == 128 + number
    assert "stopped." in output
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]


@pytest.mark.slow
def test_a_draft_of_a_killed_run_is_removed_by_the_next_run(table, tmp_path):
    (tmp_path / ".out.shoal-999999-00000000").mkdir()
    shoal_run("anonymize", table, "-k", 4, *ROLES, "-o", "out", cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_errors_are_json_if_json_was_requested(table, tmp_path):
    done = shoal_run("anonymize", table, "-o", "out", "-k", 999, "--json", cwd=tmp_path, code=3)
    assert json.loads(done.out)["error"]["kind"] == "InfeasibleError"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["anonymize"], "Missing argument 'file'"),
        (["anonymize", "{table}", "-o", "out", "--sensitve", "a"], "No such option: --sensitve"),
        (["anonymize", "{table}", "-o", "out", "-k", "five"], "Invalid value for '-k'"),
        (["verify", ".", "-k", 3], "contains its own policy"),
        (["sets", "anonymise"], "No such command 'anonymise'"),
    ],
)
def test_usage_errors_are_json_too(table, tmp_path, words, message):
    words = [table if word == "{table}" else word for word in words]
    done = shoal_run(*words, "--json", cwd=tmp_path, code=2)
    error = json.loads(done.out)["error"]
    assert error["kind"] == "UsageError"
    assert error["exit"] == 2
    assert message in error["message"]
    assert message in done.err


def test_a_column_name_is_never_interpreted_as_markup(tmp_path):
    (tmp_path / "odd.csv").write_text("[/b],[bold]\n1,2\n3,4\n")
    output = run("profile", tmp_path / "odd.csv")
    assert "[/b]" in output
    assert "[bold]" in output


def test_the_version_is_printed():
    assert run("--version").strip() == shoal.__version__


def test_help_leaves_half_of_a_narrow_terminal_to_the_text_of_most_options(monkeypatch):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    panels = run("anonymize", "--help").split("╭─ ")[1:]
    assert {"Privacy", "Column roles", "Method"} <= {panel.split(" ─")[0] for panel in panels}
    [roles] = [panel for panel in panels if panel.startswith("Column roles")]
    assert "--sensitive         COLUMN  A sensitive attribute: published unchanged," in roles


def test_help_names_every_command_with_an_example():
    output = run("--help")
    for command in ("demo", "init", "profile", "anonymize", "verify", "methods", "schema"):
        assert command in output
        assert f"shoal {command}" in " ".join(run(command, "--help").split())


@pytest.mark.slow
def test_remains_of_a_killed_demo_do_not_prevent_the_next_one(tmp_path):
    for name in (".release.shoal-999999-00000000", ".private.shoal-999999-00000000"):
        (tmp_path / name).mkdir()
    shoal_run("demo", "--rows", 100, "-o", ".", cwd=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"hospital.csv", "private", "release"}


def test_demo_does_not_touch_a_folder_with_other_files(tmp_path):
    (tmp_path / "hospital.csv").write_text("my own")
    done = shoal_run("demo", "--rows", 100, "-o", ".", cwd=tmp_path, code=2)
    assert "contains other files" in done.err
    assert (tmp_path / "hospital.csv").read_text() == "my own"


def test_characters_that_would_move_the_cursor_are_not_printed(tmp_path):
    (tmp_path / "odd.csv").write_text("a\x1b[31m,b\n1,2\n3,4\n")
    assert "\x1b[31m" not in run("profile", tmp_path / "odd.csv")
    done = shoal_run("anonymize", "odd.csv", "-o", "out", "--keep", "x\x1b[31m", cwd=tmp_path, code=2)
    assert "\x1b[31m" not in done.err


@pytest.mark.slow
@pytest.mark.process
def test_a_full_or_closed_stdout_is_not_an_internal_error_and_the_release_is_complete(table, tmp_path):
    words = [*SHOAL, "anonymize", str(table), "-k", "4", "-o", "out"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 70
    assert "nothing was written" not in done.stderr
    assert shoal.verify(tmp_path / "out").holds


@pytest.mark.slow
@pytest.mark.process
def test_any_character_can_be_printed_anywhere(tmp_path):
    (tmp_path / "odd.csv").write_text("Größe,b\n1,2\n3,4\n", encoding="utf-8")
    done = subprocess.run(
        [*SHOAL, "profile", "odd.csv"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_init_proposes_what_anonymize_accepts_for_lists_too(tmp_path):
    pyarrow.parquet.write_table(
        pyarrow.table({"a": [1, 1, 2, 2], "l": [["x"], [], None, ["y"]]}), tmp_path / "t.parquet"
    )
    run("init", tmp_path / "t.parquet", "-o", tmp_path / "p.toml", "-k", 2)
    run("anonymize", tmp_path / "t.parquet", "--policy", tmp_path / "p.toml", "-o", tmp_path / "out")


def test_a_run_can_be_repeated_from_its_private_folder(table, tmp_path):
    asked = ("anonymize", table, "-k", 4, "--method", "mdav", "--identifier", "name", "--no-report")
    run(*asked, "-o", tmp_path / "one", "--private", tmp_path / "mine")
    run(*asked, "-o", tmp_path / "two", "--seed-from", tmp_path / "mine")
    assert (tmp_path / "one" / "data.csv").read_bytes() == (tmp_path / "two" / "data.csv").read_bytes()
    output = run(*asked, "-o", tmp_path / "three", "--seed-from", tmp_path / "mine", "--seed", 3, code=2)
    assert "both set the random seed" in output
    assert not (tmp_path / "three").exists()
    with pytest.raises(ReadError, match="contains no random seed"):
        CliRunner(env={"SHOAL_LOG": "none"}).invoke(
            commands.app,
            [str(word) for word in (*asked, "-o", tmp_path / "three", "--seed-from", tmp_path / "one")],
            catch_exceptions=False,
        )


def test_protection_from_minimality_is_requested_and_refused_by_its_option(table, tmp_path):
    asked = ("anonymize", table, "-k", 4, "--sensitive", "diagnosis", "--identifier", "name", "--no-report")
    output = run(*asked, "-l", 2, "--protect", "minimality", "-o", tmp_path / "one")
    assert "minimality, excess" in output
    assert tomllib.loads((tmp_path / "one" / "policy.toml").read_text())["protect"] == "minimality"
    with pytest.raises(PolicyError, match="set l, t, alpha, beta or delta"):
        CliRunner(env={"SHOAL_LOG": "none"}).invoke(
            commands.app,
            [str(word) for word in (*asked, "--protect", "minimality", "-o", tmp_path / "two")],
            catch_exceptions=False,
        )
