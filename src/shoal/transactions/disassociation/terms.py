"""Term policies: what is published about items that are in no chunk.

An item z of fewer than k records of a cluster, listed with the cluster beside an item x of all its records, reveals for
certain that fewer than k people have both. So by default such items are listed once for all clusters, and only if at
least k records of all the data hold them: a rare label alone can identify a person. Where they are to be listed by
cluster, `suppress` first removes x from some of the records.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.model.disassociated import Disassociated
from shoal.transactions.disassociation.vertical import Chunked
from shoal.transactions.lexical import Places, Whole


def listed_terms(
    terms: str, chunked: Chunked, left: NDArray[np.bool_], rank: Places, supports: Places, least: int
) -> tuple[Whole, Whole]:
    """Return cluster and item of each published term, ordered; clusters are -1 under `global`.

    `left` flags the items of clusters, as listed in `chunked`, that are in a term set; `rank` is the published number
    of each cluster, `supports` the records of all the data that hold each item. Under `global`, items of fewer than
    `least` records are not listed.
    """
    if terms == "drop":
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    item = chunked.item[left]
    if terms == "global":
        once = np.unique(item)
        once = once[supports[once] >= least]
        return np.full(once.size, -1, np.int32), once
    cluster = rank[np.repeat(np.arange(chunked.ptr.size - 1), np.diff(chunked.ptr))[left]]
    order = np.lexsort((item, cluster))
    return cluster[order].astype(np.int32), item[order]


def universal(chunked: Chunked, cuts: Places) -> NDArray[np.bool_]:
    """Return which items of chunks are in all records of a cluster that also has a term set."""
    of = np.repeat(np.arange(cuts.size - 1), np.diff(chunked.ptr))
    opened = np.zeros(cuts.size - 1, np.bool_)
    opened[of[chunked.chunk < 0]] = True
    everywhere: NDArray[np.bool_] = chunked.support == np.diff(cuts)[of]
    return (chunked.chunk >= 0) & everywhere & opened[of]


def suppress_universal(
    indptr: Places, items: Whole, cuts: Places, chunked: Chunked, rho: float, seed: int
) -> tuple[Places, Whole, int]:
    """Remove universal items from some records of clusters that have a term set; return the records and a count.

    The records come cluster by cluster. A share `rho` of the records of the cluster keeps the item; at least one loses
    it, and some may end up empty. The count is the number of occurrences removed.
    """
    rng = np.random.default_rng(seed)
    found = np.flatnonzero(universal(chunked, cuts))
    of = np.searchsorted(chunked.ptr, found, side="right") - 1
    keep = np.ones(items.size, np.bool_)
    for cluster, item in zip(of.tolist(), chunked.item[found].tolist(), strict=True):
        low, high = int(cuts[cluster]), int(cuts[cluster + 1])
        # Every record of the cluster holds the item once, so its positions are those of its records.
        places = indptr[low] + np.flatnonzero(items[indptr[low] : indptr[high]] == item)
        losing = max(1, math.ceil((1 - rho) * (high - low) - 1e-9))
        keep[rng.choice(places, losing, replace=False)] = False
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
    return before[indptr], items[keep], int(items.size - before[-1])


def terms_as_chunks(published: Disassociated, which: NDArray[np.bool_], joint: int = -1) -> Disassociated:
    """Return the data with a chunk of one sub-record for each of these terms.

    The chunk of a term belongs to the term's cluster, or to a joint if that cluster is not published.
    """
    cluster = published.term_cluster[which]
    ones = np.arange(1, cluster.size + 1, dtype=np.int64)
    return replace(
        published,
        chunk_cluster=np.concatenate((published.chunk_cluster, cluster)),
        chunk_joint=np.concatenate((published.chunk_joint, np.where(cluster < 0, joint, -1).astype(np.int32))),
        chunk_ptr=np.concatenate((published.chunk_ptr, published.chunk_ptr[-1] + ones)),
        sub_ptr=np.concatenate((published.sub_ptr, published.sub_ptr[-1] + ones)),
        counts=np.concatenate((published.counts, np.ones(ones.size, np.int64))),
        items=np.concatenate((published.items, published.term_item[which])),
    )
