"""Random tables, methods and constraints, written and counted: `python -m benchmarks.random_releases [N] [SEED]`.

Each of N releases (5,000 if not given) is made from a small random table with missing cells, ties, extreme and rare
values, by a random method and policy, and written. `benchmarks.plain_counts`, which imports nothing of shoal, then
counts in its files what was required, looks for values of fewer than k rows, and compares ranges and sets with the rows
from which they were made. A refusal is fine; a violation, or an error that is not one of shoal's, is not.
"""

import csv
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

import shoal
from benchmarks import plain_counts
from shoal.catalogue import methods
from shoal.errors import GuaranteeError, ShoalError
from shoal.model.column import FORMS, Kind

ORDER = ["none", "low", "mid", "high"]
METHODS = sorted({*methods.names()} - {"c_tca_pp", "k_tca_pp", "kde_pp"})  # those need a label
KINDS: dict[str, Kind] = {"whole": "numeric", "float": "numeric", "date": "date", "truth": "boolean", "name": "nominal"}
TREES = {"numeric": ("equal-width", "equal-frequency", "round"), "date": ("calendar",)}
NAMES = ["ash", "oak", "elm", "fir", "yew", "box, dwarf", "{bay}", "Flu", "flu ", "=cmd", "a–b"]
FORMATS = ("csv", "csv.gz", "parquet", "feather")
ACCEPTED = {"accept": ["unique-kept"]}


def column_of(kind: str, n: int, draw: random.Random) -> list[Any]:
    """Return the cells of a random column, some missing in a third of the cases."""
    many = draw.choice([2, 3, 8, 40])
    cells: list[Any]
    if kind == "whole":
        cells = [draw.randint(0, many) + (97 if draw.random() < 0.02 else 0) for _ in range(n)]
    elif kind == "float":
        scale = draw.choice([1, 1, 1, 1, 1, 1e-310, 1e305])
        cells = [round(draw.lognormvariate(2, 1), draw.choice([1, 2])) * scale for _ in range(n)]
    elif kind == "date":
        cells = [date(2000, 1, 1) + timedelta(draw.randint(0, 30 * many)) for _ in range(n)]
    elif kind == "truth":
        cells = [draw.random() < 0.3 for _ in range(n)]
    elif kind == "level":
        cells = [draw.choices(ORDER, [1, 6, 6, 2])[0] for _ in range(n)]
    else:
        names = NAMES[: max(2, many % 12)]
        cells = draw.choices(names, [1 / (place + 1) for place in range(len(names))], k=n)
    if draw.random() < 0.33:
        cells = [None if draw.random() < 0.15 else cell for cell in cells]
    return cells


def case_of(draw: random.Random) -> tuple[pa.Table, dict[str, Any], dict[str, float]]:
    """Return a random table, how to anonymize it, and what the written file must then meet."""
    n, k = draw.randint(4, 60), draw.choice([2, 2, 3, 4, 5])
    kinds = [draw.choice(["whole", "float", "date", "truth", "level", "name"]) for _ in range(draw.randint(1, 5))]
    table = {f"c{place}": column_of(kind, n, draw) for place, kind in enumerate(kinds)}
    table["s"] = column_of("name", n, draw)
    columns: dict[str, Any] = {"s": {"role": "sensitive", "kind": "nominal"}}
    for place, kind in enumerate(kinds):
        columns[f"c{place}"] = {"role": "quasi"} | ({"kind": "ordinal", "order": ORDER} if kind == "level" else {})
        if draw.random() < 0.2:
            columns[f"c{place}"] |= published_by(KINDS.get(kind, "ordinal"), draw)
    asked: dict[str, float] = {"k": k}
    options: dict[str, Any] = {"k": k, "seed": draw.randrange(10**6), "threads": 1, **ACCEPTED}
    limit = draw.choice(["", "", "l", "entropy", "t", "alpha", "beta", "delta"])
    if limit in ("l", "entropy"):
        asked[limit] = draw.choice([2, 3]) if limit == "l" else 1.5
        options |= {"l": asked[limit], "l_kind": "distinct" if limit == "l" else "entropy"}
    elif limit:
        asked[limit] = {"t": 0.4, "alpha": 0.7, "beta": 1.5, "delta": 1.2}[limit]
        options["constraints"] = {limit: asked[limit]}
    options["method"] = draw.choice(METHODS)
    options["output"] = draw.choice([None, None, "truthful"])
    options["missing"] = draw.choice(["own-value", "own-value", "suppress-row"])
    options["policy"] = {"columns": columns}
    return pa.table(table), options, asked


def published_by(kind: Kind, draw: random.Random) -> dict[str, Any]:
    """Return a random form of a column, and a way to build its tree if it needs one."""
    form = draw.choice(FORMS[kind])
    tree = {"hierarchy": draw.choice(TREES.get(kind, ("auto",)))} if form == "tree" else {}
    return {"kind": kind, "form": form} | tree


def texts(table: pa.Table) -> list[plain_counts.Row]:
    """Return the rows of a table as a CSV file has them."""
    lines = table.to_pylist()
    return [{key: _text(cell) for key, cell in line.items()} for line in lines]


def _text(cell: Any) -> str | None:
    return None if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


def tried(number: int, seed: int, folder: Path) -> tuple[str, list[str]]:
    """Make one release; return its outcome and what is wrong with it."""
    draw = random.Random(f"{seed}-{number}")
    table, options, asked = case_of(draw)
    form = draw.choice(FORMATS)
    try:
        release = shoal.anonymize(table, **options)
        release.save(folder / "out", private=folder / "mine", format=form, report=False)
        if not shoal.verify(folder / "out").holds:
            return "released", ["verify does not hold"]
    except GuaranteeError as problem:  # nothing was released, but maker and judge disagree
        return "refused (GuaranteeError)", [str(problem)]
    except ShoalError as problem:
        return f"refused ({type(problem).__name__})", []
    except Exception:  # noqa: BLE001 - that is what is looked for
        return "traceback", [traceback.format_exc(limit=-3)]
    rows = plain_counts.rows_of(folder / "out")
    forms = {
        name: column.form if column.hierarchy != "round" else "round"  # bins of fixed widths, whoever is in them
        for name, column in release.policy.columns.items()
        if column.role == "quasi"
    }
    original = texts(table)
    with (folder / "mine" / "map.csv").open(newline="") as file:
        places = [int(line["released_row"] or -1) for line in csv.DictReader(file)]
    kept = [row for row, place in zip(original, places, strict=True) if place >= 0]
    faults = [*plain_counts.wrong(rows, list(forms), ["s"], asked)]
    faults += plain_counts.exposed(kept, rows, forms, int(asked["k"]))
    if (untrue := plain_counts.untrue(original, rows, places, forms, ORDER)) > 0:
        faults.append(f"{untrue} cells are not true of their rows")
    return "released", faults


def main() -> int:
    """Run all cases, print the outcomes, and return 1 if something is wrong."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    outcomes: Counter[str] = Counter()
    violations, start = 0, time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        for number in range(count):
            outcome, faults = tried(number, seed, Path(place))
            outcomes[outcome] += 1
            for fault in faults:
                violations += 1
                print(f"case {number}: {fault}")
            if (number + 1) % 500 == 0:
                print(f"{number + 1} of {count}, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    for outcome, times in sorted(outcomes.items()):
        print(f"{times:6} {outcome}")
    print(f"{count} cases: {violations} violations, {outcomes['traceback']} tracebacks, seed {seed}")
    return 1 if violations or outcomes["traceback"] else 0


if __name__ == "__main__":
    sys.exit(main())
