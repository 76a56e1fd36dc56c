"""Exact: groups whose SSE is proved to be the lowest possible, or within a stated gap of it.

1. Start: several short searches by annealing. Their groups are the first columns, the best of them the first answer.
2. A linear programme chooses shares of groups that cover each row once (`exact.master`). Its duals are prices of the
   rows; an exact search looks for groups that cost less than their rows are worth (`exact.pricing`). They become
   columns, until there are none. The search uses prices halfway between the newest and those of the best bound so far,
   which saves many rounds, and turns any prices into a proved lower bound of SSE.
3. Cuts that the shares violate are added (`exact.cuts`), and step 2 continues. The bound rises.
4. Only a group whose reduced cost is below the gap between answer and bound can be part of a better answer. If these
   are few enough, an integer programme chooses among all of them: its answer is the best of all partitions.
5. If they are too many, it chooses among those of the least reduced cost, for a better answer, and steps 2 to 4 are
   repeated from there.

After Aloise, Hansen, Rocha and Santi, Column generation bounds for numerical microaggregation, Journal of Global
Optimization 60 (2014) 165-182. The lowering of prices, the cuts and the choice among few groups are ours.
"""

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from shoal.catalogue import Choice, Growth, Whole
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.exact import solver_is_installed
from shoal.cluster.exact.generation import Search, Work
from shoal.cluster.exact.pricing import costs, distances
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.methods.anneal import anneal
from shoal.cluster.search.effort import seconds_per_proposal
from shoal.errors import MethodError
from shoal.kernels.threads import each
from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.progress import announce, left, part, spent

MOST_ROWS, MOST_K = 2000, 6
SEARCHED = 0.3  # of a budget, after which no further start is looked for
SLOW = 2  # how many times as long as usual a slow machine may take
PROVED = 1e-6  # per cent of SSE that rounding may leave between an optimal answer and its bound

EFFORTS = {
    "quick": Work(4, 1000, 80, 12, 2 * 10**8, (2,), 6_000, 100, 300),
    "normal": Work(6, 2000, 400, 40, 5 * 10**9, (2, 3), 20_000, 1000, 2000),
    "thorough": Work(12, 4000, 1000, 80, 2 * 10**10, (2, 3, 4), 40_000, 4000, 6000),
}


@numeric_method(
    "exact",
    ensures={"k"},
    params={
        "k": Whole(2, help=f"Minimum number of rows per group; at most {MOST_K}."),
        "effort": Choice(
            tuple(EFFORTS), "quick", "How much work to spend on closing the gap between answer and bound."
        ),
    },
    uses={"seed", "threads"},
    growth=Growth(bytes_per_pair=16.0, seconds=1_000.0),
    most_rows=MOST_ROWS,
)
def exact(X: Floats, k: int, effort: str, *, run: Run) -> Partition:
    """Find groups of minimal or nearly minimal SSE, with a proved lower bound, for up to 2,000 rows and k up to 6.

    Returns
    -------
    Partition
        Its findings are the proved lower bound of SSE and the gap, 100 (SSE - bound) / SSE.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows, and no partition into groups of at least k rows has an SSE below
    the bound. The same X, parameters and seed give the same groups, unless a time budget ends the search early.

    Cost
    ----
    Exponential in the worst case, but the work is limited. About half a minute for 1,000 rows and k = 3; O(n^2) memory.

    Examples
    --------
    >>> exact([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    n, work, scaled = len(X), EFFORTS[effort], _scaled(run.given["X"], X)
    if n > MOST_ROWS:
        raise MethodError(f"exact: X has {n} rows; at most {MOST_ROWS} are possible. Use anneal.")
    if k > MOST_K:
        raise MethodError(f"exact: k must be at most {MOST_K}; got {k}. Use anneal for larger groups.")
    if n < 2 * k:
        total = float(costs(distances(X), np.arange(n)[None, :])[0])
        rounded = total * (1 - float(np.finfo(np.float64).eps) * (X.size + n))
        return _answer(np.zeros(n, np.int64), total, rounded, scaled=scaled)

    if not solver_is_installed():
        raise MethodError(
            "exact: the solver highspy is not installed. Run `pip install 'shoal[exact]'`, or use the method anneal."
        )
    announce(f"exact: a proof for {n} rows may take from seconds to many minutes; a budget of seconds ends it early")
    # The larger k is, the less the linear programme improves, and the better the start must be.
    rounds = _rounds(work.rounds * max(1, k - 2), X)

    def start(number: int) -> Rows | None:
        if number > 0 and spent() >= SEARCHED:
            return None
        return anneal(X, k, restarts=1, rounds=rounds, seed=run.seed + number, threads=1).labels

    with part(0, 2 + len(work.choices)):
        starts = [labels for labels in each(start, range(work.starts), run.threads) if labels is not None]
    search = Search(X, k, work, starts)
    search.run()
    upper, lower = float(search.upper * search.unit), float(search.lower * search.unit)
    return _answer(search.labels(), upper, lower, scaled=scaled)


def _rounds(asked: int, X: Floats) -> int:
    """Return the proposals per row of a start: as requested, or as a share of the budget allows."""
    n, d = X.shape
    possible = int(min(asked, SEARCHED / 3 * left() / (n * SLOW * seconds_per_proposal(d, limited=False))))
    if possible < asked:
        spent(inf)  # the budget has cut the search short
    return max(1, possible)


def _scaled(X: ArrayLike, numbers: Floats) -> bool:
    """Return whether the numbers had to be scaled for their squares to fit."""
    given = np.asarray(X)
    return given.size > 0 and not np.array_equal(given, numbers)


def _answer(labels: Rows, upper: float, lower: float, *, scaled: bool) -> Partition:
    """Return the partition with its findings; a bound in other units than the table's is left out."""
    gap = 100 * (upper - lower) / upper if upper > 0 else 0.0
    # Proofs are findings, not notes: findings are left out where groups are merged or weighted.
    if gap <= PROVED:
        meaning = "proved optimal: no partition has a lower SSE"
    elif lower > 0:
        meaning = "no partition has an SSE that is lower by more than this"
    else:
        meaning = "no lower bound was proved; the groups are the best that were found"
    findings = [Finding("gap %", gap, meaning, "groups", unit="%")]
    if not scaled:
        how = "no partition into groups of at least k rows has a lower SSE"
        findings.insert(0, Finding("proved lower bound of SSE", lower, how, "groups"))
    return Partition.of(labels, (), tuple(findings))
