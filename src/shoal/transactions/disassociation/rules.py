"""Rules: itemsets to be preserved gather their records, the rarest rule first.

1. A rule is an itemset of two items or more. Which rules each record holds is found by the rarest item of a rule. Rules
   held by fewer than k records cannot be preserved, and are ignored.
2. In ascending order of support, each rule takes its records that no rule has taken, if they are k or more.
3. Records that hold a rule but were not taken go where most records of their most supported rule are.
4. The records of a rule are split to at most delta (`rule_split`): the rarest of the other rules held by at least k
   records, else the most frequent item, splits off its records, and so on; small leaves stay with their neighbours.
5. Records without a rule are partitioned as usual.

After the ants of Awad, Couchot, Al Bouna and Philippe, Future Internet 12(4):71 (2020), who gather records by rules
too: rare rules lose most when others take their records, so they go first.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MethodError, ReadError, counted, shortened
from shoal.kernels.loops import loop
from shoal.transactions.disassociation.partition import recursive
from shoal.transactions.disassociation.rule_split import Held, split
from shoal.transactions.lexical import Places, Whole

Rules = Sequence[NDArray[np.int32]]


@dataclass(frozen=True)
class RuleFact:
    """The outcome for a rule: its support, how many of these records a chunk can preserve, and their share.

    `reached` says whether the share is at least beta, `unpreservable` whether the support is below k.
    """

    support: int
    gathered: int
    share: float
    reached: bool
    unpreservable: bool


def read_rules(
    text: str, labels: Sequence[str], *, missing: Literal["error", "ignore"] = "error"
) -> list[NDArray[np.int32]]:
    """Read rules, one per line, as arrays of item numbers: each rule once, its items ascending, by first appearance.

    Lines are labels separated by whitespace; a word that begins with # starts a comment. Labels that contain whitespace
    require the other form, a JSON list of lists of labels. A rule with an item that is not in the data is refused, or
    left out with missing="ignore".

    Examples
    --------
    >>> [rule.tolist() for rule in read_rules("b a  # often together", ("a", "b", "c"))]
    [[0, 1]]
    """
    if missing not in ("error", "ignore"):
        raise MethodError(f"read_rules: missing must be 'error' or 'ignore'; got {shortened(missing)}.")
    number = {label: place for place, label in enumerate(labels)}
    found: dict[tuple[int, ...], None] = {}
    for place, words in _written(text):
        if len(words) < 2:
            raise ReadError(f"read_rules: {place} has {len(words)} different items; a rule needs at least 2.")
        unknown = sum(word not in number for word in words)
        if unknown and missing == "error":
            raise ReadError(
                f"read_rules: {place} has {counted(unknown, 'item')} not found in the data. "
                "Correct the line or leave it out."
            )
        if not unknown:
            found[tuple(sorted(number[word] for word in words))] = None
    return [np.array(rule, np.int32) for rule in found]


def _written(text: str) -> list[tuple[str, set[str]]]:
    """Return the position of each rule in the text, and its distinct labels."""
    if text.lstrip().startswith("["):
        try:
            lists = json.loads(text)
        except (ValueError, RecursionError):
            raise ReadError(
                "read_rules: text that begins with [ must be a JSON list of lists of labels, and is not. "
                "Check its brackets and quotes."
            ) from None
        rules = []
        for count, rule in enumerate(lists, 1):
            if not isinstance(rule, list) or not all(type(label) in (str, int) for label in rule):
                raise ReadError(
                    f"read_rules: rule {count} must be a list of labels, strings or whole numbers; it is not."
                )
            rules.append((f"rule {count}", {str(label) for label in rule}))
        return rules
    rules = []
    for count, line in enumerate(text.splitlines(), 1):
        words = line.split()
        kept = next((place for place, word in enumerate(words) if word.startswith("#")), len(words))
        if kept:
            rules.append((f"line {count}", set(words[:kept])))
    return rules


def checked_rules(rules: Rules, n_items: int, who: str = "rules") -> list[NDArray[np.int32]]:
    """Return the rules with ascending items, each once; refuse those with fewer than two items or unknown ones."""
    found: dict[tuple[int, ...], None] = {}
    for count, rule in enumerate(rules, 1):
        numbers = np.unique(np.asarray(rule, np.int64))
        if numbers.size < 2:
            raise MethodError(f"{who}: rule {count} has {numbers.size} different items; a rule needs at least 2.")
        if numbers[0] < 0 or numbers[-1] >= n_items:
            raise MethodError(
                f"{who}: rule {count} has an item number outside 0 to {n_items - 1}, the items of the data."
            )
        found[tuple(numbers.tolist())] = None
    return [np.array(rule, np.int32) for rule in found]


def by_rules(indptr: Places, items: Whole, n_items: int, rules: Rules, k: int, delta: int) -> tuple[Places, Places]:
    """Partition records so that rules keep their support: the rarest rule takes its records first.

    Inputs and result are as of `partition.recursive`, and `rules` the itemsets to preserve.

    Guarantee
    ---------
    Every cluster holds k to delta records, if there are k records at all. The result depends on the arguments alone:
    ties go to the lowest number.

    Cost
    ----
    O(L log L) for L items in all records in practice, O(sum of squared lengths) at worst; memory O(L).

    Examples
    --------
    >>> records = np.array([[0, 1], [0, 2], [0, 1], [0, 2]], np.int32)
    >>> order, cuts = by_rules(np.arange(0, 9, 2), records.ravel(), 3, [np.array([0, 1]), np.array([0, 2])], 2, 3)
    >>> order.tolist(), cuts.tolist()
    ([0, 2, 1, 3], [0, 2, 4])
    """
    wanted = checked_rules(rules, n_items, "by_rules")
    check_sizes(k, delta, "by_rules")
    held = held_rules(indptr, items, n_items, wanted, least=k)
    holders = np.argsort(held.rules, kind="stable")
    records = np.repeat(np.arange(indptr.size - 1), np.diff(held.ptr))[holders]
    ends = np.concatenate(([0], np.cumsum(np.bincount(held.rules, minlength=len(wanted)))))
    owner = _rarest_first(records, ends, np.argsort(held.supports, kind="stable"), indptr.size - 1, k)
    return clustered(indptr, items, n_items, held, settled(held, owner, k), k, delta)


def check_sizes(k: int, delta: int, who: str) -> None:
    """Refuse impossible cluster sizes."""
    if k < 1 or delta < 2 * k - 1:
        raise MethodError(
            f"{who}: k must be at least 1 and delta at least 2k - 1; got k={k} and delta={delta}. Raise delta or "
            "lower k."
        )


def held_rules(indptr: Places, items: Whole, n_items: int, rules: Rules, least: int = 1) -> Held:
    """Find which rules each record holds, ignoring rules held by fewer than `least` records."""
    supports = np.bincount(items, minlength=n_items)
    rule_ptr = np.concatenate(([0], np.cumsum([rule.size for rule in rules], dtype=np.int64))).astype(np.int64)
    rule_items = np.concatenate([np.empty(0, np.int32), *rules]).astype(np.int32)
    leads = np.array([rule[np.argmin(supports[rule])] for rule in rules], np.int64)
    by_lead = np.argsort(leads, kind="stable")
    lead_ptr = np.concatenate(([0], np.cumsum(np.bincount(leads, minlength=n_items)))).astype(np.int64)
    ptr, held = _find(indptr, items, rule_ptr, rule_items, lead_ptr, by_lead)
    counts = np.bincount(held, minlength=len(rules)).astype(np.int64)
    kept = counts[held] >= least
    ends = np.concatenate(([0], np.cumsum(kept)))
    return Held(ends[ptr].astype(np.int64), held[kept], counts)


def settled(held: Held, owner: Places, k: int) -> Places:
    """Dissolve rule clusters of fewer than k records; each such record goes where most of its best rule are, if any.

    Its best rule is the most supported that some remaining cluster holds. Every record that holds a rule but has no
    cluster is settled likewise; -1 stands for a record of no cluster.
    """
    u = held.supports.size
    sizes = np.bincount(owner[owner >= 0], minlength=u)
    home = np.where((owner >= 0) & (sizes[np.maximum(owner, 0)] >= k), owner, -1) if u else owner
    lost = np.flatnonzero((home < 0) & (np.diff(held.ptr) > 0))
    if lost.size == 0:
        return home
    entry_home = np.repeat(home, np.diff(held.ptr))
    there = entry_home >= 0
    keys, counts = np.unique(held.rules[there].astype(np.int64) * u + entry_home[there], return_counts=True)
    rule, cluster = np.divmod(keys, u)
    first = np.lexsort((cluster, -counts, rule))
    best = np.full(u, -1, np.int64)
    leading = first[np.unique(rule[first], return_index=True)[1]]
    best[rule[leading]] = cluster[leading]
    for record in lost.tolist():
        own = held.rules[held.ptr[record] : held.ptr[record + 1]]
        own = own[best[own] >= 0]
        if own.size:
            home[record] = best[own[np.argmax(held.supports[own])]]
    return home


def clustered(
    indptr: Places, items: Whole, n_items: int, held: Held, owner: Places, k: int, delta: int
) -> tuple[Places, Places]:
    """Return order and cuts: the records of each rule split to k to delta, then the others partitioned."""
    gathered = np.flatnonzero(owner >= 0)
    members = gathered[np.argsort(owner[gathered], kind="stable")]
    owners, sizes = np.unique(owner[gathered], return_counts=True)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    cuts = split(indptr, items, n_items, held, members, starts, owners, k, delta)
    rest = np.flatnonzero(owner < 0)
    if rest.size == 0 and members.size:
        return members, cuts
    if members.size and rest.size < k:
        # The last cluster takes them; it is halved if it grows beyond delta, and both halves then have at least k.
        order = np.concatenate((members, rest))
        middle = [cuts[-2] + (order.size - cuts[-2] + 1) // 2] if order.size - cuts[-2] > delta else []
        return order, np.concatenate((cuts[:-1], middle, [order.size])).astype(np.int64)
    own = np.repeat(owner < 0, np.diff(indptr))
    ends = np.concatenate(([0], np.cumsum(np.diff(indptr)[rest]))).astype(np.int64)
    rest_order, rest_cuts = recursive(ends, items[own], n_items, k, delta)
    return np.concatenate((members, rest[rest_order])), np.concatenate((cuts[:-1], members.size + rest_cuts))


def rule_facts(
    indptr: Places, items: Whole, n_items: int, rules: Rules, k: int, order: Places, cuts: Places, beta: float = 0.6
) -> list[RuleFact]:
    """Return for each rule how many of its records are in clusters where at least k records hold it.

    `order` and `cuts` are the clusters, `beta` the share of its records that a rule should keep. Takes O(L + u log u)
    for L items in all records and u rules held by them.
    """
    numbers = [np.unique(np.asarray(rule, np.int32)).astype(np.int32) for rule in rules]
    held = held_rules(indptr, items, n_items, numbers)
    cluster = np.empty(indptr.size - 1, np.int64)
    cluster[order] = np.repeat(np.arange(cuts.size - 1), np.diff(cuts))
    entry = np.repeat(cluster, np.diff(held.ptr))
    keys, counts = np.unique(held.rules.astype(np.int64) * max(cuts.size, 1) + entry, return_counts=True)
    kept = counts >= k
    gathered = np.bincount(keys[kept] // max(cuts.size, 1), weights=counts[kept], minlength=len(numbers))
    facts = []
    for s, g in zip(held.supports.tolist(), gathered.astype(np.int64).tolist(), strict=True):
        facts.append(RuleFact(s, g, g / s if s else 0.0, s >= k and g >= beta * s, s < k))
    return facts


@loop
def _find(
    indptr: Places, items: Whole, rule_ptr: Places, rule_items: Whole, lead_ptr: Places, by_lead: Places
) -> tuple[Places, Whole]:
    """Return the rules that each record holds, ascending, as two flat arrays."""
    n = indptr.size - 1
    ptr = np.zeros(n + 1, np.int64)
    held = np.empty(max(1024, n), np.int32)
    filled = 0
    for r in range(n):
        begin = filled
        for a in range(indptr[r], indptr[r + 1]):
            for b in range(lead_ptr[items[a]], lead_ptr[items[a] + 1]):
                rule = by_lead[b]
                at = indptr[r]
                inside = True
                for c in range(rule_ptr[rule], rule_ptr[rule + 1]):
                    while at < indptr[r + 1] and items[at] < rule_items[c]:
                        at += 1
                    if at == indptr[r + 1] or items[at] != rule_items[c]:
                        inside = False
                        break
                if inside:
                    if filled == held.size:
                        larger = np.empty(2 * held.size, np.int32)
                        for c in range(filled):
                            larger[c] = held[c]
                        held = larger
                    held[filled] = rule
                    filled += 1
        for a in range(begin + 1, filled):  # a few rules: sorted by insertion
            rule, at = held[a], a
            while at > begin and held[at - 1] > rule:
                held[at] = held[at - 1]
                at -= 1
            held[at] = rule
        ptr[r + 1] = filled
    return ptr, held[:filled].copy()


@loop
def _rarest_first(records: Places, ends: Places, turns: Places, n: int, k: int) -> Places:
    """Return the rule that takes each record, or -1."""
    owner = np.full(n, -1, np.int64)
    for turn in range(turns.size):
        rule = turns[turn]
        free = 0
        for a in range(ends[rule], ends[rule + 1]):
            free += owner[records[a]] < 0
        if free >= k:
            for a in range(ends[rule], ends[rule + 1]):
                if owner[records[a]] < 0:
                    owner[records[a]] = rule
    return owner
