"""Comparison of methods on nine UCI data sets, with the analysis of Demšar: `python -m benchmarks.compare [-o FOLDER]`.

Wine, Glass, Ecoli, Yeast, Page blocks, Waveform, Satimage (its 4,435 training rows), Grid stability (without the column
that determines the label) and Spambase, at k = 5, by combined utility, honest accuracy and cell loss. The results are
checked against scikit-posthocs and autorank, if these are installed. About two minutes on one core.
"""

import argparse
import contextlib
import io
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks import measuring
from benchmarks.topological import SETS
from shoal.exploration.compare import compare
from shoal.exploration.comparison import Measured, MethodComparison
from shoal.io.files import read
from shoal.utility.rank_tests import critical_difference, nemenyi, ranks

METHODS = ("mdav", "k_tca", "c_tca", "kde", "gower", "anneal")
MEASURES = ("combined", "honest", "cell loss %")


def clean(name: str) -> pa.Table:
    """Return a set as it is compared on."""
    data = read(measuring.DATA / f"{name}.csv").data
    if name == "satimage":
        return data.slice(0, 4435)
    return data.drop_columns(["stab"]) if name == "grid_stability" else data


def show(one: Measured, found: MethodComparison) -> None:
    """Print figures, ranks and tests of one measure."""
    print(f"\n{one.title} ({'more' if one.higher else 'less'} is better)")
    print(f"{'':<16}" + "".join(f"{method:>10}" for method in found.methods))
    for data, line in zip(found.sets, one.means.T, strict=True):
        print(f"{data.name:<16}" + "".join(f"{value:>10.4g}" for value in line))
    print(one.comparison)
    if one.comparison.scores is not None:
        scores = zip(one.comparison.methods, one.comparison.scores, strict=True)
        print("score: " + ", ".join(f"{method} {score:.3f}" for method, score in scores))


def against(one: Measured, found: MethodComparison) -> None:
    """Print how far the analysis is from that of scikit-posthocs and autorank."""
    try:
        import pandas
        import scikit_posthocs
        from autorank import autorank
        from scipy.stats import friedmanchisquare
    except ImportError as missing:
        print(f"not held against others: {missing.name} is not installed")
        return
    placed = ranks(one.means, higher=one.higher).mean(axis=1)
    count, sets = one.means.shape
    frame = pandas.DataFrame(one.means.T, columns=list(found.methods))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):  # it prints though it is not asked to
        warnings.simplefilter("ignore")
        order = "descending" if one.higher else "ascending"
        theirs = autorank(frame, alpha=0.05, verbose=False, order=order, force_mode="nonparametric")
    theirs_placed = theirs.rankdf["meanrank"].reindex(found.methods).to_numpy()
    away = {
        "chi-square": abs(friedmanchisquare(*one.means).statistic - one.comparison.friedman.statistic),
        "p": abs(theirs.pvalue - one.comparison.friedman.p),
        "mean ranks": np.abs(theirs_placed - placed).max(),
        "p of pairs": np.abs(scikit_posthocs.posthoc_nemenyi_friedman(frame).to_numpy() - nemenyi(placed, sets)).max(),
        "autorank's CD, by qsturng": abs(theirs.cd - critical_difference(count, sets)),
    }
    print("away from others: " + ", ".join(f"{name} {value:.1e}" for name, value in away.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="a folder for the page and the diagrams")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=None)
    given = parser.parse_args()
    start = time.perf_counter()
    tables = {name: clean(name) for name in SETS}
    options = {"label": "last", "seeds": given.seeds, "folds": given.folds, "jobs": given.jobs}
    found = compare(tables, methods=METHODS, measure=MEASURES, **options)
    for one in found.measures:
        show(one, found)
        against(one, found)
    for gone in found.left_out:
        print(f"left out: {gone.set}: {gone.method}: {gone.reason}")
    if given.output:
        found.save(given.output)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
