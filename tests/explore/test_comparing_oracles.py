"""The analysis of a comparison is that of scikit-posthocs and of autorank: on random tables and on nine UCI sets.

autorank takes the 95% point of the studentized range from statsmodels' `qsturng`, an approximation that is off in the
fifth digit. Its critical difference is compared twice: as it is, to that accuracy, and to 1e-9 with the point that
scipy, and so scikit-posthocs, counts. That scipy's is the right one is shown by integrating the range's own formula.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from shoal.exploration.compare import compare
from shoal.io.files import read
from shoal.utility.rank_tests import compare as analysed
from shoal.utility.rank_tests import critical_difference, friedman, nemenyi, ranks

EXACT = 1e-9
SETS = ("wine", "glass", "ecoli", "yeast", "page_blocks", "waveform", "satimage", "grid_stability", "spambase")
posthocs = pytest.importorskip("scikit_posthocs", reason="scikit-posthocs is not installed")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")


def oracle(values, names, higher):
    """Return autorank's result on data sets x methods."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import autorank

        return autorank.autorank(
            pandas.DataFrame(np.asarray(values).T, columns=names),
            alpha=0.05,
            verbose=False,
            order="descending" if higher else "ascending",
            force_mode="nonparametric",
        )


def exact_point(level, methods, _):
    return stats.studentized_range.ppf(level, methods, np.inf)


def agrees(values, names, higher, monkeypatch):
    """Compare our ranks, statistic, p values and critical difference with both."""
    util = pytest.importorskip("autorank._util", reason="autorank is not installed")
    found = analysed(values, names, higher=higher)
    count, sets = np.shape(values)
    theirs = oracle(values, names, higher)
    ours = dict(zip(found.methods, found.mean_ranks, strict=True))
    assert theirs.omnibus == "friedman"
    assert theirs.rankdf["meanrank"].to_dict() == pytest.approx(ours, abs=EXACT)
    assert theirs.pvalue == pytest.approx(found.friedman.p, abs=EXACT)
    assert stats.friedmanchisquare(*values).statistic == pytest.approx(found.friedman.statistic, abs=EXACT)
    pairs = posthocs.posthoc_nemenyi_friedman(np.asarray(values).T)
    placed = ranks(values, higher=higher).mean(axis=1)
    assert pairs.to_numpy() == pytest.approx(nemenyi(placed, sets), abs=EXACT)
    critical = critical_difference(count, sets)
    assert theirs.cd == pytest.approx(critical, rel=1e-4)
    monkeypatch.setattr(util, "qsturng", exact_point)
    assert oracle(values, names, higher).cd == pytest.approx(critical, abs=EXACT)
    assert found.critical in (None, critical)
    # Methods share a group in the diagram if and only if scikit-posthocs finds no difference between them.
    if found.critical is not None:
        together = {(one, other) for group in found.groups for one in group for other in group if one != other}
        separated = {
            (names[i], names[j])
            for i in range(count)
            for j in range(count)
            if i != j and pairs.iat[i, j] > 0.05 + EXACT
        }
        assert separated == together


@pytest.mark.parametrize("seed", range(12))
def test_random_tables_with_ties_are_analysed_as_by_other_libraries(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    count, sets = int(rng.integers(3, 9)), int(rng.integers(6, 25))
    values = rng.integers(0, 6, (count, sets)) + (np.arange(count) * rng.integers(0, 3))[:, None]
    agrees(values.astype(float), [f"m{place}" for place in range(count)], bool(seed % 2), monkeypatch)


@given(st.integers(3, 6).flatmap(lambda m: st.lists(st.tuples(*[st.integers(0, 4)] * m), min_size=3, max_size=9)))
def test_p_values_of_pairs_are_those_of_scikit_posthocs(lines):
    values = np.array(lines, float).T
    theirs = posthocs.posthoc_nemenyi_friedman(values.T).to_numpy()
    assert nemenyi(ranks(values).mean(axis=1), values.shape[1]) == pytest.approx(theirs, abs=EXACT)


@pytest.mark.parametrize("count", [3, 4, 6, 9, 12])
def test_two_methods_the_critical_difference_apart_have_a_p_of_5_percent(count):
    sets = 9
    apart = np.zeros(count)
    apart[1] = critical_difference(count, sets)
    assert nemenyi(apart, sets)[0, 1] == pytest.approx(0.05, abs=EXACT)
    # The probability that the range of this many normal numbers is below q, by its own formula.
    q = apart[1] / np.sqrt(count * (count + 1) / (12 * sets))
    below = quad(
        lambda z: count * stats.norm.pdf(z) * (stats.norm.cdf(z) - stats.norm.cdf(z - q)) ** (count - 1),
        -9,
        9 + q,
        epsabs=1e-12,
        limit=200,
    )[0]
    assert below == pytest.approx(0.95, abs=EXACT)


@pytest.mark.slow
@pytest.mark.compiled
def test_nine_uci_sets_are_analysed_as_by_other_libraries(data_file, monkeypatch):
    given = {name: read(data_file(f"{name}.csv")).data for name in SETS}
    given["grid_stability"] = given["grid_stability"].drop_columns(["stab"])  # it decides the label
    given["satimage"] = given["satimage"].slice(0, 4435)  # the training rows
    # Only the analysis is tested here, so about a thousand rows of each set suffice.
    given = {
        name: table.take(list(range(0, table.num_rows, 1 + table.num_rows // 1000))) for name, table in given.items()
    }
    names = ["mdav", "mondrian", "one_pass", "kde"]
    found = compare(given, methods=names, measure="honest", label="last", seeds=1, folds=2, jobs=1)
    assert (found.left_out, found.comparison.sets) == ((), 9)
    one = found.measures[0]
    assert friedman(ranks(one.means)).statistic == one.comparison.friedman.statistic
    agrees(one.means, names, True, monkeypatch)
    assert all(f"{name}: mean rank" in found.diagram().svg for name in names)
