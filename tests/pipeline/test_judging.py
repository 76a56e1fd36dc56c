"""Measuring and attacking releases, folders and tables of others, which are aligned or refused."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, MethodError, PolicyError, ReadError
from shoal.model.asking import on_command_line
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
    release.save(place / "release", private=place / "private", report=False)
    return release, place


def figures(found):
    return {finding.name: finding.value for finding in found}


def test_a_release_and_its_folder_give_the_same_figures(made):
    release, place = made
    held = figures(shoal.measure(table(), release))
    read = figures(shoal.measure(table(), place / "release", private=place / "private"))
    assert held == pytest.approx(read)
    assert held["k-anonymity"] >= 4
    assert len(held) > 30


def test_rows_of_a_folder_are_aligned_with_those_of_the_table(made):
    release, place = made
    case = case_of(table(), place / "release", private=place / "private")
    assert case.released.column("ill").to_pylist() == table().column("ill").to_pylist()
    assert case.original.column("age").to_pylist() == table().column("age").to_pylist()
    assert case.released.equals(case_of(table(), release).released)
    assert sorted(case.places.tolist()) == list(range(90))


def test_columns_that_the_release_was_not_made_from_are_ignored(made):
    release, place = made
    wider = table().add_column(1, "later", pa.array([{"SECRET": 1}] * 90)).append_column("more", pa.array(range(90)))
    expected = figures(shoal.measure(table(), release))
    assert figures(shoal.measure(wider, release)) == pytest.approx(expected)
    folders = (place / "release", place / "private")
    assert figures(shoal.measure(wider, folders[0], private=folders[1])) == pytest.approx(expected)
    found, again = (shoal.attack(one, release, seed=1) for one in (table(), wider))
    assert [one.rate for one in found] == [one.rate for one in again]
    assert "SECRET" not in shoal.report(wider, folders[0], private=folders[1])


def test_suppressed_rows_are_left_out(tmp_path):
    release = shoal.anonymize(table(gaps=True), k=4, sensitive=["ill"], missing="suppress-row")
    release.save(tmp_path / "release", private=tmp_path / "private", report=False)
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


def test_a_table_made_by_others_is_measured_row_by_row():
    copy = table().set_column(0, "age", pa.array([50] * 90))
    found = figures(shoal.measure(table(), copy, sensitive=["ill"], only=["k-anonymity", "normalised variance"]))
    assert found["normalised variance, age"] == pytest.approx(1.0)
    with pytest.raises(DataError, match="80 rows, but the original has 90"):
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
    other.save(tmp_path / "release", private=tmp_path / "private", report=False)
    with pytest.raises(DataError, match="belongs to another release"):
        shoal.measure(table(), place / "release", private=tmp_path / "private")


def test_a_table_other_than_that_of_the_release_is_refused(made):
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


def test_a_tampered_folder_is_refused(made, tmp_path):
    release, _ = made
    release.save(tmp_path / "release", private=tmp_path / "private", report=False)
    certificate = tmp_path / "release" / "certificate.json"
    facts = json.loads(certificate.read_text())
    facts["predicate"]["rows"] = 7
    certificate.write_text(json.dumps(facts))
    with pytest.raises(DataError, match="does not pass verification"):
        shoal.measure(table(), tmp_path / "release", private=tmp_path / "private")


@pytest.mark.parametrize("entry", ["0", "99999999", "9" * 23])
def test_a_map_that_is_not_one_to_one_is_refused(made, tmp_path, entry):
    made[0].save(tmp_path / "out", private=tmp_path / "mine", report=False)
    head, *lines = (tmp_path / "mine" / "map.csv").read_text().splitlines()
    (tmp_path / "mine" / "map.csv").write_text("\n".join([head, *(f"{line.split(',')[0]},{entry}" for line in lines)]))
    with pytest.raises(ReadError, match="was not written with a release"):
        shoal.measure(table(), tmp_path / "out", private=tmp_path / "mine")


@pytest.mark.parametrize("fraction", [0, 1.5, -1, float("nan")])
def test_an_invalid_fraction_is_refused(made, fraction):
    with pytest.raises(DataError, match="fraction must be above 0"):
        shoal.measure(table(), made[0], fraction=fraction)


def test_every_card_is_complete():
    for card in shoal.measures():
        assert card["formula"]
        assert card["cost"]
        assert card["better"] in ("low", "high", "neither")
        assert card["need"] in ("release", "pair", "groups")
        assert card["high"] is None or card["low"] < card["high"]
        assert card["summary"].endswith(".")


def test_dates_stored_as_text_are_read_the_same_in_every_table():
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


@pytest.mark.parametrize("roles", [{}, {"sensitive": "ill"}])
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "file"])
def test_rows_in_the_published_order_are_refused_and_aligned_ones_are_not(kind, roles, tmp_path):
    polars = pytest.importorskip("polars")
    frame = {"pandas": table().to_pandas(), "polars": polars.from_arrow(table())}.get(kind, table())
    release = shoal.anonymize(frame, k=4, sensitive=["ill"], seed=2)
    published = (
        release.save(tmp_path / "release", format="csv", report=False) / "data.csv" if kind == "file" else release.data
    )
    for judge in (shoal.measure, shoal.attack):
        with pytest.raises(DataError, match=r"release: its rows are in the published order.*or its `aligned\(\)`"):
            judge(frame, published, **roles)
    expected = figures(shoal.measure(frame, release, only="cell loss %"))
    assert figures(shoal.measure(frame, release.aligned(), only="cell loss %", sensitive="ill")) == expected
    assert shoal.measure(None, published, only="classes", **roles)


def test_the_published_order_is_recognized_without_a_column_published_unchanged():
    numbers = table().select(["age", "zip"])
    release = shoal.anonymize(numbers, k=4, seed=2)
    with pytest.raises(DataError, match="release: its rows are in the published order"):
        shoal.measure(numbers, release.data)
    with pytest.raises(DataError, match="other: its rows are in the published order"):
        shoal.measure(numbers, release, other=release.data)
    assert shoal.measure(numbers, release.aligned(), only="cell loss %")


def test_a_sorted_table_is_not_taken_for_one_in_another_order():
    numbers = table().select(["age"]).sort_by("age")
    release = shoal.anonymize(numbers, k=4, seed=2)
    assert figures(shoal.measure(numbers, release.data, only="cell loss %"))["cell loss %"] < 50


def test_one_name_is_as_good_as_a_list_of_one(made):
    release, _ = made
    assert shoal.measure(table(), release, only="classes") == shoal.measure(table(), release, only=["classes"])
    [found] = shoal.attack(table(), release, only="record linkage")
    assert found.name == "record linkage"


@pytest.mark.parametrize(
    ("judge", "options", "message"),
    [
        (shoal.measure, {"only": 5}, "measure: only must be one or more names; got an int"),
        (shoal.measure, {"only": [5]}, "measure: the name of a measure must be text; got an int"),
        (shoal.measure, {"seed": "x"}, "measure: seed must be a whole number from 0 to 18446744073709551615; got 'x'"),
        (shoal.measure, {"fraction": "x"}, "fraction must be above 0 and at most 1; got 'x'"),
        (shoal.attack, {"budget": 0}, "attack: budget must be a number of seconds above 0; got 0"),
        (shoal.attack, {"budget": 10**400}, "attack: budget must be a number of seconds above 0; got 1000"),
        (shoal.attack, {"profile": "al"}, "unknown profile 'al' for this table. Known: 'all'.* Did you mean 'all'?"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(made, judge, options, message):
    with pytest.raises(shoal.UseError, match=message):
        judge(table(), made[0], **options)


def test_releases_of_sets_are_not_measured_as_tables(tmp_path):
    release = shoal.sets.anonymize([["a", "b"]] * 6, k=3)
    for given in (release, release.save(tmp_path / "sets")):
        for judge in (shoal.measure, shoal.attack, shoal.report):
            with pytest.raises(DataError, match="this is a release of sets, not of a table"):
                judge(table(), given)


def test_a_frame_whose_labels_are_in_another_order_is_refused():
    frame = table().to_pandas()
    release = shoal.anonymize(frame, k=4, sensitive=["ill"], seed=2)
    turned = release.aligned().iloc[::-1]
    message = r"its index has the labels of the original in another order; reorder it with {}\.loc\[original\.index\]"
    for judge in (shoal.measure, shoal.attack):
        with pytest.raises(DataError, match="^release: " + message.format("release")):
            judge(frame, turned, sensitive="ill")
    with pytest.raises(DataError, match="^other: " + message.format("other")):
        shoal.measure(frame, release, other=turned)
    expected = shoal.measure(frame, release.aligned(), sensitive="ill", only="cell loss %")
    assert shoal.measure(frame, turned.loc[frame.index], sensitive="ill", only="cell loss %") == expected
    mixed = frame.iloc[::-1]
    plain = shoal.anonymize(mixed, k=4, sensitive=["ill"], seed=2).aligned().reset_index(drop=True)
    assert shoal.measure(mixed, plain, sensitive="ill", only="cell loss %")


def test_a_release_has_its_own_policy(made):
    release, place = made
    for given, more in ((release, {}), (place / "release", {"private": place / "private"})):
        for judge in (shoal.measure, shoal.attack):
            with pytest.raises(PolicyError, match="has its own policy. Give no other: leave out sensitive, k"):
                judge(table(), given, sensitive=["nosuchcolumn"], k=3, **more)
        with on_command_line(), pytest.raises(PolicyError, match="leave out policy, --label"):
            shoal.measure(table(), given, policy={}, label="ill", **more)


def test_a_measure_without_a_figure_is_refused_if_it_was_asked_for(made):
    with pytest.raises(DataError, match="'honest separability %', which needs a label"):
        shoal.measure(table(), made[0], only=["classes", "honest separability %"])
