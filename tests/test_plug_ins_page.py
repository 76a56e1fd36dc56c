"""The page on plug-ins: its code is one module, which conforms and works once it is installed."""

import re
import sys
from pathlib import Path

import pytest

import shoal
from command_line import shoal_command

PAGE = (Path(__file__).parents[1] / "docs" / "plug-ins.md").read_text(encoding="utf-8")


@pytest.fixture
def my_package(tmp_path, monkeypatch):
    """The module of the page, installed with the entry points of the page."""
    information = tmp_path / "my_package-1.0.dist-info"
    information.mkdir()
    (tmp_path / "my_package.py").write_text(
        "\n\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.S)), encoding="utf-8"
    )
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my_package\nVersion: 1.0\n")
    [entries] = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    plain = re.sub(r'\[project.entry-points."(.*)"\]', r"[\1]", entries).replace('"', "")
    (information / "entry_points.txt").write_text(plain)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_package", raising=False)
    import my_package

    return my_package


@pytest.mark.slow
def test_every_plug_in_of_the_page_conforms(my_package):
    my_package.test_my_plug_ins()


@pytest.mark.slow
def test_every_plug_in_of_the_page_is_used_as_the_page_says(my_package, tmp_path):
    table = shoal.sample(90, seed=4).select(["height_cm", "weight_kg", "days", "diagnosis"])
    asked = {"sensitive": ["diagnosis"], "constraints": {"rarest value": 1}}
    release = shoal.anonymize(table, k=5, method="runs", parameters={"first": 2}, **asked)
    assert [one.model for one in release.verdicts] == ["k-anonymity", "rarest value"]
    folder = release.save(tmp_path / "release", format="tabs", private=tmp_path / "private")
    assert (folder / "data.tabs").is_file()
    assert shoal.verify(folder).holds
    [figure] = shoal.measure(table, folder, private=tmp_path / "private", only="mean rows of a class")
    assert figure.value >= 5
    [attack] = shoal.attack(table, release, only="same first column")
    assert attack.trials == 90
    for section in ("methods", "models", "measures", "attacks", "formats"):
        assert shoal_command(section).err == ""


def test_the_page_names_every_public_attribute_of_what_plug_ins_are_given():
    from shoal.privacy.attacks.attack import Clock, Profile
    from shoal.privacy.measures.case import Case
    from shoal.privacy.verdict.classes import Counts

    unsaid = {"trees", "places", "matrix", "regroup", "taken", "faults", "of", "part"}
    for kind in (Case, Counts, Profile, Clock):
        fields = getattr(kind, "__dataclass_fields__", {})
        for name in {*fields, *(one for one in vars(kind) if not one.startswith("_"))} - unsaid:
            assert f"`{name}" in PAGE, (kind.__name__, name)
