"""KDE++: groups that begin at prototypes of the label, learnt from rows coded by the peaks of their columns.

1. Every column is cut at the minima of its density and coded by the peaks between them, as in `kde`.
2. wLVQ2 learns from the codes and a label how much each column counts, and prototypes of its classes (`som.plus`).
3. Rows with the same nearest prototype, of whatever class, are a cell; cells are finished into groups of at least k
   rows in the weighted space (`search.finish`).

As printed, the nearest prototype is published, whatever number of rows it stands for. Zouinina et al. (2020).
"""

from numpy.typing import ArrayLike

from shoal.catalogue import Choice, Number, Whole, method
from shoal.cluster.inputs import matrix
from shoal.cluster.search.effort import FINISH
from shoal.cluster.search.finish import MODE
from shoal.cluster.search.limits import Limits
from shoal.density.bandwidth import BANDWIDTHS
from shoal.density.curve import KERNELS
from shoal.density.kde import coding
from shoal.kernels.threads import thread_count
from shoal.model.partition import Partition
from shoal.model.progress import part
from shoal.som.plus import classes_of, plus, plus_as_printed

__all__ = ["kde_pp"]


@method(
    "kde_pp",
    data="numeric",
    ensures={"k", "l", "t"},
    params={
        "k": Whole(2, help="The least number of rows in a group."),
        "kernel": Choice(KERNELS, "gaussian", "The shape that every value is spread by."),
        "bandwidth": Choice(tuple(BANDWIDTHS), "silverman", "The rule for how wide it is."),
        "width": Number(0.01, 100.0, 0.5, "How many times as wide as by the rule."),
        "mode": MODE,
        "effort": FINISH,
    },
    uses={"label", "limits", "seed", "threads"},
)
def kde_pp(
    X: ArrayLike,
    k: int,
    kernel: str = "gaussian",
    bandwidth: str = "silverman",
    width: float = 0.5,
    mode: str = "strict",
    effort: str = "swift",
    *,
    seed: int = 0,
    threads: int | None = None,
    label: ArrayLike | None = None,
    limits: Limits | None = None,
) -> Partition:
    """Weight columns by what their peaks tell of a label, and make groups around prototypes of its classes.

    Parameters
    ----------
    X : float64 array of shape (n, d), no missing values
        The encoded table, columns on scales that may be compared.
    k : int, 2 <= k <= n
        The least number of rows in a group.
    kernel : {"gaussian", "epanechnikov", "uniform", "biweight", "triweight", "triangular"}
        The shape that every value is spread by.
    bandwidth : {"silverman", "scott", "isj", "lscv", "bcv"}
        The rule for how wide it is.
    width : float
        How many times as wide as by the rule.
    mode : {"strict", "printed"}
        Whether cells are finished into groups of k rows; as printed they are not, and refused if one has fewer.
    effort : {"none", "swift", "quick", "normal", "thorough"}
        How long the search at the end takes.
    seed : int
        Where chance starts: prototypes, and that search.
    threads : int, optional
        How many may work; all cores if not given. The result does not depend on it.
    label : array of shape (n,)
        The class of each row.
    limits : Limits, optional
        What the sensitive values of a group must meet.

    Returns
    -------
    Partition
        Its notes say what the columns learnt.

    Guarantee
    ---------
    Every group holds at least k rows, and meets the limits if the whole table does. The result does not depend on
    the number of threads. As printed: GuaranteeError is raised unless every prototype stands for k rows.

    Cost
    ----
    O(n + G log G) a column with G bins; O(20 n m d) for the m prototypes of all classes; then that of `search.finish`.

    Examples
    --------
    >>> kde_pp([[0.0], [1.0], [9.0], [10.0]], k=2, label=["a", "a", "b", "b"]).labels
    array([0, 0, 1, 1])
    """
    numbers = matrix(X, k, "kde_pp")
    codes = classes_of(label, len(numbers), "kde_pp")
    workers = thread_count(threads, "kde_pp")
    with part(0, 2):
        found = coding(numbers, kernel, bandwidth, width, 1, workers)
    if mode == "printed":
        return plus_as_printed("kde_pp", found.published, codes, k, limits, seed)
    with part(1, 2):
        made = plus("kde_pp", numbers, found.published, codes, k, effort, limits, seed, workers)
    return Partition.of(made.labels, made.notes, sketches=found.sketches(numbers, k))
