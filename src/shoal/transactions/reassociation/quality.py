"""Neighbours: how well re-associated data represent the original in what analysts look at first.

The most frequent pairs and triples of the original and its strongest rules are looked up in every neighbour: their
support there, their rank among all itemsets of their kind, and what else is frequent there. Itemsets held by a single
record are never listed. Everything is measured on the original: a report for the data holder, not for publication.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MethodError
from shoal.model.transactions import Transactions
from shoal.transactions.itemsets.loss import Loss, Risk, loss, risk
from shoal.transactions.itemsets.mining import itemset_supports, pair_supports, triple_supports
from shoal.transactions.itemsets.mining import rules as mined_rules
from shoal.transactions.itemsets.support import renumbered
from shoal.transactions.lexical import Places
from shoal.transactions.reassociation.correlation import kendall, spearman

__all__ = ["Entry", "Figure", "Loss", "NeighbourReport", "Ranking", "Risk", "loss", "neighbour_report", "risk"]

Key = tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """Mean and standard deviation over the neighbours; None where undefined in one of them."""

    mean: float | None
    sd: float | None

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Figure":
        """Summarize one value per neighbour."""
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return cls(None, None)
        return cls(float(np.mean(known)), float(np.std(known, ddof=1)) if len(known) > 1 else 0.0)


@dataclass(frozen=True)
class Entry:
    """An itemset: its count and rank in the original and in the neighbours; a rank is None where it is too low."""

    items: Key = field(repr=False)
    count: int
    rank: int
    counts: Figure
    ranks: Figure


@dataclass(frozen=True)
class Ranking:
    """The top itemsets of a kind, and how far the neighbours agree about them.

    `least` is the count from which an itemset is frequent: that of the last one listed, or the one requested. `kept` is
    the sum of their counts in a neighbour over that in the original, `ratio` the mean of the single ratios; `below` is
    how many of the listed ones are not frequent there.
    """

    least: int
    entries: tuple[Entry, ...]
    kept: Figure
    ratio: Figure
    below: Figure
    spearman: Figure
    kendall: Figure
    precision: Figure
    false_positives: Figure
    false_negatives: Figure


@dataclass(frozen=True)
class NeighbourReport:
    """What neighbours preserve of the original: pairs, triples, rules, and the rules requested."""

    records: int
    neighbours: int
    records_after: Figure
    pairs: Ranking
    triples: Ranking
    rules: Ranking
    wanted: Ranking | None

    def as_dict(self, *, labels: bool = False) -> dict[str, Any]:
        """Return plain numbers; item labels only on request."""
        report = asdict(self)
        for kind in ("pairs", "triples", "rules", "wanted"):
            for entry in (report[kind] or {"entries": ()})["entries"]:
                entry["items"] = list(entry["items"])
                if not labels:
                    del entry["items"]
        return report


def neighbour_report(
    original: Transactions,
    neighbours: Sequence[Transactions],
    top: int = 50,
    rules: Sequence[NDArray[np.int32]] = (),
    *,
    support: float = 0.001,
    confidence: float = 0.8,
) -> NeighbourReport:
    """Compare the top pairs, triples and rules of the original with those of its neighbours.

    Items are matched by label. `top` itemsets of each kind are listed, ties by item number; `rules` are further
    itemsets to look up, in item numbers of the original. `support` and `confidence` define a rule with one item as
    consequent; a share refers to the records of the original, and the same number of records is required of a
    neighbour. Costs what mining each data set at this support costs: about a second per neighbour for BMS1.
    """
    if not neighbours or top < 1:
        raise MethodError(
            f"neighbour_report: top must be at least 1 and there must be a neighbour; got top={top} and "
            f"{len(neighbours)} neighbours."
        )
    least = int(support) if support >= 1 else max(1, int(np.ceil(support * original.n - 1e-9)))
    return NeighbourReport(
        original.n,
        len(neighbours),
        Figure.of([float(neighbour.n) for neighbour in neighbours]),
        _pairs(original, neighbours, top),
        _triples(original, neighbours, top),
        _rules(original, neighbours, top, least, confidence),
        _wanted(original, neighbours, rules) if len(rules) else None,
    )


@dataclass(frozen=True)
class _Found:
    """Itemsets found in one data set, the most frequent first, by label, with their counts."""

    keys: list[Key]
    counts: Places

    @classmethod
    def of(cls, data: Transactions, sets: NDArray[np.int32], counts: Places, least: int) -> "_Found":
        """Take rows of item numbers in lexicographic order; those held by fewer than `least` records are left out."""
        order = np.argsort(-counts, kind="stable")
        order = order[counts[order] >= least]
        rows = sets[order].tolist()
        return cls([tuple(data.labels[item] for item in row) for row in rows], counts[order])

    def rank(self, count: int) -> int:
        """Return the rank of a count: one more than the number of higher counts."""
        return int(np.searchsorted(-self.counts, -count, side="left")) + 1


def _pairs(original: Transactions, neighbours: Sequence[Transactions], top: int) -> Ranking:
    """Rank the pairs; all pairs of a neighbour are known."""
    before = _Found.of(original, *pair_supports(original), least=2)
    least = int(before.counts[:top].min(initial=original.n + 1))
    after = [_Found.of(neighbour, *pair_supports(neighbour), least=1) for neighbour in neighbours]
    return _ranking(original, before, neighbours, after, top, least, [1] * len(after))


def _triples(original: Transactions, neighbours: Sequence[Transactions], top: int) -> Ranking:
    """Rank the triples; those of a neighbour are counted down to a quarter of what is frequent."""
    _, supports = pair_supports(original)
    # No triple is more frequent than its pairs, so the search begins at the count that enough pairs reach.
    least = max(2, int(np.sort(supports)[-top:].min(initial=original.n)))
    found = triple_supports(original, least)
    while len(found[1]) < top and least > 2:
        least = max(2, least // 2)
        found = triple_supports(original, least)
    before = _Found.of(original, *found, least=2)
    least = int(before.counts[:top].min(initial=original.n + 1))
    down = max(2, least // 4)
    after = [_Found.of(neighbour, *triple_supports(neighbour, down), least=down) for neighbour in neighbours]
    return _ranking(original, before, neighbours, after, top, least, [down] * len(after))


def _rules(
    original: Transactions, neighbours: Sequence[Transactions], top: int, least: int, confidence: float
) -> Ranking:
    """Rank the rules: antecedents with their consequent as the last item."""
    before, *after = (_mined(data, least, confidence) for data in (original, *neighbours))
    return _ranking(original, before, neighbours, after, top, least, [least] * len(after))


def _mined(data: Transactions, least: int, confidence: float) -> _Found:
    """Return the rules of a data set."""
    if data.n < least:
        return _Found([], np.empty(0, np.int64))
    found = mined_rules(data, least, confidence, None)
    keys = [tuple(data.labels[item] for item in (*rule.antecedent, rule.consequent)) for rule in found]
    return _Found(keys, np.array([rule.support for rule in found], np.int64))


def _wanted(original: Transactions, neighbours: Sequence[Transactions], rules: Sequence[NDArray[np.int32]]) -> Ranking:
    """Rank the requested itemsets among themselves."""
    sets = [np.unique(np.asarray(rule, np.int32)) for rule in rules]
    keys = [tuple(original.labels[item] for item in rule.tolist()) for rule in sets]
    after = []
    counts = itemset_supports(original, sets)
    order = np.argsort(-counts, kind="stable")
    before = _Found([keys[place] for place in order.tolist()], counts[order])
    for neighbour in neighbours:
        found = _counts(neighbour, original, before.keys)
        order = np.argsort(-found, kind="stable")
        after.append(_Found([before.keys[place] for place in order.tolist()], found[order]))
    return _ranking(original, before, neighbours, after, len(keys), 1, [0] * len(after))


def _counts(neighbour: Transactions, original: Transactions, keys: list[Key]) -> Places:
    """Count itemsets, given as labels of the original, in a neighbour."""
    place = dict(zip(original.labels, renumbered(original.labels, neighbour.labels).tolist(), strict=True))
    return itemset_supports(neighbour, [np.array([place[label] for label in key], np.int32) for key in keys])


def _ranking(
    original: Transactions,
    before: _Found,
    neighbours: Sequence[Transactions],
    after: Sequence[_Found],
    top: int,
    least: int,
    down: Sequence[int],
) -> Ranking:
    """Compare the top itemsets of the original with those of the neighbours, which are known down to a count."""
    keys, counts = before.keys[:top], before.counts[:top]
    every = np.array([_counts(neighbour, original, keys) for neighbour in neighbours]).reshape(
        len(neighbours), len(keys)
    )
    known = [dict(zip(found.keys, found.counts.tolist(), strict=True)) for found in after]
    entries = []
    for place, key in enumerate(keys):
        ranks = [
            found.rank(count) if count >= limit and key in names else None
            for found, count, limit, names in zip(after, every[:, place].tolist(), down, known, strict=True)
        ]
        count = int(counts[place])
        entries.append(Entry(key, count, before.rank(count), Figure.of(every[:, place].tolist()), Figure.of(ranks)))
    frequent = {key for key, count in zip(before.keys, before.counts.tolist(), strict=True) if count >= least}
    there = [{key for key, count in names.items() if count >= least} for names in known]
    first = set(keys)
    return Ranking(
        least,
        tuple(entries),
        Figure.of([float(row.sum() / counts.sum()) if counts.sum() else None for row in every]),
        Figure.of([float((row / counts).mean()) if counts.size and counts.min() else None for row in every]),
        Figure.of([float((row < least).sum()) for row in every]),
        Figure.of([spearman(counts, row) for row in every]),
        Figure.of([kendall(counts, row) for row in every]),
        Figure.of([len(first & set(found.keys[:top])) / len(first) if first else None for found in after]),
        Figure.of([float(len(names - frequent)) for names in there]),
        Figure.of([float(len(frequent - names)) for names in there]),
    )
