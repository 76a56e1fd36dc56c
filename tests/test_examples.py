"""Examples run, and so do the examples in docstrings and in the README."""

import doctest
import importlib
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MODULES = [
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    for path in sorted((ROOT / "src").rglob("*.py"))
    if ">>>" in path.read_text(encoding="utf-8")
]


PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if ">>>" in path.read_text(encoding="utf-8")]


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints_something(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_readme_links_every_example_and_nothing_else_there():
    linked = re.findall(r"\]\(examples/([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    there = (ROOT / "examples").iterdir()
    assert sorted(linked) == sorted(path.name for path in there if path.suffix in (".py", ".ipynb") or path.is_dir())


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_print_what_they_show(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_examples_in_the_docs_print_what_they_show(path):
    found = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.slow
def test_the_python_code_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
