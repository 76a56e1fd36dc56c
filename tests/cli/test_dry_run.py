"""`shoal anonymize --dry-run` and `--strict`: what would happen, and what is refused before anything is written."""

import json

import pytest

import shoal
from command_line import shoal_command
from shoal.io.data_file import write_data

ROLES = ["--identifier", "patient_id", "--identifier", "name", "--sensitive", "diagnosis"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("input")
    write_data(shoal.sample(200, seed=2), folder, "csv")
    return folder / "data.csv"


def test_it_shows_every_column_the_method_and_its_cost_and_writes_nothing(table, tmp_path):
    done = shoal_command("anonymize", table, "-l", 2, *ROLES, "--dry-run", "-o", "out", cwd=tmp_path)
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines()]
    assert ["name", "identifier", "nominal", "dropped", "in", "the", "policy"] in lines
    assert ["sex", "quasi", "nominal", "representative", "no:", "by", "default"] in lines
    assert "Constraints: k = 5, l = 2. The 200 rows as a whole can meet them." in done.out
    assert "Method: gower. Expected for the whole run: about " in done.out
    assert "Dry run: nothing was written." in done.out
    assert not list(tmp_path.iterdir())


def test_its_json_agrees_with_the_release_that_is_made(table, tmp_path):
    words = ("anonymize", table, "-k", 4, *ROLES, "--method", "mdav", "--no-report", "--seed", 3, "--json")
    plan = json.loads(shoal_command(*words, "--dry-run", cwd=tmp_path).out)
    made = json.loads(shoal_command(*words, "-o", "out", cwd=tmp_path).out)
    policy = shoal.Policy.load(tmp_path / "out" / "policy.toml")
    assert plan["dry_run"] is True
    assert (plan["rows"], plan["suppressed"]) == (made["rows"], made["suppressed"])
    assert (plan["method"]["name"], plan["constraints"]["k"]) == (policy.method.name, policy.constraints.k)
    published = {one["name"]: one["published"] for one in plan["columns"]}
    assert list(published) == list(policy.columns)
    assert {name for name, form in published.items() if form == "dropped"} == set(policy.names("identifier"))
    assert all(published[name] == policy.columns[name].form for name in policy.names("quasi"))
    assert {one["name"] for one in plan["columns"] if one["named"]} == {"patient_id", "name", "diagnosis"}
    assert all(note in made["notes"] for note in plan["notes"])
    assert all(plan["expected"][one] > 0 for one in ("seconds", "megabytes"))


@pytest.mark.parametrize("effort", ["quick", "thorough"])
def test_the_method_that_auto_chooses_is_the_one_that_runs(effort, tmp_path):
    rows = "".join(f"{n % 13},{n * n % 101}\n" for n in range(60))
    (tmp_path / "numbers.csv").write_text(f"a,b\n{rows}")
    words = ("anonymize", "numbers.csv", "-k", 3, "--parameter", f"effort={effort}", "--no-report", "--json")
    plan = json.loads(shoal_command(*words, "--dry-run", cwd=tmp_path).out)
    made = json.loads(shoal_command(*words, "-o", "out", cwd=tmp_path).out)
    [choice] = [note for note in plan["notes"] if note["kind"] == "auto-choice"]
    assert choice in made["notes"]
    assert choice["text"].startswith(f"auto: chose {plan['method']['name']}, effort {effort}")
    assert plan["expected"]["seconds"] > 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["-k", "201"], 3),
        (["-l", "99", "--sensitive", "diagnosis"], 3),
        (["-t", "0.1", "--sensitive", "dignosis"], 2),
        (["--missing", "refuse"], 2),
        (["--method", "mdaw"], 2),
        (["--method", "mdav", "--parameter", "gap=3"], 2),
        (["--method", "kde_pp"], 2),
        (["--keep", "cost_eur"], 2),
        (["--hierarchy", "sex=nowhere.csv"], 2),
        (["--policy", "none.toml"], 2),
        (["--format", "xls"], 2),
        (["--budget", "0"], 2),
        (["--strict"], 2),
        (["--strict-note", "direct-identifier"], 2),
        (["--strict-note", "odd"], 2),
    ],
)
def test_it_ends_with_the_error_that_the_run_would_have(words, code, table, tmp_path):
    run = shoal_command("anonymize", table, *words, "-o", "out", "--log-format", "none", cwd=tmp_path)
    dry = shoal_command("anonymize", table, *words, "-o", "out", "--log-format", "none", "--dry-run", cwd=tmp_path)
    assert (run.code, dry.code) == (code, code)
    assert run.err == dry.err != ""
    assert not list(tmp_path.iterdir())


def test_a_method_is_refused_for_too_many_rows_before_it_starts(tmp_path):
    (tmp_path / "many.csv").write_text("a,b\n" + "".join(f"{n},{n % 7}\n" for n in range(2001)))
    done = shoal_command("anonymize", "many.csv", "--method", "exact", "--dry-run", "--quasi", "a", cwd=tmp_path)
    assert done.code == 2
    assert "exact: accepts at most 2,000 rows; the table has 2,001." in done.err


def test_an_output_folder_is_only_optional_for_a_dry_run(table, tmp_path):
    done = shoal_command("anonymize", table, cwd=tmp_path)
    assert done.code == 2
    assert "Missing option '-o' / '--output', the release folder. Only --dry-run needs none." in done.err


def test_a_strict_run_of_a_proposed_policy_succeeds_until_the_table_changes(table, tmp_path):
    assert shoal_command("init", table, cwd=tmp_path).code == 0
    words = ("--policy", "policy.toml", "--dry-run", "--strict", "--json")
    assert shoal_command("anonymize", table, *words, cwd=tmp_path).code == 0
    lines = table.read_text(encoding="utf-8").splitlines()
    (tmp_path / "new.csv").write_text("\n".join(f"{line},{'ward' if not n else n % 4}" for n, line in enumerate(lines)))
    done = shoal_command("anonymize", "new.csv", *words, cwd=tmp_path)
    assert done.code == 2
    error = json.loads(done.out)["error"]
    assert (error["kind"], error["exit"]) == ("PolicyError", 2)
    assert "column 'ward' is not named in the policy" in error["message"]
    assert error["message"].endswith("or leave --strict out.")
