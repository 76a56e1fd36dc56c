"""Golden digests of the results of small fixed inputs, so that a refactoring that changes any result is noticed.

Each case is a name and a function that returns bytes or plain values. `python tests/golden_cases.py` writes the digests
of all cases to `golden/digests.json`; renew them only with an entry under *Changed results* in the changelog.

Left out of every digest: versions, digests of packed files (which depend on the version of pyarrow) and everything
beyond nine significant digits.
"""

import hashlib
import json
import math
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import shoal
import shoal.sets
from shoal.catalogue import formats, methods
from shoal.model.column import FORMS

STORED = Path(__file__).parent / "golden" / "digests.json"
QUICK = {"effort": "quick", "rounds": 10, "restarts": 2}
ROLES = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"]}
VARYING = {"made_with", "shoal", "digest", "subject", "files", "version", "versions"}
CLUSTERINGS = ("recursive", "iterative", "rules", "ugac")


@cache
def patients() -> pa.Table:
    return shoal.sample(150, seed=3)


def by_method(name: str) -> Any:
    """What a method publishes and finds."""
    params = methods.load(name).params
    release = shoal.anonymize(
        patients(),
        k=4,
        l=2,
        method=name,
        parameters={key: value for key, value in QUICK.items() if key in params},
        label="diagnosis",
        seed=5,
        **ROLES,
    )
    return {
        "rows": release.table.to_pylist(),
        "verdicts": [(v.model, v.column, v.asked, v.found, v.holds) for v in release.verdicts],
        "findings": sorted(finding.value for finding in release.findings),
    }


def by_form(kind: str, form: str) -> Any:
    """What a form publishes of a column of a kind, beside a number."""
    column = {"numeric": "height_cm", "date": "birth_date", "ordinal": "education", "nominal": "sex"}.get(
        kind, "smoker"
    )
    table = patients().select([column, "systolic", "diagnosis"])
    given: dict[str, Any] = {"role": "quasi", "kind": kind, "form": form}
    if kind == "ordinal":
        given["order"] = sorted(set(table.column(column).drop_null().to_pylist()))
    if form == "tree":
        given["hierarchy"] = {"numeric": "round", "date": "calendar"}.get(kind, "auto")
    policy = {"columns": {column: given, "systolic": {"role": "quasi"}, "diagnosis": {"role": "sensitive"}}}
    return shoal.anonymize(table, k=4, l=2, policy=policy, seed=5).table.to_pylist()


def by_format(name: str) -> Any:
    """What a folder contains: its cells as another reader reads them, its policy, certificate, map and report."""
    with tempfile.TemporaryDirectory() as place:
        release = shoal.anonymize(patients(), k=4, l=2, seed=5, method="gower", **ROLES)
        folder = release.save(f"{place}/out", private=f"{place}/mine", format=name, report=False)
        data = folder / f"data.{name}"
        if name.startswith("csv"):
            import gzip

            raw = data.read_bytes()
            cells: Any = (gzip.decompress(raw) if name.endswith("gz") else raw).decode()
        else:
            read = pyarrow.parquet.read_table if name == "parquet" else pyarrow.feather.read_table
            held = read(data)
            cells = [str(held.schema), held.to_pylist()]
        return [
            cells,
            (folder / "policy.toml").read_text(encoding="utf-8"),
            json.loads((folder / "certificate.json").read_text(encoding="utf-8")),
            Path(f"{place}/mine/map.csv").read_text(encoding="utf-8"),
        ]


def by_report(kind: str) -> Any:
    """The figures of a report: every number in it, in order, without any words."""
    release = shoal.anonymize(patients(), k=4, l=2, t=0.9, seed=5, method="gower", **ROLES)
    facts = json.loads(release.report(patients() if kind == "holder" else None, format="json"))
    return {key: facts[key] for key in ("rows", "k", "holds")} | {
        "verdicts": [[line[key] for key in ("asked", "claimed", "found", "holds")] for line in facts["verdicts"]],
        "findings": sorted([line["need"], line["shown"]] for line in facts["findings"]),
        "sections": len(facts["sections"]),
    }


@cache
def baskets() -> tuple[tuple[str, ...], ...]:
    """Records of items, the first of them frequent."""
    import random

    draw = random.Random(7)
    items, weights = [f"item {place}" for place in range(30)], [1 / (place + 1) for place in range(30)]
    return tuple(tuple(sorted(set(draw.choices(items, weights, k=draw.randint(1, 7))))) for _ in range(400))


def by_sets(clustering: str, neighbour: str, ending: str) -> Any:
    """What a release of sets contains."""
    rules = [["item 0", "item 1"], ["item 0", "item 2"], ["item 3", "item 1"]]
    release = shoal.sets.anonymize(
        baskets(),
        k=3,
        m=2,
        delta=40,
        partition=clustering,
        rules=rules if clustering in ("rules", "ugac") else None,
        neighbour=neighbour,
        seed=5,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = release.save(f"{place}/out", format=ending)
        files: dict[str, Any] = {}
        for path in sorted(folder.rglob("*")):
            if path.suffix == ".parquet":
                files[path.name] = pyarrow.parquet.read_table(path).to_pylist()
            elif path.suffix == ".json":
                files[path.name] = json.loads(path.read_text(encoding="utf-8"))
            elif path.is_file():
                files[path.name] = path.read_text(encoding="utf-8")
    return [files, sorted(finding.value for finding in release.findings)]


CASES: dict[str, Callable[[], Any]] = {
    **{f"method {name}": partial(by_method, name) for name in methods.names()},
    **{f"form {kind} {form}": partial(by_form, kind, form) for kind in FORMS if kind != "set" for form in FORMS[kind]},
    **{f"format {name}": partial(by_format, name) for name in formats.names()},
    **{f"report {kind}": partial(by_report, kind) for kind in ("public", "holder")},
    **{
        f"sets {clustering} {neighbour} {ending}": partial(by_sets, clustering, neighbour, ending)
        for clustering in CLUSTERINGS
        for neighbour, ending in (("km", "parquet"), ("raw", "json"))
    },
}


def plain(held: Any) -> Any:
    """Return values without anything that differs between machines."""
    if isinstance(held, dict):
        return {str(key): plain(value) for key, value in sorted(held.items(), key=str) if key not in VARYING}
    if isinstance(held, list | tuple):
        return [plain(value) for value in held]
    if isinstance(held, float) and math.isfinite(held):
        return f"{held:.9g}"
    return held if isinstance(held, str | int | None) else str(held)


def digest_of(case: str) -> str:
    """Return the digest of the result of a case."""
    text = json.dumps(plain(CASES[case]()), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main() -> None:
    """Write the digests of all cases, and print which of them are new."""
    before = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    now = {case: digest_of(case) for case in CASES}
    STORED.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    for case in sorted({*before, *now}):
        if before.get(case) != now.get(case):
            sys.stdout.write(f"{case}: {before.get(case)} -> {now.get(case)}\n")


if __name__ == "__main__":
    main()
