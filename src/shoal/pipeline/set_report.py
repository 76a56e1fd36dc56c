"""Utility and disclosure risk of a set release, measured against the original records: confidential."""

from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from shoal.certify.check import check_folder
from shoal.certify.sets_bytes import read_files
from shoal.errors import GuaranteeError
from shoal.io.bundle import settle
from shoal.io.transactions import ReadingOptions
from shoal.io.transactions import read as read_transactions
from shoal.model.asking import check_number
from shoal.model.disassociated import Disassociated
from shoal.model.options import with_options
from shoal.model.progress import step, tick
from shoal.model.set_release import SetRelease
from shoal.model.transactions import Transactions
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.judging import refuse_swapped
from shoal.pipeline.set_folders import published_neighbour, verified
from shoal.pipeline.set_neighbours import neighbour_of, redrawn
from shoal.reports.counting import joined
from shoal.reports.set_worth import DISTANCE, HARD, KINDS, RAW, RISK_HARD, RISK_RAW
from shoal.reports.sets import set_facts

STEPS = 6
LENGTHS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
SUPPORTS = (5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 20_000, 100_000)
DISTANCES = (
    "distance",
    "lower",
    "upper",
    "relative",
    "deleted",
    "inserted",
    "renamed",
    "histogram",
    "permuted",
    "first_only",
    "nothing",
)
FIGURES = ("kept", "spearman", "kendall", "precision", "below", "false_positives", "false_negatives")


@without_arrow_errors
@with_options("report")
def report(
    original: Any,
    release: str | Path | SetRelease,
    *,
    top: int = 50,
    draws: int = 3,
    distance: bool = True,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> dict[str, dict[str, Any]]:
    """Measure the utility and disclosure risk of a set release.

    Parameters
    ----------
    original : path or records
    release : path or SetRelease
        The release; a folder is verified first.
    top : int
        Number of pairs, triples and rules compared.
    draws : int
        Number of neighbours drawn from it.
    distance : bool
        Whether to measure the tree edit distance, which takes some seconds for 60,000 records.
    seed : int
        Random seed.
    **reading
        How `original` is read, as in `shoal.sets.read`.

    Returns
    -------
    dict
        Figures by section, without names of items.
    """
    for name, number, least in (("top", top, 1), ("draws", draws, 1), ("seed", seed, 0)):
        check_number(number, "report", name, whole=True, least=least)
    refuse_swapped(original, "records")
    step("verify")
    published = verified(release)
    beside, kind = published_neighbour(release)
    step("read")
    data = read_transactions(original, **reading)
    step("measure")
    facts = figures_of(data, published, beside, kind, top=top, draws=draws, distance=distance, seed=seed)
    step("")
    return facts


@without_arrow_errors
def set_page(folder: str | Path | SetRelease, figures: dict[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return the facts of a report on a set release; a folder is checked from its bytes.

    With the figures of `report` it is the holder's report; otherwise it is made from the release alone.
    """
    if isinstance(folder, SetRelease):
        return set_facts(folder.published, folder.verdicts, folder.kind, figures)
    settle(folder)
    checked = check_folder(folder, redraw=redrawn)
    if not checked.holds:
        raise GuaranteeError(f"report: {str(folder)!r} does not pass verification. `shoal sets verify` says why.")
    _, kind = published_neighbour(folder)
    return set_facts(read_files(Path(folder)).published, checked.verdicts, kind, figures)


def figures_of(
    data: Transactions,
    published: Disassociated,
    beside: Transactions | None = None,
    kind: str = "none",
    *,
    top: int = 50,
    draws: int = 3,
    distance: bool = True,
    seed: int = 0,
) -> dict[str, dict[str, Any]]:
    """Return the figures of a release and its original records, by section; see `report`.

    `beside`, the published neighbour of this kind, is measured as it is; others are drawn. Record counts from 1 to
    k - 1 are given only as that range, and no item is named.
    """
    from shoal.transactions.itemsets.association import association
    from shoal.transactions.reassociation.quality import loss, neighbour_report, risk
    from shoal.transactions.trees.tree_distance import tree_distance

    lost = loss(data, published)
    tick(1, STEPS)
    given = [beside] if kind == "raw" and beside is not None else []
    drawn = (neighbour_of(published, "raw", seed + turn)[0] for turn in range(draws - len(given)))
    raw = [*given, *(one for one in drawn if one is not None)]
    hard = beside if kind == "km" else neighbour_of(published, "km", seed)[0]
    tick(2, STEPS)
    facts: dict[str, dict[str, Any]] = {
        "Where neighbours come from": {
            name: "as published" if name == kind else "drawn for this report" for name in ("raw", "km")
        },
        "What is left out": _left_out(lost, published.k),
        **_shapes(data, raw[0] if hard is None else hard, published),
        **_associations("certain", association(data, published)),
        **_associations("expected", association(data, published, support="expected")),
    }
    tick(3, STEPS)
    facts |= {f"{RAW}{kind}": each for kind, each in _kept(neighbour_report(data, raw, top).as_dict()).items()}
    if hard is not None:
        figures = neighbour_report(data, [hard], top).as_dict()
        facts |= {f"{HARD}{kind}": each for kind, each in _kept(figures).items()}
        whole = max(1, raw[0].items.size)  # a draw has every occurrence of the chunks
        facts[f"{HARD}cost"] = {"neighbour, suppressed %": 100.0 * (1 - hard.items.size / whole)}
    tick(4, STEPS)
    facts[RISK_RAW] = _risk(risk(data, raw[0], published, published.k), published.k)
    if hard is not None:
        facts[RISK_HARD] = _risk(risk(data, hard, published, published.k), published.k)
    tick(5, STEPS)
    if distance:
        figures = tree_distance(data, raw[0], seed=seed).as_dict()
        facts[DISTANCE] = {name: figures[name] for name in DISTANCES if figures[name] is not None}
    return facts


def _shapes(data: Transactions, neighbour: Transactions, published: Disassociated) -> dict[str, dict[str, int]]:
    """Return the distributions of record lengths and item frequencies before and after; bins below k are joined."""
    k = published.k
    lengths = [np.diff(one.indptr) for one in (data, neighbour)]
    empty = data.n - neighbour.n  # records that lost all their items
    counts = [_between(one, LENGTHS).astype(np.float64) for one in lengths]
    counts = [np.concatenate([[none], one]) for none, one in zip((0, empty), counts, strict=True)]
    runs = joined(counts, k)
    names = _names(tuple((0, *LENGTHS)[first] for first, _ in runs), "item") if runs else []
    if runs[:1] == [(0, 1)]:
        names[0] = "no item"
    by_length = {
        f"Records by their items, {when}": {
            name: round(float(one[first:last].sum())) for name, (first, last) in zip(names, runs, strict=True)
        }
        for when, one in zip(("before", "after"), counts, strict=True)
    }
    most = int(np.bincount(data.items).max())
    edges = (1, *(edge for edge in SUPPORTS if k < edge <= most))
    held = np.bincount(published.items, np.repeat(published.counts, np.diff(published.sub_ptr)))
    both = [_between(one[one > 0], edges) for one in (np.bincount(data.items), held)]
    labels = _names(edges, "record")
    labels = [f"fewer than {edges[1]} records", *labels[1:]] if len(edges) > 1 else labels
    return by_length | {
        f"Items by their records, {when}": dict(zip(labels, one.tolist(), strict=True))
        for when, one in zip(("before", "after"), both, strict=True)
    }


def _between(values: Any, edges: tuple[int, ...]) -> Any:
    """Count the values in each bin between edges; the last bin is open."""
    return np.bincount(np.searchsorted(edges, values, side="right") - 1, minlength=len(edges))


def _names(edges: tuple[int, ...], noun: str) -> list[str]:
    """Name the bins between edges."""
    ends = [
        f"{low:,} {noun}{'' if low == 1 else 's'}" if high == low + 1 else f"{low:,} to {high - 1:,} {noun}s"
        for low, high in pairwise(edges)
    ]
    return [*ends, f"{edges[-1]:,} or more {noun}s"]


def _associations(support: str, found: Any) -> dict[str, dict[str, Any]]:
    """Return the errors of all pairs, and by the number of records that contain them."""
    overall = {"pairs": found.pairs.itemsets, "relative error, sum": found.pairs.total}
    overall |= {"relative error, mean": found.pairs.mean, "lowest possible sum for this k": found.floor}
    by_frequency = {}
    for one in found.table:
        if not one.error.itemsets:
            continue
        wide = one.most is None or one.most > one.least
        span = f"{one.least} record{'' if one.least == 1 else 's'}"
        if wide:
            span = f"{one.least} or more records" if one.most is None else f"{one.least} to {one.most} records"
        by_frequency[span] = one.error.mean
    return {
        f"Associations, {support} support": overall,
        f"Error of pairs by frequency, {support} support": by_frequency,
    }


def _kept(figures: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the mean figures of each kind of itemset."""
    found = {}
    for kind in KINDS:
        ranking = figures.get(kind)
        if ranking and ranking["entries"]:
            found[kind] = {"compared": len(ranking["entries"])} | {
                name.replace("_", " "): ranking[name]["mean"] for name in FIGURES if ranking[name]["mean"] is not None
            }
    return found


def _risk(found: Any, k: int) -> dict[str, Any]:
    """Return what could be mistaken for facts about few people."""
    there, again = (sum(pair[place] for length, pair in found.unique.items() if length > 1) for place in (0, 1))
    return {
        "pairs": found.pairs,
        "pairs in fewer than k records": found.rare_pairs,
        "share of these that the records hold": found.real,
        "share of these that few records hold": found.real_and_rare,
        "records of two or more items that are unique": _few(there, k),
        "of these found again": _few(again, k),
        "smallest cluster": found.smallest,
        "clusters with an item of all their records beside terms": found.forced,
        "terms are listed by cluster": found.linked,
    }


def _left_out(lost: Any, k: int) -> dict[str, Any]:
    """Return what was lost, by readable names, without unknown figures."""
    figures = {
        "occurrences": lost.occurrences,
        "occurrences in no chunk": lost.lost,
        "their share": lost.share,
        "items": lost.items,
        "items in no chunk at all": lost.items_lost,
        "records": lost.records,
        "records that lost an item": None if lost.touched is None else _few(lost.touched, k),
        "records that lost all": None if lost.emptied is None else _few(lost.emptied, k),
    }
    return {name: value for name, value in figures.items() if value is not None}


def _few(count: int, k: int) -> int | str:
    """Return a number of records, or that it is below k."""
    return f"1 to {k - 1}" if 0 < count < k else count
