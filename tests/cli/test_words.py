"""NAME=VALUE, and sentences on a terminal."""

import os
import pty
import subprocess
import sys
import textwrap

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from shoal.cli.words import hierarchies, parameters, plain_usage

WORD = st.text("abcxyz-_", min_size=1).filter(lambda word: word not in ("true", "false"))


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("4", 4),
        ("-4", -4),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("quick", "quick"),
        ("a=b", "a=b"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_a_value_is_what_it_looks_like(word, value):
    found = parameters([f"name={word}"])["name"]
    assert found == value
    assert type(found) is type(value)


@given(st.dictionaries(WORD, st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))))
def test_what_is_written_is_read_back(values):
    words = [
        f"{name}={str(value).lower() if isinstance(value, bool) else repr(value)}" for name, value in values.items()
    ]
    assert parameters(words) == values


@pytest.mark.parametrize("bad", [["effort"], ["=3"], ["effort="], [""], ["="], [" = "], ["a=1", "a=2"]])
def test_a_malformed_setting_is_refused(bad):
    with pytest.raises(typer.BadParameter, match="--parameter"):
        parameters(bad)


def test_a_hierarchy_is_a_word_or_a_path_whatever_it_looks_like():
    assert hierarchies(["zip=mask", "a b=trees/1.csv", "n=3"]) == {"zip": "mask", "a b": "trees/1.csv", "n": "3"}
    for bad in (["zip"], ["zip="], ["=mask"], ["zip=mask", "zip=prefix"]):
        with pytest.raises(typer.BadParameter, match="--hierarchy"):
            hierarchies(bad)


def on_a_terminal(script):
    """Run a script whose stderr is a terminal, and return what it shows there and prints."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        text=True,
        check=False,
    )
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:
        pass  # the end of a terminal is an error
    os.close(ours)
    return done, shown.decode()


SCRIPT = """
    from shoal.cli import show
    from shoal.model.progress import announce, step
    with show.progress():
        step("cluster")
        announce("auto: anneal, about 6 s " + "and more " * 20 + "\x1b[31m")
"""


@pytest.mark.process
def test_sentences_are_dim_and_whole_on_a_terminal():
    done, shown = on_a_terminal(SCRIPT)
    assert done.returncode == 0, shown
    assert done.stdout == ""
    assert "\x1b[2mauto: anneal, about 6 s" in shown
    assert "\x1b[31m" not in shown
    assert " ".join(shown.split()).count("and more") == 20


@pytest.mark.process
def test_sentences_are_lines_elsewhere_and_a_terminal_can_have_lines_too():
    words = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "\x1b[31m" not in done.stderr
    first, second = done.stderr.splitlines()
    assert first.endswith("cluster")
    assert " cluster    auto: anneal, about 6 s and more" in second
    _, shown = on_a_terminal(SCRIPT.replace("show.progress()", "show.progress(show.LogFormat.PLAIN)"))
    assert shown.splitlines()[0].endswith("cluster")
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("Input should be a valid number, unable to parse string as a number", "expected a number."),
        ("Input should be greater than or equal to 20", "expected a number of at least 20."),
        ("Value error, 'foo' is not one of 'plain', 'json'.", "'foo' is not one of 'plain', 'json'."),
        ("Missing argument 'file'.", "Missing argument 'file'."),
    ],
)
def test_a_wrong_option_is_named_in_plain_words(said, plain):
    assert plain_usage(said) == plain
