"""Whatever is nested very deeply is an error in one sentence, or a line that fails, and never a traceback."""

import json
import sys

import pyarrow as pa
import pyarrow.csv
import pytest

import shoal
import shoal.sets
from shoal.certify.certificate import CERTIFICATE, POLICY
from shoal.cli.app import main
from shoal.errors import PolicyError, ReadError
from shoal.pipeline.line import verify
from shoal.pipeline.private import FINDINGS
from shoal.pipeline.set_folders import verify as verify_sets

DEPTHS = [65, 130, 250, 260, 400, 2000, 50_000]
TABLE = pa.table({"code": ["a", "b"] * 8, "ill": ["x", "y", "y", "x"] * 4})


def nested(depth, values):
    found = values
    for level in range(depth):
        found = {f"n{level}": found}
    return found


def inline(depth, values):
    return "".join(f"{{n{level} = " for level in range(depth)) + json.dumps(values) + "}" * depth


def policies(depth):
    """Return texts of policies that hold a hierarchy, or something else, of so many levels."""
    names = ".".join(f"n{level}" for level in range(depth))
    return [
        f"[columns.code]\nhierarchy = {inline(depth, ['a', 'b'])}\n",
        f'[columns.code.hierarchy.{names}]\nx = ["a", "b"]\n',
        f'columns.code.hierarchy.{names} = ["a", "b"]\n',
        f'[columns.ill]\nrole = "sensitive"\nhierarchy = {inline(depth, ["x", "y"])}\n',
        f"[columns.code]\nhierarchy = {'[' * depth}{']' * depth}\n",
        f"[columns.code.hierarchy]\nx = {'[' * depth}{']' * depth}\n",
        f"[method.parameters]\nx = {inline(depth, [1])}\n",
        f"[constraints]\nk = {'[' * depth}{']' * depth}\n",
    ]


def lines(depth, values):
    return "".join(
        f"{value};{';'.join(f'{value if level < depth // 2 else 0}-{level}' for level in range(depth))};*\n"
        for value in values
    )


def run(monkeypatch, capsys, *words):
    """Run the command line as it is installed; return how it ends and what it says."""
    monkeypatch.setattr(sys, "argv", ["shoal", *map(str, words)])
    monkeypatch.setenv("SHOAL_LOG", "none")
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code, capsys.readouterr().err


@pytest.fixture
def table(tmp_path):
    pyarrow.csv.write_csv(TABLE, tmp_path / "table.csv")
    return tmp_path / "table.csv"


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
def test_policy_files_are_refused_with_exit_2(table, tmp_path, monkeypatch, capsys, depth):
    for text in policies(depth):
        (tmp_path / "policy.toml").write_text(text)
        how = ("--policy", tmp_path / "policy.toml", "-k", 2, "-o", tmp_path / "release")
        code, output = run(monkeypatch, capsys, "anonymize", table, *how)
        assert code == 2, text[:80]
        assert output.startswith("shoal: policy: ")
        assert len(output.splitlines()) == 1
        assert len(output) < 1000


@pytest.mark.parametrize("depth", DEPTHS[:-1])
@pytest.mark.parametrize("column", ["code", "ill"])
def test_files_of_hierarchies_are_refused_with_exit_2(table, tmp_path, monkeypatch, capsys, depth, column):
    (tmp_path / "tree.csv").write_text(lines(depth, ["a", "b"] if column == "code" else ["x", "y"]))
    how = ("--sensitive", "ill", "--hierarchy", f"{column}={tmp_path / 'tree.csv'}", "-k", 2)
    code, output = run(monkeypatch, capsys, "anonymize", table, *how, "-o", tmp_path / "release")
    assert (code, output) == (2, f"shoal: policy: column {column!r}: the hierarchy has more than 64 levels.\n")


@pytest.mark.parametrize("depth", DEPTHS)
def test_nested_mappings_are_refused(depth):
    for name, values in (("code", ["a", "b"]), ("ill", ["x", "y"])):
        with pytest.raises(PolicyError, match="the hierarchy has more than 64 levels"):
            shoal.anonymize(TABLE, k=2, sensitive=["ill"], hierarchies={name: nested(depth, values)})


def test_a_mapping_that_holds_itself_is_refused():
    endless = {"x": ["a", "b"]}
    endless["y"] = endless
    with pytest.raises(PolicyError, match="the hierarchy has more than 64 levels"):
        shoal.anonymize(TABLE, k=2, hierarchies={"code": endless})


@pytest.mark.parametrize("kind", ["nested", "file"])
def test_64_levels_are_published_and_verified(tmp_path, kind):
    (tmp_path / "tree.csv").write_text(lines(64, ["x", "y"]))
    tree = tmp_path / "tree.csv" if kind == "file" else nested(64, ["x", "y"])
    release = shoal.anonymize(TABLE, k=2, t=0.9, sensitive=["ill"], hierarchies={"ill": tree})
    assert verify(release.save(tmp_path / "release", report=False)).holds


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
def test_folders_fail_a_line(tmp_path, depth):
    folder = shoal.anonymize(TABLE, k=2, sensitive=["ill"]).save(tmp_path / "release", report=False)
    whole = (folder / POLICY).read_text()
    for text in policies(depth):
        (folder / POLICY).write_text(text)
        assert any(line.what == "policy" and not line.holds for line in verify(folder).lines)
    (folder / POLICY).write_text(whole)
    stated = (folder / CERTIFICATE).read_text()
    deep = '{"n": ' * depth + "1" + "}" * depth
    for text in (stated.replace('"rows": 16', f'"rows": {deep}'), deep, "[" * depth + "]" * depth):
        (folder / CERTIFICATE).write_text(text)
        assert not verify(folder).holds


@pytest.mark.parametrize("text", ['{"n": ' * 5000 + "1" + "}" * 5000, "[" * 50_000], ids=["mappings", "lists"])
def test_private_folders_are_refused(tmp_path, text):
    folder, private = tmp_path / "release", tmp_path / "private"
    shoal.anonymize(TABLE, k=2, sensitive=["ill"]).save(folder, private=private, report=False)
    (private / FINDINGS).write_text(text)
    with pytest.raises(ReadError, match="contains no random seed"):
        shoal.seed_of(private)
    with pytest.raises(ReadError, match="was not written with a release"):
        shoal.measure(TABLE, folder, private=private)


@pytest.mark.parametrize("text", ['{"n": ' * 5000 + "1" + "}" * 5000, "[" * 50_000], ids=["mappings", "lists"])
def test_private_folders_of_sets_are_refused(tmp_path, text):
    folder, private = tmp_path / "release", tmp_path / "private"
    records = [["a", "b"], ["a", "b"], ["a"], ["b"]] * 3
    shoal.sets.anonymize(records, k=2, m=2).save(folder, private=private)
    (private / FINDINGS).write_text(text)
    with pytest.raises(ReadError, match="was not written with a release"):
        verify_sets(folder, original=records, private=private)
