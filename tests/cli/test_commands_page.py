"""The page of commands shows what the commands print: each one with output is run, and the others are parsed."""

import re
import shlex
from itertools import groupby
from pathlib import Path

import pytest
from typer.main import get_command

from command_line import shoal_command
from shoal.cli.app import app
from shoal.pipeline import regrouping

PAGE = Path(__file__).parent.parent.parent / "docs" / "commands.md"
BLOCKS = re.findall(r"^```\n(\$ shoal .*?)^```$", PAGE.read_text(encoding="utf-8"), re.S | re.M)
SHOWN = [block for block in BLOCKS if [line for line in block.splitlines() if line[:1] != "$"]]
LEFT_OUT = "…"  # a line for any number of lines
DIGEST = re.compile(r"\b[0-9a-f]{16}\b")  # of a file: another version of shoal may write other bytes
PEOPLE = re.search(
    r"^```text\n(name,age.*?)^```", (PAGE.parent / "line" / "index.md").read_text(encoding="utf-8"), re.S | re.M
)[1]


def words_of(line):
    """Return the words of a shown command, without the prompt, a comment and a redirection."""
    words = shlex.split(line.removeprefix("$ "), comments=True)
    return words[1 : words.index(">")] if ">" in words else words[1:]


def plain(text):
    """Return the lines of an output without what only the layout of its columns decides."""
    lines = (re.sub("─+", "─", re.sub(r"\s+", " ", DIGEST.sub("DIGEST", line))).strip() for line in text.splitlines())
    return [line for line in lines if line]


def agrees(shown, printed):
    """Whether the lines shown are those printed, in their order; a line of … stands for any number of them."""
    at, open_ = 0, False
    for left_out, group in groupby(shown, lambda line: line == LEFT_OUT):
        if left_out:
            open_ = True
            continue
        part = list(group)
        starts = range(at, len(printed) - len(part) + 1) if open_ else (at,)
        found = next((start for start in starts if printed[start : start + len(part)] == part), None)
        if found is None:
            return False
        at, open_ = found + len(part), False
    return open_ or at == len(printed)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    where = tmp_path_factory.mktemp("page")
    (where / "people.csv").write_text(PEOPLE)
    return where


@pytest.mark.parametrize("line", [line for block in BLOCKS for line in block.splitlines() if line[:2] == "$ "])
def test_every_command_shown_has_these_options(line):
    words, command = words_of(line), get_command(app)
    context = command.make_context("shoal", words, resilient_parsing=True)
    while hasattr(command, "commands"):
        name, command, words = command.resolve_command(context, words)
        context = command.make_context(name, list(words), parent=context, resilient_parsing=True)
    assert not context.args


@pytest.mark.slow
def test_every_output_shown_is_what_the_command_prints(place, monkeypatch):
    monkeypatch.setattr(regrouping, "SECONDS", 60.0)  # on a busy machine an estimate may take longer than its limit
    assert len(SHOWN) > 5
    stale = []
    for block in SHOWN:
        command, _, shown = block.partition("\n")
        printed = shoal_command(*words_of(command), cwd=place).out
        if not agrees(plain(shown), plain(printed)):
            stale.append(f"{command}\n{printed}")
    assert not stale, "\n\n".join(stale)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "…"], ["a", "b", "c"], True),
        (["a", "…", "c"], ["a", "b", "c"], True),
        (["a", "…", "c"], ["a", "b", "d"], False),
        (["a", "…", "b", "…", "b"], ["a", "b", "c", "b"], True),
        (["b"], ["a", "b"], False),
    ],
)
def test_a_line_of_dots_stands_for_any_lines_and_nothing_else_does(shown, printed, same):
    assert agrees(shown, printed) == same
