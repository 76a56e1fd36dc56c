"""Planted secrets: a thousand marked values go in, and none comes out where it must not."""

import contextlib
import gzip
import io
import itertools
import logging
import traceback

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import shoal
from shoal.catalogue import formats
from shoal.cli import app as commands
from shoal.errors import ShoalError

MARK = "Zq7Xw"
N = 1000


@pytest.fixture(scope="module")
def marked():
    """A table whose identifiers are all secret, and whose quasi-identifiers hold planted outliers."""
    rng = np.random.default_rng(8)
    ages = rng.integers(18, 90, N)
    pay = rng.normal(30_000, 5_000, N).round(2)
    town = rng.choice(["north", "south", "east", "west"], N).astype(object)
    outliers = rng.choice(N, 120, replace=False)
    town[outliers[:60]] = [f"{MARK}-town-{i}" for i in range(60)]
    pay[outliers[60:]] = (9e8 + rng.exponential(1e8, 60)).round(2)
    return pa.table(
        {
            "person": [f"{MARK}-id-{i}" for i in range(N)],
            "age": ages,
            "pay": pay,
            "town": pa.array(town, pa.string()),
            "note": [f"{MARK}-note-{i}" for i in range(N)],
            "ill": rng.choice(["flu", "gout", "none"], N),
        }
    )


def secrets(table):
    yield from (value for value in table.column("person").to_pylist())
    yield from (value for value in table.column("note").to_pylist())
    yield from (value for value in table.column("town").to_pylist() if value.startswith(MARK))
    yield from (f"{value:.2f}" for value in table.column("pay").to_pylist() if value > 1e8)


def contents(folder):
    """All text of a release folder, packed files unpacked too."""
    for path in folder.iterdir():
        raw = path.read_bytes()
        yield path.name, raw.decode("latin-1")
        if path.name.endswith(".gz"):
            yield path.name, gzip.decompress(raw).decode()
        elif path.suffix in (".parquet", ".feather"):
            read = pyarrow.parquet.read_table if path.suffix == ".parquet" else pyarrow.feather.read_table
            table = read(path)
            yield path.name, f"{table.schema} {table.schema.metadata} {table.to_pydict()}"


@pytest.mark.slow
@pytest.mark.parametrize("format", formats.names())
@pytest.mark.parametrize("categorical", [False, True])
def test_no_secret_is_in_any_file_of_the_release(marked, tmp_path, format, categorical):
    table = marked
    if categorical:
        for name in ("town", "note"):
            place = table.column_names.index(name)
            table = table.set_column(place, name, table.column(name).combine_chunks().dictionary_encode())
    release = shoal.anonymize(table, k=5, l=2, identifiers=["person"], sensitive=["ill"], seed=31337)
    folder = release.save(tmp_path / "out", format=format, report=False)
    planted = list(secrets(marked))
    assert len(planted) > 2 * N
    for name, text in contents(folder):
        assert not [secret for secret in planted if secret in text], name
        assert "31337" not in text
    assert MARK not in repr(release) + release._repr_html_() + "".join(release.notes)
    assert MARK not in str(release.findings) + str(release.verdicts) + str(release.ledger)


def test_no_cell_value_is_in_the_holders_findings_either(marked, tmp_path):
    shoal.anonymize(marked, k=5, identifiers=["person"], sensitive=["ill"]).save(
        tmp_path / "out", private=tmp_path / "mine", report=False
    )
    text = (tmp_path / "mine" / "findings.json").read_text() + (tmp_path / "mine" / "map.csv").read_text()
    assert not [secret for secret in secrets(marked) if secret in text]


def breakages(folder):
    """Every way to make shoal fail that quotes cells in other programs: (what to call, on what)."""
    good = [[f"{MARK}{i}", f"{i * 918273}.5", f"2020-01-{i % 28 + 1:02}", f"{MARK}-c{i % 3}"] for i in range(12)]
    head = ["who", "num", "day", "cat"]

    def table(name, rows, header=head):
        path = folder / f"{name}.csv"
        path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
        return path

    plain = table("plain", good)
    ragged = table("ragged", [*good, [f"{MARK}ragged", "1"]])
    quote = table("quote", [*good, [f'"{MARK}open', "1", "2", "3"]])
    double = table("double", good, ["who", "who", "day", "cat"])
    text = table("text", [*good, [f"{MARK}t", f"{MARK}918273", "never", "x"]])
    infinite = table("infinite", [*good, [f"{MARK}t", "inf", "2020-01-01", "x"]])
    gaps = table("gaps", [*good, [f"{MARK}t", "", "2020-01-01", "x"]])
    (folder / "cut.csv.gz").write_bytes(gzip.compress(plain.read_bytes())[:-9])
    (folder / "bad.parquet").write_bytes(b"PAR1" + f"{MARK}".encode() * 50 + b"PAR1")
    (folder / "bad.feather").write_bytes(b"ARROW1" + f"{MARK}".encode() * 50)
    (folder / "bytes.csv").write_bytes(b"who,num\n" + MARK.encode() + b"\x00\xff,1\n")
    (folder / "utf.csv").write_bytes(b"\xff\xfe" + f"who,num\n{MARK},".encode("utf-16-le") + b"\xd8")

    def anonymize(path, **options):
        return lambda: shoal.anonymize(path, **options).save(folder / "out", report=False)

    quasi = {"kind": "numeric"}
    for path in (
        ragged,
        quote,
        double,
        *(folder / n for n in ("cut.csv.gz", "bad.parquet", "bad.feather", "bytes.csv", "utf.csv")),
    ):
        yield path.name, lambda path=path: shoal.profile(path)
        yield path.name, anonymize(path)
    yield "numeric", anonymize(plain, policy={"columns": {"who": quasi}})
    yield "date", anonymize(plain, policy={"columns": {"cat": {"kind": "date"}}})
    yield "date of number", anonymize(plain, policy={"columns": {"num": {"kind": "date"}}})
    yield "boolean", anonymize(plain, policy={"columns": {"who": {"kind": "boolean"}}})
    yield "ordinal", anonymize(plain, policy={"columns": {"cat": {"kind": "ordinal", "order": ["a"]}}})
    yield (
        "ordinal sensitive",
        anonymize(plain, policy={"columns": {"cat": {"role": "sensitive", "kind": "ordinal", "order": ["a"]}}}),
    )
    yield "no order", anonymize(plain, policy={"columns": {"cat": {"kind": "ordinal"}}})
    yield "mixed", anonymize(text, policy={"columns": {"num": quasi}})
    yield "mixed day", anonymize(text, policy={"columns": {"day": {"kind": "date"}}})
    yield "infinite", anonymize(infinite)
    yield "refuse", anonymize(gaps, missing="refuse")
    yield "weight", anonymize(gaps, keep=["num"], weight="num")
    yield "weight text", anonymize(plain, keep=["who"], weight="who")
    yield "k", anonymize(plain, k=13)
    yield "l", anonymize(plain, k=2, l=12, sensitive=["cat"])
    yield "entropy", anonymize(plain, k=2, l=3.5, l_kind="entropy", sensitive=["cat"])
    yield "set", anonymize(plain, policy={"columns": {"cat": {"kind": "set"}}})
    yield "unknown", anonymize(plain, sensitive=["nobody"])
    yield "form", anonymize(plain, policy={"columns": {"cat": {"kind": "nominal", "form": "mean"}}})
    nested = pa.table({"a": [[MARK], [MARK]], "b": [1, 2]})
    yield "nested", lambda: shoal.anonymize(nested, k=2)
    structs = pa.table({"a": [{f"{MARK}": 918273}] * 3, "b": [1, 2, 3]})
    for role in ({}, {"quasi": "a"}, {"items": "a"}, {"policy": {"columns": {"a": {"kind": "numeric"}}}}):
        yield "struct", lambda role=role: shoal.anonymize(structs, k=2, **role)
    yield "struct as an item", lambda: shoal.sets.anonymize(pa.table({"a": [[{MARK: 1}]] * 9}), k=3)
    plain_ages = pa.table({"a": [1, 1, 1], "b": [1, 1, 1]})
    yield "struct measured", lambda: shoal.measure(plain_ages, structs, quasi=["a", "b"])
    yield "struct as population", lambda: shoal.measure(None, plain_ages, k=2, population=structs)
    yield (
        "judge",
        lambda: shoal.verify(
            plain, policy={"columns": {"cat": {"role": "sensitive", "kind": "ordinal", "order": ["a"]}}}, l=2
        ),
    )


def test_no_cell_value_is_in_any_message_log_or_traceback_on_any_error_path(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    failures = 0
    for name, attempt in breakages(tmp_path):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                attempt()
                shown = ""
            except ShoalError as problem:
                failures += 1
                shown = "".join(traceback.format_exception(problem))
                assert "\n" not in str(problem), name
        for value in (MARK, "918273"):
            assert value not in shown.replace(f'"{MARK}', ""), (name, shown)
            assert value not in out.getvalue() + err.getvalue() + caplog.text, name
        assert not (tmp_path / "out").exists() or not shown
    assert failures >= 30


def test_the_command_line_shows_no_cell_value_either(tmp_path, capsys):
    for number, (_, attempt) in enumerate(itertools.islice(breakages(tmp_path), 60)):
        commands.app.info.name = "shoal"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("shoal.pipeline.line.profile", lambda *_, attempt=attempt, **__: attempt())
            patch.setattr("sys.argv", ["shoal", "profile", "x.csv", "--json"])
            with contextlib.suppress(SystemExit):
                commands.main()
        shown = capsys.readouterr()
        assert MARK not in shown.err, number
        assert "918273" not in shown.err, number
        assert "Traceback" not in shown.err
