"""Measuring and attacking through the doors: releases, folders and strangers' tables, aligned or refused."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, MethodError, ReadError
from shoal.pipeline.judging import case_of


def table(rows=90, gaps=False):
    rng = np.random.default_rng(4)
    age = rng.integers(20, 80, rows)
    return pa.table(
        {
            "age": pa.array([None if gaps and i % 17 == 0 else int(a) for i, a in enumerate(age)], pa.int64()),
            "zip": [f"7{a // 10}0" for a in age],
            "ill": rng.choice(["a", "b", "c"], rows),
        }
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    release = shoal.anonymize(table(), k=4, sensitive=["ill"])
    release.save(place / "release", private=place / "private")
    return release, place


def figures(found):
    return {finding.name: finding.value for finding in found}


def test_a_release_and_its_folder_are_measured_alike(made):
    release, place = made
    held = figures(shoal.measure(table(), release))
    read = figures(shoal.measure(table(), place / "release", private=place / "private"))
    assert held == pytest.approx(read)
    assert held["k-anonymity"] >= 4
    assert len(held) > 30


def test_rows_of_a_folder_are_put_beside_those_of_the_table(made):
    release, place = made
    case = case_of(table(), place / "release", private=place / "private")
    assert case.released.column("ill").to_pylist() == table().column("ill").to_pylist()
    assert case.original.column("age").to_pylist() == table().column("age").to_pylist()
    assert case.released.equals(case_of(table(), release).released)
    assert sorted(case.places.tolist()) == list(range(90))


def test_rows_that_were_left_out_are_left_out(tmp_path):
    release = shoal.anonymize(table(gaps=True), k=4, sensitive=["ill"], missing="suppress-row")
    release.save(tmp_path / "release", private=tmp_path / "private")
    for given, more in ((release, {}), (tmp_path / "release", {"private": tmp_path / "private"})):
        case = case_of(table(gaps=True), given, **more)
        assert case.n == case.original.n == 84
        assert case.released.column("ill").to_pylist() == case.original.column("ill").to_pylist()


def test_without_the_original_only_the_release_is_measured(made):
    release, place = made
    for given in (release, place / "release"):
        found = shoal.measure(None, given)
        assert {finding.need for finding in found} == {"release"}
        assert figures(found)["k-anonymity"] >= 4
    with pytest.raises(DataError, match="need the original table"):
        shoal.measure(None, release, only=["correlation"])


def test_a_table_that_others_made_is_measured_row_by_row():
    copy = table().set_column(0, "age", pa.array([50] * 90))
    found = figures(shoal.measure(table(), copy, sensitive=["ill"], only=["k-anonymity", "normalised variance"]))
    assert found["normalised variance, age"] == pytest.approx(1.0)
    with pytest.raises(DataError, match="80 rows and the original 90"):
        shoal.measure(table(), copy.slice(0, 80), sensitive=["ill"])
    with pytest.raises(DataError, match="has no columns 'zip'"):
        shoal.measure(table(), copy.drop_columns(["zip"]), sensitive=["ill"])


def test_an_unknown_measure_is_named_with_a_near_one(made):
    with pytest.raises(MethodError, match="Did you mean 'k-anonymity'"):
        shoal.measure(table(), made[0], only=["k-anonimity"])


def test_a_folder_without_its_map_is_refused(made, tmp_path):
    _, place = made
    with pytest.raises(DataError, match="private folder"):
        shoal.measure(table(), place / "release")
    with pytest.raises(ReadError, match="was not written with a release"):
        shoal.measure(table(), place / "release", private=tmp_path)
    other = shoal.anonymize(table(), k=6, sensitive=["ill"])
    other.save(tmp_path / "release", private=tmp_path / "private")
    with pytest.raises(DataError, match="belongs to another release"):
        shoal.measure(table(), place / "release", private=tmp_path / "private")


def test_another_table_than_that_of_the_release_is_refused(made):
    release, place = made
    for other in (table(rows=80), table().drop_columns(["zip"]), table(rows=120)):
        with pytest.raises(DataError, match="another table"):
            shoal.measure(other, release)
        with pytest.raises(DataError, match="another table"):
            shoal.measure(other, place / "release", private=place / "private")


def test_the_same_rows_in_another_order_are_refused(made):
    release, place = made
    turned = table().take(list(range(89, -1, -1)))
    for given, more in ((release, {}), (place / "release", {"private": place / "private"})):
        with pytest.raises(DataError, match="column 'ill' was published unchanged, but differs from the release"):
            shoal.measure(turned, given, **more)


def test_a_folder_that_was_tampered_with_is_refused(made, tmp_path):
    release, _ = made
    release.save(tmp_path / "release", private=tmp_path / "private")
    certificate = tmp_path / "release" / "certificate.json"
    facts = json.loads(certificate.read_text())
    facts["predicate"]["rows"] = 7
    certificate.write_text(json.dumps(facts))
    with pytest.raises(DataError, match="does not confirm its claims"):
        shoal.measure(table(), tmp_path / "release", private=tmp_path / "private")


@pytest.mark.parametrize("entry", ["0", "99999999", "9" * 23])
def test_a_map_that_is_not_one_to_one_is_refused(made, tmp_path, entry):
    made[0].save(tmp_path / "out", private=tmp_path / "mine")
    head, *lines = (tmp_path / "mine" / "map.csv").read_text().splitlines()
    (tmp_path / "mine" / "map.csv").write_text("\n".join([head, *(f"{line.split(',')[0]},{entry}" for line in lines)]))
    with pytest.raises(ReadError, match="was not written with a release"):
        shoal.measure(table(), tmp_path / "out", private=tmp_path / "mine")


@pytest.mark.parametrize("fraction", [0, 1.5, -1, float("nan")])
def test_a_fraction_that_is_none_is_refused(made, fraction):
    with pytest.raises(DataError, match="fraction must be above 0"):
        shoal.measure(table(), made[0], fraction=fraction)


def test_every_card_says_what_it_is():
    for card in shoal.measures():
        assert card["formula"]
        assert card["cost"]
        assert card["better"] in ("low", "high", "neither")
        assert card["need"] in ("release", "pair", "groups")
        assert card["high"] is None or card["low"] < card["high"]
        assert card["summary"].endswith(".")


def test_dates_that_are_text_are_read_alike_in_every_table():
    days = [(dt.date(1950, 1, 1) + dt.timedelta(31 * row)).strftime("%d.%m.%Y") for row in range(120)]
    table = pd.DataFrame({"born": days, "size": np.random.default_rng(1).normal(size=120)})
    release = shoal.anonymize(table, k=6, seed=1)
    twice = pd.concat([release.aligned(), release.aligned()])
    [found] = [one for one in shoal.measure(table, release, population=twice) if one.name == "k-map"]
    assert found.value == 2 * release.verdicts[0].found
    [attack] = shoal.attack(table, release, other=release.aligned(), only=["intersection"])
    assert attack.trials
    tried = shoal.attack(table, release.aligned(), control=table.iloc[::2], only=["record linkage"])
    assert not any("values of 'born'" in one.note for one in tried)
