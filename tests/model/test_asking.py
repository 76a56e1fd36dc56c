"""Errors name an option as the reader writes it: in Python or on the command line. Notes name both."""

import ast
import re
from inspect import signature

import pandas as pd
import polars as pl
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import shoal
import shoal.sets
from shoal.cli.app import app
from shoal.model.asking import FLAGS, argument, either, on_command_line, one_or_several, option
from shoal.model.policy import Policy
from shoal.model.release import Release
from shoal.pipeline.judging import case_of
from shoal.pipeline.reporting import report

OPTION = re.compile(f"--(no-)?({'|'.join(flag.removeprefix('--') for flag in FLAGS.values())})\\b")


def flags_of(command):
    own = {flag for given in command.params for flag in (*given.opts, *given.secondary_opts)}
    return own.union(*(flags_of(one) for one in getattr(command, "commands", {}).values()))


def test_every_flag_exists_on_the_command_line():
    known = flags_of(get_command(app))
    for name, flag in FLAGS.items():
        assert (f"--no-{name}" if name == "report" else flag) in known, name


def test_every_keyword_exists_in_a_python_function():
    functions = (Policy.of, case_of, shoal.attack, report, shoal.verify, shoal.measure, shoal.explore)
    functions = (*functions, shoal.sets.anonymize, shoal.anonymize, Release.save)
    known = {name for function in functions for name in signature(function).parameters}
    assert set(FLAGS) <= known


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("quasi", "my col", "quasi=['my col'] in Python, --quasi 'my col' on the command line"),
        ("quasi", "COLUMN", "quasi=[COLUMN] in Python, --quasi COLUMN on the command line"),
        ("quasi", "SSN", "quasi=['SSN'] in Python, --quasi SSN on the command line"),
        ("label", "class", "label='class' in Python, --label class on the command line"),
        ("header", True, "header=True in Python, --header on the command line"),
        ("report", False, "report=False in Python, --no-report on the command line"),
    ],
)
def test_a_note_gives_both_spellings_and_an_error_the_one_of_the_reader(name, value, message):
    assert either(name, value) == message
    python, flag = message.removesuffix(" on the command line").split(" in Python, ")
    assert option(name, value) == python
    with on_command_line():
        assert option(name, value) == flag
        assert argument(name) == FLAGS[name]
    assert argument(name) == name


@pytest.mark.parametrize("kind", [pd.Series, pl.Series])
def test_a_column_is_not_taken_for_a_list_of_names(kind):
    with pytest.raises(shoal.PolicyError, match="policy: sensitive must be one or more names; got a Series"):
        Policy.of(sensitive=kind(["SECRET"]))
    assert one_or_several(pd.DataFrame({"age": []}).columns, "mine", "quasi") == ["age"]


def test_python_errors_name_arguments_and_command_line_errors_name_options(tmp_path):
    table = shoal.sample(30)
    with pytest.raises(shoal.PolicyError, match=r"Name one \(sensitive=\[COLUMN\]\), or leave"):
        shoal.anonymize(table, l=2)
    with pytest.raises(shoal.PolicyError, match="anonymize: budget must be"):
        shoal.anonymize(table, budget=0)
    place = tmp_path / "people.csv"
    place.write_text("age,zip\n" + "".join(f"{20 + i},{i % 3}\n" for i in range(30)))
    for words, message in (
        (["-l", "2"], r"Name one \(--sensitive COLUMN\), or"),
        (["--budget", "0"], "anonymize: --budget must"),
    ):
        done = CliRunner().invoke(app, ["anonymize", str(place), "-o", str(tmp_path / "out"), *words])
        assert re.search(message, str(done.exception))


def test_no_message_outside_the_command_line_names_an_option_by_itself(pytestconfig):
    for file in (pytestconfig.rootpath / "src/shoal").rglob("*.py"):
        if file.parent.name == "cli" or file.name == "asking.py":
            continue
        texts = [node.value for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Constant)]
        commands = re.compile("shoal [a-z]+ |-o release ")  # a whole command, to be copied
        alone = [text for text in texts if isinstance(text, str) and OPTION.search(text) and not commands.search(text)]
        assert not alone, (file.name, alone)
