"""Random changes to folders of set-valued releases: `python -m benchmarks.forged_sets [N] [SEED]`.

Valid folders with several parameters, kinds of neighbours and formats are changed at random, and the digests in their
certificates are corrected, so that only the content can reveal a change. Changed are single bytes, ranges of bytes,
records of the neighbour, values of JSON documents in exactly the form that shoal writes, and Parquet files (written
differently, or with other values); files are added or removed. Every changed folder must be refused, and nothing may
fail except by an error of shoal.

All folders have neighbours. Without one, chunks that were changed consistently are simply another release, which nobody
can distinguish from a valid one. One thing may differ: the version of shoal that a certificate names. Nobody can check
it, so it is noted and counted separately.
"""

import hashlib
import json
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import shoal.sets
from shoal.certify.check import check_folder
from shoal.errors import ShoalError
from shoal.pipeline.set_neighbours import redrawn

CERTIFICATE, DOCUMENT = "certificate.json", "disassociated.json"
ODD = [None, -1, 0, 1, 2, 3, 7, 1 << 31, 1 << 40, 10**30, 0.5, True, "", "a", "Jane Doe", [], {}, [[0]]]

Folder = Path
Change = Callable[[random.Random, Folder], None]


def honest(place: Path) -> list[Folder]:
    """Write folders of honest releases."""
    rng, made = random.Random(4), []
    ways: list[dict[str, Any]] = [
        {},
        {"terms": "cluster", "levels": 1},
        {"terms": "suppress"},
        {"m": 3, "levels": 0},
        {"k": 5, "partition": "iterative", "terms": "drop"},
        {"rules": [["item1", "item2"], ["item3", "item4"]]},
    ]
    for number, how in enumerate(ways):
        records = []
        for _ in range(150):
            start = rng.randrange(5)
            own = {f"item{start + step}" for step in range(rng.randint(1, 3))}
            own |= {f"item{min(25, int(rng.paretovariate(0.8)))}" for _ in range(rng.randint(0, 3))}
            records.append(sorted(own | ({"a label"} if number == 1 and rng.random() < 0.2 else set())))
        for kind in ("km", "raw"):
            for form in ("json", "parquet"):
                release = shoal.sets.anonymize(records, **{"k": 3, "delta": 30, "neighbour": kind, **how})
                made.append(release.save(place / f"{number}-{kind}-{form}", format=form))
    return made


def some_file(rng: random.Random, folder: Folder, ending: str = "") -> Path:
    return rng.choice(sorted(path for path in folder.iterdir() if path.name.endswith(ending)))


def flip(rng: random.Random, folder: Folder) -> None:
    path = some_file(rng, folder)
    raw = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place = rng.randrange(len(raw))
        raw[place] = rng.choice([raw[place] ^ 1 << rng.randrange(8), rng.randrange(256)])
    path.write_bytes(raw)


def splice(rng: random.Random, folder: Folder) -> None:
    path = some_file(rng, folder)
    raw = path.read_bytes()
    first, last = sorted(rng.randrange(len(raw) + 1) for _ in range(2))
    last = min(last, first + rng.choice([0, 1, 4, 50]))
    middle = rng.choice([b"", b" ", b"\n", b"Jane Doe", raw[first:last] * 2, bytes(8)])
    path.write_bytes(raw[:first] + middle + raw[last:])


def cut(rng: random.Random, folder: Folder) -> None:
    path = some_file(rng, folder)
    raw = path.read_bytes()
    path.write_bytes(raw[: rng.randrange(len(raw))])


def records(rng: random.Random, folder: Folder) -> None:
    path = next(path for path in folder.iterdir() if path.name.startswith("neighbour."))
    found = (
        json.loads(path.read_text())
        if path.suffix == ".json"
        else [line.split(" ") for line in path.read_text().splitlines()]
    )
    for _ in range(rng.randint(1, 3)):
        one, two = (rng.randrange(len(found)) for _ in range(2))
        turn = rng.randrange(4)
        if turn == 0:
            found[one], found[two] = found[two], found[one]
        elif turn == 1:
            found[one] = sorted({*found[one], rng.choice(found[two])})
        elif turn == 2:
            found.pop(one)
        else:
            found.append(found[two])
    found = sorted(found) if rng.random() < 0.8 else found
    if path.suffix == ".json":
        path.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")
    else:
        path.write_text("".join(" ".join(record) + "\n" for record in found))


def value(rng: random.Random, folder: Folder) -> None:
    path = folder / rng.choice([CERTIFICATE, DOCUMENT if (folder / DOCUMENT).exists() else CERTIFICATE])
    document = _scrambled(rng, json.loads(path.read_text()))
    if path.name == CERTIFICATE or type(document) is not dict:
        text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    else:
        text = "{" + ",\n".join(f'"{key}": {_lines(key, inside)}' for key, inside in document.items()) + "}"
    path.write_text(text + rng.choice(["\n", "\n", "\n", "", "\n\n"]))


def _scrambled(rng: random.Random, given: Any) -> Any:
    """Change something somewhere in a document."""
    if isinstance(given, dict) and given and rng.random() < 0.95:
        key = rng.choice(sorted(given))
        return {**given, key: _scrambled(rng, given[key])}
    if isinstance(given, list) and given and rng.random() < 0.95:
        place = rng.randrange(len(given))
        if rng.random() < 0.2:
            return rng.choice([given[:place] + given[place + 1 :], [*given, given[place]], given[::-1]])
        return [*given[:place], _scrambled(rng, given[place]), *given[place + 1 :]]
    if type(given) is int and rng.random() < 0.7:
        return given + rng.choice([-1, 1])
    return rng.choice(ODD)


def _lines(key: str, inside: Any) -> str:
    """Return a part of a document as shoal writes it."""
    if key not in ("clusters", "joints") or type(inside) is not list or not inside:
        return json.dumps(inside, ensure_ascii=False)
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in inside) + "\n]"


def table(rng: random.Random, folder: Folder) -> None:
    if not list(folder.glob("*.parquet")):
        return value(rng, folder)
    path = some_file(rng, folder, ".parquet")
    kept, given = pq.read_metadata(path).metadata or {}, pq.read_table(path)
    if given.num_rows and rng.random() < 0.7:
        rows, columns = given.to_pylist(), given.schema
        for _ in range(rng.randint(1, 2)):
            place, name = rng.randrange(len(rows)), rng.choice(columns.names)
            rows[place] = {**rows[place], name: rows[rng.randrange(len(rows))][name]}
        if rng.random() < 0.3:
            rows.insert(rng.randrange(len(rows)), rng.choice(rows))
        given = pa.Table.from_pylist(rows, columns)
    how: dict[str, Any] = {"compression": "none", "write_statistics": False, "use_dictionary": False}
    size = None
    if rng.random() < 0.5:
        how[rng.choice(sorted(how))] = rng.choice([True, False])
        how["compression"] = "zstd" if how["compression"] is True else "none"
        size = rng.choice([None, 3, 50])
    if rng.random() < 0.1:
        kept = {**kept, b"who": b"Jane Doe"}
    with pq.ParquetWriter(path, given.schema, store_schema=rng.random() < 0.1, **how) as file:
        file.write_table(given, row_group_size=size)
        file.add_key_value_metadata(kept) if kept else None
    return None


def files(rng: random.Random, folder: Folder) -> None:
    path = some_file(rng, folder)
    turn = rng.randrange(5)
    if turn == 0:
        path.unlink()
    elif turn == 1:
        raw = path.read_bytes()
        (folder / rng.choice(["map.csv", ".hidden", "neighbour.json", "neighbour.dat", "x"])).write_bytes(raw)
    elif turn == 2:
        path.rename(folder / f"{path.name}.old")
    elif turn == 3:
        path.write_bytes(b"")
    else:
        (folder / "more").mkdir()


CHANGES: tuple[Change, ...] = (flip, splice, cut, records, value, table, files)


def redigest(folder: Folder) -> None:
    """Put the digests of the certificate right, if it can still be read."""
    path = folder / CERTIFICATE
    try:
        statement = json.loads(path.read_text())
        for entry in statement["subject"]:
            entry["digest"]["sha256"] = hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest()
    except (ValueError, KeyError, TypeError, OSError):
        return
    # Only the digests change: whatever else was done to the certificate stays.
    text = path.read_text()
    before = json.loads(text)
    for old, new in zip(before["subject"], statement["subject"], strict=True):
        if type(old["digest"]["sha256"]) is str:
            text = text.replace(old["digest"]["sha256"] or "\0", new["digest"]["sha256"])
    path.write_text(text)


def content(folder: Folder) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def only_version(before: dict[str, bytes | None], after: dict[str, bytes | None]) -> bool:
    """Say whether nothing but the version of shoal that the certificate names differs."""
    if any(before[name] != after.get(name) for name in before if name != CERTIFICATE) or len(before) != len(after):
        return False
    one, two = (json.loads(given[CERTIFICATE] or b"") for given in (before, after))
    two["predicate"]["shoal"] = one["predicate"]["shoal"]
    return bool(one == two)


def run(n: int, seed: int = 0) -> Counter[str]:
    """Change n folders and return how many were refused, and what else became of them."""
    rng, outcomes = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        folders = honest(Path(place))
        for folder in folders:
            if not check_folder(folder, redraw=redrawn).holds:
                raise AssertionError(f"an honest folder is refused: {folder.name}")
        for turn in range(n):
            source = rng.choice(folders)
            folder = Path(shutil.copytree(source, Path(place) / "changed"))
            kind = rng.choice(CHANGES)
            kind(rng, folder)
            redigest(folder)
            before, after = content(source), content(folder)
            try:
                holds = check_folder(folder, redraw=redrawn).holds
                outcome = "refused" if not holds else "ACCEPTED"
            except ShoalError:
                outcome = "refused with an error"
            except BaseException:  # noqa: BLE001
                outcome = "CRASHED"
                traceback.print_exc()
            if before == after:
                outcome = "unchanged" if outcome == "ACCEPTED" else "HONEST, REFUSED"
            elif outcome == "ACCEPTED" and only_version(before, after):
                outcome = "another version of shoal named"
            if outcome.isupper():
                print(f"turn {turn}: {source.name}, {kind.__name__}: {outcome}")
            outcomes[outcome] += 1
            outcomes[f"  {kind.__name__}"] += 1
            shutil.rmtree(folder)
    return outcomes


def main() -> int:
    """Print what became of the changed folders; end with 1 if any was accepted, or crashed."""
    given = [int(word) for word in sys.argv[1:]]
    n, seed = [*given, *(500, 0)[len(given) :]][:2]
    outcomes = run(n, seed)
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome:32} {count:6}")
    return int(any(outcome.isupper() for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
