"""Values of a wrong type are refused with a sentence, not taken for something else."""

import pytest
from sklearn.dummy import DummyClassifier

import shoal
import shoal.sets
from shoal.catalogue import Whole, attack, file_format, measure, method, model
from shoal.errors import CardError

RECORDS = [["tea", "milk"]] * 9


@pytest.fixture(scope="module")
def table():
    return shoal.sample(30).select(["height_cm", "diagnosis"])


@pytest.fixture(scope="module")
def release(table):
    return shoal.anonymize(table, k=3, method="mdav", sensitive=["diagnosis"])


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda table, release: shoal.report(table, release, attacks="no"), "report: attacks must be True or False"),
        (lambda table, release: release.report(table, attacks="no"), "report: attacks must be True or False"),
        (lambda _, release: release.save("nowhere", report="yes"), "save: report must be True or False; got 'yes'"),
        (lambda table, _: shoal.verify(table, k=2, parse=1), "verify: parse must be True or False; got 1"),
        (lambda table, _: shoal.explore(table, dry_run="yes"), "explore: dry_run must be True or False; got 'yes'"),
        (lambda *_: shoal.sets.report(RECORDS, RECORDS, distance="no"), "report: distance must be True or False"),
        (
            lambda table, _: shoal.anonymize(table, sensitive={"diagnosis": 1}),
            "policy: sensitive must be one or more names; got a dict",
        ),
        (
            lambda *_: shoal.Anonymizer(5).fit([[1.0]] * 9),
            "Anonymizer: method must be the name of a method; got 5. Write k as k=5",
        ),
        (
            lambda *_: shoal.ReleaseThenFit(DummyClassifier(), 5).fit([[1.0]] * 9, [0, 1, 1] * 3),
            "ReleaseThenFit: method must be the name of a method; got 5",
        ),
        (lambda *_: shoal.sets.anonymize(RECORDS, column="x"), "read: 'column' can be given for files"),
        (
            lambda *_: shoal.sets.read(RECORDS, separator=";"),
            "read: 'separator' can be given for files",
        ),
    ],
)
def test_a_value_of_a_wrong_type_is_refused(table, release, use, message):
    with pytest.raises(shoal.UseError, match=message):
        use(table, release)


def test_items_that_are_none_are_left_out_with_a_note():
    release = shoal.sets.anonymize([*RECORDS, ["tea", None], None], k=3)
    assert any("items of the records were None and were left out" in note for note in release.notes)
    assert not any("None" in note for note in shoal.sets.anonymize(RECORDS, k=3).notes)


MEASURE = {"formula": "n", "better": "low", "need": "pair", "cost": "n"}
METHOD = {"data": "numeric", "ensures": {"k"}, "params": {"k": Whole(2)}}


@pytest.mark.parametrize(
    ("card", "given", "message"),
    [
        (method, {**METHOD, "data": "numerical"}, "has 'numerical' in data; .* Did you mean 'numeric'"),
        (method, {**METHOD, "ensures": {"kk"}}, "has 'kk' in ensures; expected one of 'k', 'l'"),
        (method, {**METHOD, "uses": {"seeds"}}, "has 'seeds' in uses; .* Did you mean 'seed'"),
        (method, {**METHOD, "params": {}}, "the card of 'x' is wrong: no parameter k"),
        (method, {**METHOD, "params": {"k": 2}}, "the parameter 'k' is not a Whole, Number, Choice or Flag"),
        (measure, {**MEASURE, "better": "lower"}, "has 'lower' in better; .* Did you mean 'low'"),
        (measure, {**MEASURE, "need": "released"}, "has 'released' in need; .* Did you mean 'release'"),
        (measure, {**MEASURE, "requires": ("labels",)}, "has 'labels' in requires; .* Did you mean 'label'"),
        (attack, {"requires": ("sensitives",)}, "has 'sensitives' in requires"),
        (model, {"about": "rows"}, "has 'rows' in about; expected one of 'classes', 'sensitive'"),
        (file_format, {"endings": ("x",), "called": "X", "text": True}, "has 'x' in endings; expected"),
    ],
)
def test_a_card_with_an_unknown_word_is_refused(card, given, message):
    with pytest.raises(CardError, match=message):
        card("x", **given)


def test_an_installed_card_that_is_wrong_is_named_with_the_reason(tmp_path, monkeypatch):
    information = tmp_path / "odd-1.0.dist-info"
    information.mkdir()
    card = {**MEASURE, "need": "released"}
    text = f"from shoal.catalogue import measure\n@measure('odd', **{card})\ndef odd(case): ...\n"
    (tmp_path / "odd_plug_in.py").write_text(text)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[shoal.measures]\nodd = odd_plug_in:odd\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(shoal.MethodError, match="'odd' cannot be loaded. measure: the card of 'odd' has 'released'"):
        shoal.measure(None, shoal.sample(10), only="odd", k=2)


def test_measure_takes_the_same_seeds_as_anonymize(table, release):
    most = 2**64 - 1
    assert shoal.anonymize(table, k=3, method="mdav", seed=most).policy.seed == most
    shoal.measure(table, release, seed=most, only="pMSE")
    for wrong in (most + 1, -1):
        for judge in (
            lambda seed: shoal.measure(table, release, seed=seed),
            lambda seed: shoal.anonymize(table, seed=seed),
        ):
            with pytest.raises(shoal.UseError, match="seed must be"):
                judge(wrong)


def test_mining_counts_itemsets_of_two_or_more_items():
    found = shoal.sets.mine([["a"], ["b"], ["c"]], support=1)
    assert (found["itemsets found"], found["itemsets"]) == (0, [])
    assert shoal.sets.mine(RECORDS, support=1)["itemsets found"] == 1
