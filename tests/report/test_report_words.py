"""Words of a report are plain, and numbers of fewer than k rows are not among them."""

import re

import numpy as np
import pytest

from shoal.catalogue import methods, models
from shoal.catalogue.model_card import OTHER
from shoal.errors import MethodError
from shoal.model.findings import Finding, Verdict
from shoal.model.policy import Policy
from shoal.reports.facts import shown_between, shown_findings
from shoal.reports.wording import asked_for, few, figure, method_words, promise, say, shown, words


def test_few_rows_are_hidden_by_themselves_and_by_what_is_left():
    assert [few(rows, 100, 5) for rows in (0, 3, 5, 95, 98, 100)] == [
        "0",
        "fewer than 5",
        "5",
        "95",
        "all but fewer than 5",
        "100",
    ]


def test_findings_that_count_fewer_than_k_rows_are_not_written():
    def written(value, **given):
        return shown(Finding("rows", value, "", "release", **given), 100, 5)

    assert written(2.0, counts_rows=True) == "fewer than 5"
    assert written(97.0, counts_rows=True) == "all but fewer than 5"
    assert written(40.0, counts_rows=True) == "40"
    assert written(97.0, counts_rows=True, whole=1000) == "97"
    assert written(3.0, counts_rows=True, unit="%") == "below 5"
    assert written(0.5, counts_rows=True, unit="%", whole=1000) == "0.5"
    assert written(0.3, counts_rows=True, unit="%", whole=1000) == "below 0.5"
    assert written(0.02, counts_rows=True, share=True) == "below 0.05"
    assert written(2.0, counts_rows=False) == "2"


@pytest.mark.parametrize("counts_rows", [True, None])
@pytest.mark.parametrize("declared", [{"share": True}, {"unit": "%"}])
def test_shares_and_percentages_out_of_their_range_are_treated_as_numbers_of_rows(declared, counts_rows):
    def written(value):
        return shown(Finding("rows", value, "", "release", counts_rows=counts_rows, **declared), 1000, 200)

    assert [written(value) for value in (-3.0, 150.0, 900.0)] == ["fewer than 200"] * 2 + ["all but fewer than 200"]
    assert (written(400.0), written(float("inf")), written(float("nan"))) == ("400", "without limit", "none")


def test_negative_numbers_of_rows_are_hidden_as_positive_ones_are():
    texts = [shown(Finding("rows", value, "", "release", counts_rows=True), 100, 5) for value in (-3.0, -40.0, -97.0)]
    assert texts == ["fewer than 5", "-40", "all but fewer than 5"]


@pytest.mark.parametrize(
    ("value", "interval", "wanted"),
    [
        (40.0, (20.0, 60.0), "20 to 60"),
        (40.0, (2.0, 60.0), ""),
        (40.0, (20.0, 98.0), ""),
        (3.0, (20.0, 60.0), ""),
        (40.0, None, ""),
    ],
)
def test_an_interval_is_left_out_if_the_value_or_an_end_must_not_be_shown(value, interval, wanted):
    one = Finding("rows", value, "", "pair", interval, counts_rows=True)
    assert shown_between(one, 100, 5) == (shown(one, 100, 5), wanted)
    [line] = shown_findings([one], 100, 5)
    assert line["interval"] == (interval if wanted else None)


@pytest.mark.parametrize(
    "given", [{"counts_rows": 0}, {"counts_rows": np.bool_(False)}, {"share": 1}, {"share": None}, {"share": "no"}]
)
def test_declarations_of_a_finding_are_of_their_exact_type(given):
    with pytest.raises(MethodError, match="measure 'rows': .* must be True"):
        Finding("rows", 3.0, "", "release", **given)


@pytest.mark.parametrize(
    ("unit", "value", "wanted"),
    [
        ("", 0.02, "below 0.05"),
        ("%", 2.0, "below 5"),
        ("%", 98.0, "above 95"),
        ("%", 95.0, "95"),
        ("%", 61.0, "61"),
        ("", 0.0214, "0.0214"),
        ("%", 0.0, "0"),
        ("", 2.0, "2"),
    ],
)
def test_a_share_that_may_be_of_fewer_than_k_rows_is_not_written(unit, value, wanted):
    assert shown(Finding("share", value, "", "pair", unit=unit), 100, 5) == wanted
    assert shown(Finding("share", value, "", "pair", unit=unit, counts_rows=False), 100, 5) == figure(value)


def test_figures_are_written_as_the_commands_write_them():
    assert [figure(value) for value in (939.0, 5.3248136, 10146.512, -0.25)] == ["939", "5.32481", "10,146.51", "-0.25"]
    assert (figure(float("inf")), figure(float("nan"))) == ("without limit", "none")


def test_every_model_of_the_judge_has_its_words():
    for model in models.built_in:
        says, leaves = promise(Verdict(model, "illness", 3, 3, holds=True))
        assert "{" not in says + leaves
        assert says != OTHER[0]
    assert "package" in promise(Verdict("strange", None, 1, 1, holds=True))[0]


def test_what_is_asked_is_said_in_a_few_characters():
    policy = Policy.of(k=5, l=3, l_kind="recursive", constraints={"c": 2.0})
    texts = {
        "k-anonymity": "k = 2",
        "t-closeness": "t = 2 for ill",
        "distinct l-diversity": "l = 2 for ill",
        "entropy l-diversity": "entropy l = 2 for ill",
        "recursive (c,l)-diversity": "l = 3, c = 2 for ill",
        "basic beta-likeness": "beta = 2 for ill",
        "strange": "strange = 2 for ill",
    }
    for model, expected in texts.items():
        column = None if model == "k-anonymity" else "ill"
        assert asked_for(Verdict(model, column, 2.0, 2.0, holds=True), policy) == expected


def test_every_method_says_in_its_own_words_what_it_does():
    for name in methods.built_in:
        assert method_words(name).endswith(".")
        assert "\n" not in method_words(name)
    assert method_words("k_cmvm") == method_words("k_tca")
    assert "strange" in method_words("strange")


def test_all_paragraphs_can_be_said():
    for key in words()["says"]:
        assert not re.search(r"[{}]", say(key, k=5, n="100", columns="'a'", measures="pMSE"))
    for key, text in words()["legends"].items():
        assert text.endswith("."), key
