"""Targets of the judge: `python -m benchmarks.judge [PART ...]`.

Parts: pycanon (500 random tables, in a separate virtual environment), million (all models on 1,000,000 x 8 rows, in a
separate process), pair (all measures of a pair with 30,000 rows), separability (MDAV on nine UCI data sets, compared
with the accuracy that was measured elsewhere on releases of the training rows alone).
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.measuring import DATA, Line, measure, timed
from benchmarks.topological import clean
from shoal.io.files import read
from shoal.model.policy import Policy
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.models import alpha, closeness, disclosure, distinct, likeness

TABLES = 500
# Accuracy of trees that learnt from releases of training rows, and how far the measure may be from it, in points.
HONEST = {"wine": (83.7, 4), "glass": (56.8, 4), "ecoli": (77.4, 4), "yeast": (52.0, 2), "page_blocks": (95.8, 2)}
HONEST |= {"waveform": (72.7, 2), "satimage": (81.0, 2), "grid_stability": (77.7, 2), "spambase": (86.7, 2)}
PEER = """
import json, sys
import pandas as pd
from pycanon import anonymity
found = []
for table in json.load(open(sys.argv[1])):
    data = pd.DataFrame(table)
    quasi, sensitive = ["a", "b"], ["s"]
    names = data.assign(s=data["s"].map(str))
    found.append({
        "k": anonymity.k_anonymity(data, quasi),
        "l": anonymity.l_diversity(data, quasi, sensitive),
        "alpha": anonymity.alpha_k_anonymity(data, quasi, sensitive)[0],
        "beta": anonymity.basic_beta_likeness(data, quasi, sensitive),
        "delta": anonymity.delta_disclosure(data, quasi, sensitive),
        "t, ordered": anonymity.t_closeness(data, quasi, sensitive),
        "t, equal": anonymity.t_closeness(names, quasi, sensitive),
    })
json.dump(found, open(sys.argv[2], "w"))
"""


def pycanon_bars() -> Iterator[Line]:
    """The largest difference of each figure over random tables, with default indexes and without gaps."""
    tables = [_random(np.random.default_rng(seed)) for seed in range(TABLES)]
    with tempfile.TemporaryDirectory() as place:
        given, answers = Path(place) / "tables.json", Path(place) / "answers.json"
        given.write_text(json.dumps(tables), encoding="utf-8")
        subprocess.run([_peer(Path(place)), "-W", "ignore", "-c", PEER, given, answers], check=True)
        theirs = json.loads(answers.read_text(encoding="utf-8"))
    ours, cpu, wall = timed(lambda: [_figures(table) for table in tables])
    for name in ours[0]:
        apart = max(abs(one[name] - other[name]) for one, other in zip(ours, theirs, strict=True))
        yield Line("judge", f"{name}, from pycanon's, most", apart, 1e-12, None, cpu, wall, note=f"{TABLES} tables")


def _random(rng: np.random.Generator) -> dict[str, list[int]]:
    """Return a table of two quasi-identifiers and a sensitive column of at least two values."""
    n = int(rng.integers(6, 120))
    values = int(rng.integers(2, 8))
    sensitive = np.concatenate([[0, 1], rng.integers(0, values, n - 2)])
    return {
        "a": rng.integers(0, rng.integers(1, 5), n).tolist(),
        "b": rng.integers(0, rng.integers(1, 4), n).tolist(),
        "s": rng.permutation(sensitive).tolist(),
    }


def _figures(table: dict[str, list[int]]) -> dict[str, float]:
    """Return our figures of a table."""
    data, found = pa.table(table), {}
    for kind, name in (("numeric", "t, ordered"), ("nominal", "t, equal")):
        policy = Policy.of({"columns": {"s": {"role": "sensitive", "kind": kind}}})
        counts = Case(data, policy).counts["s"]
        found[name] = float(closeness(counts).max())
    return found | {
        "k": float(counts.sizes.min()),
        "l": float(distinct(counts).min()),
        "alpha": float(alpha(counts).max()),
        "beta": float(likeness(counts).max()),
        "delta": float(disclosure(counts).max()),
    }


def _peer(place: Path) -> str:
    """Return a Python that has pycanon: one named in the environment, or a fresh one."""
    if given := os.environ.get("SHOAL_PYCANON"):
        return given
    venv.create(place / "peer", with_pip=True)
    python = str(place / "peer" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "pycanon"], check=True)
    return python


def million_bars() -> Iterator[Line]:
    """All models of a release of 1,000,000 rows, eight quasi-identifiers and two sensitive columns."""
    with get_context("spawn").Pool(1) as pool:
        models, cpu, wall, megabytes = pool.apply(_million)
    yield Line("judge", "1,000,000 x 8, all models, CPU s", cpu, 6, None, cpu, wall, note=f"{models} findings")
    yield Line("judge", "1,000,000 x 8, peak MB", megabytes, 1536, None, cpu, wall, note="all of Python")


def _million() -> tuple[int, float, float, float]:
    """Return how many findings there are, CPU and wall seconds, and peak megabytes."""
    from shoal.privacy.measures import model_figures as figures  # noqa: F401 - cards of the release alone

    rng = np.random.default_rng(0)
    n = 1_000_000
    group = rng.integers(0, n // 8, n)
    quasi = {f"q{j}": (group * (2 * j + 7919)) % (n // 8) % (50 + 40 * j) for j in range(8)}
    table = pa.table({**quasi, "ill": rng.integers(0, 30, n).astype(str), "pay": rng.integers(0, 5_000, n)})
    kinds = {"ill": {"role": "sensitive", "kind": "nominal"}, "pay": {"role": "sensitive", "kind": "numeric"}}
    found, cpu, wall = timed(lambda: shoal.measure(None, table, policy={"columns": kinds}))
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    return len(found), cpu, wall, peak


def pair_bars() -> Iterator[Line]:
    """All measures of ARX's extract of Adult, 30,162 rows, and its release."""
    table = read(DATA / "arx_adult.csv.gz").data
    release = shoal.anonymize(table, k=5, sensitive=["salary-class"], label="salary-class", seed=0)
    found, cpu, wall = timed(lambda: shoal.measure(table, release))
    yield Line("judge", "30,162 rows, all measures, s", wall, 60, None, cpu, wall, note=f"{len(found)} findings")


def separability_bars() -> Iterator[Line]:
    """Honest separability of MDAV, k = 5, five seeds; and that of random numbers, which equals the published form."""
    for name, (known, away) in HONEST.items():
        X, y = clean(name)
        table = pa.table({**{f"x{place}": column for place, column in enumerate(X.T)}, "class": y.astype(str)})
        release = shoal.anonymize(table, k=5, method="mdav", keep=["class"], label="class", seed=0)
        found, cpu, wall = timed(
            lambda: [shoal.measure(table, release, only=["honest separability %"], seed=seed) for seed in range(5)]  # noqa: B023
        )
        values = [{one.name: one.value for one in each} for each in found]
        honest = fmean(each["honest separability %"] for each in values)
        note = f"{honest:.1f}, elsewhere {known}"
        yield Line("honest", f"{name}, points away", abs(honest - known), away, None, cpu, wall, note=note)
        apart = max(
            abs(each["separability as published %"] - each["separability of random numbers %"]) for each in values
        )
        yield Line("published", f"{name}, from random numbers", apart, 0.0, None, cpu, wall)


PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "pycanon": pycanon_bars,
    "million": million_bars,
    "pair": pair_bars,
    "separability": separability_bars,
}

if __name__ == "__main__":
    sys.exit(measure(PARTS, __doc__))
