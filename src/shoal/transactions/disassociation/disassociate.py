"""Disassociation: set-valued data are published in parts, without the links between them that could identify a person.

1. Records are sorted, so that the release does not depend on the order of the input.
2. `partition`, `rules` or `ugac` put records that have much in common into clusters of k to delta.
3. `vertical` splits the items of a cluster into chunks that are k^m-anonymous; items too rare for it are terms.
4. `shared` joins neighbouring clusters, so that items too rare for one of them can share a chunk.
5. `terms` decides what is published of the remaining items, `chunks` puts everything in a canonical order.

Terrovitis, Mamoulis, Liagouris and Skiadopoulos, Privacy Preservation by Disassociation, PVLDB 5 (2012) 944-955, with
the corrections of the specification.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import InfeasibleError, MethodError, listed, near, shortened
from shoal.model.disassociated import Disassociated, TermPolicy
from shoal.model.progress import tick
from shoal.model.sentences import Rows, Sentence
from shoal.model.transactions import Transactions
from shoal.transactions.disassociation import partition as horizontal
from shoal.transactions.disassociation.chunks import chunks
from shoal.transactions.disassociation.shared import shared
from shoal.transactions.disassociation.terms import listed_terms, suppress_universal
from shoal.transactions.disassociation.vertical import NO_RULES, Rules, vertical
from shoal.transactions.lexical import Places, Whole, gathered, lexical_order

Partitioning = Literal["recursive", "iterative", "rules", "ugac"]

STEPS = 5
MOST = 10**9  # upper limit of every integer parameter
LEVELS = 16  # 65,536 clusters per joint


@dataclass(frozen=True, eq=False)
class Disassociation:
    """A disassociated data set, and what only the data holder may know about it.

    `cluster_of` is the published cluster of each record of the data, `suppressed` the number of occurrences deleted
    under terms="suppress".
    """

    published: Disassociated
    cluster_of: NDArray[np.int64] = field(repr=False)
    suppressed: int = 0
    notes: tuple[str, ...] = ()


def disassociate(
    data: Transactions,
    k: int = 3,
    m: int = 2,
    delta: int = 60,
    partition: Partitioning = "recursive",
    levels: int = 6,
    terms: TermPolicy = "global",
    rules: Sequence[ArrayLike] | None = None,
    beta: float = 0.6,
    rounds: int = 10_000,
    rho: float = 0.8,
    publish_rare_labels: bool = False,
    seed: int = 0,
) -> Disassociation:
    """Publish set-valued data in chunks that up to m known items cannot link to fewer than k records.

    Parameters
    ----------
    k : int, at least 1
        The least number of candidate records for an attacker. 1 protects nobody.
    m : int, at least 1
        How many items of a record an attacker may know.
    delta : int, at least 2k - 1
        The most records of a cluster; ten times k or more preserves more of the data.
    partition : {"recursive", "iterative", "rules", "ugac"}
        How records are put into clusters.
    levels : int, 0 to 16
        How often neighbouring clusters are joined to share chunks.
    terms : {"global", "drop", "cluster", "suppress"}
        How items that are in no chunk are listed: once, not at all, or by cluster; with "suppress", items of all
        records of such a cluster are first removed from some of them.
    rules : sequence of arrays of item numbers, optional
        Itemsets that should stay together; required for partition "rules" and "ugac".
    beta : float, above 0 and at most 1
        The share of a rule's records that "ugac" wants in one set of clusters.
    rounds : int, at least 1
        The most rounds of "ugac".
    rho : float, 0 to 1
        The share of records that keep an item under "suppress".
    publish_rare_labels : bool
        Under "global", also list items of fewer than k records.
    seed : int
        Random seed of "ugac" and "suppress"; the others are deterministic.

    Guarantee
    ---------
    For every set of at most m items, either no data set that the release may come from holds it, or one of them holds
    it in k records. The conditions for this are checked by `verdict.km` from the release alone. Equal records,
    parameters and seed give an equal release, whatever the order of the records.

    Cost
    ----
    Near linear in the number of occurrences; see `partition`, `vertical` and `shared`.

    Examples
    --------
    >>> from shoal.model.transactions import Transactions
    >>> data = Transactions.of([["beer", "bread"], ["beer", "bread"], ["beer", "milk"], ["beer"], ["milk", "tea"]])
    >>> made = disassociate(data, k=2, m=2, delta=5)
    >>> made.published
    <Disassociated: 5 records in 1 cluster and 2 chunks, k=2, m=2>
    """
    _check(k, m, delta, partition, levels, terms, beta, rounds, rho)
    k, m, delta, levels = int(k), int(m), int(delta), int(levels)
    known = _flat(rules, len(data.labels), partition)
    if 0 < data.n < k and terms in ("cluster", "suppress"):
        raise InfeasibleError(
            f"disassociate: {data.n} records are fewer than k={k}, so that no item can be in a chunk, and "
            f"terms='{terms}' would list all of them. Use terms='global' or 'drop', or lower k."
        )
    n_items = len(data.labels)
    tick(0, STEPS)
    canonical = lexical_order(data.indptr, data.items)
    indptr, items = gathered(data.indptr, data.items, canonical)
    order, cuts = _clusters(indptr, items, n_items, known, k, delta, partition, beta, rounds, seed)
    tick(1, STEPS)
    indptr, items = gathered(indptr, items, order)
    chunked, suppressed = vertical(indptr, items, n_items, cuts, k, m, known), 0
    if terms == "suppress":
        indptr, items, suppressed = suppress_universal(indptr, items, cuts, chunked, rho, seed)
        chunked = vertical(indptr, items, n_items, cuts, k, m, known)
    tick(2, STEPS)
    joined = shared(indptr, items, n_items, cuts, chunked, k, m, levels)
    tick(3, STEPS)
    made = chunks(indptr, items, n_items, cuts, chunked, joined)
    tick(4, STEPS)
    least = 1 if publish_rare_labels else k
    shown = "drop" if data.n < k else terms  # with so few records not even labels may be published
    term_cluster, term_item = listed_terms(shown, chunked, joined.left, made.rank, data.supports, least)
    cluster_of = np.empty(data.n, np.int64)
    cluster_of[canonical[order]] = np.repeat(made.rank, np.diff(cuts))
    sizes, opened = np.empty(made.rank.size, np.int64), np.zeros(made.rank.size, np.bool_)
    sizes[made.rank] = np.diff(cuts)
    opened[made.rank[np.repeat(np.arange(made.rank.size), np.diff(chunked.ptr))[joined.left]]] = True
    used = np.zeros(n_items, np.bool_)
    used[made.items] = True
    used[term_item] = True
    number = (np.cumsum(used) - 1).astype(np.int32)
    published = Disassociated(
        k=k,
        m=m,
        delta=delta,
        labels=tuple(data.labels[item] for item in np.flatnonzero(used).tolist()),
        sizes=sizes,
        opened=opened,
        chunk_cluster=made.cluster,
        chunk_joint=made.joint,
        chunk_ptr=made.chunk_ptr,
        sub_ptr=made.sub_ptr,
        counts=made.counts,
        items=number[made.items],
        joint_ptr=made.joint_ptr,
        joint_clusters=made.joint_clusters,
        term_cluster=term_cluster,
        term_item=number[term_item],
        partition=partition,
        levels=levels,
        terms=terms,
    )
    tick(STEPS, STEPS)
    notes = (*_notes(published, data), *_wanted(data, known, k, beta, partition))
    return Disassociation(published, cluster_of, suppressed, notes)


def _clusters(
    indptr: Places,
    items: Whole,
    n_items: int,
    rules: Rules,
    k: int,
    delta: int,
    partition: str,
    beta: float,
    rounds: int,
    seed: int,
) -> tuple[Places, Places]:
    """Return the records cluster by cluster, and where clusters begin and end."""
    if partition == "recursive":
        return horizontal.recursive(indptr, items, n_items, k, delta)
    if partition == "iterative":
        return horizontal.iterative(indptr, items, n_items, k, delta)
    if partition == "rules":
        from shoal.transactions.disassociation.rules import by_rules

        return by_rules(indptr, items, n_items, _single(rules), k, delta)
    from shoal.transactions.disassociation.ugac import by_ants

    return by_ants(indptr, items, n_items, _single(rules), k, delta, beta, rounds, seed)


def _single(rules: Rules) -> list[Whole]:
    """Return the items of each rule."""
    return [rules[1][a:b] for a, b in pairwise(rules[0].tolist())]


def _wanted(data: Transactions, rules: Rules, k: int, beta: float, partition: str) -> tuple[str, ...]:
    """Warn if the rules want more records than there are."""
    if partition != "ugac":
        return ()
    from shoal.transactions.disassociation.ugac import feasible

    found = feasible(data.indptr, data.items, len(data.labels), _single(rules), k, beta)
    if found.holds:
        return ()
    note = (
        "the rules need {wanted} records at beta={beta:g}, but only {there} contain all items of a rule: some rules "
        "will keep less. Lower beta, or give fewer rules."
    )
    return (Sentence(note, wanted=found.wanted, beta=beta, there=Rows(found.there)),)


def _check(
    k: int, m: int, delta: int, partition: str, levels: int, terms: str, beta: float, rounds: int, rho: float
) -> None:
    """Refuse invalid parameters."""
    limits: dict[str, tuple[Any, int, int]] = {"k": (k, 1, MOST), "m": (m, 1, MOST), "delta": (delta, 1, MOST)}
    limits |= {"rounds": (rounds, 1, MOST), "levels": (levels, 0, LEVELS)}
    for name, (value, least, most) in limits.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
            raise MethodError(
                f"disassociate: {name} must be a whole number of at least {least}; got {shortened(value)}."
            )
        if int(value) > most:
            raise MethodError(f"disassociate: {name} must be at most {most}; got {shortened(value)}.")
    if delta < 2 * k - 1:
        raise MethodError(
            f"disassociate: delta must be a whole number of at least 2k - 1 = {2 * k - 1}, so that clusters can always "
            f"be cut; got {shortened(delta)}. Raise delta or lower k."
        )
    for name, word, words in (("partition", partition, get_args(Partitioning)), ("terms", terms, get_args(TermPolicy))):
        if not isinstance(word, str) or word not in words:
            raise MethodError(
                f"disassociate: {name} must be one of {listed(words)}; got {shortened(word)}.{near(word, words)}"
            )
    if not 0 < beta <= 1:
        raise MethodError(f"disassociate: beta must be above 0 and at most 1; got {shortened(beta)}.")
    if not 0 <= rho <= 1:
        raise MethodError(f"disassociate: rho must be from 0 to 1; got {shortened(rho)}.")


def _flat(rules: Sequence[ArrayLike] | None, n_items: int, partition: str) -> Rules:
    """Return rules as flat arrays, each with its items ascending."""
    if not rules:
        if partition in ("rules", "ugac"):
            raise MethodError(f"disassociate: partition='{partition}' needs rules; got none. Give itemsets to be kept.")
        return NO_RULES
    sets = [np.unique(np.asarray(rule, np.int64)) for rule in rules]
    wrong = sum(bool(one.size and (one[0] < 0 or one[-1] >= n_items)) for one in sets)
    if wrong:
        raise MethodError(
            f"disassociate: {wrong} of {len(sets)} rules hold item numbers that the data do not have; expected 0 to "
            f"{n_items - 1}. Take the numbers from the labels of the data."
        )
    if any(one.size < 2 for one in sets):
        raise MethodError(
            f"disassociate: {sum(one.size < 2 for one in sets)} of {len(sets)} rules have fewer than 2 items; a rule "
            "says what belongs together."
        )
    ptr = np.cumsum([0, *(one.size for one in sets)], dtype=np.int64)
    return ptr, np.concatenate(sets).astype(np.int32)


def _notes(published: Disassociated, data: Transactions) -> tuple[str, ...]:
    """Return what the data holder should know."""
    notes = []
    if published.k == 1:
        notes.append("k=1 protects nobody: every record is published as it is, in clusters of up to delta records.")
    if 0 < data.n < published.k:
        notes.append(
            f"{data.n} records are fewer than k={published.k}: no item can be in a chunk, so that none is published."
        )
    elif data.n and not published.chunks:
        notes.append(
            f"Every item is in fewer than k={published.k} records of its cluster: there is no chunk. Raise delta."
        )
    if published.terms == "cluster" and published.term_item.size:
        notes.append("terms='cluster' can reveal rare associations with certainty; 'global' and 'suppress' do not.")
    return tuple(notes)
