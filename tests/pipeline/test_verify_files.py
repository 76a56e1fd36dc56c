"""`verify FILE` compares what is written: two spellings of a quasi-identifier are two values, unless asked to parse."""

import json

import pytest

import shoal
from command_line import shoal_command


def table(tmp_path, pairs, name="people.csv"):
    place = tmp_path / name
    place.write_text("size,ill\n" + "".join(f"{size},{ill}\n" for size, ill in pairs))
    return place


@pytest.mark.parametrize(
    "spellings",
    [
        ("0.3", "0.30"),
        ("NA", "?"),
        ("null", "NaN"),
        ("1", "01"),
        ("1e3", "1000"),
        ("2024-01-02", "2024-01-02 00:00:00"),
    ],
)
def test_two_spellings_are_two_values(tmp_path, spellings):
    rows = [(spellings[0], "a")] * 2 + [(spellings[1], "b")] * 2 + [("0.5", "c")] * 4
    place = table(tmp_path, rows)
    checked = shoal.verify(place, k=4, quasi=["size"], sensitive=["ill"], header=True)
    assert not checked.holds
    assert checked.verdicts[0].found == 2


@pytest.mark.parametrize("spellings", [("0.3", "0.30"), ("NA", "?"), ("null", "NaN"), ("1e3", "1000")])
def test_if_parsed_they_are_one_value(tmp_path, spellings):
    rows = [(spellings[0], "a")] * 2 + [(spellings[1], "b")] * 2 + [("0.5", "c")] * 4
    checked = shoal.verify(table(tmp_path, rows), parse=True, k=4, quasi=["size"], sensitive=["ill"], header=True)
    assert checked.holds
    assert checked.verdicts[0].found == 4


def test_sensitive_values_are_parsed_so_that_spellings_do_not_make_them_diverse(tmp_path):
    rows = [("a", spelling) for spelling in ("1.0", "1.00", "NA", "?")]
    place = tmp_path / "people.csv"
    place.write_text("town,pay\n" + "".join(f"{town},{pay}\n" for town, pay in rows))
    checked = shoal.verify(place, k=4, l=3, quasi=["town"], sensitive=["pay"], header=True)
    assert checked.verdicts[1].found == 2


def test_a_distance_between_numbers_is_counted_on_numbers(tmp_path):
    rows = [("a", value) for value in (1, 2, 3)] + [("b", value) for value in (1, 1, 2)]
    place = tmp_path / "people.csv"
    place.write_text("town,pay\n" + "".join(f"{town},{pay}\n" for town, pay in rows))
    stands, parsed = (
        shoal.verify(place, parse=parse, k=3, t=1, quasi=["town"], sensitive=["pay"]) for parse in (False, True)
    )
    assert stands.verdicts == parsed.verdicts


def test_the_command_parses_on_request_and_lists_every_role(tmp_path):
    place = table(tmp_path, [("0.3", "a")] * 2 + [("0.30", "b")] * 2)
    words = ("verify", place, "-k", 4, "--quasi", "size", "--keep", "ill", "--header")
    assert shoal_command(*words, "--json").code == 1
    parsed = shoal_command(*words, "--json", "--parse")
    assert parsed.code == 0, parsed.err
    printed = json.loads(parsed.out)
    assert [(one["column"], one["role"]) for one in printed["columns"]] == [("size", "quasi"), ("ill", "keep")]
    shown = shoal_command(*words).out
    assert "published" in shown
    assert "as in the file" in shown
