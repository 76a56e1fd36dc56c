"""C-TCA (Constrained-CMVM): as k-TCA, with rows coded by mixtures of units that are next to each other.

1. The columns are dealt into views with a map each, which learn from each other; every row is coded by the mixture of
   its best matching unit and the units next to that which is nearest to the row, and a map is laid into the coded
   rows (`som.tca`).
2. Its cells are cut and merged into groups of at least k rows, and a search moves rows between them (`search.finish`).

As printed, mixtures are of all units of a view, cells of fewer than k rows are dissolved, the smallest first, each row
going to the nearest prototype left, and prototypes are published. Zouinina et al. (2020).
"""

from numpy.typing import ArrayLike

from shoal.catalogue import Choice, Whole, method
from shoal.cluster.search.effort import FINISH
from shoal.cluster.search.finish import MODE
from shoal.cluster.search.limits import Limits
from shoal.model.partition import Partition
from shoal.som.tca import ROUNDS, UNITS, VIEWS, tca

__all__ = ["c_tca"]


@method(
    "c_tca",
    aliases=("constrained_cmvm",),
    data="numeric",
    ensures={"k", "l", "t"},
    params={
        "k": Whole(2, help="The least number of rows in a group."),
        "views": VIEWS,
        "rounds": ROUNDS,
        "units": UNITS,
        "mixture": Choice(("convex", "nnls"), "convex", "Of units next to each other, or of all, as printed."),
        "mode": MODE,
        "effort": FINISH,
    },
    uses={"limits", "seed", "threads", "view_of"},
)
def c_tca(
    X: ArrayLike,
    k: int,
    views: int = 3,
    rounds: int = 1,
    units: int = 0,
    mixture: str = "convex",
    mode: str = "strict",
    effort: str = "swift",
    *,
    seed: int = 0,
    threads: int | None = None,
    view_of: ArrayLike | None = None,
    limits: Limits | None = None,
) -> Partition:
    """Code rows by mixtures of units of several views, and make groups of the cells of a map of these codes.

    Parameters
    ----------
    X : float64 array of shape (n, d), no missing values
        The encoded table, columns on scales that may be compared.
    k : int, 2 <= k <= n
        The least number of rows in a group.
    views : int
        Into how many views the columns are dealt, each of two columns at the least.
    rounds : int
        How often the views learn from each other.
    units : int
        About how many units a map has; 5 sqrt(n) if 0.
    mixture : {"convex", "nnls"}
        Whether a row is mixed of units next to each other, or of all units of a view.
    mode : {"strict", "printed"}
        Whether cells are finished into groups of k rows; as printed, small cells are dissolved.
    effort : {"none", "swift", "quick", "normal", "thorough"}
        How long the search at the end takes.
    seed : int
        Where chance starts: views, and that search.
    threads : int, optional
        How many may work; all cores if not given. The result does not depend on it.
    view_of : array of shape (d,), optional
        The number of the view of each column; then `views` does not count.
    limits : Limits, optional
        What the sensitive values of a group must meet.

    Returns
    -------
    Partition
        Its notes say what the views learnt.

    Guarantee
    ---------
    Every group holds at least k rows. If strict, it meets the limits if the whole table does. The result does not
    depend on the number of threads.

    Cost
    ----
    O(n m d) an epoch for m units, 5 sqrt(n) of them: O(n^1.5 d); then that of `search.finish`.

    Examples
    --------
    >>> c_tca([[0.0, 0.0], [1.0, 0.0], [9.0, 5.0], [10.0, 5.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    return tca("c_tca", X, k, mixture, views, rounds, units, mode, effort, seed, threads, view_of, limits)
