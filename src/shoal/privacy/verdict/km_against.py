"""Compare a disassociated data set with the records that it was made from: the data holder's own check.

1. Each item of each record goes to the chunk of its cluster that has the item, or to a shared chunk of a joint of that
   cluster, or to none.
2. The content of a chunk, record by record, must then equal what is published. Items of no chunk are terms.

If items were deleted (`suppress`), a chunk may have less than the records, and never more.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions
from shoal.privacy.verdict.km_form import Check, bad, form

Ints = NDArray[np.int64]


def verify_against(published: Disassociated, data: Transactions, cluster_of: NDArray[np.integer]) -> list[Check]:
    """Check that a disassociated data set is true of its records and leaves nothing out.

    `cluster_of` is the published cluster of each record. The checks are "records" (clusters have the published sizes),
    "labels" (every label is one of the data), "projections" (every chunk is the projection of its records), "counts"
    (no item is in more or fewer sub-records than records), "opened" (exactly the clusters with terms are) and "listed
    terms" (no published term is missing or wrong). Time and memory grow with the occurrences of items.
    """
    if cluster_of.shape != (data.n,):
        raise DataError(
            f"verify: {cluster_of.size} cluster numbers were given for {data.n} records; expected one each."
        )
    fit = form(published)
    if not fit.ok or (data.n and not 0 <= int(cluster_of.min()) <= int(cluster_of.max()) < published.clusters):
        return [replace(fit, n_checked=max(1, fit.n_checked), n_bad=max(1, fit.n_bad))]
    known = {label: number for number, label in enumerate(data.labels)}
    number = np.array([known.get(label, -1) for label in published.labels], np.int64)
    checks = [
        bad("records", "clusters have the published sizes", _sizes(cluster_of, published) != published.sizes),
        bad("labels", "every label is one of the data", number < 0),
    ]
    if (number < 0).any():
        return checks
    record = np.repeat(np.arange(data.n), data.lengths)
    chunk = _chunk_of(published, number, cluster_of[record], data.items, len(data.labels))
    deleted = published.terms == "suppress"
    placed = chunk >= 0
    entries = _projections(chunk[placed], record[placed], data.items[placed])
    checks.append(_same(published, number, entries, tolerant=deleted))
    checks.append(_no_more(published, number, chunk[placed], data.items[placed], len(data.labels), exact=not deleted))
    rest = np.unique(cluster_of[record[~placed]].astype(np.int64) * max(1, len(data.labels)) + data.items[~placed])
    return [*checks, *_terms(published, number, rest, data)]


def _sizes(cluster_of: NDArray[np.integer], published: Disassociated) -> Ints:
    """Return how many records each cluster has."""
    return np.bincount(cluster_of, minlength=published.clusters)


def _chunk_of(
    p: Disassociated, number: Ints, cluster: NDArray[np.integer], items: NDArray[np.integer], n_items: int
) -> Ints:
    """Return the chunk that each item of each record went to, or -1."""
    of = np.repeat(np.repeat(np.arange(p.chunks), np.diff(p.chunk_ptr)), np.diff(p.sub_ptr))
    chunk, item = np.divmod(np.unique(of * n_items + number[p.items]), max(1, n_items))
    joint = p.chunk_joint[chunk]
    own = joint < 0
    width = np.where(own, 1, np.diff(np.append(p.joint_ptr, p.joint_ptr[-1]))[joint])
    starts = np.cumsum(width) - width
    within = np.arange(int(width.sum())) - np.repeat(starts, width)
    place = np.where(own, 0, p.joint_ptr[joint])
    spread = np.repeat(place, width) + within
    shared = np.repeat(~own, width)
    owner = np.repeat(p.chunk_cluster[chunk].astype(np.int64), width)
    owner[shared] = p.joint_clusters[spread[shared]]
    keys = owner * n_items + np.repeat(item, width)
    order = np.argsort(keys, kind="stable")
    keys, chunks = keys[order], np.repeat(chunk, width)[order]
    wanted = cluster.astype(np.int64) * n_items + items
    if not keys.size:
        return np.full(wanted.size, -1, np.int64)
    found = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.where(keys[found] == wanted, chunks[found], -1)


def _projections(chunk: Ints, record: Ints, items: NDArray[np.integer]) -> Counter[tuple[int, bytes]]:
    """Return the projections of records on chunks, each with its number of occurrences."""
    order = np.lexsort((items, record, chunk))
    chunk, record = chunk[order], record[order]
    raw = items[order].astype(np.int64).tobytes()
    first = np.ones(chunk.size, bool)
    first[1:] = (chunk[1:] != chunk[:-1]) | (record[1:] != record[:-1])
    starts = np.flatnonzero(first)
    ends = np.append(starts, chunk.size)[1:]
    stretches = zip(chunk[starts].tolist(), starts.tolist(), ends.tolist(), strict=True)
    return Counter((c, raw[8 * a : 8 * b]) for c, a, b in stretches)


def _same(p: Disassociated, number: Ints, entries: Counter[tuple[int, bytes]], *, tolerant: bool) -> Check:
    """Check that every chunk equals the projections of its records."""
    raw, cuts = number[p.items].tobytes(), p.sub_ptr.tolist()
    of = np.repeat(np.arange(p.chunks), np.diff(p.chunk_ptr)).tolist()
    stated: Counter[tuple[int, bytes]] = Counter()
    for chunk, a, b, count in zip(of, cuts[:-1], cuts[1:], p.counts.tolist(), strict=True):
        stated[chunk, raw[8 * a : 8 * b]] += count
    wrong = np.zeros(p.chunks, bool)
    if not tolerant:
        for key in entries.keys() | stated.keys():
            wrong[key[0]] |= entries[key] != stated[key]
    return bad("projections", "chunks are the projections of their records", wrong)


def _no_more(
    p: Disassociated, number: Ints, chunk: Ints, items: NDArray[np.integer], n_items: int, *, exact: bool
) -> Check:
    """Check that no item of a chunk is in more sub-records than records; in as many, if nothing was deleted."""
    of = np.repeat(np.repeat(np.arange(p.chunks), np.diff(p.chunk_ptr)), np.diff(p.sub_ptr))
    weights = np.repeat(p.counts, np.diff(p.sub_ptr))
    stated = of * n_items + number[p.items]
    true = chunk * n_items + items
    keys, place = np.unique(np.concatenate([stated, true]), return_inverse=True)
    in_chunks = np.bincount(place[: stated.size], weights, minlength=keys.size)
    in_records = np.bincount(place[stated.size :], minlength=keys.size)
    wrong = in_chunks != in_records if exact else in_chunks > in_records
    return bad("counts", "items are in as many sub-records as records", wrong)


def _terms(p: Disassociated, number: Ints, rest: Ints, data: Transactions) -> list[Check]:
    """Check which clusters are opened, and which terms are published."""
    cluster, item = np.divmod(rest, max(1, len(data.labels)))
    has = np.zeros(p.clusters, bool)
    has[cluster] = True
    opened = bad("opened", "clusters with terms are opened", has != p.opened)
    if p.terms in ("cluster", "suppress"):
        true = set(zip(cluster.tolist(), item.tolist(), strict=True))
    else:
        true = {(-1, i) for i in item.tolist()} if p.terms == "global" else set()
    stated = set(zip(p.term_cluster.tolist(), number[p.term_item].tolist(), strict=True))
    # An item in no chunk need not be named: nothing published shows that k records may have it.
    chunked = set(number[p.items].tolist())
    lacking = {(c, i) for c, i in true - stated if i in chunked}
    wrong = len(stated - true) + len(lacking)
    what = "exactly the true terms are published"
    return [opened, Check("listed terms", what, max(len(stated | true), wrong), wrong)]
