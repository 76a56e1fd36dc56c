"""Estimates of whole runs against what they cost: `python -m benchmarks.estimates [PART ...] [--json FILE]`.

Parts: tables (twelve tables, from a thousand rows to a million, by the default and by named methods), methods (every
method on numbers alone, against the cost on its card), limits (runs with --budget and --memory). The estimate is that
of `--dry-run`, in seconds on the wall and in megabytes at the peak; the figure is by what factor it is wrong, in either
direction, and may be 2 at the most. Loops are compiled beforehand. shoal runs in a fresh environment, as in
`benchmarks.everyday`.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.everyday import ROLES, Spent, ended, hospital, installed, loops_in, mixed, run
from benchmarks.measuring import DATA, Line, measure, normal
from shoal.catalogue import Task, methods
from shoal.io.files import read

FACTOR = 2.0
FEW = 3_000  # rows of the run that compiles
SHORT = 2.0  # seconds below which half a second more or less does not count


def tables(folder: Path) -> dict[str, list[object]]:
    """Return the arguments of each run by name."""
    adult = folder / "adult.csv"
    if not adult.exists():
        pyarrow.csv.write_csv(read(DATA / "adult.csv.gz").data, adult)
    sensitive = ["-k", 5, "-l", 2, *ROLES]
    private = ["--private", folder / "mine"]
    return {
        "Census, mdav": [DATA / "census.csv", "-k", 5, "--method", "mdav"],
        "German credit": [DATA / "german_credit.csv", "-k", 5],
        "Spambase, kde": [DATA / "spambase.csv", "-k", 5, "--method", "kde"],
        "Satimage, k_tca": [DATA / "satimage.csv", "-k", 5, "--method", "k_tca"],
        "hospital, 5,000 rows": [hospital(5_000, folder), *sensitive],
        "hospital, 20,000 rows, private": [hospital(20_000, folder), *sensitive, *private],
        "Adult": [adult, "-k", 10],
        "Adult, truthful": [adult, "-k", 5, "--truthful"],
        "50,000 x 5 numbers": [numbers(50_000, 5, folder), "-k", 5],
        "300,000 x 10 numbers": [numbers(300_000, 10, folder), "-k", 5, "--no-report"],
        "20,000 x 12 categories": [categories(20_000, 12, folder), "-k", 3],
        "1,000,000 mixed rows": [large(1_000_000, folder), "-k", 5, "--no-report"],
    }


def numbers(rows: int, columns: int, folder: Path) -> Path:
    """Write normal numbers as Parquet."""
    X, path = normal(rows, columns), folder / f"numbers{rows}.parquet"
    pa.parquet.write_table(pa.table({f"x{j}": X[:, j] for j in range(columns)}), path)
    return path


def categories(rows: int, columns: int, folder: Path) -> Path:
    """Write columns of some hundred categories as CSV."""
    rng, path = np.random.default_rng(5), folder / "categories.csv"
    cells = {f"c{j}": [f"v{code}" for code in rng.geometric(0.02, rows)] for j in range(columns)}
    pyarrow.csv.write_csv(pa.table(cells), path)
    return path


def large(rows: int, folder: Path) -> Path:
    """Write a large table of numbers and categories as CSV."""
    path = folder / f"mixed{rows}.csv"
    pyarrow.csv.write_csv(mixed(rows), path)
    return path


def estimates_of_tables() -> Iterator[Line]:
    """Compare the estimates of whole runs with the runs."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, words in tables(folder).items():
            command = ["shoal", "anonymize", *words, "-o", folder / "release"]
            seconds, megabytes = expected([*command, "--dry-run", "--json"], folder / "loops")
            run([*command[:2], _few(Path(str(words[0])), folder), *command[3:]], folder / "loops")
            spent = run(command, folder / "loops")
            if spent.wall < 20:
                spent = min((spent, run(command, folder / "loops")), key=_wall)
            yield _compared(f"{name}: seconds", seconds, spent.wall, spent, SHORT)
            yield _compared(f"{name}: MB", megabytes, spent.megabytes, spent)


def estimates_of_methods() -> Iterator[Line]:
    """Compare the cost on the card of each method on numbers with what it takes for 8,000 rows of 10 columns."""
    X, label = normal(8_000, 10), np.arange(8_000) % 3
    for name in methods.names():
        card = methods.load(name)
        if card.data != "numeric" or (card.most_rows or len(X)) < len(X):
            continue
        given = {"label": label} if "label" in card.uses else {}
        threads = {"threads": 1} if "threads" in card.uses else {}
        card.function(X, 5, **given, **threads)  # compiles: smaller tables may need other loops
        start = time.perf_counter()
        card.function(X, 5, **given, **threads)
        wall = time.perf_counter() - start
        stated = card.cost(Task(len(X), 10)).seconds
        yield _compared(f"{name}, 8,000 x 10: seconds", stated, wall, Spent(wall, wall, 0.0), 0.2)


def limits() -> Iterator[Line]:
    """Run with --budget and --memory: the run ends within them, or is refused or stopped with exit 3."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command = ["shoal", "anonymize", large(300_000, folder), "-k", 5, "-o", folder / "release"]
        run([*command[:2], _few(folder / "mixed300000.csv", folder), *command[3:]], folder / "loops")
        for budget in (2, 15, 25, 60):
            code, spent = ended([*command, "--budget", budget], folder / "loops")
            good = float(code in (0, 3) and spent.wall <= budget + 3)
            note = f"{'done' if code == 0 else 'refused or stopped'} after {spent.wall:.1f} s"
            yield Line("limits", f"--budget {budget}", good, 1.0, None, spent.cpu, spent.wall, True, note)
        for memory in (200, 400, 600, 1500):
            code, spent = ended([*command, "--memory", f"{memory}MB"], folder / "loops")
            good = float(code in (0, 3) and spent.megabytes * 1.048576 <= memory + 50 * (code == 3))
            note = f"{'done' if code == 0 else 'refused or stopped'}, {spent.megabytes:,.0f} MB"
            yield Line("limits", f"--memory {memory}MB", good, 1.0, None, spent.cpu, spent.wall, True, note)


def expected(command: list[object], loops: Path) -> tuple[float, float]:
    """Return the seconds and megabytes that a dry run states."""
    words = [installed() / str(command[0]), *command[1:]]
    done = subprocess.run(
        list(map(str, words)), env=loops_in(loops), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    found = json.loads(done.stdout)["expected"]
    return found["seconds"], found["megabytes"]


def _few(path: Path, folder: Path) -> Path:
    """Write the first rows of a table."""
    table = read(path).data.slice(0, FEW)
    short = folder / f"few-{path.stem}{path.suffix}"
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, short)
    else:
        pyarrow.csv.write_csv(table, short)
    return short


def _compared(case: str, stated: float, found: float, spent: Spent, least: float = 0.0) -> Line:
    """Return by what factor an estimate is wrong; both figures count as at least `least`."""
    one, other = max(stated, least), max(found, least)
    note = f"estimated {stated:,.3g}, found {found:,.3g}"
    return Line("estimates", case, max(one / other, other / one), FACTOR, None, spent.cpu, spent.wall, note=note)


def _wall(spent: Spent) -> float:
    """Return the seconds on the wall."""
    return spent.wall


PARTS = {"tables": estimates_of_tables, "methods": estimates_of_methods, "limits": limits}

if __name__ == "__main__":
    sys.exit(measure(PARTS, __doc__))
