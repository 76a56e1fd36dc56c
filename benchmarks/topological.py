"""Targets of maps, densities and labels: `python -m benchmarks.topological [PART ...]`.

Nine UCI data sets, z-scored, without the row number of Glass and without the column of the electrical grid that
determines the label; of Satimage the 4,435 training rows. One thread, CPU seconds after warm-up. `benchmarks.printed`
compares with the published figures. The part "peer" needs xpysom (`pip install xpysom`) and somoclu with its core,
which is compiled only if no nvcc is found: `PATH=/usr/bin:/bin pip install --no-build-isolation somoclu`, after
numpy and setuptools.
"""

import itertools
import sys
import tempfile
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median

import numpy as np
import pyarrow as pa
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import shoal
from benchmarks.measuring import Line, labelled, measure, normal, standardized, timed
from shoal.catalogue import methods
from shoal.density.kde import coding
from shoal.model.partition import Partition
from shoal.som.grid import Grid
from shoal.som.lvq import wlvq2
from shoal.som.training import Map, Training, laid_out, som, train
from shoal.utility.loss import sse

# Rows and columns of the map, quantisation and topographic error, folds of the honest accuracy.
SETS = {
    "wine": (10, 7, 1.882, 0.017, 10),
    "glass": (9, 8, 1.139, 0.023, 10),
    "ecoli": (12, 8, 0.869, 0.009, 10),
    "yeast": (16, 12, 1.109, 0.031, 5),
    "page_blocks": (26, 14, 0.516, 0.033, 5),
    "waveform": (25, 14, 2.824, 0.044, 5),
    "satimage": (21, 16, 1.522, 0.028, 5),
    "spambase": (24, 14, 3.992, 0.053, 3),
    "grid_stability": (28, 18, 2.275, 0.084, 3),
}
LVQ = {"wine": 96.1, "glass": 65.0, "ecoli": 77.7, "yeast": 50.4, "waveform": 84.4, "satimage": 88.3}
METHODS = ("k_tca", "c_tca", "kde", "k_tca_pp", "c_tca_pp", "kde_pp")
# Seconds of one core for some 5,000 rows, and for 10,000. Of methods with maps, half of what maps once took goes off.
TIMES = {"kde": (0.4, 3.0), "kde_pp": (0.6, 1.5)}
TIMES |= {"k_tca": (1.6, 5.5), "c_tca": (1.6, 5.5), "k_tca_pp": (1.6, 6.5), "c_tca_pp": (1.6, 6.5)}
MAPS = {"page_blocks": 1.40, "waveform": 0.98, "satimage": 0.77, "spambase": 0.88, "grid_stability": 3.74}
SEEDS = range(5)


def clean(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return z-scores and labels of a set."""
    X, y = labelled(name)
    if name == "satimage":
        return standardized(X[:4435]), y[:4435]
    return (X[:, :-1], y) if name == "grid_stability" else (X, y)


def run(name: str, X: np.ndarray, y: np.ndarray, k: int, seed: int = 0) -> Partition:
    card = methods.load(name)
    given = {"threads": 1, "seed": seed, "label": y}
    with threadpool_limits(1):  # one core: linear algebra would busy the others too, mostly by waiting
        return card.function(np.ascontiguousarray(X), k, **{key: given[key] for key in card.uses if key in given})


def loss(X: np.ndarray, partition: Partition) -> float:
    return sse(X, partition.labels, np.ones(len(X)))


def map_bars() -> Iterator[Line]:
    for name, (rows, columns, quantisation, torn, _) in SETS.items():
        X, _ = clean(name)
        som(X)
        found, cpu, wall = timed(lambda X=X: som(X))
        assert (found.grid.rows, found.grid.columns) == (rows, columns), name
        error, share = found.errors(X)
        yield Line(
            "som", f"{name}, quantisation", abs(error / quantisation - 1), 0.02, None, cpu, wall, note=f"{error:.3f}"
        )
        yield Line("som", f"{name}, topographic", abs(share - torn), 0.02, None, cpu, wall, note=f"{share:.3f}")


def peer_bars() -> Iterator[Line]:
    """The same map as the peers': rows, grid, start by principal axes, and neighbourhoods; ten epochs of batches."""
    X, how = normal(10_000, 20), Training(10, wide=2.5, last=0.5)
    grid = Grid(20, 20, hexagonal=False)
    train(X, Map(grid, laid_out(X, grid)), how)
    for name, peer in (("xpysom", _xpysom), ("somoclu", _somoclu)):
        if find_spec(name) is None:
            print(f"{name} is not installed, so it is not compared; see the docstring of this benchmark.")
            continue
        ours, theirs = [], []
        for _ in range(5):
            found, cpu, wall = timed(lambda: train(X, Map(grid, laid_out(X, grid)), how))
            away, other = peer(X)
            ours.append(cpu)
            theirs.append(other)
        error, note = found.errors(X)[0], f"{median(ours):.2f} s against {median(theirs):.2f} s"
        part = median(ours) / median(theirs)
        yield Line("som", f"CPU as a part of {name}'s", part, 1.0, None, cpu, wall, note=note)
        note = f"{error:.4f}, {away:.4f}"
        yield Line("som", f"error as a part of {name}'s", error / away, 1.0, None, cpu, wall, note=note)


def _xpysom(X: np.ndarray) -> tuple[float, float]:
    """Return the error of xpysom's map and the seconds of its training; it takes half of sigma."""
    from xpysom import XPySom

    peer = XPySom(20, 20, 20, sigma=5, sigmaN=1, decay_function="exponential", random_seed=0)
    peer.pca_weights_init(X)
    _, cpu, _ = timed(lambda: peer.train(X, 10))
    return float(peer.quantization_error(X)), cpu


def _somoclu(X: np.ndarray) -> tuple[float, float]:
    """Return the error of somoclu's map and the seconds of its training; it takes half of the radius."""
    from somoclu import Somoclu

    peer = Somoclu(20, 20, compactsupport=False, initialization="pca")
    rows = X.astype(np.float32)
    how = {"radius0": 5, "radiusN": 1, "radiuscooling": "exponential", "scale0": 1.0, "scaleN": 1.0}
    _, cpu, _ = timed(lambda: peer.train(rows, epochs=10, **how))
    codebook = peer.codebook.reshape(-1, X.shape[1]).astype(np.float64)
    squares = (X**2).sum(axis=1)[:, None] - 2 * X @ codebook.T + (codebook**2).sum(axis=1)
    return float(np.sqrt(np.maximum(squares.min(axis=1), 0)).mean()), cpu


def lvq_bars() -> Iterator[Line]:
    for name, bar in LVQ.items():
        X, y = clean(name)
        got, cpu, wall = timed(lambda X=X, y=y: [_predicted(X, y, seed) for seed in SEEDS])
        note = f"five seeds {min(got):.1f} to {max(got):.1f}"
        yield Line("wlvq2", f"{name}, accuracy %", mean(got), bar - 1, bar, cpu, wall, higher=True, note=note)


def _predicted(X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Return the per cent of held-out rows that a codebook gets right, in five folds."""
    right = 0
    for learn, ask in _folds(5, seed).split(X, y):
        middle, spread = X[learn].mean(axis=0), X[learn].std(axis=0)
        spread[spread == 0] = 1.0
        book = wlvq2((X[learn] - middle) / spread, y[learn], seed=seed)
        right += int((book.predict((X[ask] - middle) / spread) == y[ask]).sum())
    return 100 * right / len(y)


def loss_bars() -> Iterator[Line]:
    """Loss as a part of MDAV's: the worst of five seeds on each set, and the mean over sets; and seconds."""
    ratios: dict[str, list[float]] = {name: [] for name in METHODS}
    for name in SETS:
        X, y = clean(name)
        base = loss(X, run("mdav", X, y, 5))
        for method in METHODS:
            run(method, X, y, 5)
            found = [timed(lambda seed=seed, m=method, X=X, y=y: run(m, X, y, 5, seed)) for seed in SEEDS]
            each = [loss(X, one[0]) / base for one in found]
            assert min(one[0].sizes.min() for one in found) >= 5
            ratios[method].append(mean(each))
            cpu = median(one[1] for one in found)
            bar = 0.98 if method in ("k_tca", "c_tca") else None
            note = f"five seeds {min(each):.3f} to {max(each):.3f}"
            yield Line(method, f"{name}, loss / MDAV's", max(each), bar, None, cpu, cpu, note=note)
            yield Line(method, f"{name}, CPU s", cpu, _most_seconds(method, name, len(X)), None, cpu, cpu)
    for method, bar in (
        ("k_tca", 0.92),
        ("c_tca", 0.92),
        ("kde", 1.0),
        ("k_tca_pp", None),
        ("c_tca_pp", None),
        ("kde_pp", None),
    ):
        yield Line(method, "mean over sets, loss / MDAV's", mean(ratios[method]), bar, 0.90, 0.0, 0.0)


def _most_seconds(method: str, name: str, rows: int) -> float | None:
    """Return the seconds that a method may take, if something is said of such tables."""
    if rows < 400:
        return 0.1
    if name not in MAPS:
        return None
    return TIMES[method][rows > 8_000] - (MAPS[name] / 2 if "tca" in method else 0.0)


def honest_bars() -> Iterator[Line]:
    """A tree learns from released training rows and is asked about original ones; folds and seeds as for MDAV."""
    away: dict[str, list[float]] = {name: [] for name in METHODS}
    for name, (*_, folds) in SETS.items():
        X, y = clean(name)
        compared = ("mdav", *METHODS)
        right = {method: [_honest(method, X, y, folds, seed) for seed in SEEDS] for method in compared}
        base = mean(right["mdav"])
        for method in METHODS:
            away[method].append(mean(right[method]) - base)
            note = f"{mean(right[method]):.1f} against {base:.1f}"
            yield Line(method, f"{name}, honest - MDAV's, points", away[method][-1], None, None, 0.0, 0.0, note=note)
    for method in METHODS:
        yield Line(method, "mean over sets, points", mean(away[method]), -0.5, 0.0, 0.0, 0.0, higher=True)


def _honest(method: str, X: np.ndarray, y: np.ndarray, folds: int, seed: int) -> float:
    """Return the per cent of original held-out rows that a tree gets right that learnt from a release of the others."""
    right = 0
    for learn, ask in _folds(folds, seed).split(X, y):
        mean_, spread = X[learn].mean(axis=0), X[learn].std(axis=0)
        some = (X[learn] - mean_) / np.where(spread > 0, spread, 1.0)
        groups = run(method, some, y[learn], 5, seed)
        sums = np.column_stack([np.bincount(groups.labels, column) for column in X[learn].T])
        released = (sums / groups.sizes[:, None])[groups.labels]
        tree = DecisionTreeClassifier(random_state=seed).fit(released, y[learn])
        right += int((tree.predict(X[ask]) == y[ask]).sum())
    return 100 * right / len(y)


def _folds(folds: int, seed: int) -> StratifiedKFold:
    """Return folds by chance; classes of fewer rows than folds are dealt as far as they go."""
    return StratifiedKFold(folds, shuffle=True, random_state=seed)


def written_bars() -> Iterator[Line]:
    """Releases of every set, k and seed, written and verified from their bytes; the same seed gives the same bytes."""
    for name in SETS:
        X, y = clean(name)
        columns = {f"x{place}": column for place, column in enumerate(X.T)}
        table = pa.table({**columns, "class": y})
        for method in METHODS:
            held, same = [], []
            for k, seed in itertools.product((3, 5, 10), range(3)):
                with tempfile.TemporaryDirectory() as place:
                    folders = [Path(place) / str(turn) for turn in range(2 if seed == 0 else 1)]
                    for folder in folders:
                        made = shoal.anonymize(table, k=k, seed=seed, method=method, keep=["class"], label="class")
                        made.save(folder, format="csv", report=False)
                    found = shoal.verify(folders[0])
                    held.append(found.holds and found.verdicts[0].found >= k)
                    files = [(folder / "data.csv").read_bytes() for folder in folders]
                    same.append(len(set(files)) == 1)
            note = f"{len(held)} releases verified, {sum(held)} hold"
            yield Line(method, f"{name}, releases that fail", float(held.count(False)), 0.0, None, 0.0, 0.0, note=note)
            yield Line(method, f"{name}, seeds with other bytes", float(same.count(False)), 0.0, None, 0.0, 0.0)


def million_bars() -> Iterator[Line]:
    X = normal(1_000_000)
    coding(X[:1000])
    found, cpu, wall = timed(lambda: coding(X))
    yield Line(
        "kde", "1,000,000 x 10, coding, CPU s", cpu, 5.0, None, cpu, wall, note=f"{found.parts.shape[1]} columns"
    )
    for method in ("kde", "k_tca"):
        made, cpu, wall = timed(lambda m=method: methods.load(m).function(X, 5))
        yield Line(method, "1,000,000 x 10, all", cpu, None, None, cpu, wall, note=f"smallest group {made.sizes.min()}")


PARTS = {
    "map": map_bars,
    "peer": peer_bars,
    "lvq": lvq_bars,
    "loss": loss_bars,
    "honest": honest_bars,
    "written": written_bars,
    "million": million_bars,
}


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "The least populated class")  # classes of two rows are dealt as far as they go
    sys.exit(measure(PARTS, __doc__))
