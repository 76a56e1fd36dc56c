"""MDAV: groups of k rows, grown from the rows farthest from the mean.

1. While 3k rows or more are left: take the row farthest from their mean and the row farthest from that one; group each
   with its k - 1 nearest rows.
2. With 2k to 3k - 1 rows left: group the row farthest from their mean likewise.
3. The remaining rows, k to 2k - 1 of them, are the last group.

The older form (`leftover="nearest"`) does step 1 while 2k rows or more are left. Of the rows then left, k or more are a
group; fewer join the groups with the nearest means, the nearest row first.

Domingo-Ferrer and Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, Data Mining and
Knowledge Discovery 11 (2005) 195-212.

How it is made fast without changing the answer: see `search.carving`.
"""

from shoal.catalogue import Choice, Growth
from shoal.cluster.declaring import numeric_method
from shoal.cluster.inputs import Floats
from shoal.cluster.search.carving import carved
from shoal.model.partition import Partition


@numeric_method(
    "mdav",
    ensures={"k"},
    params={
        "leftover": Choice(
            ("group", "nearest"),
            default="group",
            help="Whether the remaining rows form a group of their own or join the groups nearest to them.",
        )
    },
    growth=Growth(1.55, seconds=0.026, k_power=-0.5),
    suits={"categories", "numbers"},
    in_cells=True,
)
def mdav(X: Floats, k: int, leftover: str) -> Partition:
    """Partition the rows of X into groups of k to 2k - 1 rows close to each other.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X, k and leftover alone: ties go to the lowest
    row number.

    Cost
    ----
    O(n^2 d / k) time at worst, a small part of that where rows can be pruned; O(n) memory besides two copies of X.

    Examples
    --------
    >>> mdav([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    return Partition.of(carved(X, k, 3 * k if leftover == "group" else 2 * k))
