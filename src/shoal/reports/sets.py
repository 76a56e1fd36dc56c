"""The report of a set-valued release: facts from the release alone or, for the data holder, with the records."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict
from shoal.reports import blocks
from shoal.reports.answer import set_answer
from shoal.reports.blocks import Block
from shoal.reports.render import FAILS, HOLDS
from shoal.reports.set_worth import worth_sections
from shoal.reports.wording import words

EDGES = (1, 2, 5, 10, 20, 50, 100, 500, 1000)
LIMITS = (
    "The guarantee is about possible data sets, not probabilities: one candidate may be far likelier than the others.",
    "It does not cover an attacker who knows more than m items of a person, or who knows that a person lacks an item.",
    "A second release of the same records can be compared with this one. Replace a release; do not add another.",
    "Labels of items that at least k records have are published unchanged.",
)
VERIFY = "Anyone who has the folder can recount all of this from its files:"
MEANS = {
    "k^m-anonymity of chunks": "records with the rarest combination of at most m items in a chunk",
    "k^m-anonymity of shared chunks": "the same for chunks that several clusters share",
    "k^m-anonymity of the neighbour": "the same for the plain records published beside the chunks",
    "chunks apart": "chunks of a cluster that share an item, or have more parts than the cluster has records",
    "cover condition": "clusters whose chunks could not fill all their records",
    "shared chunks apart": "shared chunks with an item that another chunk of their clusters has",
    "terms": "items outside chunks that are listed where they must not be",
    "order": "entries whose order could reveal something about the input",
    "cluster sizes": "clusters of fewer than k or more than delta records",
    "forced associations": "clusters that list an item beside one that all of their records have",
}


def set_facts(
    published: Disassociated,
    verdicts: Sequence[Verdict],
    kind: str,
    findings: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the facts of a report.

    `verdicts` are those on the files, `kind` is that of the neighbour ("km", "raw" or "none"). `findings`, figures by
    section that need the original records, turn it into the data holder's report.

    Guarantee
    ---------
    No item is named in it. Without findings, everything in it can be counted in the release.
    """
    k, m = published.k, published.m
    sections = [
        blocks.section("done", "What was done", _done(published, kind)),
        blocks.section("promise", "Guarantees, required and found", _promised(published, verdicts)),
        blocks.section("shape", "Shape of the release", _shape(published)),
    ]
    sections += [
        *(worth_sections(findings) if findings is not None else []),
        blocks.section("limits", "What it does not protect against", [blocks.items(LIMITS)]),
        blocks.section("verify", "How to verify it", [blocks.text(VERIFY), blocks.code("shoal sets verify FOLDER")]),
    ]
    holds = all(verdict.holds for verdict in verdicts)
    audience = "public" if findings is None else "holder"
    kept = None if findings is None else 100 * (1 - findings["What is left out"]["their share"])
    first = set_answer(published, verdicts, kind, words()["next"][f"{audience}_sets"], kept)
    constraint = f"k = {k}, m = {m}"
    more = "every condition was checked in the files" if holds else "not every condition holds"
    return {
        "kind": audience,
        "title": "What this release of sets protects",
        "kicker": words()["kickers"][audience],
        "answer": first.lines("long"),
        "lead": "Records are sets of items. Their items were split into chunks that cannot be put together again: "
        "which parts of chunks belong to the same person is not published.",
        "holds": holds,
        "k": k,
        "rows": published.n,
        "verdicts": [{"constraint": constraint, "holds": holds, "more": more}],
        "findings": [],
        "sections": sections,
    }


def _done(published: Disassociated, kind: str) -> list[Block]:
    """Explain how the release was made."""
    shared = int((published.chunk_cluster < 0).sum())
    kinds = {
        "km": "Plain records, drawn from the chunks and k^m-anonymous by themselves, are published beside them.",
        "raw": "Plain records, drawn from the chunks, are published beside them; rare combinations are mostly random.",
        "none": "No plain records are published beside the chunks.",
    }
    terms = {
        "global": "Items outside chunks are listed once, without their clusters; the rarest are not listed.",
        "drop": "Items outside chunks are not published.",
        "cluster": "Items outside chunks are listed by cluster.",
        "suppress": "Items outside chunks are listed by cluster, after items that all its records share were removed.",
    }
    return [
        blocks.text(
            f"Records were put into clusters of up to {published.delta} ({published.partition}), and the items of each "
            "cluster were split into chunks: which part of one chunk belongs to which part of another is not published."
        ),
        blocks.tiles(
            [
                (f"{published.n:,}", "records"),
                (f"{len(published.labels):,}", "items"),
                (f"{published.clusters:,}", "clusters"),
                (f"{published.chunks:,}", "chunks"),
                (f"{shared:,}", "of them shared"),
            ]
        ),
        blocks.text(f"{terms[published.terms]} {kinds[kind]}"),
    ]


def _promised(published: Disassociated, verdicts: Sequence[Verdict]) -> list[Block]:
    """Return the guarantee in words, and what was counted."""
    rows = [
        [one.model, f"{one.asked:g}", f"{one.found:g}", HOLDS if one.holds else FAILS, MEANS.get(one.model, "")]
        for one in verdicts
    ]
    return [
        blocks.text(
            f"For every set of at most {published.m} items: either no data set from which this release could have been "
            f"made contains it, or at least one of them contains it in at least {published.k} records."
        ),
        blocks.table(["condition", ">required", ">found", "verdict", "what is counted"], rows),
    ]


def _shape(published: Disassociated) -> list[Block | None]:
    """Return pictures of clusters, chunks and items, by counts of at least k records."""
    sizes, k = published.sizes, published.k
    total = np.concatenate(([0], np.cumsum(published.counts)))
    chunk_sizes = np.diff(total[published.chunk_ptr])
    support = np.bincount(published.items, np.repeat(published.counts, np.diff(published.sub_ptr)))
    pictures = [
        _histogram("Clusters by number of records", sizes, k, "records", "clusters"),
        _histogram("Chunks by number of parts", chunk_sizes, k, "parts", "chunks"),
        _histogram("Items by number of records that have them in chunks", support[support > 0], k, "records", "items"),
    ]
    held = [picture for picture in pictures if picture is not None]
    return [blocks.figures(held, "Each bar counts those of a given size. Nothing here counts fewer than k records.")]


def _histogram(title: str, values: NDArray[Any], k: int, unit: str, what: str) -> Block | None:
    """Return a picture of how many values lie between round limits, the first of which is k."""
    if not values.size:
        return None
    least = min(k, int(values.min()))
    edges = [least, *(edge for edge in EDGES if least < edge <= values.max())]
    place = np.searchsorted(edges, values, side="right") - 1
    count = np.bincount(place, minlength=len(edges))
    names = [
        f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}" if high else f"{low:,} or more"
        for low, high in zip(edges, [*edges[1:], 0], strict=True)
    ]
    there = [at for at in range(len(edges)) if count[at]]
    picture = {
        "kind": "lengths",
        "labels": [f"{names[at]} {unit}" for at in there],
        "values": [int(count[at]) for at in there],
        "unit": what,
    }
    return blocks.one_figure(title, picture, f"Number of {what} with that many {unit}.")
