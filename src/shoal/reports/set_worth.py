"""The sections about set-valued data that only the data holder sees: what is preserved, and what is risky.

They take the figures of `pipeline.set_report`, by section: counts of records and itemsets, never an item.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from shoal.reports import blocks
from shoal.reports.blocks import Block
from shoal.reports.wording import figure, legend, say, words

RAW, HARD = "Neighbours, raw: ", "Neighbour, km: "
RISK_RAW, RISK_HARD = "Risk of the raw neighbour", "Risk of the km neighbour"
DISTANCE = "Tree edit distance, raw neighbour"
KINDS = ("pairs", "triples", "rules", "wanted")  # of itemsets that are compared
BASELINES = ("distance", "permuted", "first_only", "nothing")

Figures = Mapping[str, Mapping[str, Any]]


def worth_sections(figures: Figures) -> list[Block]:
    """Return the additional sections of the data holder's report, from figures of `pipeline.set_report`.

    Guarantee
    ---------
    No item is named, and every number of records from 1 to k - 1 in it is already in the figures.
    """
    made = [
        blocks.section("worth", "Utility", _worth(figures)),
        blocks.section("associations", "Which items occur together", _associations(figures)),
        blocks.section("neighbours", "What analysts find in a neighbour", _neighbours(figures)),
        blocks.section("risk", "What is risky in a neighbour", _risk(figures)),
        blocks.section("distance", "How far the data have moved", _distance(figures.get(DISTANCE, {}))),
    ]
    return [one for one in made if one["blocks"]]


def _worth(figures: Figures) -> list[Block | None]:
    """Return how much is preserved, as large figures and two pictures."""
    left = figures["What is left out"]
    kept = [(f"{100 * (1 - left['their share']):.1f}%", "of all occurrences are in chunks")]
    kept.append((f"{left['items'] - left['items in no chunk at all']:,} of {left['items']:,}", "items are in chunks"))
    top = figures.get(f"{HARD}pairs", figures.get(f"{RAW}pairs"))
    if top is not None:
        kept.append((f"{100 * top['kept']:.1f}%", f"of the support of the top {top['compared']} pairs is kept"))
    drawn = [
        _both(figures, "Records by their items", "records", "set_lengths"),
        _both(figures, "Items by their records", "items", "set_supports"),
    ]
    rows = [(name, _text(value)) for name, value in left.items()]
    return [
        blocks.text(say("set_worth")),
        blocks.tiles(kept),
        blocks.figures([one for one in drawn if one is not None]),
        blocks.table(("left out", ">value"), rows),
    ]


def _both(figures: Figures, title: str, what: str, key: str) -> Block | None:
    """Return a picture of counts before and after, explained by the words of this key."""
    before, after = (figures.get(f"{title}, {when}") for when in ("before", "after"))
    if not before or not after:
        return None
    picture = {
        "kind": "bars",
        "labels": list(after),
        "after": list(after.values()),
        "before": list(before.values()),
        "what": what,
    }
    return blocks.one_figure(title, picture, say(key), legend(key))


def _associations(figures: Figures) -> list[Block | None]:
    """Return the error of the supports of pairs, by their frequency."""
    supports = ("certain", "expected")
    by_frequency = [figures[f"Error of pairs by frequency, {which} support"] for which in supports]
    overall = [figures[f"Associations, {which} support"] for which in supports]
    picture = {
        "kind": "lengths",
        "labels": list(by_frequency[1]),
        "values": list(by_frequency[1].values()),
        "unit": "mean relative error, from 0 to 2",
    }
    rows = [
        (name, _text(value), _text(expected.get(name, "")))
        for certain, expected in (by_frequency, overall)
        for name, value in certain.items()
    ]
    return [
        blocks.text(say("set_pairs")),
        blocks.one_figure("Error of pairs, by frequency", picture, say("set_bands"), legend("set_bands"))
        if by_frequency[1]
        else None,
        blocks.table(("pairs", ">certain", ">expected"), rows),
    ]


def _neighbours(figures: Figures) -> list[Block | None]:
    """Return both kinds of neighbours side by side."""
    known = words()["set_kept"]
    tables: list[Block | None] = []
    for kind in KINDS:
        raw, hard = figures.get(f"{RAW}{kind}", {}), figures.get(f"{HARD}{kind}", {})
        if raw:
            tables.append(blocks.table(_heads(hard), _side_by_side(raw, hard, known), kind.capitalize()))
    origins = figures.get("Where neighbours come from", {})
    published = " ".join(f"The {name} neighbour is {where}." for name, where in origins.items())
    removed = figures.get(f"{HARD}cost", {}).get("neighbour, suppressed %")
    return [
        blocks.text(f"{say('set_neighbours')} {published}") if tables else None,
        *tables,
        None
        if removed is None
        else blocks.text(f"To make the km neighbour k^m-anonymous, {_text(removed)}% of the occurrences were removed."),
    ]


def _risk(figures: Figures) -> list[Block | None]:
    """Return what could be taken for a fact about few people, in both kinds of neighbours."""
    raw, hard = figures.get(RISK_RAW, {}), figures.get(RISK_HARD, {})
    if not raw and not hard:
        return []
    return [
        blocks.text(say("set_risk")),
        blocks.table(_heads(hard), _side_by_side(raw, hard, words()["set_risks"])),
    ]


def _heads(hard: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings of a table of both neighbours, or of the only one."""
    return ("figure", ">raw", ">km", "meaning") if hard else ("figure", ">raw", "meaning")


def _side_by_side(
    raw: Mapping[str, Any], hard: Mapping[str, Any], known: Mapping[str, str]
) -> Iterable[tuple[str, ...]]:
    """Return the rows of a table of both neighbours."""
    for name in dict.fromkeys([*raw, *hard]):
        values = (raw.get(name), hard.get(name)) if hard else (raw.get(name),)
        yield name, *("" if one is None else _text(one) for one in values), known.get(name, "")


def _distance(found: Mapping[str, Any]) -> list[Block | None]:
    """Return the tree edit distance beside its baselines."""
    known = words()["set_distances"]
    shown = [name for name in BASELINES if found.get(name) is not None]
    picture = {
        "kind": "lengths",
        "labels": [known[name][0] for name in shown],
        "values": [found[name] for name in shown],
        "unit": "nodes to delete, insert or rename",
    }
    rows = [(known[name][0], _text(found[name]), known[name][1]) for name in known if found.get(name) is not None]
    return [
        blocks.text(say("set_distance")) if rows else None,
        blocks.one_figure("Distance from the records", picture, say("set_baselines"), legend("set_baselines"))
        if len(shown) > 1
        else None,
        blocks.table(("figure", ">value", "meaning"), rows) if rows else None,
    ]


def _text(value: Any) -> str:
    """Format a figure, or a word in place of one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return figure(float(value)) if isinstance(value, int | float) else str(value)
