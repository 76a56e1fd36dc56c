"""Plug-ins that are merely installed do not disturb what is built in, and lists say which ones are not used."""

import json

import pytest
from pyarrow.csv import write_csv

import shoal
from command_line import shoal_command
from plug_ins import put

FORMAT = """
from shoal.catalogue import file_format


def read(path):
    raise MemoryError("SECRET")


@file_format("mine", endings=ENDINGS, magic=MAGIC, called="Mine", read=read)
def mine(table, file):
    \"\"\"Write a file.\"\"\"
    file.write(b"MINE")
"""
MEASURE = """
from shoal.catalogue import measure
from shoal.model.findings import Finding


@measure("NAME", formula="f", better="low", need="release", cost="n")
def mine(case):
    \"\"\"Return a constant.\"\"\"
    return (Finding("NAME", 77.0, "x", "release", counts_rows=False),)
"""
METHOD = """
from pathlib import Path

import numpy as np

from shoal.catalogue import Choice, Whole, method
from shoal.model.partition import Partition

BROKEN = Path(__file__).parent / "broken"


def words():
    if BROKEN.exists():
        raise KeyError("SECRET")
    return ("a", "b")


@method("choosing", data="numeric", ensures={"k"}, params={"k": Whole(2), "side": Choice(words, default="a")})
def choosing(X, k, side):
    \"\"\"Put all rows into one group.\"\"\"
    return Partition.of(np.zeros(len(X), np.int64))
"""


@pytest.fixture
def people():
    return shoal.sample(60, seed=4).select(["height_cm", "weight_kg", "days"])


def put_format(place, monkeypatch, endings, magic='b"MINE"'):
    source = FORMAT.replace("ENDINGS", endings).replace("MAGIC", magic)
    put(place, monkeypatch, "format_plug_in", source, formats={"mine": "mine"})


def test_a_format_with_the_endings_of_built_in_ones_takes_no_file_from_them(people, tmp_path, monkeypatch):
    folder = shoal.anonymize(people, k=5, method="mdav").save(tmp_path / "release", report=True)
    write_csv(people, tmp_path / "people.csv")
    put_format(tmp_path, monkeypatch, '(".csv", ".gz", ".parquet")', 'b"h"')
    assert shoal.verify(folder).holds
    assert len(shoal.profile(tmp_path / "people.csv").columns) == 3


@pytest.mark.parametrize(
    ("endings", "magic", "wrong"),
    [
        ("None", 'b""', "None in endings"),
        ('".mine"', 'b""', "a str in endings"),
        ('("",)', 'b""', "'' in endings"),
        ('(".mine",)', "None", "None as magic; expected bytes"),
    ],
)
def test_a_format_with_an_unusable_card_is_left_out_and_named(people, tmp_path, monkeypatch, endings, magic, wrong):
    put_format(tmp_path, monkeypatch, endings, magic)
    done = shoal_command("formats", "--json")
    assert done.code == 0
    assert "mine" not in {one["name"] for one in json.loads(done.out)}
    assert f"plug-in: 'mine' cannot be loaded. format: the card of 'mine' has {wrong}" in done.err
    write_csv(people, tmp_path / "people.data")
    release = shoal.anonymize(tmp_path / "people.data", k=5, method="mdav")
    with pytest.raises(shoal.WriteError, match="plug-in: 'mine' cannot be loaded"):
        release.save(tmp_path / "release", format="mine")


def test_a_format_whose_name_is_a_path_is_refused(tmp_path, monkeypatch):
    source = FORMAT.replace('"mine"', '"../mine"').replace("ENDINGS", '(".mine",)').replace("MAGIC", 'b"MINE"')
    put(tmp_path, monkeypatch, "format_plug_in", source, formats={"../mine": "mine"})
    assert "of a format must consist of letters" in shoal_command("formats").err


def test_a_lack_of_memory_in_a_plug_in_is_reported_without_its_text(people, tmp_path, monkeypatch):
    put_format(tmp_path, monkeypatch, '(".mine",)')
    (tmp_path / "people.mine").write_bytes(b"MINE")
    with pytest.raises(MemoryError) as caught:
        shoal.profile(tmp_path / "people.mine")
    assert "SECRET" not in str(caught.value)


def test_two_plug_ins_of_one_name_are_an_error_when_used_and_listed_as_such(people, tmp_path, monkeypatch):
    for module in ("one", "other"):
        put(tmp_path, monkeypatch, module, MEASURE.replace("NAME", "twin"), measures={"twin": "mine"})
    done = shoal_command("measures", "--json")
    assert "plug-in: 'twin' is provided by two packages. Uninstall one of them." in done.err
    assert "twin" not in {one["name"] for one in json.loads(done.out)}
    with pytest.raises(shoal.MethodError, match="'twin' is provided by two packages"):
        shoal.measure(None, shoal.anonymize(people, k=5, method="mdav"), only=["twin"])


@pytest.mark.parametrize("name", ["k-anonymity", "success rate"])
def test_a_plug_in_with_the_name_of_a_built_in_card_is_not_used_and_lists_say_so(people, tmp_path, monkeypatch, name):
    put(tmp_path, monkeypatch, "shadow", MEASURE.replace("NAME", name), measures={name: "mine"})
    assert f"the measure '{name}' of another package is ignored" in shoal_command("measures").err
    [found] = shoal.measure(None, shoal.anonymize(people, k=5, method="mdav"), only=[name])[:1]
    assert found.value != 77.0


def test_words_of_a_parameter_that_fail_make_a_check_fail_and_quote_nothing(people, tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "choosing_plug_in", METHOD, methods={"choosing": "choosing"})
    folder = shoal.anonymize(people, k=5, method="choosing", parameters={"side": "b"}).save(tmp_path / "release")
    assert shoal.verify(folder).holds
    (tmp_path / "choosing_plug_in" / "broken").touch()
    found = shoal.verify(folder)
    assert not found.holds
    assert "SECRET" not in str(found)
    with pytest.raises(shoal.UseError, match=r"'choosing' failed \(KeyError\)") as caught:
        shoal.anonymize(people, k=5, method="choosing", parameters={"side": "b"})
    assert "SECRET" not in str(caught.value)
    done = shoal_command("methods", "--json")
    assert done.code == 0
    assert "SECRET" not in done.err
