"""The public frame has its own order and labels; the holder's has those of the input."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal


@pytest.fixture(scope="module")
def frame():
    made = pd.DataFrame({"age": [34, 36, 35, 61, 60, 62], "ill": list("ababba")}, index=list("uvwxyz"))
    return made.sample(frac=1, random_state=1)


@pytest.fixture(scope="module")
def release(frame):
    return shoal.anonymize(frame, k=3, sensitive=["ill"], method="mdav")


def test_the_holders_frame_has_the_index_of_the_input(frame, release):
    aligned = release.aligned()
    assert list(aligned.index) == list(frame.index)
    assert aligned["ill"].equals(frame["ill"])
    assert (frame["age"] - aligned["age"]).abs().max() <= 2


def test_differences_after_a_shuffle_are_correct(frame):
    numbers = frame.reset_index(drop=True).sample(frac=1, random_state=2)
    aligned = shoal.anonymize(numbers, k=3, sensitive=["ill"], method="mdav").aligned()
    assert (numbers["age"] - aligned["age"]).abs().max() <= 2


@pytest.mark.parametrize("index", [list("uvwxyz"), range(6), [f"id {n}" for n in range(6)]], ids=str)
def test_arithmetic_of_the_public_frame_with_the_original_matches_no_row(frame, index):
    labelled = frame.set_axis(index)
    data = shoal.anonymize(labelled, k=3, sensitive=["ill"], method="mdav").data
    assert (labelled["age"] - data["age"]).isna().all()
    assert data.index.name == "released_row"


def test_the_public_frame_equals_the_written_file(release, tmp_path):
    folder = release.save(tmp_path / "release", private=tmp_path / "mine", format="csv", report=False)
    data = release.data.reset_index(drop=True)
    assert data.equals(pd.read_csv(folder / "data.csv").astype(data.dtypes.to_dict()))
    places = pd.read_csv(tmp_path / "mine" / "map.csv")["released_row"]
    assert data.iloc[places].reset_index(drop=True).equals(release.aligned().reset_index(drop=True))
    assert list(release.data.index) == [f"r{place}" for place in range(6)]


def test_its_order_does_not_depend_on_that_of_the_input(frame):
    table = shoal.sample(200, seed=4).to_pandas()
    options = {"k": 5, "method": "mdav", "identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"], "seed": 1}
    one = shoal.anonymize(table, **options)
    other = shoal.anonymize(table.iloc[::-1], **options)
    pd.testing.assert_frame_equal(one.data, other.data)
    assert not np.array_equal(one._making.position, np.arange(200))


def test_categories_do_not_show_whose_value_came_first():
    table = pa.table({"age": [34, 36, 35, 61, 60, 62], "ill": list("bcabac"), "ward": [9, 3, 7, 9, 3, 7]})
    frame = table.to_pandas()
    for place, name in ((1, "ill"), (2, "ward")):
        table = table.set_column(place, name, table.column(name).dictionary_encode())
        frame[name] = pd.Categorical(frame[name], categories=frame[name].unique())
    options = {"k": 3, "sensitive": ["ill", "ward"], "method": "mdav", "accept": ["unique-kept"]}
    data = shoal.anonymize(table, **options).data
    assert data["ill"].chunk(0).dictionary.to_pylist() == ["a", "b", "c"]
    assert data["ward"].chunk(0).dictionary.to_pylist() == [3, 7, 9]
    data = shoal.anonymize(frame, **options).data
    assert data["ill"].cat.categories.tolist() == ["a", "b", "c"]
    assert data["ward"].cat.categories.tolist() == [3, 7, 9]
    frame["ill"] = pd.Categorical(frame["ill"], categories=["c", "a", "d", "b"], ordered=True)
    assert shoal.anonymize(frame, **options).data["ill"].cat.categories.tolist() == ["c", "a", "b"]


def test_suppressed_rows_have_no_label(frame):
    gappy = frame.astype({"age": "float"})
    gappy.iloc[1, 0] = np.nan
    release = shoal.anonymize(gappy, k=2, sensitive=["ill"], method="mdav", missing="suppress-row")
    assert list(release.aligned().index) == [name for place, name in enumerate(gappy.index) if place != 1]


def test_frames_without_an_index_have_two_orders_too():
    table = pa.table({"age": [62, 34, 61, 36, 60, 35], "ill": list("bbabaa")})
    for given in (table, pl.from_arrow(table)):
        release = shoal.anonymize(given, k=3, sensitive=["ill"], method="mdav")
        assert isinstance(release.data, type(given))
        assert list(release.aligned()["age"].to_numpy()) == [61, 35, 61, 35, 61, 35]
        assert list(release.data["age"].to_numpy()) == [35, 35, 35, 61, 61, 61]


def test_a_release_shows_no_internals(release):
    shown = {name for name in dir(release) if not name.startswith("_")}
    assert shown == {
        "aligned", "data", "finding", "findings", "labels", "ledger", "missing", "notes", "plot", "policy", "report",
        "rows", "save", "suppressed", "table", "verdicts",
    }  # fmt: skip
    assert repr(release) == "<Release: 6 rows in 2 groups; 1 guarantee verified>"


def labelled(rows=60):
    made = shoal.sample(rows, seed=4).select(["height_cm", "weight_kg", "days"]).to_pandas()
    return made.set_axis([f"P{row}" for row in range(rows)])


@pytest.mark.parametrize("index", ["as given", "0 to n - 1"])
def test_an_original_in_another_order_than_that_of_the_release_is_refused(index, tmp_path):
    original = labelled() if index == "as given" else labelled().reset_index(drop=True)
    release = shoal.anonymize(original, k=5, method="mdav", seed=1)
    shuffled = original.sample(frac=1, random_state=3)
    for call in (
        lambda: shoal.measure(shuffled, release),
        lambda: shoal.attack(shuffled, release, only=["record linkage"]),
        lambda: release.report(shuffled),
        lambda: release.save(tmp_path / "release", private=tmp_path / "mine", report=True, original=shuffled),
    ):
        with pytest.raises(shoal.DataError, match="original: its index shows that its rows are in another order"):
            call()
    assert not (tmp_path / "release").exists()


def test_an_original_in_its_former_order_is_accepted_whatever_its_labels(tmp_path):
    original = labelled()
    release = shoal.anonymize(original, k=5, method="mdav", seed=1)
    expected = [one.value for one in shoal.measure(original, release, only=["cell loss %"])]
    renamed = original.set_axis([f"Q{row}" for row in range(60)])
    for same in (original.copy(), original.reset_index(drop=True), renamed, pl.from_pandas(original)):
        assert [one.value for one in shoal.measure(same, release, only=["cell loss %"])] == expected
    numbered = original.set_axis(np.random.default_rng(1).permutation(60))
    again = shoal.anonymize(numbered, k=5, method="mdav", seed=1)
    assert [
        one.value for one in shoal.measure(original.reset_index(drop=True), again, only=["cell loss %"])
    ] == expected


def test_rows_that_were_left_out_do_not_hide_another_order():
    original = labelled().astype(float)
    original.iloc[7, 0] = np.nan
    release = shoal.anonymize(original, k=5, method="mdav", missing="suppress-row", seed=1)
    assert shoal.measure(original.copy(), release, only=["cell loss %"])
    with pytest.raises(shoal.DataError, match="in another order"):
        shoal.measure(original.iloc[::-1], release, only=["cell loss %"])
