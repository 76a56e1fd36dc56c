"""`shoal policy`, and the files in examples/ci that use it."""

import json
import re
import shlex
from pathlib import Path

import pytest

import shoal
from command_line import shoal_command

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "ci"
GOOD = '[constraints]\nk = 5\nl = 2\n[columns.diagnosis]\nrole = "sensitive"\n'


def written(folder, text, name="policy.toml"):
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_valid_policies_are_named(tmp_path):
    names = [written(tmp_path, GOOD), written(tmp_path, "", "empty.toml")]
    done = shoal_command("policy", *names, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["policy.toml: valid.", "empty.toml: valid."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k = 5", "there is no key 'k'. Did you mean 'constraints.k'?"),
        ("[constraints", "is not TOML"),
        ("[constraints]\nl = 2", "constraint l needs a sensitive column"),
        ("[constraints]\nc = 2.0", "c is for recursive l-diversity only"),
        ('[method]\nname = "mdaw"', "Did you mean 'mdav'?"),
        ('[method]\nname = "mdav"\n[method.parameters]\ngap = 3', "unknown parameter 'gap'"),
        ('[method]\nname = "anneal"\n[method.parameters]\neffort = "much"', "effort must be one of"),
        ('[method]\nname = "kde_pp"', "there are no labels to learn from"),
        ('[method]\nname = "gower"\nrefine = "quick"', "method.refine is for methods on numbers"),
        (f"{GOOD}[constraints.others]\nstrange = 1.0", "strange"),
        ('[columns.zip]\nhierarchy = "none.csv"', "neither an existing file nor one of the keywords"),
        ('[columns.zip]\nhierarchy = "bad.csv"', "the lines of the hierarchy end in 2 different labels"),
    ],
)
def test_what_no_table_could_make_right_is_refused(text, message, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b,*\nc,d,e\n")
    names = [written(tmp_path, text, "wrong.toml"), written(tmp_path, GOOD)]
    done = shoal_command("policy", *names, cwd=tmp_path)
    assert done.code == 2
    assert done.out == "policy.toml: valid.\n"
    assert done.err.startswith("shoal: wrong.toml: ")
    assert message in done.err


def test_what_depends_on_the_table_is_left_open(tmp_path):
    policy = '[constraints]\nm = 2\n[method]\nname = "exact"\n[columns.anything]\nkind = "date"\n'
    assert shoal_command("policy", written(tmp_path, policy), cwd=tmp_path).code == 0


def test_json_has_every_file(tmp_path):
    names = [written(tmp_path, "k = 5", "wrong.toml"), written(tmp_path, GOOD), "none.toml"]
    done = shoal_command("policy", *names, "--json", cwd=tmp_path)
    assert done.code == 2
    found = json.loads(done.out)
    assert [(one["file"], one["valid"]) for one in found] == list(zip(names, [False, True, False], strict=True))
    assert found[1]["error"] is None
    assert "there is no file 'none.toml'" in found[2]["error"]


def commands_of(path):
    """The shoal commands of a file, without redirections; the files that a hook adds are policies."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"^\s*(?:- |entry: )?shoal (.*)$", text, re.M)
    return [shlex.split(line.partition(" > ")[0]) for line in found]


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.stem)
def test_the_commands_of_the_examples_work(path, tmp_path):
    (tmp_path / "policies").mkdir()
    written(tmp_path / "policies", GOOD)
    shoal.anonymize(shoal.sample(40, seed=1), k=4, method="mdav", seed=1).save(tmp_path / "release")
    commands = commands_of(path)
    assert commands
    for words in commands:
        given = [*words, "policies/policy.toml"] if words == ["policy"] else words
        given = ["policies/policy.toml" if word == "policies/*.toml" else word for word in given]
        done = shoal_command(*given, cwd=tmp_path)
        assert done.code == 0, done


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.stem)
def test_the_examples_name_no_host(path):
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    assert "\t" not in text
    assert text.startswith("# Checks ")
