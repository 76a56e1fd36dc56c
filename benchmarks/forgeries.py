"""Random forgeries of release folders: `python -m benchmarks.forgeries [N]`.

N changes (2,000 if not given) to folders of all formats, with and without a report: bits flipped; bytes and lines
inserted, removed, doubled or swapped; other cells, metadata, categories, row groups, and values in the certificate's
JSON. Digests and the policy in the certificate are corrected after each change, so that only the content can reveal it.

Two figures must be 0: crashes (any exception that is not a ShoalError, or the end of the process), and accepted
changes. Claims are not corrected. Still, a changed cell may leave all claims true: such a folder is a valid release of
other data. It is counted separately if a plain recount confirms it, and only if there is no report, which names the
digest of the data. So is a certificate that names another version of a library if the file does not show the
difference: `verify` repeats that name.
"""

import csv
import gzip
import hashlib
import io
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import shoal
from shoal.catalogue import formats
from shoal.errors import ShoalError

ROWS, K, L = 60, 4, 2
BATCH = 50
Rng = np.random.Generator
UNSEEN = {"form", "kind", "missing", "method", "importance", "view"}  # of a policy: what no cell can contradict


def honest(place: Path) -> list[Path]:
    """Write the same release in every format, with and without a report."""
    rng = np.random.default_rng(1)
    town = pa.array(rng.choice(["north", "south", "=east"], ROWS)).dictionary_encode()
    age = [None if row % 20 == 0 else int(value) for row, value in enumerate(rng.integers(20, 90, ROWS))]
    table = pa.table(
        {
            "name": [f"person {row}" for row in range(ROWS)],
            "age": age,
            "pay": rng.normal(30_000, 5_000, ROWS).round(2),
            "day": pa.array(rng.integers(0, 9_000, ROWS), pa.int32()).cast(pa.date32()),
            "town": town,
            "ill": rng.choice(["flu", "gout", "none", "a, b"], ROWS),
            "note": rng.choice(["x", "y"], ROWS),
        }
    )
    release = shoal.anonymize(
        table, k=K, l=L, identifiers=["name"], sensitive=["ill"], keep=["note"], method="gower", seed=3
    )
    return [
        release.save(place / f"{ending} {report}", format=ending, report=report)
        for ending in formats.built_in
        for report in (False, True)
    ]


def seal(folder: Path) -> None:
    """Put digests and policy of the certificate right."""
    place = folder / "certificate.json"
    stated = json.loads(place.read_text(encoding="utf-8"))
    for entry in stated["subject"]:
        entry["digest"]["sha256"] = hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest()
    try:
        text = (folder / "policy.toml").read_bytes().decode()
        stated["predicate"]["policy"] = shoal.Policy.from_toml(text).as_dict()
    except (ShoalError, ValueError):
        pass
    text = json.dumps(stated, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    place.write_bytes(text.encode())


def data_of(folder: Path) -> Path:
    """Return the data file of a folder."""
    return next(folder.glob("data.*"))


def bytes_changed(data: bytes, rng: Rng) -> bytes:
    """Return bytes with a small change somewhere."""
    at, more = int(rng.integers(0, len(data))), int(rng.integers(1, 9))
    changed = bytearray(data)
    kind = rng.integers(0, 6)
    if kind == 0:
        changed[at] ^= 1 << int(rng.integers(0, 8))
    elif kind == 1:
        changed[at:at] = rng.bytes(more)
    elif kind == 2:
        del changed[at : at + more]
    elif kind == 3:
        changed[at:at] = changed[at : at + more]
    elif kind == 4:
        changed += rng.bytes(more)
    else:
        changed[at] = int(rng.integers(0, 256))
    return bytes(changed)


def lines_changed(data: bytes, rng: Rng) -> bytes:
    """Return text with a line put in, taken out, doubled, swapped or changed in one cell."""
    lines = data.split(b"\n")
    at, other = (int(one) for one in rng.integers(0, len(lines), 2))
    kind = rng.integers(0, 7)
    if kind == 0:
        lines.insert(at, b"")
    elif kind == 1:
        lines.insert(at, b"# note")
    elif kind == 2:
        lines.insert(at, lines[other])
    elif kind == 3:
        del lines[at]
    elif kind == 4:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 5:
        lines[at] += rng.choice([b" ", b"\r", b",", b"\t"])
    else:
        cells, others = lines[at].split(b","), lines[other].split(b",")
        place = int(rng.integers(0, min(len(cells), len(others))))
        cells[place] = others[place]
        lines[at] = b",".join(cells)
    return b"\n".join(lines)


def table_changed(table: pa.Table, rng: Rng) -> pa.Table:
    """Return a table with other metadata, columns, categories or cells, or other values behind missing cells."""
    kind, place = rng.integers(0, 6), int(rng.integers(0, table.num_columns))
    column = table.column(place).combine_chunks()
    if kind == 0:
        return table.replace_schema_metadata({"note": rng.bytes(4).hex()})
    if kind == 1:
        field = table.field(place).with_metadata({"note": rng.bytes(4).hex()})
        return table.cast(table.schema.set(place, field))
    if kind == 2:
        return table.select(rng.permutation(table.column_names).tolist())
    if kind == 3:
        return table.take(pa.array(rng.permutation(table.num_rows)))
    if kind == 4:
        cells = column.to_pylist()
        one, other = rng.integers(0, len(cells), 2)
        cells[one] = cells[other]
        changed = pa.array(cells, column.type.value_type if pa.types.is_dictionary(column.type) else column.type)
        changed = changed.dictionary_encode() if pa.types.is_dictionary(column.type) else changed
        return table.set_column(place, table.field(place).name, changed)
    town = table.column("town").combine_chunks()
    more = pa.concat_arrays([town.dictionary, pa.array([rng.bytes(4).hex()])])
    return table.set_column(
        table.column_names.index("town"), "town", pa.DictionaryArray.from_arrays(town.indices, more)
    )


def data_changed(folder: Path, rng: Rng) -> None:
    """Change the data file, as bytes or as what it holds."""
    place = data_of(folder)
    raw, kind = place.read_bytes(), rng.integers(0, 2)
    if kind == 0:
        place.write_bytes(bytes_changed(raw, rng))
    elif place.name.endswith(".gz"):
        text = (bytes_changed if rng.random() < 0.3 else lines_changed)(gzip.decompress(raw), rng)
        sink = io.BytesIO()
        with gzip.GzipFile(filename=str(rng.choice(["", "x"])), mode="wb", fileobj=sink, mtime=0) as out:
            out.write(text)
        place.write_bytes(sink.getvalue())
    elif place.suffix == ".csv":
        place.write_bytes(lines_changed(raw, rng))
    elif place.suffix == ".parquet":
        table = table_changed(pyarrow.parquet.read_table(place), rng)
        size = int(rng.choice([7, 1 << 20]))
        pyarrow.parquet.write_table(table, place, compression="zstd", row_group_size=size)
    else:
        table = table_changed(pyarrow.feather.read_table(place), rng)
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(place, table.schema, options=options) as out:
            out.write_table(table, max_chunksize=int(rng.choice([7, 1 << 16])))


def text_changed(name: str) -> Callable[[Path, Rng], None]:
    """Return a change of a text file of the folder."""

    def change(folder: Path, rng: Rng) -> None:
        place = folder / name
        edit = bytes_changed if rng.random() < 0.5 else lines_changed
        place.write_bytes(edit(place.read_bytes(), rng))

    return change


def certificate_changed(folder: Path, rng: Rng) -> None:
    """Change a value, a key or the layout of the certificate."""
    place = folder / "certificate.json"
    text = place.read_text(encoding="utf-8")
    kind = rng.integers(0, 4)
    if kind == 0:
        place.write_bytes(bytes_changed(text.encode(), rng))
    elif kind == 1:
        place.write_bytes(lines_changed(text.encode(), rng))
    else:
        stated = json.loads(text)
        owner, key = list(_leaves(stated))[int(rng.integers(0, len(list(_leaves(stated)))))]
        value = owner[key]
        owner[key] = value + 1e-11 if isinstance(value, float | int) and kind == 2 else f"{value} "
        place.write_text(json.dumps(stated, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def _leaves(held: Any) -> Iterator[tuple[Any, Any]]:
    """Return every place of a JSON document that holds a plain value."""
    for key, value in held.items() if isinstance(held, dict) else enumerate(held):
        if isinstance(value, dict | list):
            yield from _leaves(value)
        else:
            yield held, key


CHANGES = {
    "data": data_changed,
    "policy": text_changed("policy.toml"),
    "report": text_changed("report.html"),
    "certificate": certificate_changed,
}


def cells_of(folder: Path) -> tuple[list[str], list[tuple[str, ...]]]:
    """Read the data of a folder with nothing of shoal."""
    place = data_of(folder)
    if place.suffix in (".parquet", ".feather"):
        read = pyarrow.parquet.read_table if place.suffix == ".parquet" else pyarrow.feather.read_table
        table = read(place)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return table.column_names, [tuple(map(repr, row)) for row in rows]
    raw = gzip.decompress(place.read_bytes()) if place.suffix == ".gz" else place.read_bytes()
    head, *rows = csv.reader(io.StringIO(raw.decode(), newline=""))
    return head, [tuple(row) for row in rows]


def another_release(good: Path, folder: Path) -> bool:
    """Say whether a folder without a report is an honest one of other data, or of another policy that fits them."""
    if (folder / "report.html").exists():
        return False
    names, rows = cells_of(folder)
    if cells_of(good) != (names, rows):
        classes: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            classes.setdefault(row[:-2], []).append(row[-2])
        sizes, values = [len(one) for one in classes.values()], [len(set(one)) for one in classes.values()]
        claims = json.loads((folder / "certificate.json").read_text())["predicate"]["claims"]
        return names == cells_of(good)[0] and [min(sizes), min(values)] == [claim["found"] for claim in claims]
    (named, stated), (others, same) = _versions(good), _versions(folder)
    if named != others:
        return bool(stated == same)
    ours, theirs = (shoal.Policy.load(place / "policy.toml").as_dict() for place in (good, folder))
    for one in (ours, theirs):
        one["columns"] = {name: {k: v for k, v in c.items() if k not in UNSEEN} for name, c in one["columns"].items()}
    plain = [{key: value for key, value in one.items() if key not in UNSEEN} for one in (ours, theirs)]
    return (good / "policy.toml").read_bytes() != (folder / "policy.toml").read_bytes() and plain[0] == plain[1]


def _versions(folder: Path) -> tuple[Any, Any]:
    """Return the versions that a certificate names, which `verify` repeats and no byte contradicts, and the rest."""
    stated = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    return {key: stated["predicate"].pop(key) for key in ("shoal", "made_with")}, stated


def tried(goods: list[Path], numbers: range) -> list[tuple[int, str, str]]:
    """Make some forgeries and return of each its number, what was changed, and what came of it."""
    found = []
    for number in numbers:
        rng = np.random.default_rng([7, number])
        good = goods[int(rng.integers(0, len(goods)))]
        what = str(rng.choice([name for name in CHANGES if name != "report" or (good / "report.html").exists()]))
        with tempfile.TemporaryDirectory() as place:
            folder = Path(shutil.copytree(good, Path(place) / "copy"))
            CHANGES[what](folder, rng)
            if what != "certificate":
                seal(folder)
            if all((folder / one.name).read_bytes() == one.read_bytes() for one in good.iterdir()):
                outcome = "unchanged"
            else:
                outcome = _outcome(good, folder)
        found.append((number, f"{good.name}: {what}", outcome))
    return found


def _outcome(good: Path, folder: Path) -> str:
    """Verify a forged folder."""
    try:
        holds = shoal.verify(folder).holds
    except ShoalError:
        return "refused"
    except Exception as problem:  # noqa: BLE001 - that is what is looked for
        return f"crash ({type(problem).__name__})"
    if not holds:
        return "refused"
    return "another release" if another_release(good, folder) else "ACCEPTED"


def _worker() -> ProcessPoolExecutor:
    """Return a process that may end without ending this one."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        goods = honest(Path(place))
        assert all(shoal.verify(good).holds for good in goods)
        pool = _worker()
        for start in range(0, wanted, BATCH):
            numbers = range(start, min(wanted, start + BATCH))
            try:
                found = pool.submit(tried, goods, numbers).result()
            except BrokenProcessPool:
                pool, found = _worker(), [(numbers[0], f"{numbers}", "crash (the process ended)")]
            for number, what, outcome in found:
                outcomes[outcome] += 1
                if outcome == "ACCEPTED" or outcome.startswith("crash"):
                    print(f"{number}: {what}: {outcome}")
        pool.shutdown()
    for outcome, count in outcomes.most_common():
        print(f"{outcome:30} {count:6,}")
    bad = sum(count for outcome, count in outcomes.items() if outcome == "ACCEPTED" or outcome.startswith("crash"))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
