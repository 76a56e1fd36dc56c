"""The report of a set-valued release: facts from the release alone, or beside the records for the holder."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict
from shoal.report import blocks
from shoal.report.blocks import Block
from shoal.report.set_worth import worth_sections

__all__ = ["set_facts"]

EDGES = (1, 2, 5, 10, 20, 50, 100, 500, 1000)
LIMITS = (
    "It is a promise about possible worlds, not about chances: one of the candidates may be far likelier than others.",
    "Somebody who knows more than m items of a person, or what a person has not, is outside the promise.",
    "A second release of the same records can be compared with this one. Replace a release; do not add to it.",
    "Labels of items that k records hold are published as they are.",
)
MEANS = {
    "k^m-anonymity of chunks": "the rarest combination of at most m items in a chunk, in records",
    "k^m-anonymity of shared chunks": "the same for chunks that several clusters share",
    "k^m-anonymity of the neighbour": "the same for the plain records beside the chunks",
    "chunks apart": "chunks of a cluster that have an item in common, or more parts than the cluster has records",
    "cover condition": "clusters whose chunks could not fill all their records",
    "shared chunks apart": "shared chunks with an item that another chunk of their clusters has",
    "terms": "items in no chunk that are listed where they must not be",
    "order": "things whose order could tell of the input",
    "cluster sizes": "clusters of fewer than k or more than delta records",
    "forced associations": "clusters that list an item beside one that all their records have",
}


def set_facts(
    published: Disassociated,
    verdicts: Sequence[Verdict],
    kind: str,
    findings: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the facts of a report.

    Parameters
    ----------
    published : Disassociated
    verdicts : sequence of Verdict
        What the judge found in the files.
    kind : {"km", "raw", "none"}
        Of the neighbour.
    findings : mapping, optional
        Figures by section that need the records behind the release: then the report is the holder's.

    Guarantee
    ---------
    No item is named in it. Without findings, everything in it can be counted in the release.
    """
    k, m = published.k, published.m
    sections = [
        blocks.section("done", "What was done", _done(published, kind)),
        blocks.section("promise", "What is promised, and found", _promised(published, verdicts)),
        blocks.section("shape", "What the release looks like", _shape(published)),
    ]
    sections += [
        *(worth_sections(findings) if findings is not None else []),
        blocks.section("limits", "What it does not protect against", [blocks.items(LIMITS)]),
        blocks.section(
            "verify",
            "How to verify it",
            [
                blocks.text("Anybody who has the folder can count all of this again, from its bytes:"),
                blocks.code("shoal sets verify FOLDER"),
            ],
        ),
    ]
    holds = all(verdict.holds for verdict in verdicts)
    wish = f"k = {k}, m = {m}"
    more = "every condition was counted in the files" if holds else "not every condition holds"
    return {
        "kind": "public" if findings is None else "holder",
        "title": "A release of sets",
        "kicker": "for everybody: made from the release alone"
        if findings is None
        else "for the holder alone: it was measured on the records",
        "lead": f"Whoever knows up to {m} items of a person is left with at least {k} candidates among {published.n:,} "
        "records.",
        "holds": holds,
        "k": k,
        "rows": published.n,
        "verdicts": [{"wish": wish, "holds": holds, "more": more}],
        "findings": [],
        "sections": sections,
    }


def _done(published: Disassociated, kind: str) -> list[Block]:
    """Say how the release was made."""
    shared = int((published.chunk_cluster < 0).sum())
    said = {
        "km": "Beside the chunks lie plain records, drawn from them and k^m-anonymous by themselves.",
        "raw": "Beside the chunks lie plain records, a mere draw from them: rare combinations there are mostly chance.",
        "none": "No plain records lie beside the chunks.",
    }
    terms = {
        "global": "Items in no chunk are listed once, without their clusters; the rarest are not listed.",
        "drop": "Items in no chunk are not published.",
        "cluster": "Items in no chunk are listed by cluster.",
        "suppress": "Items in no chunk are listed by cluster, after items of all records were taken from some.",
    }
    return [
        blocks.text(
            f"Records were put into clusters of up to {published.delta} ({published.partition}), and the items of each "
            "cluster torn into chunks: which part of one chunk belongs to which part of another is not published."
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
        blocks.text(f"{terms[published.terms]} {said[kind]}"),
    ]


def _promised(published: Disassociated, verdicts: Sequence[Verdict]) -> list[Block]:
    """Return the promise in words, and what was counted."""
    rows = [
        [
            one.model,
            f"{one.asked:g}",
            f"{one.found:g}",
            "holds" if one.holds else "does not hold",
            MEANS.get(one.model, ""),
        ]
        for one in verdicts
    ]
    return [
        blocks.text(
            f"For every set of at most {published.m} items: either no data set that this release could have come from "
            f"holds it, or one of them holds it in at least {published.k} records."
        ),
        blocks.table(["condition", ">asked", ">found", "verdict", "what is counted"], rows),
    ]


def _shape(published: Disassociated) -> list[Block | None]:
    """Return pictures of clusters, chunks and items, by counts of at least k records."""
    sizes, k = published.sizes, published.k
    total = np.concatenate(([0], np.cumsum(published.counts)))
    chunk_sizes = np.diff(total[published.chunk_ptr])
    support = np.bincount(published.items, np.repeat(published.counts, np.diff(published.sub_ptr)))
    pictures = [
        _histogram("Clusters by their records", sizes, k, "records", "clusters"),
        _histogram("Chunks by their parts", chunk_sizes, k, "parts", "chunks"),
        _histogram("Items by the records that have them in chunks", support[support > 0], k, "records", "items"),
    ]
    held = [picture for picture in pictures if picture is not None]
    return [
        blocks.figures(held, "Each bar says how many there are of a size. Nothing here counts fewer than k records.")
    ]


def _histogram(title: str, values: NDArray[Any], k: int, unit: str, what: str) -> Block | None:
    """Return a picture of how many values lie between round limits, the first of which is k."""
    if not values.size:
        return None
    least = min(k, int(values.min()))
    edges = [least, *(edge for edge in EDGES if least < edge <= values.max())]
    place = np.searchsorted(edges, values, side="right") - 1
    count = np.bincount(place, minlength=len(edges))
    names = [
        f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}" if high else f"{low:,} and more"
        for low, high in zip(edges, [*edges[1:], 0], strict=True)
    ]
    there = [at for at in range(len(edges)) if count[at]]
    picture = {
        "kind": "lengths",
        "labels": [f"{names[at]} {unit}" for at in there],
        "values": [int(count[at]) for at in there],
        "unit": what,
    }
    return blocks.one_figure(title, picture, f"How many {what} have so many {unit}.")
