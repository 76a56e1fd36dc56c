"""Loss and risk of a publication: what the data holder should know before releasing it.

Loss: occurrences that are in no chunk, records and items that lost something or everything. Risk: what a reader of the
neighbour may take for a fact about one person. Both are measured on the original, for the data holder alone.
"""

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, MethodError
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions
from shoal.transactions.itemsets.mining import itemset_supports, pair_supports
from shoal.transactions.itemsets.places import places_of
from shoal.transactions.itemsets.support import renumbered
from shoal.transactions.lexical import Places

EDGES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True)
class Loss:
    """Lost occurrences, items and records; `touched` and `emptied` are None if the records' clusters are unknown."""

    occurrences: int
    lost: int
    share: float
    items: int
    items_lost: int
    records: int
    touched: int | None
    emptied: int | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return asdict(self)


@dataclass(frozen=True)
class Risk:
    """What a reader may take for a fact about one person.

    `rare_pairs` of the neighbour's `pairs` are held by fewer than k of its records; `real` is the share of these that
    occur in the original, `real_and_rare` the share that occur there in fewer than k records. `unique` gives, by record
    length, how many records are unique in the original, and how many of these are in the neighbour. `smallest` is the
    size of the smallest cluster, 0 if there is none. `forced` counts clusters with items outside their chunks and an
    item in every record, so that the two certainly co-occur; it reveals nothing unless `linked`, that is unless the
    publication says which cluster such items are in. `confidence` counts the clusters with items outside their chunks
    whose most frequent item is in up to 25%, 50%, 75%, 90% of their records, in less than all of them, and in all.
    """

    pairs: int
    rare_pairs: int
    real: float
    real_and_rare: float
    unique: dict[int, tuple[int, int]]
    smallest: int
    forced: int
    linked: bool
    confidence: tuple[int, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return asdict(self)


def loss(original: Transactions, published: Disassociated, cluster_of: Places | None = None) -> Loss:
    """Count what the publication leaves out of the original.

    `cluster_of` is the published cluster of each record, known to the data holder alone. Occurrences deleted by the
    policy `suppress` count as lost, but do not count as touching a record. O(L log L) for L occurrences and items of
    clusters.
    """
    if published.n != original.n:
        raise DataError(f"loss: {original.n} records were published as {published.n}; these are not the same data.")
    n_items = len(published.labels)
    shown = np.zeros(n_items, np.bool_)
    shown[published.items] = True
    number = renumbered(original.labels, published.labels)
    seen = int(shown[number[number >= 0]].sum())
    touched = emptied = None
    if cluster_of is not None:
        if cluster_of.shape != (original.n,):
            raise DataError(f"loss: {cluster_of.size} clusters were given for {original.n} records; each needs one.")
        places = places_of(published)
        keys = np.unique(places.place_cluster * n_items + np.repeat(np.arange(n_items), np.diff(places.place_ptr)))
        item = number[original.items].astype(np.int64)
        kept = (item >= 0) & np.isin(np.repeat(cluster_of, original.lengths) * n_items + item, keys)
        left = np.diff(np.concatenate(([0], np.cumsum(kept)))[original.indptr])
        touched, emptied = int((left < original.lengths).sum()), int((left == 0).sum())
    lost = original.items.size - published.occurrences
    return Loss(
        original.items.size,
        lost,
        lost / max(1, original.items.size),
        len(original.labels),
        len(original.labels) - seen,
        original.n,
        touched,
        emptied,
    )


def risk(original: Transactions, neighbour: Transactions, published: Disassociated, k: int) -> Risk:
    """Count what in a neighbour looks like a fact about fewer than k people, and is one.

    Costs what counting all pairs of the neighbour costs, plus O(L) for L occurrences.
    """
    if k < 1:
        raise MethodError(f"risk: k must be a whole number of at least 1; got {k}.")
    pairs, supports = pair_supports(neighbour)
    rare = pairs[supports < k]
    number = renumbered(neighbour.labels, original.labels)
    before = itemset_supports(original, number[rare]) if len(rare) else np.empty(0, np.int64)
    own, its = _records(original, np.arange(len(original.labels))), _records(neighbour, number)
    unique: dict[int, tuple[int, int]] = {}
    for record, count in own.items():
        if count == 1:
            length = len(record) // 8
            alone, again = unique.get(length, (0, 0))
            unique[length] = (alone + 1, again + (record in its))
    top = _most_frequent(published)[published.opened]
    return Risk(
        len(pairs),
        len(rare),
        float((before > 0).mean()) if len(rare) else 0.0,
        float(((before > 0) & (before < k)).mean()) if len(rare) else 0.0,
        dict(sorted(unique.items())),
        int(published.sizes.min(initial=published.n)),
        int((top == 1).sum()),
        published.terms in ("cluster", "suppress"),
        _binned(top),
    )


def _records(data: Transactions, number: NDArray[np.integer]) -> dict[bytes, int]:
    """Count the records by their items, renumbered; records with items that have no number are left out."""
    items = number[data.items].astype(np.int64)
    owner = np.repeat(np.arange(data.n), data.lengths)
    # Renumbering may change the order.
    items = items[np.lexsort((items, owner))]
    found: dict[bytes, int] = {}
    cuts = data.indptr.tolist()
    for a, b in pairwise(cuts):
        if a < b and items[a] >= 0:
            record = items[a:b].tobytes()
            found[record] = found.get(record, 0) + 1
    return found


def _most_frequent(published: Disassociated) -> NDArray[np.float64]:
    """Return for each cluster the share of its records that hold its most frequent item, by its own chunks."""
    places = places_of(published)
    own = ~places.shared[places.seat_chunk]
    most = np.zeros(published.clusters, np.int64)
    np.maximum.at(most, published.chunk_cluster[places.seat_chunk[own]], places.seat_support[own])
    return most / np.maximum(published.sizes, 1)


def _binned(shares: NDArray[np.float64]) -> tuple[int, ...]:
    """Count shares up to each edge, then those between the last but one and 1, and those of 1."""
    inner = np.searchsorted(EDGES[1:-1], shares, side="left")
    inner[shares == 1] = len(EDGES) - 1
    return tuple(np.bincount(inner, minlength=len(EDGES)).tolist())
