"""What the benchmarks share: data, timing, and lines that say whether a target is reached."""

import argparse
import csv
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
DATA = Path(os.environ.get("SHOAL_DATA") or HERE.parent.parent / "shared" / "data")


@dataclass(frozen=True)
class Line:
    """One bar: what was measured, what was to be reached, what would be a stretch, and the seconds that it may take."""

    name: str
    case: str
    measured: float
    bar: float | None
    stretch: float | None
    cpu: float
    wall: float
    higher: bool = False
    note: str = ""
    within: float | None = None
    walled: float | None = None

    def reaches(self, bar: float | None) -> bool | None:
        """Say whether the measured figure is as good as a bar, if there is one, and was had in time."""
        if bar is None:
            return None
        if self.within is not None and self.cpu > self.within:
            return False
        if self.walled is not None and self.wall > self.walled:
            return False
        return self.measured >= bar if self.higher else self.measured <= bar

    def __str__(self) -> str:
        verdict = {None: "", True: "reached", False: "MISSED"}[self.reaches(self.bar)]
        far = ""
        if self.stretch is not None:
            away = 100 * (self.stretch / self.measured - 1 if self.higher else self.measured / self.stretch - 1)
            far = "stretch reached" if self.reaches(self.stretch) else f"{away:.1f}% from the stretch"
        bar = "" if self.bar is None else f"target {self.bar:g}"
        limit = "" if self.within is None else f" of {self.within:g}"
        walled = "" if self.walled is None else f" of {self.walled:g}"
        figure = f"{self.measured:,.3f}" if self.measured >= 1 else f"{self.measured:.5f}"
        return (
            f"{self.name:<22} {self.case:<34} {figure:>12}  {bar:<12} {verdict:<8} {far:<23}"
            f"{self.cpu:8.2f}{limit:<7} CPU s {self.wall:8.2f}{walled} s  {self.note}"
        )


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the result, the CPU seconds of all threads and the seconds on the wall."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def standardized(X: np.ndarray, ddof: int = 0) -> np.ndarray:
    """Return z-scores of the columns that vary."""
    X = X[:, X.std(axis=0) > 0]
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0, ddof=ddof))


def census() -> np.ndarray:
    """Return Census by the sample standard deviation, as in the published tables."""
    return standardized(np.loadtxt(DATA / "census.csv", delimiter=",", skiprows=1), ddof=1)


def labelled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the z-scores and the labels of a UCI set whose last column is the label."""
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    labels = np.unique([row[-1] for row in rows], return_inverse=True)[1].astype(np.int64)
    return standardized(np.array([row[:-1] for row in rows], float)), labels


def normal(n: int, d: int = 10, seed: int = 42) -> np.ndarray:
    """Return a matrix of standard normal numbers."""
    return np.random.default_rng(seed).standard_normal((n, d))


def measure(parts: dict[str, Callable[[], Iterator[Line]]], about: str) -> int:
    """Run the parts that the command line asks for; return 1 unless every target is reached."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--json", type=Path, help="where to put the figures")
    given = parser.parse_args()
    unknown = [part for part in given.parts if part not in parts]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(parts)}")
    lines = []
    for part in given.parts or parts:
        for line in parts[part]():
            print(line, flush=True)
            lines.append(line)
    if given.json:
        save(lines, given.json)
    missed = [line for line in lines if line.reaches(line.bar) is False]
    print(f"{len(missed)} of {sum(line.bar is not None for line in lines)} targets are missed.")
    return int(bool(missed))


def save(lines: list[Line], path: Path) -> None:
    """Write the lines of a run with the machine that they were measured on."""
    facts = {
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "python": platform.python_version()},
        "lines": [{**asdict(line), "reached": line.reaches(line.bar)} for line in lines],
    }
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _processor() -> str:
    """Return the name of the processor, where the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
