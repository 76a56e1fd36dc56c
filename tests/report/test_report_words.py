"""Words of a report are plain, and numbers of fewer than k rows are not among them."""

import re

import pytest

from shoal.model.findings import Finding, Verdict
from shoal.model.policy import Policy
from shoal.privacy.judge import MODELS
from shoal.registry import BUILT_IN
from shoal.report.words import discreet, few, figure, method_words, promise, say, shown, wish, words


def test_few_rows_are_hidden_by_themselves_and_by_what_is_left():
    assert [few(rows, 100, 5) for rows in (0, 3, 5, 95, 98, 100)] == [
        "0",
        "fewer than 5",
        "5",
        "95",
        "all but fewer than 5",
        "100",
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("rows left out for gaps: 3", "rows left out for gaps: fewer than 5"),
        ("values of 97 rows; 3 rows with a missing cell", None),
        ("4 cells share one extreme value", "fewer than 5 cells share one extreme value"),
        ("2 of 100 rows are in classes with one value", "fewer than 5 of 100 rows are in classes with one value"),
        ("mean 0.3 rows; 40 rows; 1,234 rows; 3 classes", "mean 0.3 rows; 40 rows; 1,234 rows; 3 classes"),
    ],
)
def test_sentences_lose_counts_of_fewer_than_k_rows(said, told):
    found = discreet(said, 100, 5)
    assert found == (told or "values of the rows that have both; fewer than 5 rows with a missing cell")


def test_findings_that_count_fewer_than_k_rows_are_not_written():
    assert shown(Finding("rows by risk, 1/2", 2.0, "of 100 rows", "release"), 100, 5) == "fewer than 5"
    assert shown(Finding("rows unique in unchanged columns %", 3.0, "", "release"), 100, 5) == "below 5"
    assert shown(Finding("distinct l-diversity", 2.0, "", "release"), 100, 5) == "2"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("classification metric", 0.02, "below 0.05"),
        ("cells changed %", 2.0, "below 5"),
        ("majority rate %", 98.0, "above 95"),
        ("majority rate %", 95.0, "95"),
        ("honest accuracy %", 61.0, "61"),
        ("marketer risk", 0.02, "0.02"),
        ("t-closeness", 0.03, "0.03"),
        ("pMSE", 0.0214, "0.0214"),
        ("cell loss %", 0.0, "0"),
    ],
)
def test_a_share_of_fewer_than_k_rows_is_not_written(name, value, told):
    assert shown(Finding(name, value, "", "pair"), 100, 5) == told


def test_figures_are_written_as_the_commands_write_them():
    assert [figure(value) for value in (939.0, 5.3248136, 10146.512, -0.25)] == ["939", "5.32481", "10,146.51", "-0.25"]
    assert (figure(float("inf")), figure(float("nan"))) == ("without limit", "none")


def test_every_model_of_the_judge_has_its_words():
    for model in ("k-anonymity", *(one.name for one in MODELS)):
        says, leaves = promise(Verdict(model, "illness", 3, 3, holds=True))
        assert "{" not in says + leaves
        assert says != words()["promises"]["other"][0]
    assert "package" in promise(Verdict("strange", None, 1, 1, holds=True))[0]


def test_wishes_are_said_in_a_few_signs():
    policy = Policy.of(k=5, l=3, l_kind="recursive", constraints={"c": 2.0})
    said = {
        "k-anonymity": "k = 2",
        "t-closeness": "t = 2 for ill",
        "distinct l-diversity": "l = 2 for ill",
        "entropy l-diversity": "entropy l = 2 for ill",
        "recursive (c,l)-diversity": "l = 3, c = 2 for ill",
        "basic beta-likeness": "beta = 2 for ill",
        "strange": "strange = 2 for ill",
    }
    for model, expected in said.items():
        column = None if model == "k-anonymity" else "ill"
        assert wish(Verdict(model, column, 2.0, 2.0, holds=True), policy) == expected


def test_every_method_says_in_its_own_words_what_it_does():
    for name in BUILT_IN:
        assert method_words(name).endswith(".")
        assert "\n" not in method_words(name)
    assert method_words("k_cmvm") == method_words("k_tca")
    assert "strange" in method_words("strange")


def test_all_paragraphs_can_be_said():
    for key in words()["says"]:
        assert not re.search(r"[{}]", say(key, k=5, n="100", columns="'a'"))
