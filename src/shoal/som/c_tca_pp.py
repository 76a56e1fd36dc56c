"""C-TCA++: groups that begin at prototypes of the label, learnt from what the mixtures of C-TCA make of rows.

1. Maps of several views code every row by mixtures of units next to each other, as in C-TCA (`som.tca`).
2. wLVQ2 learns from the codes and a label how much each column counts, and prototypes of its classes (`som.plus`).
3. Rows with the same nearest prototype, of whatever class, are a cell; cells are finished into groups of at least k
   rows in the weighted space (`search.finish`).

As printed, the nearest prototype is published, whatever number of rows it stands for. Zouinina et al. (2020).
"""

from numpy.typing import ArrayLike

from shoal.catalogue import Choice, Whole, method
from shoal.cluster.search.effort import FINISH
from shoal.cluster.search.finish import MODE
from shoal.cluster.search.limits import Limits
from shoal.model.partition import Partition
from shoal.som.plus import tca_pp
from shoal.som.tca import ROUNDS, UNITS, VIEWS

__all__ = ["c_tca_pp"]


@method(
    "c_tca_pp",
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
    uses={"label", "limits", "seed", "threads", "view_of"},
)
def c_tca_pp(
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
    label: ArrayLike | None = None,
    view_of: ArrayLike | None = None,
    limits: Limits | None = None,
) -> Partition:
    """Weight columns by what they tell of a label after C-TCA, and make groups around prototypes of its classes.

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
        Whether cells are finished into groups of k rows; as printed they are not, and refused if one has fewer.
    effort : {"none", "swift", "quick", "normal", "thorough"}
        How long the search at the end takes.
    seed : int
        Where chance starts: views, prototypes, and that search.
    threads : int, optional
        How many may work; all cores if not given. The result does not depend on it.
    label : array of shape (n,)
        The class of each row.
    view_of : array of shape (d,), optional
        The number of the view of each column; then `views` does not count.
    limits : Limits, optional
        What the sensitive values of a group must meet.

    Returns
    -------
    Partition
        Its notes say what the views and the columns learnt.

    Guarantee
    ---------
    Every group holds at least k rows, and meets the limits if the whole table does. The result does not depend on
    the number of threads. As printed: GuaranteeError is raised unless every prototype stands for k rows.

    Cost
    ----
    O(n m d) an epoch for m units, 5 sqrt(n) of them: O(n^1.5 d); then that of `search.finish`.

    Examples
    --------
    >>> rows = [[0.0, 0.0], [1.0, 0.0], [9.0, 5.0], [10.0, 5.0]]
    >>> c_tca_pp(rows, k=2, label=["a", "a", "b", "b"]).labels
    array([0, 0, 1, 1])
    """
    mixed = "nnls" if mode == "printed" else mixture
    return tca_pp("c_tca_pp", X, k, mixed, views, rounds, units, mode, effort, seed, threads, label, view_of, limits)
