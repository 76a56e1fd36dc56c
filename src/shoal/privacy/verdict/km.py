"""The verifier of set-valued releases: every combination of at most m items must be shared by k records.

A disassociated data set promises: for every itemset of at most m items, either no data set consistent with the release
has it, or some consistent data set has it in k records or more. That follows from conditions on what is published,
which are counted here without using any of the code that makes releases:

- C1  every record chunk is k^m-anonymous: each itemset of at most m items is in k sub-records or none;
- C2  chunks of a cluster have no item in common, none with its terms, and fit into the cluster;
- C3  the chunks of a cluster without terms can fill all its records, however they are combined (cover condition);
- C4  shared chunks are k^m-anonymous, and their items are in no other chunk of any cluster of the joint;
- C5  no cluster names a term beside an item of all its records;
- C6  the order of elements reveals nothing; and clusters have k to delta records.

Terrovitis, Mamoulis, Liagouris and Skiadopoulos (2012); C5 is our own.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import model
from shoal.errors import MethodError
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict
from shoal.model.transactions import Transactions
from shoal.privacy.verdict import km_chunks
from shoal.privacy.verdict.km_against import verify_against
from shoal.privacy.verdict.km_counts import Family, family, itemsets
from shoal.privacy.verdict.km_form import Check, form, order, sizes

__all__ = ["Check", "Found", "verify", "verify_against", "verify_plain", "violations"]


@dataclass(frozen=True)
class Found:
    """What the verifier says of a disassociated data set."""

    verdicts: tuple[Verdict, ...]  # one for each condition
    checks: tuple[Check, ...]  # the same in more detail
    warnings: tuple[str, ...] = ()  # risks that the parameters allow

    @property
    def holds(self) -> bool:
        """Whether every verdict holds."""
        return all(verdict.holds for verdict in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "ok": self.holds,
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "checks": [check.as_dict() for check in self.checks],
            "warnings": list(self.warnings),
        }


def verify(published: Disassociated) -> Found:
    """Check every condition on a disassociated data set, from what is published alone.

    Nothing in it is trusted, not even that its arrays are consistent.

    Guarantee
    ---------
    If all verdicts hold, then for every itemset of at most m items either no data set that the release could have come
    from has it, or one of them has it in k records or more.

    Cost
    ----
    O(number of times that itemsets of at most m items occur in sub-records) time, up to a logarithm.
    """
    fit = form(published)
    if not fit.ok:
        return Found((_counted("form", fit),), (fit,))
    p = published
    given = km_chunks.parts(p)
    own, common = km_chunks.rare(given, given.own, p.k, p.m), km_chunks.rare(given, ~given.own, p.k, p.m)
    association = km_chunks.forced(p, given)
    held = {
        "chunks apart": km_chunks.disjoint(p, given),
        "cover condition": km_chunks.cover(p, given),
        "shared chunks apart": km_chunks.shared(p, given),
        "terms": km_chunks.terms(p),
        "order": order(p),
        "cluster sizes": sizes(p),
    }
    verdicts = (
        _rare("k^m-anonymity of chunks", own, p.k),
        _rare("k^m-anonymity of shared chunks", common, p.k),
        *(_counted(model, check) for model, check in held.items()),
        _association(association, p.terms),
    )
    checks = (
        fit,
        Check("C1", "chunks are k^m-anonymous", own.n_checked, own.n_bad, own.where),
        Check("C4", "shared chunks are k^m-anonymous", common.n_checked, common.n_bad, common.where),
        *held.values(),
        association,
    )
    return Found(verdicts, tuple(sorted(checks, key=lambda check: check.id)), _warnings(association, p))


@model(
    "k^m-anonymity",
    about="records",
    asks=lambda asked: asked.k,
    high=True,
    set_by=("k", "m"),
    promise=(
        "Anyone who knows some items of a person's set, at most m (as the policy states), finds at least "
        "{asked} rows that could have them."
    ),
    leaves_open=(
        "Anyone who knows more items may find fewer rows. It does not protect what these rows have in common."
    ),
)
def verify_plain(data: Transactions, k: int, m: int) -> Verdict:
    """Check whether plain records are k^m-anonymous, with k and m at least 1.

    `found` of the verdict is the number of records with the rarest itemset of at most m items; k if there is none.

    Guarantee
    ---------
    If it holds, every itemset of at most m items is in no record or in at least k records.

    Cost
    ----
    O(number of times that itemsets of at most m items occur in different records) time, up to a logarithm.

    Examples
    --------
    >>> verify_plain(Transactions.of(["ab", "ab", "b"]), k=2, m=2).holds
    True
    >>> verify_plain(Transactions.of(["ab", "b", "b"]), k=2, m=2).found
    1.0
    """
    _promising(k, m)
    checked, wrong, least = 0, 0, k
    if k > 1 and data.n:
        least = data.n
        for counted in itemsets(_plain(data.indptr, data.items, len(data.labels)), m):
            checked += counted.support.size
            wrong += int((counted.support < k).sum())
            least = min(least, int(counted.support.min()))
    note = f"{wrong} of {checked} itemsets of at most m={m} items are in fewer than k={k} records" if wrong else ""
    return Verdict("k^m-anonymity", None, float(k), float(least), wrong == 0, note)


def violations(
    indptr: NDArray[np.int64], items: NDArray[np.integer], n_items: int, k: int, m: int
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the itemsets of at most m items that are in some records, but fewer than k.

    Records are as in `Transactions`. For each size that occurs: the size, and an array with one itemset per row in
    lexicographic order. The cost is that of `verify_plain`.

    Examples
    --------
    >>> data = Transactions.of(["ab", "b", "b"])
    >>> [(size, sets.tolist()) for size, sets in violations(data.indptr, data.items, 2, k=2, m=2)]
    [(1, [[0]]), (2, [[0, 1]])]
    """
    _promising(k, m)
    found: dict[int, list[NDArray[np.int64]]] = {}
    if k > 1 and indptr.size > 1:
        for counted in itemsets(_plain(indptr, items, n_items), m):
            below = counted.sets[counted.support < k]
            if below.size:
                found.setdefault(below.shape[1], []).append(below)
    return [(size, np.concatenate(parts)) for size, parts in sorted(found.items())]


def _promising(k: int, m: int) -> None:
    """Refuse parameters that guarantee nothing."""
    if k < 1 or m < 1:
        raise MethodError(f"verify: k and m must be integers of at least 1; got {k} and {m}.")


def _plain(indptr: NDArray[np.int64], items: NDArray[np.integer], n_items: int) -> Family:
    """Return the distinct records, each with its number of occurrences."""
    cuts = indptr.tolist()
    data = np.ascontiguousarray(items, np.int64)
    raw, wide = data.tobytes(), data.itemsize
    times: dict[bytes, int] = {}
    for a, b in pairwise(cuts):
        record = raw[a * wide : b * wide]
        times[record] = times.get(record, 0) + 1
    lengths = np.array([len(record) // wide for record in times], np.int64)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    weight = np.array(list(times.values()), np.int64)
    return family(
        ptr, np.frombuffer(b"".join(times), np.int64), np.zeros(weight.size, np.int64), weight, max(1, n_items)
    )


def _counted(model: str, check: Check) -> Verdict:
    """Return a check as a verdict: none may fail."""
    note = f"{check.n_bad} of {check.n_checked}" if check.n_bad else ""
    return Verdict(model, None, 0.0, float(check.n_bad), check.ok, note)


def _rare(model: str, found: km_chunks.Rare, k: int) -> Verdict:
    """Return the counts in chunks as a verdict: no itemset may be in fewer than k records."""
    note = f"{found.n_bad} of {found.n_checked} itemsets" if found.n_bad else ""
    if found.undecided:
        note += f", {found.undecided} chunks with too many to count"
    return Verdict(model, None, float(k), float(found.least), found.n_bad == 0, note)


def _association(check: Check, policy: str) -> Verdict:
    """Return C5 as a verdict; if terms are published by cluster on purpose it warns and does not fail."""
    note = f"{check.n_bad} of {check.n_checked} clusters with terms" if check.n_bad else ""
    return Verdict("forced associations", None, 0.0, float(check.n_bad), check.ok or policy == "cluster", note)


def _warnings(association: Check, p: Disassociated) -> tuple[str, ...]:
    """Return what is allowed although it is a risk."""
    notes = []
    if association.n_bad and p.terms == "cluster":
        notes.append(
            f"{association.n_bad} of {association.n_checked} clusters name a term beside an item that all their "
            "records have: anyone with the term certainly has the item. Publish terms globally."
        )
    if p.k == 1:
        notes.append("k is 1, so nothing is protected.")
    return tuple(notes)
