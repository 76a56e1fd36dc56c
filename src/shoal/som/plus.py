"""The ++ layer: labels determine the weights of columns, and where groups begin.

1. From the coded rows and their labels, wLVQ2 learns the weight of each column. Weights are scaled to a mean square of
   1.
2. In the weighted space, LVQ2 learns prototypes of the classes from the rows themselves. A row belongs to the cell of
   its nearest prototype, of whatever class: never of its own class alone, which would encode the label in the cells.
3. The cells are finished into groups in the weighted space.

Groups that follow a label often have a single label, and then reveal it for all their rows: require l or t, which hold
here.
"""

import numpy as np
from numpy.typing import ArrayLike

from shoal.cluster.declaring import Run
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.finish import as_printed, finished
from shoal.cluster.search.limits import Limits
from shoal.errors import MethodError
from shoal.model.asking import option
from shoal.model.partition import Partition
from shoal.model.progress import part
from shoal.som.lvq import PROTOTYPES, Codebook, wlvq2
from shoal.som.tca import Printed, columns_of_views, topology

MOST_CLASSES, MANY = 1000, 20  # most classes; and more than MANY must have several rows each
BOOK = 1000  # approximate number of prototypes of all classes together


def classes_of(label: ArrayLike | None, n: int, who: str) -> Rows:
    """Return the labels as numbers from 0, or refuse labels that cannot be learnt from."""
    base = who.removesuffix("_pp")
    if label is None:
        raise MethodError(
            f"{who}: there are no labels to learn from. Name the label column ({option('label', 'COLUMN')}), "
            f"or use {base}."
        )
    given = np.asarray(label)
    if given.shape != (n,):
        raise MethodError(f"{who}: label must be {n} values, one per row; got an array of shape {given.shape}.")
    names, codes = np.unique(given.astype(str) if given.dtype.kind == "O" else given, return_inverse=True)
    if names.size > MOST_CLASSES or (names.size > MANY and 3 * names.size > n):
        raise MethodError(
            f"{who}: the label has {names.size:,} different values for {n:,} rows; expected at most "
            f"{MOST_CLASSES:,} classes of several rows each. Name another column, or use {base}."
        )
    return codes.reshape(-1).astype(np.int64)


def taught(X: Floats, coded: Floats, codes: Rows, seed: int) -> tuple[Floats, Codebook]:
    """Return the weight of each column, and prototypes of the classes `codes` in the weighted space.

    `coded` has the shape of X: what a method makes of its rows.
    """
    each = max(1, min(PROTOTYPES, BOOK // (int(codes.max()) + 1)))
    weights = wlvq2(coded, codes, prototypes=each, seed=seed).weights
    weights = weights / np.sqrt((weights**2).mean())
    return weights, wlvq2(X * weights, codes, prototypes=each, weight_rate=0.0, seed=seed)


def plus(
    who: str, X: Floats, coded: Floats, codes: Rows, k: int, effort: str, limits: Limits | None, seed: int, threads: int
) -> Partition:
    """Return groups that begin at the prototypes of classes, in a space weighted by relevance for the label."""
    weights, book = taught(X, coded, codes, seed)
    space = np.ascontiguousarray(X * weights)
    labels = finished(space, book.cells(space, threads), k, effort, limits=limits, seed=seed, threads=threads)
    classes = int(codes.max()) + 1
    if classes == 1:
        return Partition.of(labels, (f"{who}: the label has only one value, so nothing can be learnt from it.",))
    note = f"{who}: learnt from {classes} label values; column weights range from {weights.min():.2f} to "
    return Partition.of(labels, (f"{note}{weights.max():.2f}.",))


def tca_pp(
    X: Floats, k: int, mixture: str, views: int, rounds: int, units: int, mode: str, effort: str, run: Run
) -> Partition:
    """Return the groups of k-TCA++ (mixture "none") or of C-TCA++."""
    codes = classes_of(run.label, len(X), run.who)
    columns = columns_of_views(X.shape[1], run.view_of, views, run.seed, run.who)
    with part(0, 2):
        found = topology(X, columns, mixture, rounds=rounds, units=units, seed=run.seed, threads=run.threads)
    if mode == "printed":
        return as_printed(run.who, printed_plus(found.coded, codes, run.seed).labels, k, run.limits)
    with part(1, 2):
        made = plus(run.who, X, found.coded, codes, k, effort, run.limits, run.seed, run.threads)
    return Partition.of(made.labels, (*found.notes(run.who), *made.notes), sketches=found.sketches(k))


def printed_plus(coded: Floats, codes: Rows, seed: int = 0) -> Printed:
    """Return what a ++ method releases in its published form: the prototype nearest to each coded row.

    Without guarantee. Prototypes learn by the derived signs: by the printed ones they unlearn, and the printed figures
    are out of reach.
    """
    book = wlvq2(coded, codes, seed=seed)
    return Printed.of(book.prototypes[book.cells(coded)] / book.weights)
