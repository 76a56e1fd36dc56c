"""Five methods that code rows by maps or densities, and turn the resulting cells into groups of k rows.

1. k-TCA (k-CMVM): the columns are split into views with a map each, which learn from each other. Every row is coded by
   its best matching units, and a map of the coded rows has a cell for each unit (`som.tca`).
2. C-TCA (Constrained-CMVM): as k-TCA, with rows coded by the nearest mixture of their best matching unit and its
   neighbours.
3. k-TCA++, C-TCA++ and KDE++: rows are coded as by k-TCA, C-TCA or `kde`. From the codes and a label, wLVQ2 learns the
   weight of each column, and prototypes of the classes (`som.plus`). Rows with the same nearest prototype, of whatever
   class, are a cell in the weighted space.
4. All of them: cells are cut and merged into groups of at least k rows, and a search moves rows between these
   (`search.finish`). Notes of the partition say what views and columns learnt.

As printed, k-TCA publishes the prototypes of its last map and the ++ methods the nearest prototypes, however few rows
these represent: mostly one. Mixtures are of all units of a view, and C-TCA dissolves cells of fewer than k rows, the
smallest first, each row going to the nearest remaining prototype. Zouinina et al. (2020).
"""

from shoal.catalogue import Choice, Growth
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.inputs import Floats
from shoal.cluster.search.finish import FINISHING, as_printed
from shoal.density.kde import coding, density_cards
from shoal.model.partition import Partition
from shoal.model.progress import part
from shoal.som.plus import classes_of, plus, printed_plus, tca_pp
from shoal.som.tca import MAPS, tca

KEPT = {"k", "l", "t"}
MAPPED = {"limits", "seed", "threads", "view_of"}
MIXTURE = {
    "mixture": Choice(
        ("convex", "nnls"), "convex", "convex: mixtures of neighbouring units; nnls: of all units, as published."
    )
}


@numeric_method(
    "k_tca",
    ensures=KEPT,
    params={**MAPS, **FINISHING},
    uses=MAPPED,
    growth=Growth(1.2, seconds=0.43),
    aliases=("k_cmvm",),
    words="k-TCA (k-CMVM): cells of a self-organizing map of rows encoded by several maps, made into groups of k rows.",
)
def k_tca(X: Floats, k: int, views: int, rounds: int, units: int, mode: str, effort: str, *, run: Run) -> Partition:
    """Encode rows by self-organizing maps of several views, and form groups from the cells of a map of the codes.

    Guarantee
    ---------
    Every group holds at least k rows, and meets the limits if the whole table does. The result does not depend on the
    number of threads. With mode="printed", GuaranteeError is raised unless every cell has at least k rows.

    Cost
    ----
    O(n m d) per epoch for m units, 5 sqrt(n) of them: O(n^1.5 d); then that of `search.finish`.

    Examples
    --------
    >>> k_tca([[0.0, 0.0], [1.0, 0.0], [9.0, 5.0], [10.0, 5.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    return tca(X, k, "none", views, rounds, units, mode, effort, run)


@numeric_method(
    "c_tca",
    ensures=KEPT,
    params={**MAPS, **MIXTURE, **FINISHING},
    uses=MAPPED,
    growth=Growth(1.2, seconds=0.55),
    aliases=("constrained_cmvm",),
    words="C-TCA (Constrained-CMVM): as k-TCA, with rows encoded by mixtures of neighbouring units.",
)
def c_tca(
    X: Floats, k: int, views: int, rounds: int, units: int, mixture: str, mode: str, effort: str, *, run: Run
) -> Partition:
    """Encode rows by mixtures of map units of several views, and form groups from the cells of a map of the codes.

    Guarantee
    ---------
    Every group holds at least k rows, also with mode="printed", which dissolves small cells. With mode="strict", it
    meets the limits if the whole table does. The result does not depend on the number of threads.

    Cost
    ----
    That of `k_tca`.

    Examples
    --------
    >>> c_tca([[0.0, 0.0], [1.0, 0.0], [9.0, 5.0], [10.0, 5.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    return tca(X, k, mixture, views, rounds, units, mode, effort, run)


@numeric_method(
    "k_tca_pp",
    ensures=KEPT,
    params={**MAPS, **FINISHING},
    uses={*MAPPED, "label"},
    growth=Growth(1.2, seconds=0.55),
    suits={"label"},
    words="k-TCA++: groups around prototypes of the label, learnt from rows encoded by the maps of k-TCA.",
)
def k_tca_pp(X: Floats, k: int, views: int, rounds: int, units: int, mode: str, effort: str, *, run: Run) -> Partition:
    """Weight columns by their relevance to a label after k-TCA, and form groups around prototypes of its classes.

    Guarantee
    ---------
    That of `k_tca`. With mode="printed", GuaranteeError is raised unless every prototype represents at least k rows.

    Cost
    ----
    That of `k_tca`, and O(20 n m d) for the m prototypes of all classes.

    Examples
    --------
    >>> rows = [[0.0, 0.0], [1.0, 0.0], [9.0, 5.0], [10.0, 5.0]]
    >>> k_tca_pp(rows, k=2, label=["a", "a", "b", "b"]).labels
    array([0, 0, 1, 1])
    """
    return tca_pp(X, k, "none", views, rounds, units, mode, effort, run)


@numeric_method(
    "c_tca_pp",
    ensures=KEPT,
    params={**MAPS, **MIXTURE, **FINISHING},
    uses={*MAPPED, "label"},
    growth=Growth(1.2, seconds=0.6),
    words="C-TCA++: groups around prototypes of the label, learnt from rows encoded by the mixtures of C-TCA.",
)
def c_tca_pp(
    X: Floats, k: int, views: int, rounds: int, units: int, mixture: str, mode: str, effort: str, *, run: Run
) -> Partition:
    """Weight columns by their relevance to a label after C-TCA, and form groups around prototypes of its classes.

    Guarantee
    ---------
    That of `k_tca_pp`.

    Cost
    ----
    That of `k_tca_pp`.

    Examples
    --------
    >>> rows = [[0.0, 0.0], [1.0, 0.0], [9.0, 5.0], [10.0, 5.0]]
    >>> c_tca_pp(rows, k=2, label=["a", "a", "b", "b"]).labels
    array([0, 0, 1, 1])
    """
    mixed = "nnls" if mode == "printed" else mixture
    return tca_pp(X, k, mixed, views, rounds, units, mode, effort, run)


@numeric_method(
    "kde_pp",
    ensures=KEPT,
    params={**density_cards(0.5), **FINISHING},
    uses={"label", "limits", "seed", "threads"},
    growth=Growth(1.1, seconds=0.26),
    suits={"label"},
    words="KDE++: groups around prototypes of the label, learnt from rows encoded by the peaks of their columns.",
)
def kde_pp(
    X: Floats, k: int, kernel: str, bandwidth: str, width: float, mode: str, effort: str, *, run: Run
) -> Partition:
    """Weight columns by the relevance of their peaks to a label, and form groups around prototypes of its classes.

    Guarantee
    ---------
    That of `k_tca_pp`.

    Cost
    ----
    O(n + G log G) per column with G bins; O(20 n m d) for the m prototypes of all classes; then that of
    `search.finish`.

    Examples
    --------
    >>> kde_pp([[0.0], [1.0], [9.0], [10.0]], k=2, label=["a", "a", "b", "b"]).labels
    array([0, 0, 1, 1])
    """
    codes = classes_of(run.label, len(X), run.who)
    with part(0, 2):
        found = coding(X, kernel, bandwidth, width, 1, run.threads)
    if mode == "printed":
        return as_printed(run.who, printed_plus(found.published, codes, run.seed).labels, k, run.limits)
    with part(1, 2):
        made = plus(run.who, X, found.published, codes, k, effort, run.limits, run.seed, run.threads)
    return Partition.of(made.labels, made.notes, sketches=found.sketches(X, k))
