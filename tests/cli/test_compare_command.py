"""`shoal compare`: tables for people, JSON for programs, a folder with the page, and errors in one sentence."""

import json

import pytest
from pyarrow import csv

import shoal
from command_line import shoal_command as run


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    where = tmp_path_factory.mktemp("comparing")
    for seed in range(4):
        table = shoal.sample(80, seed=seed).select(["height_cm", "weight_kg", "cost_eur", "smoker"])
        csv.write_csv(table, where / f"ward{seed}.csv")
    return where


@pytest.mark.slow
def test_figures_ranks_and_tests_are_shown(place, tmp_path):
    words = ("compare", place, "--methods", "mdav,mondrian, one_pass", "--label", "last", "--seeds", 2, "--folds", 2)
    code, out, err = run(*words, "-k", 4, "-o", tmp_path / "out", "--log-format", "none")
    assert (code, err) == (0, "")
    assert "combined utility at k = 4, higher is better" in out
    assert "ward3" in out
    assert "mean rank" in out
    assert "score" in out
    assert "Friedman: chi-square" in out
    assert "Confidential" in out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["compare.html", "compare.json", "diagram.svg"]
    saved = json.loads((tmp_path / "out" / "compare.json").read_text(encoding="utf-8"))
    assert saved["measures"][0]["comparison"]["sets"] == 4


@pytest.mark.slow
def test_one_data_set_is_shown_without_ranks(place):
    words = ("--methods", "mdav,mondrian,one_pass", "--seeds", 2, "-k", 4, "--log-format", "none")
    code, out, err = run("compare", place / "ward0.csv", *words)
    assert (code, err) == (0, "")
    assert "±" in out
    assert "mean rank" not in out
    assert "One data set gives figures, but no test" in out


@pytest.mark.slow
def test_json_is_printed_and_measures_are_separated_by_commas(place):
    files = sorted(place.glob("*.csv"))[:3]
    measures = "cell loss %,(alpha,k)-anonymity"
    words = ("--methods", "mdav,mondrian", "--measure", measures, "--sensitive", "smoker", "--seeds", 1, "--json")
    code, out, _ = run("compare", *files, *words)
    facts = json.loads(out)
    assert code == 0
    assert [one["name"] for one in facts["measures"]] == ["cell loss %", "(alpha,k)-anonymity"]
    assert facts["measures"][0]["comparison"]["wilcoxon"]["p"] > 0
    assert [one["name"] for one in facts["sets"]] == ["ward0", "ward1", "ward2"]


@pytest.mark.slow
def test_a_data_set_that_cannot_be_released_is_named(place, tmp_path):
    few = tmp_path / "few.csv"
    csv.write_csv(shoal.sample(3).select(["height_cm", "weight_kg"]), few)
    code, out, _ = run("compare", place, few, "--methods", "mdav,mondrian", "--seeds", 1)
    assert code == 0
    assert "Left out: few: mdav: encode: k is 5" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--label", "lable"), "there is no column 'lable' in 'ward0'"),
        (("--methods", "mdav"), "two methods are needed"),
        (("--measure", "honest"), "needs a label"),
        (("--measure", "hones"), "unknown measure 'hones'"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_sentence(place, words, message):
    code, out, err = run("compare", place, *words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_folder_with_other_files_is_refused_before_any_work(place, tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    code, _, err = run("compare", place, "-o", tmp_path, "--methods", "mdav,mondrian")
    assert code == 2
    assert "holds other files" in err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
