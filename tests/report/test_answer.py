"""The three lines that come first: what holds, what is exposed, what to do next."""

import json
import re
from dataclasses import replace

import pyarrow as pa
import pytest

import shoal
import shoal.sets
from shoal.model.findings import Attack, Finding, Verdict
from shoal.pipeline.answering import answer_of
from shoal.privacy.measures.case import Case
from shoal.reports.answer import table_answer

HEADS = ["What holds", "What is exposed", "What to do next"]
AGES = [20, 21, 22, 40, 41, 42] * 10


def released(ill, k=3, **more):
    table = pa.table({"age": AGES, "ill": ill})
    return shoal.anonymize(table, k=k, sensitive=["ill"], method="mdav", seed=1, **more)


@pytest.fixture(scope="module")
def release():
    return released(["a", "b"] * 30, l=2)


def public(release):
    """Return the three texts of the public report."""
    lines = json.loads(release.report(format="json"))["answer"]
    assert [head for head, _ in lines] == HEADS
    return [text for _, text in lines]


def test_every_constraint_is_stated_in_words_and_as_a_number(release):
    holds, _, _ = public(release)
    assert "with others, at least 3 rows in all (a class)" in holds
    assert "(k = 3). In every class, 'ill' takes at least 2 different values (l = 2)." in holds
    assert "Checked over all 60 rows by independent code." in holds


def test_columns_with_the_same_constraint_are_named_in_one_sentence():
    table = pa.table({"age": AGES, "ill": ["a", "b"] * 30, "job": ["x", "y", "z"] * 20})
    made = shoal.anonymize(table, k=3, l=2, t=0.9, sensitive=["ill", "job"], seed=1)
    holds, exposed, _ = public(made)
    assert "each of 'ill' and 'job' takes at least 2 different values (l = 2)." in holds
    assert holds.count("(t = 0.9)") == 1
    assert "Published unchanged: 'ill', 'job'." in exposed


def test_a_constraint_that_fails_is_stated_instead_of_what_holds(release):
    failing = replace(release, verdicts=tuple(replace(one, holds=False) for one in release.verdicts[1:]))
    assert answer_of(failing).holds.startswith("Not everything. These constraints fail: l = 2 for ill.")


def test_a_constraint_of_a_plug_in_is_stated_by_its_name(release):
    verdict = Verdict("own-model", "ill", 4.0, 5.0, holds=True)
    holds = table_answer(Case(release.table, release.policy), [verdict], (), "").holds
    assert "The constraint own-model = 4 for 'ill', from a plug-in package, is met." in holds


def test_the_highest_risk_is_one_divided_by_the_smallest_class(release):
    smallest = min(release.verdicts[0].found, 60)
    assert f"The highest re-identification risk is {100 / smallest:.3g}%" in public(release)[1]


@pytest.mark.parametrize("asked", [{}, {"m": 1}])
def test_the_risk_of_a_table_with_items_counts_the_items_that_an_attacker_knows(asked):
    table = pa.table({"age": AGES, "buys": [["a", "b"], ["b", "c"], ["c", "a"]] * 20})
    made = shoal.anonymize(table, k=3, items=["buys"], seed=1, constraints=asked)
    words = f"quasi-identifiers and {asked.get('m', 2)} items"
    assert f"{words} of a person" in public(made)[1]
    done = json.loads(made.report(format="json"))["sections"][0]["blocks"]
    labels = [label for block in done if block["type"] == "tiles" for _, label in block["items"]]
    assert f"largest re-identification risk from {words}" in labels


def test_a_table_without_unchanged_columns_says_so():
    made = shoal.anonymize(pa.table({"age": AGES}), k=3, seed=1)
    assert public(made)[1].startswith("No column is published unchanged.")


def test_sensitive_columns_without_a_constraint_are_named():
    assert "No constraint limits what a class reveals about 'ill'." in public(released(["a", "b"] * 30))[1]
    assert "No constraint limits" not in public(released(["a", "b"] * 30, l=2))[1]


def test_what_a_class_alone_suggests_of_a_sensitive_value_is_stated_if_it_is_likely():
    made = released(["a", "a", "a", "b"] * 15, l=2)
    shares = []
    for label in set(made.labels.tolist()):
        inside = [ill for ill, one in zip(made.aligned()["ill"].to_pylist(), made.labels, strict=True) if one == label]
        shares.append(max(map(inside.count, inside)) / len(inside))
    said = f"For 'ill', the class alone can make an attacker {100 * max(shares):.0f}% sure of one person's value."
    assert max(shares) > 0.5
    assert said in public(made)[1]
    assert "the class alone" not in public(released([None] * 55 + [f"value {n}" for n in range(5)]))[1]
    assert "the class alone" not in public(released([f"value {n % 20}" for n in range(60)], l=2))[1]


def test_it_says_that_rows_are_counted_and_not_people(release):
    assert public(release)[1].endswith("Rows are counted, not people: this assumes one row per person.")


@pytest.mark.parametrize("rare", [1, 2])
def test_rare_values_and_unique_rows_are_stated_without_their_number(rare):
    texts = public(released([f"rare {place}" for place in range(rare)] + ["a"] * (60 - rare)))
    assert texts[1].startswith("Fewer than 3 of 60 rows are unique in the columns published unchanged")
    assert "Rare values, each in fewer than 3 rows, occur in 'ill'." in texts[1]
    assert "rare 0" not in "".join(texts)
    without = re.sub(r"ewer than 3|at least 3|k = 3|\d\d\.\d%", "", "".join(texts))
    assert not re.findall(r"(?<![\d.,])[123](?![\d.,])", without)


def test_the_public_answer_does_not_depend_on_findings_that_need_the_original(release):
    assert "cell loss" in answer_of(release).holds
    assert "cell loss" not in "".join(public(release))


def test_repeating_the_run_is_mentioned_if_it_reveals_more_than_l_allows(release):
    case = Case(release.table, release.policy)
    for posterior, said in ((1.0, True), (0.5, False)):
        findings = [
            Finding("minimality", posterior, "", "groups", part="worst posterior"),
            Finding("minimality", posterior - 0.5, "", "groups", part="excess"),
        ]
        exposed = table_answer(case, release.verdicts, findings, "").exposed
        assert exposed.startswith("Anyone who knows all quasi-identifiers and repeats the run can be 100% sure") == said


def test_attacks_that_succeeded_come_first(release):
    case = Case(release.table, release.policy)
    tried = [
        Attack(name, "all", 5.0, 10, (0.2, 0.8), 0.1, None, None, outcome)
        for name, outcome in (("linkage", "leak"), ("order", "no evidence"))
    ]
    exposed = table_answer(case, release.verdicts, (), "", tried).exposed
    assert exposed.startswith("1 of 2 attacks found more than guessing explains: 'linkage'.")
    assert "attacks" not in table_answer(case, release.verdicts, (), "", tried[1:]).exposed


@pytest.mark.slow
def test_the_holders_page_says_to_attack_unless_it_has_been_done(release):
    table = pa.table({"age": AGES, "ill": ["a", "b"] * 30})
    texts = [json.loads(release.report(table, attacks=done, format="json"))["answer"][2][1] for done in (False, True)]
    assert "--attacks`" in texts[0]
    assert "Read the attacks;" in texts[1]


def test_columns_that_differ_in_name_only_share_a_line():
    table = pa.table({"age": AGES, "height": AGES, "ill": ["a", "b"] * 30})
    facts = json.loads(shoal.anonymize(table, k=3, sensitive=["ill"], method="mdav", seed=1).report(format="json"))
    lines = next(block for block in facts["sections"][0]["blocks"] if block["type"] == "table")["rows"]
    assert [line[0] for line in lines] == ["2 columns: age, height", "ill"]


@pytest.mark.parametrize("kind", ["km", "raw"])
def test_a_release_of_sets_has_an_answer_too(kind):
    records = [["tea", "milk"], ["tea", "milk"], ["tea", "milk", "gin"], ["tea"], ["milk"], ["tea", "milk"]]
    made = shoal.sets.anonymize(records, k=3, m=2, delta=6, neighbour=kind, seed=1)
    holds, exposed, then = (text for _, text in json.loads(shoal.report(None, made, format="json"))["answer"])
    assert "up to 2 items of a person is left with at least 3 candidates among 6 records" in holds
    assert ("not k^m-anonymous by themselves" in exposed) == (kind == "raw")
    assert "`shoal verify FOLDER`" in then
    shown = made._repr_html_()
    assert all(head in shown for head in HEADS)
    assert "The price: " in shown
    assert "tea" not in shown
