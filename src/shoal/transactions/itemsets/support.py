"""Support in disassociated data: the certain, expected and possible support of an itemset.

In a cluster P of |P| slots the chunks split an itemset S into parts; s_i is how many sub-records of its chunk hold part
i. A shared chunk has the slots of all clusters of its joint. Three numbers say what is left of the support of S:

- **certain**: the sub-records that hold all of S, if one chunk has all of it. This is what the literature compares.
- **expected**: the mean over all re-associations. The sub-records of a chunk are assigned to its slots by a uniform
  injection, each chunk independently, so a slot of P holds part i with probability s_i / (slots of its chunk), and S
  with the product of these. Summed over slots, that is sum over P of |P| * prod s_i / slots_i.
- **bounds**: two sets of slots among |P| have at least s_1 + s_2 - |P| and at most min(s_1, s_2) slots in common. Where
  a part is in a shared chunk, the bound applies once to the whole joint, using what is known of the other parts there.

Itemsets are a list of arrays, or an array of shape (sets, size), in numbers of `published.labels`; a number outside
them, such as -1, stands for an unpublished item, and nothing is certain about its itemsets.

An item that is in no chunk of a cluster counts as absent there, unless it is listed as a term of that cluster.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import MethodError, shortened
from shoal.model.disassociated import Disassociated
from shoal.transactions.disassociation.terms import terms_as_chunks
from shoal.transactions.itemsets.places import across, between, chunk_slots, places_of, within
from shoal.transactions.lexical import Places, Whole

Floats = NDArray[np.float64]
Itemsets = Sequence[ArrayLike] | NDArray[np.integer]


def certain_support(published: Disassociated, itemsets: Itemsets) -> Places:
    """Count the sub-records that hold each itemset: its undisputed support.

    This is at most the support in any data set that the chunks may stand for, including the original. Time is
    proportional to the number of sub-records that hold the rarest item of each itemset.
    """
    ptr, flat = _flat(itemsets, len(published.labels), "certain_support")
    return within(places_of(published), ptr, flat, published.counts.astype(np.float64)).astype(np.int64)


def expected_support(
    published: Disassociated, itemsets: Itemsets, terms: Literal["omit", "once"] = "omit"
) -> NDArray[np.float64]:
    """Return the exact mean support of each itemset over all re-associations, up to rounding.

    `terms` is that of `reassociate`: whether items of no chunk are left out, or each is assigned to one slot: of its
    cluster if that is published, otherwise of all clusters that have such items. `nonempty` is not allowed for. Time is
    proportional to the clusters that contain each item of an itemset, and doubles with each item assigned to a slot.
    """
    if terms not in ("omit", "once"):
        raise MethodError(f"expected_support: terms must be 'omit' or 'once'; got {shortened(terms)}.")
    n_items = len(published.labels)
    ptr, flat = _flat(itemsets, n_items, "expected_support")
    if terms == "omit":
        return _expected(published, ptr, flat, np.ones(published.clusters, np.bool_))
    whole = terms_as_chunks(published, published.term_cluster >= 0)
    hosts = published.opened if published.opened.any() else np.ones(published.clusters, np.bool_)
    total = _expected(whole, ptr, flat, ~hosts)
    slots = max(1, int(published.sizes[hosts].sum()))
    somewhere = np.zeros(n_items, np.bool_)
    somewhere[published.term_item[published.term_cluster < 0]] = True
    loose = somewhere[flat]
    # Some subset of the items that are in no chunk was assigned to a slot; chunks must hold the rest of the itemset.
    sources, weights, rests = [], [], []
    for one in range(ptr.size - 1):
        own, free = flat[ptr[one] : ptr[one + 1]], loose[ptr[one] : ptr[one + 1]]
        movable = np.flatnonzero(free)
        for size in range(movable.size + 1):
            for given in combinations(movable.tolist(), size):
                sources.append(one)
                weights.append((1 / slots) ** size * (1 - 1 / slots) ** (movable.size - size))
                rests.append(np.delete(own, list(given)))
    rest_ptr = np.concatenate(([0], np.cumsum([rest.size for rest in rests], dtype=np.int64))).astype(np.int64)
    rest_flat = np.concatenate([np.empty(0, np.int32), *rests]).astype(np.int32)
    found = _expected(whole, rest_ptr, rest_flat, hosts)
    # An itemset assigned as a whole may meet in any slot of the hosts; one that was empty from the start is unknown.
    emptied = (np.diff(rest_ptr) == 0) & (np.diff(ptr)[sources] > 0) if sources else np.empty(0, np.bool_)
    found[emptied] = published.sizes[hosts].sum()
    return total + np.bincount(sources, weights=np.array(weights) * found, minlength=ptr.size - 1) if sources else total


def support_bounds(published: Disassociated, itemsets: Itemsets) -> tuple[Places, Places]:
    """Return the least and greatest possible support of each itemset.

    Every re-association without terms lies between them. So does the original, if the items of no chunk are listed by
    cluster (terms="cluster"): such an item is in 1 to k - 1 records, or in any number of them if it is the only one of
    its cluster, since the cover condition may have put it there. Under other policies the original may exceed `high` by
    unpublished occurrences. The bounds of a pair are attained if at most one of its items is in a shared chunk.
    """
    ptr, flat = _flat(itemsets, len(published.labels), "support_bounds")
    whole = terms_as_chunks(published, published.term_cluster >= 0)
    places = places_of(whole)
    listed = published.term_cluster[published.term_cluster >= 0]
    alone = np.bincount(listed, minlength=published.clusters)[listed] == 1
    extra = np.zeros(whole.chunks, np.int64)
    extra[published.chunks :] = np.where(alone, published.sizes[listed], max(1, published.k - 1)) - 1
    inside = within(places, ptr, flat, whole.counts.astype(np.float64)).astype(np.int64)
    doubt = within(places, ptr, flat, extra[places.sub_chunk].astype(np.float64)).astype(np.int64)
    low, high = between(places, ptr, flat, extra)
    return low + inside, high + inside + doubt


def numbers_of(labels: Sequence[str], itemsets: Sequence[Sequence[str]]) -> list[Whole]:
    """Return itemsets of labels as item numbers, with -1 for an unknown label."""
    number = {label: place for place, label in enumerate(labels)}
    return [np.array([number.get(label, -1) for label in itemset], np.int32) for itemset in itemsets]


def renumbered(labels: Sequence[str], others: Sequence[str]) -> Whole:
    """Return for every number of `labels` the number of the same label in `others`, or -1."""
    number = {label: place for place, label in enumerate(others)}
    return np.array([number.get(label, -1) for label in labels], np.int32)


def _flat(itemsets: Itemsets, n_items: int, who: str) -> tuple[Places, Whole]:
    """Return itemsets as flat arrays, ascending and without repetition; those with unknown items become empty."""
    if isinstance(itemsets, np.ndarray) and itemsets.ndim == 2:
        lengths = np.full(len(itemsets), itemsets.shape[1], np.int64)
        flat = itemsets.ravel().astype(np.int64)
    else:
        arrays = [np.asarray(itemset, np.int64).ravel() for itemset in itemsets]
        lengths = np.array([array.size for array in arrays], np.int64)
        flat = np.concatenate([np.empty(0, np.int64), *arrays])
    if (lengths == 0).any():
        raise MethodError(f"{who}: {int((lengths == 0).sum())} itemsets are empty; an itemset needs an item.")
    owner = np.repeat(np.arange(lengths.size), lengths)
    unknown = np.zeros(lengths.size, np.bool_)
    unknown[owner[(flat < 0) | (flat >= n_items)]] = True
    keys = np.unique(owner[~unknown[owner]] * np.int64(max(n_items, 1)) + flat[~unknown[owner]])
    ends = np.concatenate(([0], np.cumsum(np.bincount(keys // max(n_items, 1), minlength=lengths.size))))
    return ends.astype(np.int64), (keys % max(n_items, 1)).astype(np.int32)


def _expected(published: Disassociated, ptr: Places, flat: Whole, counted: NDArray[np.bool_]) -> Floats:
    """Return the expected support of each itemset in the clusters flagged by `counted`."""
    places = places_of(published)
    slots = np.where(counted, published.sizes, 0).astype(np.float64)
    part = chunk_slots(published, slots) / np.maximum(places.slots, 1)
    inside = within(places, ptr, flat, published.counts * part[places.sub_chunk])
    return inside + across(places, ptr, flat, slots)
