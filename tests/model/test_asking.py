"""Messages name a wish in both places where a reader may be: Python and the command line."""

import ast
import re
from inspect import signature

import pytest
from typer.main import get_command

import shoal
from shoal.cli.app import app
from shoal.model.asking import FLAGS, option
from shoal.model.policy import Policy
from shoal.pipeline.judging import case_of
from shoal.pipeline.reporting import report

OPTION = re.compile(f"--(no-)?({'|'.join(flag.removeprefix('--') for flag in FLAGS.values())})\\b")


def flags_of(command):
    own = {flag for given in command.params for flag in (*given.opts, *given.secondary_opts)}
    return own.union(*(flags_of(one) for one in getattr(command, "commands", {}).values()))


def test_every_flag_is_one_of_the_command_line():
    known = flags_of(get_command(app))
    for name, flag in FLAGS.items():
        assert (f"--no-{name}" if name == "report" else flag) in known


def test_every_keyword_is_one_of_a_python_function():
    functions = (Policy.of, case_of, shoal.attack, report, shoal.verify, shoal.measure)
    known = {name for function in functions for name in signature(function).parameters}
    assert set(FLAGS) <= known


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("quasi", "my col", "quasi=['my col'] in Python, --quasi 'my col' on the command line"),
        ("quasi", "COLUMN", "quasi=[COLUMN] in Python, --quasi COLUMN on the command line"),
        ("quasi", "SSN", "quasi=['SSN'] in Python, --quasi SSN on the command line"),
        ("label", "class", "label='class' in Python, --label class on the command line"),
        ("header", True, "header=True in Python, --header on the command line"),
        ("report", False, "report=False in Python, --no-report on the command line"),
    ],
)
def test_both_spellings_are_given(name, value, said):
    assert option(name, value) == said


def test_no_message_outside_the_command_line_names_an_option_by_itself(pytestconfig):
    for file in (pytestconfig.rootpath / "src/shoal").rglob("*.py"):
        if file.parent.name == "cli" or file.name == "asking.py":
            continue
        said = [node.value for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Constant)]
        commands = re.compile("shoal [a-z]+ |-o release ")  # a whole command, to be copied
        alone = [text for text in said if isinstance(text, str) and OPTION.search(text) and not commands.search(text)]
        assert not alone, (file.name, alone)
