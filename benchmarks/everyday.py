"""Everyday use as a whole: `python -m benchmarks.everyday [PART ...] [--json FILE]`.

Parts: first (the first use after installing, no loop compiled), again (the same commands once more), reports, million,
large, explore, size. shoal is installed by pip into a fresh environment, without extras, and runs there. Each figure is
of a whole command in a process of its own: CPU seconds, with those of the processes that it starts, and the peak memory
of the command itself. "before" is what was measured on two cores when this benchmark was made.
"""

import atexit
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from threading import Thread

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.measuring import DATA, Line, measure
from shoal.io.sample import sample

ROLES = ("--identifier", "patient_id", "--identifier", "name", "--sensitive", "diagnosis")
MILLION = """
import numpy as np, pyarrow as pa, shoal
X = np.random.default_rng(42).standard_normal((1_000_000, 10))
release = shoal.anonymize(pa.table({f"x{j}": X[:, j] for j in range(10)}), k=5)
assert all(verdict.holds for verdict in release.verdicts)
"""


@dataclass(frozen=True)
class Spent:
    """What a process used: CPU seconds, also of those it started, seconds on the wall, megabytes at the peak."""

    cpu: float
    wall: float
    megabytes: float


@cache
def installed() -> Path:
    """Install shoal into a fresh environment, once; return its folder of programs."""
    place = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, place)
    subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
    source = place / "source"  # a copy, so that no folder of a build remains
    kept = ("src", "pyproject.toml", "README.md")
    for name in kept:
        original = Path(__file__).resolve().parent.parent / name
        copy = shutil.copytree if original.is_dir() else shutil.copy
        source.mkdir(exist_ok=True)
        copy(original, source / name)
    subprocess.run([place / "venv/bin/pip", "install", "--quiet", source], check=True)
    return place / "venv/bin"


def loops_in(folder: Path) -> dict[str, str]:
    """Return the environment of the installed program, with compiled loops cached in this folder."""
    unset = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
    known = {name: value for name, value in os.environ.items() if name not in unset}
    return {**known, "NUMBA_CACHE_DIR": str(folder), "PATH": f"{installed()}{os.pathsep}{os.environ['PATH']}"}


def run(command: Sequence[object], loops: Path, seconds: float = 3600.0) -> Spent:
    """Run a command of the installed program, which must succeed, with compiled loops cached in this folder."""
    code, spent = ended(command, loops)
    if code or spent.wall > seconds:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {code} after {spent.wall:.0f} s")
    return spent


def ended(command: Sequence[object], loops: Path) -> tuple[int, Spent]:
    """Run a command of the installed program to its end; return its exit code and what it used."""
    command = [installed() / str(command[0]), *command[1:]]
    start = time.perf_counter()
    process = subprocess.Popen(
        list(map(str, command)), env=loops_in(loops), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peak, place = 0.0, Path(f"/proc/{process.pid}/status")
    while True:
        # The system counts the memory of this process into `ru_maxrss` of one that it starts.
        peak = max(peak, *(int(line.split()[1]) / 1024 for line in _lines(place) if line.startswith("VmHWM:")), 0.0)
        gone, status, used = os.wait4(process.pid, os.WNOHANG)
        if gone:
            break
        time.sleep(0.005)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    return process.returncode, Spent(used.ru_utime + used.ru_stime, wall, peak)


def _lines(place: Path) -> list[str]:
    """Return the lines of a file of the system, none if it is gone."""
    try:
        return place.read_text(encoding="ascii").splitlines()
    except OSError:
        return []


def hospital(rows: int, folder: Path) -> Path:
    """Write the synthetic hospital table as CSV."""
    path = folder / f"hospital{rows}.csv"
    if not path.exists():
        pyarrow.csv.write_csv(sample(rows), path)
    return path


def everyday(folder: Path) -> dict[str, tuple[list[object], tuple[float, float], tuple[float, float]]]:
    """Return each command by name, with the CPU seconds before and the goal: cold, then warm."""
    table, small = hospital(5_000, folder), hospital(2_000, folder)
    mdav = ["shoal", "anonymize", DATA / "census.csv", "-k", "5", "--method", "mdav"]
    found = {
        "1,080 rows, mdav": (mdav, (17.0, 5.0), (2.4, 1.2)),
        "5,000 mixed rows": (["shoal", "anonymize", table, "-k", "5", "-l", "2", *ROLES], (27.0, 8.0), (6.3, 2.5)),
    }
    for method, seconds in (("k_tca", 68.0), ("anneal", 48.0), ("cover", 48.0)):
        command = ["shoal", "anonymize", small, "-k", "5", *ROLES, "--method", method]
        found[f"2,000 rows, {method}"] = (command, (seconds, 12.0), (6.0, 2.0))
    return found


def first(*, again: bool = False) -> Iterator[Line]:
    """The first use after installing, each command with a cache of its own; or the second use."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for number, (name, (command, cold, warm)) in enumerate(everyday(folder).items()):
            loops = folder / f"loops{number}"
            spent = run([*command, "-o", folder / f"release{number}"], loops)
            before, goal = cold
            if again:
                spent = min((run([*command, "-o", folder / f"release{number}"], loops) for _ in range(3)), key=_cpu)
                before, goal = warm
            yield _line("again" if again else "first", name, spent, before, goal)


def again() -> Iterator[Line]:
    """The same commands once more."""
    yield from first(again=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, more in {
            "profile": ["profile"],
            "init": ["init", "-o", folder / "policy.toml", "--force"],
            "anonymize, no report": ["anonymize", "-k", "5", "-l", "2", *ROLES, "-o", folder / "made", "--no-report"],
        }.items():
            command = ["shoal", more[0], hospital(5_000, folder), *more[1:]]
            run(command, folder / "loops")
            spent = run(command, folder / "loops")
            yield _line("again", f"{name}, 5,000 rows", spent, None, None)
        yield _line("again", "verify", run(["shoal", "verify", folder / "made"], folder / "loops"), None, None)


def reports() -> Iterator[Line]:
    """What both reports of 20,000 rows add to the same command without them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command = ["shoal", "anonymize", hospital(20_000, folder), "-k", "5", "-l", "2", *ROLES]
        command += ["-o", folder / "release", "--private", folder / "mine"]
        run(command, folder / "loops")
        bare = run([*command, "--no-report"], folder / "loops")
        full = run(command, folder / "loops")
        added = Spent(full.cpu - bare.cpu, full.wall - bare.wall, full.megabytes)
        yield _line("reports", "both, of 20,000 rows: wall s", added, 14.0, 3.0, added.wall)


def million() -> Iterator[Line]:
    """A million rows of ten numbers in Python, from the frame to the measured release."""
    with tempfile.TemporaryDirectory() as place:
        loops = Path(place)
        run(["python", "-c", MILLION.replace("1_000_000", "50_000")], loops)
        spent = run(["python", "-c", MILLION], loops)
        yield _line("million", "1,000,000 x 10", spent, 123.0, 75.0)
        yield _line("million", "1,000,000 x 10: MB", spent, 1_800.0, 1_500.0, spent.megabytes)


def large() -> Iterator[Line]:
    """Two million mixed rows, from CSV to a release on disk, with reports and the private folder and without."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table = folder / "large.csv"
        pyarrow.csv.write_csv(mixed(2_000_000), table)
        command = ["shoal", "anonymize", table, "-k", "5", "-o", folder / "release"]
        run(
            ["shoal", "anonymize", hospital(20_000, folder), "-k", "5", *ROLES, "-o", folder / "warm"], folder / "loops"
        )
        for name, more, before, goal, mb, most in (
            ("with reports", ["--private", folder / "mine"], 368.0, 150.0, 8_600.0, 2_500.0),
            ("without reports", ["--no-report"], 273.0, 110.0, 2_200.0, 2_000.0),
        ):
            spent = run([*command, *more], folder / "loops")
            yield _line("large", f"2,000,000 mixed rows, {name}", spent, before, goal)
            yield _line("large", f"2,000,000 mixed rows, {name}: MB", spent, mb, most, spent.megabytes)


def explored() -> Iterator[Line]:
    """An exploration as the README gives it, of 20,000 rows, with warm loops: until there is a picture, and in all."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table = hospital(20_000, folder)
        run(["shoal", "init", table, "-o", folder / "policy.toml"], folder / "loops")
        command = ["shoal", "explore", table, "--policy", folder / "policy.toml", "-o"]
        run([*command, folder / "compiled", "-k", "5", "--budget", "0"], folder / "loops")
        begin, seen = time.perf_counter(), [math.inf]
        watcher = Thread(target=_await, args=(folder / "explored" / "explore.html", begin, seen), daemon=True)
        watcher.start()
        spent = run([*command, folder / "explored"], folder / "loops")
        watcher.join()
        points = len(list((folder / "explored" / "points").iterdir()))
        yield _line("explore", "20,000 rows: wall s to the first picture", spent, None, 60.0, seen[0])
        yield _line("explore", f"20,000 rows, {points} points: wall s", spent, None, 300.0, spent.wall)


def _await(page: Path, begin: float, seen: list[float]) -> None:
    """Note after how many seconds a file has appeared."""
    while not page.exists():
        time.sleep(0.1)
    seen[0] = time.perf_counter() - begin


def size() -> Iterator[Line]:
    """The megabytes of the packages that are installed with shoal, without extras, and of the largest of them."""
    [packages] = installed().parent.glob("lib/python*/site-packages")
    sizes = {one.metadata["Name"]: _megabytes(one.files or ()) for one in distributions(path=[str(packages)])}
    whole = sum(file.stat().st_size for file in packages.rglob("*") if file.is_file()) / 1e6
    largest = sorted(sizes, key=lambda name: -sizes[name])[:8]
    note = ", ".join(f"{name} {sizes[name]:.0f}" for name in largest)
    yield Line("size", "MB installed without extras", whole, 600.0, None, 0.0, 0.0, note=f"before 822; {note}")


def mixed(n: int) -> pa.Table:
    """Return a table of five numbers and three columns of categories."""
    rng = np.random.default_rng(7)
    columns: dict[str, pa.Array] = {
        "age": pa.array(rng.integers(18, 95, n)),
        "income": pa.array(np.round(rng.lognormal(10, 0.6, n), -2).astype(np.int64)),
        "hours": pa.array(rng.integers(0, 61, n)),
        "height": pa.array(np.round(rng.normal(170, 9, n), 1)),
        "weight_kg": pa.array(np.round(rng.normal(75, 14, n), 1)),
    }
    for name, number in (("region", 16), ("occupation", 40), ("education", 9)):
        words = pa.array([f"{name} {code}" for code in range(number)])
        columns[name] = words.take(pa.array(np.minimum(rng.geometric(3.0 / number, n) - 1, number - 1)))
    return pa.table(columns)


def _line(
    part: str, case: str, spent: Spent, before: float | None, goal: float | None, what: float | None = None
) -> Line:
    """Return a line with today's figure and the one before; CPU seconds unless another figure is given."""
    note = f"{spent.megabytes:,.0f} MB" + (f", before {before:,g}" if before is not None else "")
    return Line(part, case, spent.cpu if what is None else what, goal, None, spent.cpu, spent.wall, note=note)


def _cpu(spent: Spent) -> float:
    """Return the CPU seconds."""
    return spent.cpu


def _megabytes(files: Sequence[object]) -> float:
    """Return the size of the files of a distribution."""
    paths = [Path(str(file.locate())) for file in files]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "first": first,
    "again": again,
    "reports": reports,
    "million": million,
    "large": large,
    "explore": explored,
    "size": size,
}

if __name__ == "__main__":
    sys.exit(measure(PARTS, __doc__))
