"""Plug-ins: what conformance accepts, what it refuses, and a plug-in model in a policy."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import WriteOptions, write_csv

import shoal
from shoal.catalogue import (
    Whole,
    attack,
    attacks,
    file_format,
    formats,
    measure,
    measures,
    method,
    methods,
    model,
    models,
)
from shoal.conformance import check_attack, check_format, check_measure, check_method, check_model
from shoal.errors import MethodError, PolicyError
from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.sentences import Rows, Sentence
from shoal.pipeline.reporting import public_page
from shoal.privacy.attacks.attack import concluded
from shoal.privacy.verdict.classes import Counts


@model("rows of a class", high=True)
def rows_of_a_class(counts, _):
    """Count the rows of each class."""
    return counts.sizes.astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("name", measures.cards())
def test_every_measure_of_shoal_conforms(name):
    check_measure(measures.load(name).function)


@pytest.mark.slow
@pytest.mark.parametrize("name", attacks.cards())
def test_every_attack_of_shoal_conforms(name):
    check_attack(attacks.load(name).function)


def test_a_model_conforms_or_is_refused_with_a_sentence():
    check_model(rows_of_a_class)
    with pytest.raises(AssertionError, match="one figure for each class"):
        check_model(model("short")(lambda _, __: np.zeros(1)[:0]))
    with pytest.raises(AssertionError, match="NaN"):
        check_model(model("gaps")(lambda counts, _: np.full(counts.sizes.size, np.nan)))


def counted(value, name="rows", how="of the release", need="release", counts_rows=True, **more):
    @measure("rows", formula="n", low=0, high=1000, better="high", need="release", cost="O(1)")
    def rows(case):
        """Return the number of rows."""
        return (Finding(name, value(case), how, need, counts_rows=counts_rows, **more),)

    return rows


def test_a_measure_conforms_or_is_refused_with_a_sentence():
    check_measure(counted(lambda case: float(case.n)))
    for wrong, message in (
        (counted(lambda case: case.n * 1e6), "range of the card"),
        (counted(lambda case: float("nan")), "NaN"),
        (counted(lambda case: float(case.n), name="other"), "have the name of the measure"),
        (counted(lambda case: float(case.n), how="canary"), "must not quote a cell"),
        (counted(lambda case: float(case.n), counts_rows=None), "whether it counts rows"),
        (
            counted(lambda case: float(case.n), how="3 records of the file have it"),
            "must be a Sentence if it contains numbers",
        ),
        (counted(lambda case: 2 * case.released.column("age")[0].as_py()), "order"),
        (lambda case: (), "decorated"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_measure(wrong)


class Loud(Sentence):
    """A sentence that writes all of its numbers."""

    def suppressed(self, n, k):
        return str(self)


def test_a_measure_that_would_print_counts_or_cells_is_refused_with_a_sentence():
    def least(case):
        return min(case.released.column("age").to_pylist())

    check_measure(counted(lambda case: 0.3, share=True, whole=2, interval=(0.2, 0.4)))
    for wrong, message in (
        (counted(lambda case: 3.0, counts_rows=0), "counts_rows must be True, False or None"),
        (counted(lambda case: 3.0, counts_rows=np.bool_(False)), "counts_rows must be True, False or None"),
        (counted(lambda case: 3.0, share=1), "share must be True or False"),
        (counted(lambda case: 3.0, share=True), "declared a share must lie between 0 and 1"),
        (counted(lambda case: 300.0, unit="%"), "declared a share must lie between 0 and 100"),
        (counted(lambda case: 3.0, unit="%", whole=10**9), "`whole` must be None"),
        (counted(lambda case: -3.0), "must not be negative"),
        (counted(lambda case: 30.0, interval=(2.0, 3.0)), "within its interval"),
        (counted(lambda case: "3 rows"), "value must be a number; got a str"),
        (counted(lambda case: 3.0, how="Ⅲ rows"), "must be a Sentence if it contains numbers"),
        (counted(lambda case: 3.0, how=Loud("{rows} rows", rows=Rows(3))), "not a subclass"),
        (counted(lambda case: 3.0, part="Ⅲ rows"), "`part` of a finding must not contain a number"),
        (counted(lambda case: 3.0, column="canary town 1"), "name of a column"),
        (counted(least, counts_rows=False), "the value of a cell"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_measure(wrong)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"part": "3 rows"}, "`part` of a finding must not contain a number"),
        ({"name": "3 rows"}, "must be that of the card"),
        ({"column": "157.5"}, "must be the name of a column"),
    ],
)
def test_a_plug_in_measure_cannot_show_a_number_or_a_cell_in_its_name(install, given, message):
    install("measures", rows=counted(lambda _: 40.0, **given))
    table = pa.table({"age": [30, 31, 32, 33, 34, 60, 61, 62, 63, 64], "ill": ["a", "b"] * 5})
    release = shoal.anonymize(table, k=5, sensitive=["ill"], seed=1)
    with pytest.raises(MethodError, match=f"measure 'rows': .*{message}"):
        shoal.measure(table, release, only=["rows"])


def test_an_attack_that_never_succeeds_is_refused():
    @attack("idle")
    def idle(case, profile, clock):
        """Try nothing."""
        return concluded("idle", profile, np.zeros(case.n), baseline=0.0)

    with pytest.raises(AssertionError, match="unchanged copy must be reported as a leak"):
        check_attack(idle)


def test_a_model_that_works_only_in_the_pipeline_is_refused():
    with pytest.raises(AssertionError, match="the counts of the verifier"):
        check_model(model("narrow")(lambda counts, _: counts.sizes * float(isinstance(counts, Counts))))


@pytest.mark.slow
@pytest.mark.parametrize("counts_rows", [None, True])
def test_a_plug_in_measure_cannot_show_a_count_of_fewer_than_k_rows(install, counts_rows):
    rare = counted(lambda _: 3.0, how="3 records of the file have it", counts_rows=counts_rows)
    install("measures", rows=rare)
    table = pa.table({"age": [30, 31, 32, 33, 34, 60, 61, 62, 63, 64], "ill": ["a", "b"] * 5})
    release = shoal.anonymize(table, k=5, sensitive=["ill"], seed=1)
    assert [one for one in shoal.measure(table, release) if one.name == "rows"] != []
    facts = json.loads(release.report(table, format="json"))
    [line] = [one for one in facts["findings"] if one["name"] == "rows"]
    assert (line["shown"], line["value"], line["how"]) == ("fewer than 5", None, "")
    for form in ("html", "md"):
        assert "records of the file" not in release.report(table, format=form)


def test_a_policy_may_request_a_plug_in_model(install, tmp_path):
    install("models", {"rows of a class": rows_of_a_class})
    table = pa.table({"age": list(range(40)), "ill": ["a", "b"] * 20})
    release = shoal.anonymize(table, k=3, sensitive=["ill"], constraints={"others": {"rows of a class": 8}})
    assert release.verdicts[1].model == "rows of a class"
    assert release.verdicts[1].found >= 8
    folder = release.save(tmp_path / "release", format="csv", report=False)
    assert shoal.verify(folder).verdicts[1].found == release.verdicts[1].found
    assert not shoal.verify(table, k=2, sensitive=["ill"], constraints={"others": {"rows of a class": 8}}).holds
    with pytest.raises(PolicyError, match="Did you mean 'rows of a class'"):
        shoal.anonymize(table, k=3, sensitive=["ill"], constraints={"others": {"row of a class": 8}})


@model("rarest rows", high=True)
def rarest_rows(counts, _):
    """Count the rows that have the rarest value of each class."""
    least = np.full(counts.sizes.size, np.inf)
    np.minimum.at(least, counts.owner, counts.count)
    return least


@pytest.mark.slow
def test_reports_do_not_show_a_plug_in_models_count_of_fewer_than_k_rows(install, monkeypatch, tmp_path):
    install("models", {"rarest rows": rarest_rows})
    table = shoal.sample(120, seed=4).select(["height_cm", "weight_kg", "days", "diagnosis"])
    asked = {"others": {"rarest rows": 1}}
    release = shoal.anonymize(table, k=10, sensitive=["diagnosis"], constraints=asked, seed=1)
    found = release.verdicts[1].found
    assert 1 <= found < 10
    private = tmp_path / "private"
    folder = release.save(tmp_path / "release", format="csv", private=private, report=True)
    for original, source, more in (
        (None, release, {}),
        (table, release, {}),
        (None, folder, {}),
        (table, folder, {"private": private}),
    ):
        line = json.loads(shoal.report(original, source, format="json", **more))["verdicts"][1]
        assert (line["found"], line["claimed"], line["more"]) == (None, None, "found fewer than 10")
        claimed = "" if source is release else "fewer than 10 | "
        row = f"| rarest rows | diagnosis | 1 | {claimed}fewer than 10 | holds |"
        assert row in shoal.report(original, source, format="md", **more).splitlines()
        assert ">fewer than 10<" in shoal.report(original, source, format="html", **more)
    claims = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))["predicate"]["claims"]
    assert claims[1]["found"] == found  # anyone can recount it from the data
    monkeypatch.undo()
    assert "rarest rows" not in models.names()
    assert public_page(folder, release.verdicts) == (folder / "report.html").read_text(encoding="utf-8")


def runs(X, k):
    """Cut the rows into runs of k to 2k - 1 rows."""
    order = np.argsort(X.sum(axis=1), kind="stable")
    labels = np.empty(len(X), np.int64)
    labels[order] = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
    return Partition.of(labels)


def shifting(X, k):
    """Modify X."""
    X -= X.mean(axis=0)
    return runs(X, k)


DRAWS = np.random.default_rng(1)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (shifting, "must not modify X"),
        (lambda X, k: None, "it returned None instead of a Partition"),
        (lambda X, k: runs(X[k:], k) if len(X) > 2 * k else runs(X, k), "assign every row"),
        (lambda X, k: runs(X, k - 1) if k > 2 else runs(X, k), "fewer than k rows"),
        (lambda X, k: runs(DRAWS.random(X.shape), k), "the same seed"),
    ],
)
def test_a_method_conforms_or_is_refused_with_a_sentence(function, message):
    def declared(one):
        return method("runs", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows.")})(one)

    check_method(declared(runs))
    with pytest.raises(AssertionError, match=message):
        check_method(declared(function))
    with pytest.raises(AssertionError, match="decorated with @method"):
        check_method(print)


def test_a_method_of_a_plug_in_cannot_modify_the_table_from_which_figures_are_computed(install):
    declared = method("shifting", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows.")})(shifting)
    install("methods", shifting=declared)
    with pytest.raises(shoal.UseError, match=r"plug-in: 'shifting' failed \(ValueError\)"):
        shoal.anonymize(shoal.sample(40), k=3, method="shifting")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in methods.names() if name != "univariate"])
def test_every_method_of_shoal_conforms(name):
    check_method(methods.load(name).function)


@pytest.mark.parametrize("name", ["parquet", "feather"])
def test_the_typed_formats_of_shoal_conform(name):
    check_format(formats.load(name).function)


def test_a_format_conforms_or_is_refused_with_a_sentence():
    parquet = formats.load("parquet")

    def declared(write, **more):
        given = {"endings": (".own",), "called": "Own", "read": parquet.read, **more}

        def own(table, file):
            write(table, file)

        return file_format("own", **given)(own)

    check_format(declared(parquet.function, magic=b"PAR1"))
    tabs = {"text": True, "read": None}
    check_format(declared(lambda table, file: write_csv(table, file, WriteOptions(delimiter="\t")), **tabs))
    for wrong, message in (
        (declared(parquet.function, magic=b"OWN"), "must start with the `magic`"),
        (declared(parquet.function, read=lambda _: None), "its `read` returned None"),
        (declared(lambda table, file: parquet.function(table.slice(1), file)), "with the same names and cells"),
        (declared(lambda table, file: file.write(DRAWS.bytes(9))), "bytes must not vary"),
        (
            declared(lambda table, file: file.write("\n".join(map(str, table.to_pylist())).encode()), **tabs),
            "must be read again: read",
        ),
    ):
        with pytest.raises(AssertionError, match=message):
            check_format(wrong)
