"""MDAV: groups of k rows, grown from the rows farthest from the mean.

1. While 3k rows or more are left: take the row farthest from their mean and the row farthest
   from that one; group each with its k - 1 nearest rows.
2. With 2k to 3k - 1 rows left: group the row farthest from their mean likewise.
3. The rows left over, k to 2k - 1 of them, are the last group.

The older form (`leftover="nearest"`) does step 1 while 2k rows or more are left. Of the rows then left, k or
more are a group; fewer join the groups with the nearest means, the nearest row first.

Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through
microaggregation, Data Mining and Knowledge Discovery 11 (2005) 195-212.

How it is made quick without changing the answer: see `search.carving`.
"""

from numpy.typing import ArrayLike

from shoal.catalogue import Choice, Whole, method
from shoal.cluster.inputs import matrix
from shoal.cluster.search.carving import carved
from shoal.model.partition import Partition

__all__ = ["mdav"]


@method(
    "mdav",
    data="numeric",
    ensures={"k"},
    params={
        "k": Whole(2, help="The least number of rows in a group."),
        "leftover": Choice(
            ("group", "nearest"),
            default="group",
            help="Whether the rows left over are a group of their own or join the groups nearest to them.",
        ),
    },
)
def mdav(X: ArrayLike, k: int, leftover: str = "group") -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows close to each other.

    Parameters
    ----------
    X : float64 array of shape (n, d), no missing values
        The encoded table, columns on scales that may be compared.
    k : int, 2 <= k <= n
        The least number of rows in a group.
    leftover : "group" or "nearest"
        "group": groups are made in pairs while 3k rows are left, so that k to 2k - 1 are left over and are
        a group. "nearest": while 2k are left; fewer than k rows left over join the groups nearest to them.

    Returns
    -------
    Partition

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X, k and leftover alone: ties go
    to the lowest row number.

    Cost
    ----
    O(n^2 d / k) time at worst, a small part of that where rows prune each other; O(n) memory beside two
    copies of X.

    Examples
    --------
    >>> mdav([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    numbers = matrix(X, k, "mdav")
    return Partition.of(carved(numbers, k, 3 * k if leftover == "group" else 2 * k))
