"""Rules for the code base: file sizes, packages, imports, tests, naive twins and documentation."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import shoal
from shoal import errors
from shoal.catalogue import methods
from shoal.cli.app import app
from shoal.model.policy import Column, Constraints, Method, Policy

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "shoal").rglob("*.py"))
PACKAGES = sorted(path.parent for path in (ROOT / "src" / "shoal").glob("*/__init__.py"))


def headings(page):
    return [line for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines() if line.startswith("#")]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_source_file_has_more_than_400_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_no_module_or_package_has_a_meaningless_name():
    names = {part for path in SOURCES for part in (path.stem, path.parent.name)}
    assert not names & {"utils", "util", "common", "core", "helpers", "helper", "misc"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_every_package_has_a_short_readme(package):
    assert 3 <= len((package / "README.md").read_text(encoding="utf-8").splitlines()) <= 15


@pytest.mark.parametrize("name", sorted(methods.built_in))
def test_a_method_has_a_test_a_naive_twin_and_a_page_of_its_name(name):
    package = methods.built_in[name].module.split(".")[1]
    for path in (
        f"tests/{package}/test_{name}.py",
        f"tests/naive/{name}.py",
        f"docs/methods/{name}.md",
    ):
        assert (ROOT / path).is_file(), path


@pytest.mark.parametrize("name", sorted(methods.built_in))
def test_every_method_has_a_guarantee_in_its_docstring_and_on_its_page(name):
    document = methods.load(name).function.__doc__
    for section in ("Parameters", "Returns", "Guarantee", "Cost"):
        assert re.search(rf"^ +{section}\n +-+$", document, re.M), section
    assert "## Guarantee" in headings(f"methods/{name}.md")
    assert "## Preconditions" in headings(f"methods/{name}.md")


@pytest.mark.parametrize("name", sorted(methods.built_in))
def test_the_parameters_on_the_page_of_a_method_are_those_of_its_card(name):
    page = (ROOT / f"docs/methods/{name}.md").read_text(encoding="utf-8")
    assert f"```{{parameters}} {name}\n```" in page


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "naive").glob("*.py")), ids=lambda path: path.stem)
def test_naive_twins_do_not_import_what_they_check(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name for name in names if name.split(".")[0] in {"shoal", "numpy", "numba", "scipy"}}


@pytest.mark.process
def test_the_import_rules_hold():
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_import_rules_are_exhaustive_and_name_the_judge():
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    assert rules[0]["exhaustive"]
    judge = next(rule for rule in rules if rule["name"].startswith("The judge"))
    assert set(judge["source_modules"]) >= {"shoal.privacy.verdict", "shoal.certify"}
    assert set(judge["forbidden_modules"]) >= {"shoal.kernels", "shoal.prepare", "numba"}


def loaded(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


@pytest.mark.process
def test_importing_shoal_loads_nothing_heavy():
    assert not loaded("import shoal") & {"numba", "sklearn", "pandas", "polars", "pyarrow", "numpy"}


@pytest.mark.process
def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['shoal', '--help']\nimport shoal.cli.app\n"
        "try:\n    shoal.cli.app.app()\nexcept SystemExit: pass"
    )
    assert not loaded(code) & {"numba", "sklearn", "pandas", "polars", "pyarrow", "scipy"}


@pytest.mark.slow
@pytest.mark.process
def test_commands_that_neither_cluster_nor_draw_load_nothing_heavy(tmp_path):
    (tmp_path / "x.csv").write_text("age\n" + "1\n" * 9)
    code = (
        f"import os; os.chdir({str(tmp_path)!r})\nfrom shoal.cli.app import app\n"
        "for words in ('measures', 'profile x.csv', 'init x.csv', 'verify x.csv -k 2'):\n"
        "    assert app(words.split(), standalone_mode=False) in (None, 0)"
    )
    # pandas is not listed: pyarrow imports it when it converts arrays, if it is installed.
    assert not loaded(code) & {"numba", "sklearn", "scipy", "jinja2", "polars"}


def test_public_names_are_sorted_and_exist():
    assert shoal.__all__ == sorted(shoal.__all__)
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    with pytest.raises(AttributeError):
        _ = shoal.no_such_name
    assert dir(shoal) == shoal.__all__


def test_every_public_name_has_a_heading_in_the_reference():
    for name in [*shoal.__all__, *(f"sets.{name}" for name in shoal.sets.__all__)]:
        assert name == "sets" or f"`shoal.{name}`" in " ".join(headings("reference.md")), name


def test_every_command_has_a_heading_in_the_docs():
    commands = [command.name or command.callback.__name__ for command in app.registered_commands]
    for group in app.registered_groups:
        inner = group.typer_instance
        commands += [f"{inner.info.name} {command.callback.__name__}" for command in inner.registered_commands]
    assert "sets anonymize" in commands
    for command in commands:
        assert any(f"shoal {command}" in heading for heading in headings("commands.md")), command


def test_every_policy_key_has_a_heading_in_the_docs():
    keys = list(Policy.model_fields)
    keys += [f"constraints.{key}" for key in Constraints.model_fields]
    keys += [f"method.{key}" for key in Method.model_fields]
    keys += [f"columns.{key}" for key in Column.model_fields]
    for key in keys:
        assert any(f"`{key}`" in heading for heading in headings("policy.md")), key


def test_every_error_has_a_heading_in_the_docs():
    for name in errors.__all__:
        if name[0].isupper():
            assert any(name in heading for heading in headings("errors.md")), name


@pytest.mark.slow
def test_no_source_file_prints_or_loads_pickles():
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert "print" not in called, path
        assert not imported & {"pickle", "joblib", "marshal", "shelve", "dill"}, path


SCRIPTS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("docs/pictures/*.py"), *ROOT.glob("examples/*.py")])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_import_names_of_shoal_that_exist(script):
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shoal":
            exec(ast.unparse(node), {})
