"""The published pipelines, compared with the published figures: `python -m benchmarks.printed`.

A is the published measure: a decision tree, tested by ten folds *inside* the released table. It sees how pure groups
are and nothing of the values: the control publishes random numbers for each group and gets the same. H1 learns from the
released rows and is tested on original ones: the honest figure. Means of three seeds. Tables are used as in the papers:
not scaled, Glass with its row number, Yeast as MIT against the rest. docs/methods/k_tca.md lists what cannot be
reproduced.
"""

import sys
import warnings
from collections.abc import Iterator
from statistics import mean

import numpy as np
from sklearn.metrics import calinski_harabasz_score, silhouette_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measuring import DATA, Line, measure, timed
from shoal.cluster.methods.mdav import mdav
from shoal.density.kde import coding
from shoal.som.tca import Printed, printed_c_tca, printed_k_tca
from shoal.som.views import dealt

# Published accuracies of the original, k-TCA and C-TCA, and how far a run may be from them.
PUBLISHED = {
    "wine": (88.8, 69.7, 74.2, 7.0),
    "glass with its row number": (None, 94.4, 75.2, 7.0),
    "ecoli": (82.4, 84.5, 85.1, 7.0),
    "yeast, MIT or not": (83.6, 86.3, 87.4, 3.0),
    "page_blocks": (96.6, 90.5, 91.5, 3.0),
    "waveform": (76.9, 83.0, 81.5, 4.0),
}
# Not reached by C-TCA: Glass, whose figure fits the table without the row number, and Wine, some ten points off.
OUT_OF_REACH = {("glass with its row number", "C-TCA"), ("wine", "C-TCA")}
SEEDS = range(3)
INDICES = {"glass with its row number": (0.42, 496), "yeast, MIT or not": (0.13, 131), "wine": (0.22, 229)}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a set as the publications had it, and its labels."""
    file = name.split(maxsplit=1)[0].rstrip(",")
    rows = np.genfromtxt(DATA / f"{file}.csv", delimiter=",", skip_header=1, dtype=str)
    X, y = rows[:, :-1].astype(float), np.unique(rows[:, -1], return_inverse=True)[1]
    if file == "glass":
        X = np.column_stack([np.arange(1, len(X) + 1), X])
    if file == "yeast":
        y = (rows[:, -1] == "MIT").astype(np.int64)
    return np.ascontiguousarray(X), y


def accuracy(learnt: np.ndarray, asked: np.ndarray, y: np.ndarray) -> float:
    """Return the per cent that a tree gets right which learns from one table and is asked about rows of another."""
    right = 0
    for learn, ask in StratifiedKFold(10, shuffle=True, random_state=0).split(learnt, y):
        tree = DecisionTreeClassifier(random_state=0).fit(learnt[learn], y[learn])
        right += int((tree.predict(asked[ask]) == y[ask]).sum())
    return 100 * right / len(y)


def tca_bars() -> Iterator[Line]:
    for name, (original, k_tca, c_tca, away) in PUBLISHED.items():
        X, y = table(name)
        if original is not None:
            yield _close(name, "original", accuracy(X, X, y), original, away, "")
        made, cpu, _ = timed(lambda X=X: [printed_k_tca(X, dealt(X.shape[1], 3, s), seed=s) for s in SEEDS])
        yield from _lines(name, "k-TCA", X, y, made, k_tca, away, cpu)
        made, cpu, _ = timed(lambda X=X: [printed_c_tca(X, dealt(X.shape[1], 3, s), 5, seed=s) for s in SEEDS])
        yield from _lines(name, "C-TCA", X, y, made, c_tca, away, cpu)
        groups = mdav(X, 5).labels
        means = np.column_stack([np.bincount(groups, column) for column in X.T]) / np.bincount(groups)[:, None]
        inside, noise = accuracy(means[groups], means[groups], y), np.random.default_rng(0).normal(size=means.shape)
        control = accuracy(noise[groups], noise[groups], y)
        note = f"{inside:.1f}, and {control:.1f} of random numbers for each group"
        yield Line("MDAV, k = 5", f"{name}: A, control - own", abs(control - inside), 2.5, None, 0.0, 0.0, note=note)


def kde_bars() -> Iterator[Line]:
    """Column by column, k is 1: as printed, the method rounds."""
    for name in ("wine", "ecoli", "waveform"):
        X, y = table(name)
        for width in (1.0, 0.25):
            found = coding(X, width=width)
            made = Printed.of(found.published)
            unique = 100 * float((np.bincount(made.labels) == 1).sum()) / len(X)
            peaks = float(np.median([one.peaks.size for one in found.curves]))
            inside, honest = accuracy(made.published, made.published, y), accuracy(made.published, X, y)
            note = f"{peaks:.0f} peaks a column, A {inside:.1f}, H1 {honest:.1f}, {unique:.0f}% unique rows"
            yield Line(
                "KDE as printed", f"{name}, width {width:g}: k reached", float(made.k), None, None, 0.0, 0.0, note=note
            )


def _lines(
    name: str, method: str, X: np.ndarray, y: np.ndarray, made: list[Printed], published: float, away: float, cpu: float
) -> Iterator[Line]:
    """Compare released tables with what was printed of one."""
    inside = [accuracy(one.published, one.published, y) for one in made]
    honest = mean(accuracy(one.published, X, y) for one in made)
    reached, different = min(one.k for one in made), max(one.labels.max() + 1 for one in made)
    seeds = f"A from {min(inside):.1f} to {max(inside):.1f}, H1 {honest:.1f}"
    note = f"{seeds}, k reached {reached}, {different} different rows, {cpu / len(made):.1f} CPU s"
    yield _close(name, method, mean(inside), published, away, note)
    if method == "k-TCA" and name in INDICES:
        silhouette, index = INDICES[name]
        found = mean(float(silhouette_score(one.published, y)) for one in made)
        other = mean(float(calinski_harabasz_score(one.published, y)) for one in made)
        note = f"published {silhouette}; Calinski-Harabasz {other:.0f}, published {index}"
        yield Line(method, f"{name}: silhouette", found, None, None, 0.0, 0.0, note=note)


def _close(name: str, method: str, found: float, published: float, away: float, note: str) -> Line:
    """Return how far a figure is from the published one."""
    gap = abs(found - published)
    bar = None if (name, method) in OUT_OF_REACH else away
    note = f"A {found:.1f}, published {published:.1f}" + (f"; {note}" if note else "")
    return Line(method, f"{name}: A, points away", gap, bar, None, 0.0, 0.0, note=note)


PARTS = {"tca": tca_bars, "kde": kde_bars}


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "The least populated class")
    sys.exit(measure(PARTS, __doc__))
