"""Truthful output through the whole pipeline: ranges, sets and nodes of trees."""

import csv
import datetime as dt
import random
from collections import Counter, defaultdict
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

import shoal
from shoal.errors import DataError, GuaranteeError, PolicyError
from shoal.pipeline import recoding

METHODS = ["cover", "grow"]
CARE = {"heart": ["I20", "I21", "I25"], "lung": ["J18", "J45"]}
CARE_FILE = "level0;level1;level2\nI20;heart;*\nI21;heart;*\nI25;heart;*\nJ18;lung;*\nJ45;lung;*\n"
ROLES = {"identifiers": ["name"], "sensitive": ["ill"]}


def people(rows=120, gaps=True):
    rng = random.Random(7)

    def some(values):
        return [None if gaps and rng.random() < 0.05 else rng.choice(values) for _ in range(rows)]

    return pa.table(
        {
            "name": [f"person {row}" for row in range(rows)],
            "age": pa.array(some(range(18, 90)), pa.int64()),
            "town": some(["Bonn", "Ulm", "Halle, Saale", "{Kiel}"]),
            "code": some(["I20", "I21", "I25", "J18", "J45"]),
            "zip": some(["13001", "13055", "80331", "80799"]),
            "ill": [rng.choice(["flu", "cold", "gout", "mumps"]) for _ in range(rows)],
        }
    )


def given(care, **more):
    return {"columns": {"code": {"hierarchy": care}, "zip": {"hierarchy": "auto"}}, **more}


def is_true(text, value, column):
    """Return by plain Python whether a published text is true of a value."""
    if text is None or value is None:
        return text is value or (value is None and (text == "*" or text.endswith(" or missing")))
    text = text.removesuffix(" or missing")
    if column == "age":
        low, _, high = text.partition("–")
        return int(low) <= value <= int(high or low)
    if column == "code":
        return text in (value, "*") or value in CARE.get(text, ())
    if column == "zip":
        return text == "*" or all(sign in (own, "*") for sign, own in zip(text, value, strict=True))
    plain = text.replace("\\", "")
    return value in plain and (value == plain or text.startswith("{"))


def assert_truthful(table, release, k):
    rows = table.take(pa.array(release.rows))
    classes = Counter()
    for before, after in zip(rows.to_pylist(), release.aligned().to_pylist(), strict=True):
        assert all(is_true(after[name], before[name], name) for name in ("age", "town", "code", "zip"))
        assert after["ill"] == before["ill"]
        classes[tuple(after[name] for name in ("age", "town", "code", "zip"))] += 1
    assert min(classes.values()) >= k


@pytest.mark.parametrize("method", METHODS)
def test_published_values_are_true_of_every_row(method):
    release = shoal.anonymize(people(), policy=given(CARE), method=method, output="truthful", k=4, **ROLES)
    assert {name: release.policy.columns[name].form for name in ("age", "town", "code", "zip")} == {
        "age": "range",
        "town": "set",
        "code": "tree",
        "zip": "tree",
    }
    assert_truthful(people(), release, 4)


@pytest.mark.parametrize("method", METHODS)
def test_a_file_a_table_and_a_policy_beside_the_file_give_the_same_release(method, tmp_path):
    (tmp_path / "care.csv").write_text(CARE_FILE)
    (tmp_path / "policy.toml").write_text('[columns.code]\nhierarchy = "care.csv"\n[columns.zip]\nhierarchy = "auto"\n')
    policies = [given(CARE), given(str(tmp_path / "care.csv")), tmp_path / "policy.toml"]
    made = [
        shoal.anonymize(people(), policy=policy, method=method, output="truthful", k=4, seed=1, **ROLES)
        for policy in policies
    ]
    assert made[0].table.equals(made[1].table)
    assert made[0].table.equals(made[2].table)
    assert_truthful(people(), made[2], 4)


@pytest.mark.parametrize("word", ["equal-width", "equal-frequency", "round", "auto"])
@pytest.mark.parametrize("kind", ["whole", "cents"])
def test_trees_of_numbers_show_no_value_of_few_rows(word, kind):
    rng = random.Random(3)
    pay = sorted({1500 + round(rng.lognormvariate(7.5, 0.6), 2 if kind == "cents" else None) for _ in range(150)})
    table = pa.table({"pay": [*pay, *[2500] * 20, 98763], "ill": [rng.choice("abcd") for _ in range(len(pay) + 21)]})
    given = {"columns": {"pay": {"hierarchy": word}}}
    release = shoal.anonymize(table, policy=given, output="truthful", method="cover", k=4, sensitive=["ill"])
    held = Counter(str(value) for value in pc.cast(table["pay"], pa.string()).to_pylist())
    limits = {limit for name in set(release.aligned()["pay"].to_pylist()) - {"*"} for limit in name.split("–")}
    assert len(limits) > 3
    # Bins of whole numbers by `round` end just before a round number.
    fifth = (0, 4) if word in ("round", "auto") else (0,)
    shown = {limit for limit in limits if 0 < held[limit] < 4}
    assert all(kind == "whole" and int(limit) % 5 in fifth for limit in shown)
    assert "98763" not in limits


@pytest.mark.parametrize("word", ["auto", "prefix", "mask", "calendar"])
def test_names_of_trees_cover_k_rows(word):
    rng = random.Random(4)
    start = dt.date(1950, 1, 1)
    values = [start + dt.timedelta(days=rng.randrange(9000)) for _ in range(160)]
    if word != "calendar":
        values = [f"{rng.choice('IJK')}{rng.randrange(1000):03d}" for _ in range(160)]
    table = pa.table({"code": values, "ill": [rng.choice("abcd") for _ in range(160)]})
    given = {"columns": {"code": {"hierarchy": word}}}
    release = shoal.anonymize(table, policy=given, output="truthful", method="cover", k=4, sensitive=["ill"])
    texts = [str(value) for value in values]
    names = Counter(release.aligned()["code"].to_pylist())
    assert len(names) > 3
    for name in set(names) - {"*"}:
        stem, _, quarter = name.rstrip("*").partition("-Q")
        stem = stem.removesuffix("0s")
        below = [text for text in texts if text.startswith(stem)]
        below = [text for text in below if not quarter or (int(text[5:7]) + 2) // 3 == int(quarter)]
        assert len(below) >= names[name] >= 4


def test_a_hierarchy_implies_truthful_output():
    release = shoal.anonymize(people(), policy=given(CARE), method="cover", k=4, **ROLES)
    assert release.policy.columns["age"].form == "range"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", ["own-value", "suppress-row"])
def test_rows_with_missing_values_are_kept_or_suppressed(method, missing):
    table = people()
    release = shoal.anonymize(
        table, policy=given(CARE), method=method, output="truthful", missing=missing, k=3, **ROLES
    )
    gappy = sum(None in row.values() for row in table.to_pylist())
    assert release.suppressed == (gappy if missing == "suppress-row" else 0)
    assert_truthful(table, release, 3)
    published = [text for name in ("age", "town") for text in release.aligned().column(name).to_pylist()]
    assert any(text is None or text.endswith(" or missing") for text in published) == (missing == "own-value")


@pytest.mark.parametrize("method", METHODS)
def test_rows_with_missing_values_are_refused_on_request(method):
    options = {"policy": given(CARE), "method": method, "output": "truthful", "missing": "refuse", "k": 3, **ROLES}
    with pytest.raises(DataError, match=r"rows have missing values, in 'age', 'town', 'code', 'zip'"):
        shoal.anonymize(people(), **options)
    assert_truthful(people(gaps=False), shoal.anonymize(people(gaps=False), **options), 3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_every_written_class_has_k_rows_and_the_folder_is_verified(method, format, tmp_path):
    release = shoal.anonymize(people(), policy=given(CARE), method=method, output="truthful", k=4, **ROLES)
    folder = release.save(tmp_path / "out", format=format, report=False)
    if format == "csv":
        with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = pyarrow.parquet.read_table(folder / "data.parquet").to_pylist()
    classes = Counter(tuple(str(row[name]) for name in ("age", "town", "code", "zip")) for row in rows)
    assert sum(classes.values()) == 120
    assert min(classes.values()) >= 4
    assert shoal.verify(folder).holds
    assert shoal.verify(folder / f"data.{format}", policy=folder / "policy.toml").holds


@pytest.mark.parametrize("method", METHODS)
def test_l_and_t_hold_in_every_class(method):
    options = {"k": 4, "l": 3, "t": 0.4, **ROLES}
    release = shoal.anonymize(people(), policy=given(CARE), method=method, output="truthful", **options)
    assert all(verdict.holds for verdict in release.verdicts)
    held = defaultdict(list)
    for row in release.aligned().to_pylist():
        held[row["age"], row["town"], row["code"], row["zip"]].append(row["ill"])
    everybody = Counter(people().column("ill").to_pylist())
    for ills in held.values():
        counts = Counter(ills)
        assert len(counts) >= 3
        away = sum(abs(counts[ill] / len(ills) - everybody[ill] / 120) for ill in everybody) / 2
        assert away <= 0.4 + 1e-9
    assert_truthful(people(), release, 4)


DAMAGE = {
    "age": lambda text: "1–2",
    "town": lambda text: "{nowhere, elsewhere}",
    "code": lambda text: "lung" if text in ("heart", "I20", "I21", "I25") else "heart",
    "zip": lambda text: "99999",
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("column", DAMAGE)
def test_values_that_are_not_true_of_a_row_are_never_released(method, column, monkeypatch):
    def damaged(table, partition, policy, encoded):
        made = line_recode(table, partition, policy, encoded)
        place = made.data.column_names.index(column)
        texts = [DAMAGE[column](text) for text in made.data.column(column).to_pylist()]
        return replace(made, data=made.data.set_column(place, column, pa.array(texts)))

    line_recode = recoding.recode
    monkeypatch.setattr(recoding, "recode", damaged)
    with pytest.raises(GuaranteeError) as refused:
        shoal.anonymize(people(), policy=given(CARE), method=method, output="truthful", k=2, **ROLES)
    message = str(refused.value)
    assert f"published values of column {column!r} are not true of" in message
    cells = {str(cell) for values in people().columns for cell in values.to_pylist() if not isinstance(cell, int)}
    assert not any(cell in message for cell in cells)
    assert not any(text in message for text in ("1–2", "nowhere", "lung", "heart", "99999"))


def test_one_row_outside_its_range_is_counted(monkeypatch):
    def moved(table, partition, policy, encoded):
        made = line_recode(table, partition, policy, encoded)
        own = made.data.column("age")[table.column("age").to_pylist().index(1)]
        texts = pc.if_else(pc.equal(made.data.column("age"), own), "1", made.data.column("age"))
        return replace(made, data=made.data.set_column(0, "age", texts))

    line_recode = recoding.recode
    monkeypatch.setattr(recoding, "recode", moved)
    with pytest.raises(GuaranteeError, match="column 'age' are not true of 1 rows"):
        shoal.anonymize(pa.table({"age": [1, 2, 50, 51]}), method="cover", output="truthful", k=2)


@pytest.mark.parametrize("word", ["by table", "by file"])
def test_the_published_policy_contains_neither_a_hierarchy_nor_a_path(word, tmp_path):
    (tmp_path / "care.csv").write_text(CARE_FILE + "Z99;never;*\n")
    care = str(tmp_path / "care.csv") if word == "by file" else {**CARE, "never": ["Z99"]}
    folder = shoal.anonymize(people(), policy=given(care), method="cover", k=4, **ROLES).save(
        tmp_path / "out", report=False
    )
    for name in ("policy.toml", "certificate.json"):
        text = (folder / name).read_text()
        assert not any(part in text for part in ("hierarchy", "care.csv", str(tmp_path), "never", "heart", "Z99"))
    assert all(b"Z99" not in path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("method", [*METHODS, "mdav"])
def test_a_value_without_a_position_is_refused_but_not_quoted(method):
    with pytest.raises(DataError, match="cells of column 'code', with 2 distinct values, cannot be found") as refused:
        shoal.anonymize(people(), policy=given({"heart": CARE["heart"]}), method=method, k=4, **ROLES)
    assert "J18" not in str(refused.value)


@pytest.mark.parametrize("word", ["nothing.csv", "no such word"])
def test_a_missing_file_is_refused(word):
    with pytest.raises(PolicyError, match="column 'code': hierarchy .* is neither an existing file nor one"):
        shoal.anonymize(people(), policy=given(word), method="cover", k=4, **ROLES)


@pytest.mark.parametrize(
    "text", ["SECRET;heart", "SECRET\n", "SECRET" * 11, "SECRET" * 1000, f"/a/{'long/' * 12}SECRET.csv"], ids=len
)
def test_a_hierarchy_that_may_be_given_as_text_is_refused_but_not_quoted(text):
    with pytest.raises(
        PolicyError, match="column 'code': the hierarchy is neither an existing file nor one of the keywords auto"
    ) as refused:
        shoal.anonymize(people(), policy=given(text), method="cover", k=4, **ROLES)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("method", METHODS)
def test_odd_values_are_released(method, tmp_path):
    table = pa.table(
        {
            "note": ["unknown or missing", "unknown or missing", None, "a, b", "{c}", "\\"],
            "none": pa.array([None] * 6, pa.string()),
            "star": ["*", "x", "*", "x", "!", "!"],
        }
    )
    spec = {"columns": {"none": {"hierarchy": "auto"}, "star": {"hierarchy": "auto"}}}
    release = shoal.anonymize(table, policy=spec, method=method, output="truthful", k=2)
    assert release.aligned().column("none").to_pylist() == [None] * 6
    assert shoal.verify(release.save(tmp_path / "out", format="csv", report=False)).holds


@pytest.mark.parametrize(("others", "noted"), [(2, True), (0, False), (9, False)])
def test_a_frequent_category_that_is_hidden_with_rare_ones_is_noted(others, noted):
    rng = random.Random(1)
    sexes = ["X"] * others + ["M"] * 40 + ["F"] * 60
    table = pa.table({"sex": sexes, "age": [rng.randint(20, 90) for _ in sexes]})
    release = shoal.anonymize(table, k=5, output="truthful", seed=1)
    assert ("M" not in release.table["sex"].to_pylist()) == noted
    notes = [note for note in release.notes if "a more frequent category is published as *" in note]
    assert bool(notes) == noted
