"""The public interface: names and types in signatures, and suggestions in errors."""

import getpass
import inspect
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
import shoal.sets
from shoal import errors
from shoal.pipeline.reporting import report

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TABLES = (shoal.anonymize, shoal.profile, shoal.verify, shoal.measure, shoal.attack, shoal.explore, shoal.compare)
SETS = tuple(getattr(shoal.sets, name) for name in shoal.sets.__all__)
FUNCTIONS = (*TABLES, *SETS, report, shoal.Policy.of, shoal.Anonymizer.__init__, shoal.ReleaseThenFit.__init__)


def name_of(function):
    return f"{function.__module__}.{function.__qualname__}"


@pytest.mark.parametrize("function", FUNCTIONS, ids=name_of)
def test_every_argument_is_in_the_signature_with_a_type(function):
    for name, one in inspect.signature(function).parameters.items():
        assert one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL), name
        assert name == "self" or one.annotation is not one.empty, name


@pytest.mark.parametrize("function", [*TABLES, *SETS, report], ids=name_of)
def test_an_unknown_argument_is_refused_with_a_suggestion(function):
    known = [name for name, one in inspect.signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY]
    with pytest.raises(shoal.PolicyError, match=f"unknown option '{known[-1]}x'. Did you mean '{known[-1]}'?"):
        function(None, **{f"{known[-1]}x": 1})


def test_a_method_parameter_in_the_wrong_place_gets_a_hint():
    with pytest.raises(shoal.PolicyError, match="unknown option 'kk'. Did you mean 'k'?"):
        shoal.anonymize(shoal.sample(10), kk=3)
    with pytest.raises(shoal.PolicyError, match=r"unknown option 'effort'.*parameters=\{'effort': \.\.\.\}"):
        shoal.anonymize(shoal.sample(10), effort="quick")


def test_only_a_parameter_of_the_chosen_method_is_told_to_go_into_parameters():
    table = shoal.sample(10)
    for refuse in (
        lambda: shoal.anonymize(table, nonsense=1),
        lambda: shoal.anonymize(table, method="mdav", linkage="ward"),
        lambda: shoal.anonymize(table, method="no such method", linkage="ward"),
        lambda: shoal.Policy.of(nonsense=1),
    ):
        with pytest.raises(shoal.PolicyError, match="unknown option '[a-z]+'. Known: ") as caught:
            refuse()
        assert "parameters={" not in str(caught.value)
    for given in ({"method": "hac"}, {"policy": {"method": {"name": "hac"}}}):
        with pytest.raises(shoal.PolicyError, match=r"'linkage'. A parameter .* parameters=\{'linkage': \.\.\.\}"):
            shoal.anonymize(table, linkage="ward", **given)
    with pytest.raises(shoal.PolicyError, match=r"'linkag'. Did you mean 'linkage'\? Parameters of the method"):
        shoal.anonymize(table, method="hac", linkag="ward")
    with pytest.raises(shoal.PolicyError, match=r"parameters=\{'linkage': \.\.\.\}"):
        shoal.explore(table, linkage="ward")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        *((name, "source") for name in ("df", "data", "X", "frame", "table", "original")),
        ("random_seed", "seed"),
        ("random_state", "seed"),
        ("algorithm", "method"),
        ("drop", "identifiers"),
    ],
)
def test_the_words_of_other_libraries_get_a_hint(wrong, right):
    with pytest.raises(shoal.PolicyError, match=f"unknown option '{wrong}'. Did you mean '{right}'?"):
        shoal.anonymize(**{wrong: 1})
    if right == "source" and wrong != "original":
        with pytest.raises(shoal.PolicyError, match=f"unknown option '{wrong}'. Did you mean 'original'?"):
            shoal.measure(**{wrong: 1})


def test_methods_of_a_release_refuse_an_unknown_argument_with_a_suggestion(tmp_path):
    release = shoal.anonymize(shoal.sample(20).select(["height_cm"]), k=3, method="mdav")
    sets = shoal.sets.anonymize([["a"]] * 9)
    for use, wrong, right in (
        (lambda **more: release.save(tmp_path / "a", **more), "fmt", "format"),
        (lambda **more: sets.save(tmp_path / "a", **more), "formt", "format"),
        (release.report, "fomat", "format"),
        (shoal.sample, "sed", "seed"),
    ):
        with pytest.raises(shoal.PolicyError, match=f"unknown option '{wrong}'. Did you mean '{right}'?"):
            use(**{wrong: 1})


@pytest.mark.parametrize("name", shoal.sets.__all__)
def test_functions_for_sets_have_their_public_names(name):
    assert getattr(shoal.sets, name).__qualname__ == name


def test_swapped_arguments_get_a_hint(tmp_path):
    table = shoal.sample(20).select(["height_cm"])
    release = shoal.anonymize(table, k=3, method="mdav")
    folder = release.save(tmp_path / "release")
    sets = shoal.sets.anonymize([["a"]] * 9)
    for judge in (shoal.measure, shoal.attack, shoal.report):
        with pytest.raises(shoal.DataError, match="this is a folder. Give the original table first, then the release"):
            judge(str(folder), table)
        with pytest.raises(shoal.DataError, match="this is a release. Give the original table first, then the release"):
            judge(release, table)
    with pytest.raises(shoal.DataError, match="this is a release. Give the original records first, then the release"):
        shoal.sets.report(sets, [["a"]] * 9)


def test_a_report_of_a_release_alone_is_the_public_one(tmp_path):
    table = shoal.sample(20).select(["height_cm"])
    release = shoal.anonymize(table, k=3, method="mdav")
    folder = release.save(tmp_path / "release")
    sets = shoal.sets.anonymize([["a"]] * 9)
    for one in (release, folder, str(folder), sets):
        assert shoal.report(one, format="md") == shoal.report(None, one, format="md")
    with pytest.raises(shoal.DataError, match="report: None is not a release; expected a Release or a release folder"):
        shoal.report(table)
    with pytest.raises(shoal.DataError, match="the original must be a table; got 'md'. Write format='md'"):
        release.report("md")


def test_errors_of_records_say_what_records_are():
    with pytest.raises(shoal.ReadError, match="'nosuch.dat' does not exist; expected a text file of one record"):
        shoal.sets.anonymize("nosuch.dat")
    with pytest.raises(shoal.ReadError, match="None contains no records; expected a path, a frame, a matrix or"):
        shoal.sets.anonymize(None)
    with pytest.raises(shoal.MethodError, match="terms must be one of .*; got 'globl'. Did you mean 'global'?"):
        shoal.sets.anonymize([["a"]] * 9, terms="globl")


def test_a_constraint_and_names_of_other_libraries_get_a_hint():
    with pytest.raises(shoal.PolicyError, match=r"unknown option 'alpha'. Write constraints=\{'alpha': \.\.\.\}"):
        shoal.anonymize(shoal.sample(10), alpha=0.5)
    with pytest.raises(shoal.PolicyError, match="unknown option 'qi'. Did you mean 'quasi'?"):
        shoal.anonymize(shoal.sample(10), qi=["age"])
    with pytest.raises(shoal.PolicyError, match="unknown option 'estimator'. Did you mean 'model'?"):
        shoal.ReleaseThenFit(estimator=None)


@pytest.mark.parametrize(
    "use",
    [
        lambda table, wrong: shoal.anonymize(table, k=wrong),
        lambda table, wrong: shoal.anonymize(table, threads=wrong),
        lambda table, wrong: shoal.anonymize(table, budget=wrong),
        lambda table, wrong: shoal.anonymize(table, method=wrong),
        lambda table, wrong: shoal.anonymize(table, keep=[wrong]),
        lambda table, wrong: shoal.anonymize(table, keep=wrong),
        lambda table, wrong: shoal.anonymize(table, k=wrong, constraints={"k": 3}),
        lambda table, wrong: shoal.anonymize(table, k=2, method="mdav").save("nowhere", format=wrong, report=False),
        lambda table, wrong: shoal.measure(table, table, fraction=wrong),
        lambda table, wrong: shoal.attack(table, table, k=2, profile=wrong),
        lambda table, wrong: shoal.explore(table, jobs=wrong),
        lambda table, wrong: shoal.explore(table, methods=[wrong]),
        lambda table, wrong: shoal.compare([table, table], alpha=wrong),
        lambda table, wrong: shoal.report(None, "nowhere", format=wrong),
        lambda table, wrong: shoal.profile(table).column(wrong),
        lambda _, wrong: shoal.sample(wrong),
        lambda _, wrong: shoal.sets.anonymize([["a"]] * 9, k=wrong),
        lambda _, wrong: shoal.sets.anonymize([["a"]] * 9, terms=wrong),
        lambda _, wrong: shoal.sets.anonymize([["a"]] * 9, partition=wrong),
        lambda table, wrong: shoal.sets.read(table, column=wrong),
        lambda _, wrong: shoal.sets.read([["a"]], layout=wrong),
        lambda _, wrong: shoal.sets.distance([["a"]], [["a"]], seed=wrong),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "column", "numpy", "list"])
def test_a_table_in_the_place_of_a_value_is_refused_and_not_quoted(use, kind):
    table = pa.table({"age": [4711.5] * 8, "size": [4712.5] * 8})
    frame = table.to_pandas()
    wrong = {"pandas": frame, "column": frame["age"], "numpy": frame.to_numpy(), "list": [[4711.5]]}[kind]
    with pytest.raises(shoal.ShoalError) as caught:
        use(table, wrong)
    assert "471" not in str(caught.value)


def test_a_release_in_the_place_of_a_table_gets_a_hint():
    table = shoal.sample(20).select(["height_cm", "days"])
    release = shoal.anonymize(table, k=3, method="mdav")
    for judge in (shoal.measure, shoal.attack):
        with pytest.raises(shoal.DataError, match="Give the original table first, then the release"):
            judge(release, table)
    with pytest.raises(shoal.ReadError, match=r"a Release of shoal is not a table.*Give its `aligned\(\)`"):
        shoal.attack(table, release, other=release)


@pytest.mark.parametrize("function", [shoal.measure, shoal.attack, report, shoal.sets.report, shoal.sets.distance])
def test_the_original_comes_before_the_release(function):
    assert list(inspect.signature(function).parameters)[:2] == ["original", "release"]


def test_every_error_can_be_imported_from_shoal():
    for name in errors.__all__:
        if name[0].isupper():
            assert getattr(shoal, name) is getattr(errors, name)


def python_of(page):
    """The Python code of a page: its blocks, and its examples without their output."""
    text = page.read_text(encoding="utf-8")
    blocks = []
    for block in re.findall(r"```(?:python|pycon)\n(.*?)```", text, re.S):
        lines = block.splitlines()
        if any(line.startswith(">>>") for line in lines):
            lines = [line[4:] for line in lines if line.startswith((">>>", "..."))]
        blocks.append("\n".join(lines))
    return blocks


def mypy(folder):
    """Return what mypy reports for a reader's files; its cache is kept for the next run."""
    settings = folder / "mypy.ini"
    settings.write_text("[mypy]\nignore_missing_imports = True\nfollow_imports = silent\n", encoding="utf-8")
    kept = Path(tempfile.gettempdir()) / f"shoal-mypy-{getpass.getuser()}"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", kept, *sorted(folder.glob("*.py"))],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_mypy_accepts_the_python_code_of_every_page_and_rejects_misspellings(tmp_path):
    pages = {page: python_of(page) for page in PAGES}
    for page, blocks in pages.items():
        name = re.sub(r"\W", "_", str(page.relative_to(ROOT)))
        (tmp_path / f"page_{name}.py").write_text("\n".join(blocks), encoding="utf-8")
    assert all(pages[ROOT / page] for page in ("README.md", "docs/reference.md", "docs/index.md", "docs/sets.md"))
    wrong = {
        "wrong_function.py": "import shoal\nshoal.anonymise('a.csv')\n",
        "wrong_set_function.py": "import shoal.sets\nshoal.sets.anonymise('a.dat')\n",
        "wrong_name.py": "import shoal\nshoal.anonymize('a.csv', senstive=['ill'])\n",
        "wrong_type.py": "import shoal\nshoal.verify('a.csv', k='five')\n",
        "wrong_word.py": "import shoal\nshoal.anonymize('a.csv', missing='drop')\n",
        "wrong_set.py": "import shoal.sets\nshoal.sets.anonymize('a.dat', neighbor='km')\n",
        "wrong_grid.py": "import shoal\nshoal.explore('a.csv', method='mdav')\n",
        "wrong_pair.py": "import shoal\nshoal.measure('a.csv', 'release', privat='mine')\n",
        "wrong_policy.py": "import shoal\nshoal.Policy.of(kk=3)\n",
        "wrong_model.py": "import shoal\nshoal.ReleaseThenFit(None, kk=3)\n",
        "wrong_profile.py": "import shoal\nshoal.attack('a.csv', 'release', profile='everything')\n",
        "wrong_format.py": "import shoal\nshoal.report(None, 'release', format='pdf')\n",
        "wrong_report.py": "import shoal\nshoal.anonymize('a.csv').report(format='pdf')\n",
        "wrong_estimator.py": "import shoal\nshoal.Anonymizer(seeds=3)\n",
    }
    for name, text in wrong.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    output = mypy(tmp_path)
    complaints = {Path(line.split(":")[0]).name for line in output.splitlines() if ": error:" in line}
    assert complaints == set(wrong), output


def test_integers_of_numpy_are_accepted_wherever_a_whole_number_is():
    table, two = shoal.sample(60).select(["height_cm", "days"]), np.int64(2)
    release = shoal.anonymize(table, k=two, method="kmeans", parameters={"rounds": two}, threads=two, seed=two)
    assert release.policy.method.parameters == {"rounds": 2}
    found = shoal.explore(table, methods="mdav", k=two, seeds=np.int64(1), folds=two, jobs=np.int64(1))
    assert [point.name for point in found.front] == ["mdav-k2"]
    compared = shoal.compare({"a": table}, methods=["mdav", "md"], k=two, seeds=two, folds=two, jobs=np.int64(1))
    assert (compared.k, compared.seeds, compared.folds) == (2, 2, 2)
    with pytest.raises(shoal.PolicyError, match="seeds must be a whole number"):
        shoal.compare({"a": table}, methods=["mdav", "md"], seeds=2.0)
