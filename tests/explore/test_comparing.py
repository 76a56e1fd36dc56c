"""Methods over data sets: ranks and tests agree with other libraries, trials are honest, failures are reported."""

import json
import os
import subprocess
import sys
import warnings
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import shoal
from shoal.errors import DataError, MethodError, PolicyError, ReadError
from shoal.exploration.compare import compare
from shoal.exploration.spawned import Failure, spread
from shoal.exploration.trials import honest, released
from shoal.model.policy import Policy
from shoal.model.progress import listening
from shoal.model.table import Table
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile
from shoal.reports.diagrams import critical_words
from shoal.utility.structure import structural_utility

pytestmark = pytest.mark.slow

NUMBERS = ["height_cm", "weight_kg", "systolic", "days"]


def tables(count=5, rows=90, columns=(*NUMBERS, "smoker")):
    return {f"ward {seed}": shoal.sample(rows, seed=seed).select(list(columns)) for seed in range(count)}


@pytest.fixture(scope="module")
def found():
    return compare(
        tables(),
        methods=["mdav", "mondrian", "one_pass"],
        measure=["combined", "honest", "cell loss %"],
        k=4,
        label="smoker",
        seeds=2,
        folds=3,
        jobs=1,
    )


def test_every_method_is_measured_on_every_set_from_every_seed(found):
    assert [one.name for one in found.measures] == ["combined", "honest", "cell loss %"]
    assert [one.values.shape for one in found.measures] == [(3, 5, 2)] * 3
    assert all(np.isfinite(one.values).all() for one in found.measures)
    assert [one.higher for one in found.measures] == [True, True, False]
    assert (found.left_out, found.k, found.seeds) == ((), 4, 2)
    assert [(one.name, one.rows, one.columns) for one in found.sets[:1]] == [("ward 0", 90, 4)]
    assert found.comparison.sets == 5


def test_a_figure_is_what_shoal_measure_says_of_the_same_release(found):
    table = tables()["ward 2"]
    for seed in range(2):
        release = shoal.anonymize(table, k=4, method="mondrian", label="smoker", keep=["smoker"], seed=seed)
        (loss,) = (one for one in shoal.measure(table, release, only=["cell loss %"]) if one.name == "cell loss %")
        assert found.measure("cell loss %").values[1, 2, seed] == loss.value


def test_combined_weighs_honest_accuracy_and_structure(found):
    table = tables()["ward 1"]
    release = shoal.anonymize(table, k=4, method="mdav", label="smoker", keep=["smoker"], seed=1)
    (structure,) = (
        one.value
        for one in shoal.measure(table, release, only=["structural utility"])
        if one.name == "structural utility"
    )
    right = found.measure("honest").values[0, 1, 1] / 100
    assert found.measure("combined").values[0, 1, 1] == pytest.approx(0.5 * right + 0.5 * structure, abs=1e-12)
    assert found.comparison.scores is not None


def test_intervals_over_seeds_are_students(found):
    from scipy.stats import t

    one = found.measure("honest")
    low, high = t.interval(0.95, 1, one.means[1, 2], one.values[1, 2].std(ddof=1) / np.sqrt(2) or 1e-300)
    assert one.means[1, 2] - one.halves[1, 2] == pytest.approx(low)
    assert one.means[1, 2] + one.halves[1, 2] == pytest.approx(high)


@pytest.mark.process
def test_the_same_arguments_give_the_same_figures_in_separate_processes(found):
    again = compare(
        tables(),
        methods=["mdav", "mondrian", "one_pass"],
        measure="honest",
        k=4,
        label="smoker",
        seeds=1,
        folds=3,
        jobs=2,
    )
    assert np.array_equal(again.measures[0].values[:, :, 0], found.measure("honest").values[:, :, 0])
    assert again.measures[0].halves is None


def named(table, **options):
    whole = Table.of(table)
    return whole, complete(Policy.of(**options), whole, profile(whole))[0]


def test_a_fold_is_released_as_the_pipeline_would():
    table = shoal.sample(120, seed=3).drop_columns(["patient_id", "name"])
    for method in ("mdav", "gower"):
        whole, policy = named(table, k=4, method=method, label="smoker", keep=["smoker"], seed=2)
        data, rows = released(whole, policy)
        release = shoal.anonymize(table, policy=policy)
        assert sorted(map(str, data.to_pylist())) == sorted(map(str, release.table.to_pylist()))
        assert sorted(rows.tolist()) == list(range(120))


def test_a_fold_is_released_with_the_hierarchies_of_the_policy():
    table = shoal.sample(120, seed=3).select(["height_cm", "education", "smoker"])
    first, *others = sorted(set(table.column("education").drop_null().to_pylist()))
    given = {"hierarchies": {"education": {"one": [first], "many": others}}, "label": "smoker", "keep": ["smoker"]}
    whole, policy = named(table, k=4, method="gower", seed=2, **given)
    release = shoal.anonymize(table, policy=policy)
    assert "many" in release.table.column("education").to_pylist()
    assert sorted(map(str, released(whole, policy)[0].to_pylist())) == sorted(map(str, release.table.to_pylist()))
    with pytest.raises(DataError, match="honest accuracy needs a quasi-identifier that keeps its type"):
        honest(whole, policy, 5, 0)


def test_honest_accuracy_is_high_for_a_label_that_the_columns_decide_but_not_for_a_random_one():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    decided, blind = (x > 0).astype(int), rng.integers(0, 2, 300)
    shares = []
    for y in (decided, blind):
        whole, policy = named(pa.table({"x": x, "z": rng.normal(size=300), "y": y}), k=3, keep=["y"], label="y", seed=0)
        shares.append(honest(whole, policy, 5, 0))
    assert shares[0] > 0.9
    assert 0.35 < shares[1] < 0.65


def test_a_failed_pair_is_named_and_its_data_set_left_out():
    given = tables(4)
    given["few"] = shoal.sample(3, seed=1).select([*NUMBERS, "smoker"])
    found = compare(given, methods=["mdav", "mondrian"], measure="cell loss %", k=4, seeds=1, jobs=1)
    assert [(gone.set, gone.method) for gone in found.left_out] == [("few", "mdav"), ("few", "mondrian")]
    assert all("k is 4" in gone.reason for gone in found.left_out)
    assert [one.name for one in found.sets] == ["ward 0", "ward 1", "ward 2", "ward 3"]
    assert "few" in found.report("md")
    assert "k is 4" in found.report("html")


def test_data_sets_of_which_none_can_be_released_are_an_error_with_reasons():
    given = {"a": shoal.sample(3).select(NUMBERS), "b": shoal.sample(4).select(NUMBERS)}
    with pytest.raises(DataError, match="no data set could be released .* 'a': mdav: encode: k is 5"):
        compare(given, methods=["mdav", "mondrian"], jobs=1)


def test_one_data_set_gives_figures_with_intervals_and_no_test(tmp_path):
    found = compare(tables(1), methods=["mdav", "mondrian"], measure="cell loss %", k=4, seeds=3, jobs=1)
    need = "needs at least 6 data sets for 2 methods"
    one = found.measure()
    assert (one.comparison.wilcoxon, one.comparison.groups, one.comparison.critical) == (None, (), None)
    assert one.comparison.methods[0] == found.methods[int(one.means[:, 0].argmin())]
    assert one.halves is not None
    assert str(found).count("95% interval") == 2
    for text in (str(found), found.report("md"), found.report("html"), found._repr_html_()):
        assert need in text
        assert "mean rank" not in text.lower()
    assert "2 methods on 1 data set by" in repr(found)
    with pytest.raises(DataError, match="no diagram of ranks"):
        found.diagram()
    assert {path.name for path in found.save(tmp_path / "out").iterdir()} == {"compare.html", "compare.json"}


def test_one_data_set_of_several_methods_says_how_many_their_test_needs():
    found = compare(tables(1), methods=["mdav", "mondrian", "one_pass"], k=4, seeds=1, jobs=1)
    assert found.comparison.friedman is None
    assert "needs at least 3 data sets for 3 methods" in critical_words(found.as_dict()["measures"][0])


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"methods": ["mdav"]}, MethodError, "two methods are needed"),
        ({"methods": ["mdav", "mdaw"]}, MethodError, "Did you mean 'mdav'"),
        ({"measure": "honest"}, DataError, "needs a label"),
        ({"measure": "nonsense"}, MethodError, "unknown measure 'nonsense'"),
        ({"measure": "honst"}, MethodError, "unknown measure 'honst'. Did you mean 'honest'"),
        ({"measure": []}, MethodError, "from 1 to 100 measures"),
        ({"measure": "class sizes"}, MethodError, "cannot be ranked: neither high nor low"),
        ({"label": "lable", "measure": "honest"}, DataError, "there is no column 'lable' in 'ward 0', 'ward 1'"),
        ({"seeds": 0}, PolicyError, "seeds must be a whole number of at least 1"),
        ({"folds": 1}, PolicyError, "folds must be a whole number of at least 2"),
        ({"k": True}, PolicyError, "k must be a whole number"),
        ({"alpha": 2}, PolicyError, "alpha must lie between 0 and 1"),
        ({"methods": 5}, DataError, "methods must be one or more names; got an int"),
        ({"header": "no"}, PolicyError, "header must be True or False; got 'no'"),
        ({"identifiers": ["heigth_cm"]}, DataError, "no data set has a column 'heigth_cm'. Did you mean 'height_cm'"),
    ],
)
def test_invalid_arguments_are_refused_before_any_work(options, kind, message):
    with pytest.raises(kind, match=message):
        compare(tables(2), **{"methods": ["mdav", "mondrian"], "jobs": 1, **options})


def test_sources_are_a_folder_files_or_frames_by_name(tmp_path):
    for name, table in tables(2).items():
        csv.write_csv(table, tmp_path / f"{name}.csv")
    (tmp_path / "notes.txt").write_text("no table")
    options = {"methods": ["mdav", "mondrian"], "k": 4, "seeds": 1, "jobs": 1}
    folder = compare(tmp_path, **options)
    files = compare([tmp_path / "ward 0.csv", str(tmp_path / "ward 1.csv")], **options)
    assert [one.name for one in folder.sets] == ["ward 0", "ward 1"]
    assert np.array_equal(folder.measures[0].values, files.measures[0].values)
    with pytest.raises(DataError, match="two data sets are called 'ward 0'"):
        compare([tmp_path, tmp_path / "ward 0.csv"], **options)
    with pytest.raises(DataError, match="frames need names"):
        compare(tables(1)["ward 0"], **options)
    assert [one.name for one in compare(tmp_path / "ward 1.csv", **options).sets] == ["ward 1"]
    with pytest.raises(DataError, match="there are no data sets"):
        compare({}, **options)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match="contains no tables"):
        compare(tmp_path / "empty", **options)


def test_the_last_column_may_be_the_label_and_identifiers_are_dropped():
    given = tables(2)
    given["ward 0"] = given["ward 0"].append_column("other", pa.array([1, 2, 3] * 30))
    given["ward 1"] = given["ward 1"].add_column(0, "number", pa.array(range(90)))
    found = compare(given, methods=["mdav", "mondrian"], label="last", identifiers=["number"], seeds=1, folds=2, jobs=1)
    assert [one.columns for one in found.sets] == [5, 4]
    assert found.measures[0].name == "combined"


def test_progress_is_reported():
    ticks = []
    with listening(lambda step, done, total: ticks.append((step, done, total))):
        compare(tables(2), methods=["mdav", "mondrian"], seeds=2, jobs=1)
    assert ("compare", 8, 8) in ticks


def times_two(number):
    if number == 3:
        raise ZeroDivisionError("a cell of somebody")
    if number == 5:
        os._exit(9)
    return 2 * number


@pytest.mark.process
def test_a_task_that_fails_or_dies_affects_no_other(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    results = dict(spread(times_two, list(range(8)), 2))
    failed = {number: one for number, one in results.items() if isinstance(one, Failure)}
    assert {number: one for number, one in results.items() if number not in failed} == {
        number: 2 * number for number in (0, 1, 2, 4, 6, 7)
    }
    assert "ZeroDivisionError" in failed[3].reason
    assert "cell" not in failed[3].reason
    assert "exit 9" in failed[5].reason


@pytest.mark.process
def test_processes_end_when_the_generator_is_closed(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    results = spread(times_two, [0, 1, 2, 4], 2)
    next(results)
    started = active_children()
    results.close()
    assert started
    assert not any(process.is_alive() for process in started)


@pytest.mark.process
def test_a_script_needs_no_main_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import shoal\nfrom shoal.exploration.compare import compare\n"
        f"given = {{str(s): shoal.sample(60, seed=s).select({NUMBERS!r}) for s in range(3)}}\n"
        "print(compare(given, methods=['mdav', 'mondrian'], seeds=1, jobs=2).comparison.sets)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("3\n", 0), done.stderr


def test_no_cell_value_is_revealed_when_things_fail():
    mark = "Xq7secret"
    given = {
        name: table.append_column("note", pa.array([f"{mark}{row}" for row in range(table.num_rows)]))
        for name, table in tables(3, 40).items()
    }
    given["few"] = given["ward 0"].slice(0, 2)
    found = compare(given, methods=["mdav", "gower"], seeds=1, jobs=1)
    assert mark not in found.report("json") + found.report("html") + found.report("md") + found._repr_html_()
    assert {one.set for one in found.left_out} == {"few"}


def test_json_is_strict_and_complete(found):
    facts = json.loads(found.report("json"), parse_constant=pytest.fail)
    assert facts["methods"] == ["mdav", "mondrian", "one_pass"]
    assert len(facts["measures"][0]["figures"]) == 15
    assert facts["measures"][0]["comparison"]["sets"] == 5
    with pytest.raises(DataError, match="unknown format 'pdf'"):
        found.report("pdf")
    with pytest.raises(MethodError, match="was not compared"):
        found.measure("honset")


def test_structure_is_measured_on_the_release_of_all_rows():
    # A release of one group keeps means only: each column has one value, and W1 is the mean distance from it.
    table = pa.table({"x": [0.0, 1.0, 2.0, 3.0]})
    release = shoal.anonymize(table, k=4, method="mdav")
    kept = structural_utility(list(_pairs(table, release)))
    assert kept["x"] == pytest.approx(1 - 1 / 3)


def _pairs(table, release):
    from shoal.pipeline.judging import case_of

    return case_of(table, release).columns


def test_comparing_raises_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare(tables(2, 30), methods=["mdav", "mondrian"], label="smoker", measure="honest", seeds=1, folds=5, jobs=1)


def test_frames_without_names_and_no_processes_are_refused():
    frames = [shoal.sample(40, seed=seed).select(["days", "height_cm"]) for seed in range(2)]
    with pytest.raises(DataError, match="frames need names"):
        compare(frames, methods=["mdav", "mondrian"])
    with pytest.raises(PolicyError, match="jobs must be a whole number of at least 1"):
        compare(dict(enumerate(frames)), methods=["mdav", "mondrian"], jobs=0)


def test_the_conclusion_is_part_of_the_printed_comparison(found):
    assert all(critical_words(one) in str(found) for one in found.as_dict()["measures"])
