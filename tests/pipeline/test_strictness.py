"""Strict runs: a table that is not the one its policy was written for is refused, and so are notes of stated kinds."""

import copy
import datetime as dt

import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from shoal.pipeline.plan import plan_of

AGES = [20, 21, 22, 30, 31, 32, 40, 41, 42, 50]
NAMES = ("Ann", "Bo", "Cleo", "Dora", "Eve", "Finn", "Gil", "Hal", "Ida", "Jo")
POLICY = {"constraints": {"k": 2}, "method": {"name": "mdav"}, "columns": {"age": {"role": "quasi", "kind": "numeric"}}}


def released(columns, policy=POLICY, **options):
    return shoal.anonymize(pa.table(columns), policy=policy, seed=1, **{"strict": True, **options})


def with_column(name, **keys):
    return {**POLICY, "columns": {**POLICY["columns"], name: keys}}


def test_a_table_as_in_the_policy_is_released():
    assert released({"age": AGES}).table.num_rows == 10


def test_a_column_that_the_policy_does_not_name_is_refused():
    table = {"age": AGES, "ward": ["a", "b"] * 5, "pay": AGES}
    assert released(table, strict=False).table.num_columns == 3
    with pytest.raises(PolicyError) as caught:
        released(table)
    message = str(caught.value)
    assert message.startswith(
        "strict: the table differs from the policy: columns 'ward', 'pay' are not named in the policy."
    )
    assert message.endswith("or leave strict out.")


def test_a_column_named_by_an_option_is_named():
    assert released({"age": AGES, "ward": ["a"] * 10}, keep=["ward"]).table.num_columns == 2


def test_a_column_whose_type_changed_is_refused_without_a_cell():
    with pytest.raises(PolicyError) as caught:
        released({"age": [*map(str, AGES[:9]), "SECRET"]})
    assert "column 'age' is nominal (string), not numeric as in the policy" in str(caught.value)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "keys", "refused"),
    [
        (AGES, {"kind": "date"}, True),
        ([1.5, 2.5] * 5, {"kind": "boolean"}, True),
        ([dt.date(2020, 1, 1)] * 10, {"kind": "numeric"}, True),
        ([dt.date(2020, 1, 1)] * 10, {"kind": "nominal"}, False),
        (["a", "b"] * 5, {"kind": "boolean"}, False),
        ([1.5, 2.5] * 5, {"kind": "nominal"}, True),
        ([True, False] * 5, {"kind": "nominal"}, True),
        ([1, 2] * 5, {"kind": "nominal"}, False),  # codes of categories
        ([1, 0] * 5, {"kind": "boolean"}, False),
        (["low", "high"] * 5, {"kind": "ordinal", "order": ["low", "high"]}, False),
        ([1, 2] * 5, {"kind": "ordinal", "order": ["1", "2"]}, False),
        (["1", "2"] * 4 + ["unknown"] * 2, {"kind": "numeric", "missing_codes": ["unknown"]}, False),
        ([1, 2] * 5, {}, False),  # no kind is stated
    ],
)
def test_what_counts_as_another_kind(values, keys, refused):
    policy = with_column("x", role="keep", **keys)
    if refused:
        with pytest.raises(PolicyError, match="column 'x' .* as in the policy"):
            released({"age": AGES, "x": values}, policy)
    else:
        assert released({"age": AGES, "x": values}, policy).table.num_columns == 2


def test_a_direct_identifier_that_would_be_dropped_is_refused():
    table = {"age": AGES, "name": [f"{first} Hall" for first in NAMES]}
    policy = with_column("name", kind="nominal")  # named, but without a role
    assert "direct-identifier" in {note.kind for note in released(table, policy, strict=False).notes}
    with pytest.raises(
        PolicyError, match=r"^strict: notes of these kinds are refused.*'direct-identifier'.*IS DROPPED"
    ):
        released(table, policy)


def test_a_release_with_a_note_of_a_stated_kind_is_refused():
    table = {"age": AGES, "ill": ["flu"] * 8 + ["gout"] * 2}
    options = {"sensitive": ["ill"], "strict": False}
    assert {"no-limit-on-sensitive"} <= {note.kind for note in released(table, **options).notes}
    for kinds in ("no-limit-on-sensitive", ["one-class", "no-limit-on-sensitive"]):
        with pytest.raises(PolicyError, match="nothing was written: 'no-limit-on-sensitive'. Note: sensitive columns"):
            released(table, strict_notes=kinds, **options)
    assert released(table, strict_notes=["one-class"], **options).notes


@pytest.mark.parametrize("kind", ["copy-of-label", "left-out-of-distances"])
def test_a_plan_refuses_what_does_not_depend_on_the_groups(kind):
    table = {"age": AGES, "ward": ["a"] * 10, "copy": [1, 2] * 5, "label": ["x", "y"] * 5}
    for make in (plan_of, shoal.anonymize):
        with pytest.raises(PolicyError, match=f"nothing was written: '{kind}'"):
            make(pa.table(table), k=2, method="mdav", keep=["label"], label="label", strict_notes=[kind])


def test_an_unknown_kind_is_refused_before_any_work():
    with pytest.raises(PolicyError, match="anonymize: unknown kind of note 'rare'"):
        shoal.anonymize("nowhere.csv", strict_notes=["rare"])
    with pytest.raises(PolicyError, match="anonymize: strict must be True or False; got"):
        shoal.anonymize("nowhere.csv", strict=1)


def test_a_page_that_cannot_be_drawn_is_refused_before_anything_is_in_place(tmp_path):
    release = copy.deepcopy(released({"age": AGES}, strict_notes=["missing-page"]))  # a copy has lost its original
    with pytest.raises(PolicyError, match="'missing-page'. Note: The private folder has no report.html"):
        release.save(tmp_path / "out", private=tmp_path / "mine", report=True)
    assert not list(tmp_path.iterdir())
    released({"age": AGES}).save(tmp_path / "out", private=tmp_path / "mine", report=True)
    assert (tmp_path / "out" / "report.html").is_file()
