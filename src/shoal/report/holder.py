"""The facts of the holder's report: what the release keeps of the table that it was made from.

Everything here is counted over at least k rows. Limits of pictures come from released values alone, so that «before» is
shown only where something was released: what lies beyond is in the first and last part, and no extreme can be read.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.model.findings import Attack, Finding, Verdict
from shoal.model.release import Change
from shoal.model.sentences import for_page
from shoal.model.sketches import PlaneSketch
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair
from shoal.report import blocks
from shoal.report.blocks import Block
from shoal.report.counting import middles, of_column
from shoal.report.facts import MOST, Claims, column_words, frame, shared_sections, shown_between
from shoal.report.wording import few, figure, measure_words, say, shown, words
from shoal.utility.moments import numbers_of

__all__ = ["holder_facts"]

SIDE = 16  # columns of a matrix
LARGEST = 600_000  # signs of a picture


def holder_facts(
    case: Case,
    verdicts: Sequence[Verdict],
    findings: Sequence[Finding],
    *,
    claims: Claims | None = None,
    files: Mapping[str, str] | None = None,
    attacks: Sequence[Attack] = (),
    ledger: Sequence[Change] = (),
    suppressed: int = 0,
    notes: Sequence[str] = (),
    plane: PlaneSketch | None = None,
    pictures: Mapping[str, str] | None = None,
    left_out: Sequence[str] = (),
    sections: Sequence[Block] = (),
) -> dict[str, Any]:
    """Return the facts of the holder's report, from the table and the release.

    Parameters
    ----------
    case : Case
        With the original, row by row as the release.
    verdicts, findings, claims, files
        As in `public_facts`; findings of the pair and the groups are shown.
    attacks : sequence of Attack
        What was tried on the release, if it was.
    ledger, suppressed, notes
        What was changed, and what was said, when the release was made.
    plane : PlaneSketch, optional
        Rows in the plane of the first two principal axes.
    pictures : mapping of str to str, optional
        What the method drew, as SVG, by the name of its file.
    left_out : sequence of str
        Measures that were not taken because they take long.
    sections : sequence of blocks
        More sections, as `blocks.section` makes them; they come before the limits.

    Guarantee
    ---------
    No number of rows from 1 to k - 1, no row and no cell of the original is in it: names and limits are those of the
    release.
    """
    n, k = case.n, case.policy.constraints.k
    findings = _without_few(findings, ledger, k)
    lead = say("holder", n=f"{n:,}")
    first, last = shared_sections(case, verdicts, findings, claims, files)
    middle = [
        blocks.section(
            "worth", "What it is still worth", _worth(findings, n, k, left_out, unlabelled=case.policy.label is None)
        ),
        blocks.section("columns", "Columns before and after", _columns(case)),
        _some("correlations", "Correlations", _correlations(case)),
        _some("plane", "Rows in a plane", _plane(plane)),
        _some("attacks", "Attacks", _attacks(attacks, n, k)),
        _some("method", "What the method saw", _pictures(pictures or {}, plane is not None)),
        _some("changes", "What was changed", _changes(ledger, suppressed, n, k)),
        _some("notes", "Notes", [blocks.items(notes)] if notes else []),
        *sections,
    ]
    kept = [part for part in middle if part is not None]
    return {**frame(case, verdicts, findings, claims, "holder", lead), "sections": [*first, *kept, *last]}


def _some(id: str, title: str, parts: Iterable[Block | None]) -> Block | None:  # noqa: A002
    """Return a section, or None if there is nothing in it."""
    made = blocks.section(id, title, parts)
    return made if made["blocks"] else None


def _worth(
    findings: Sequence[Finding], n: int, k: int, left_out: Sequence[str], *, unlabelled: bool
) -> list[Block | None]:
    """Show utility with its intervals, the honest figure first and the flattering one beside it."""
    known = {finding.name: finding for finding in reversed(findings)}  # the first of a name has an interval
    told = measure_words(("pair", "groups"), built_in=False)
    held = [known[name] for name in told if name in known]
    lines = [(one.name, *shown_between(one, n, k), told[one.name]) for one in held]
    ranged = [one for one in held if one.interval is not None and shown(one, n, k) == figure(one.value)]
    picture = {
        "kind": "ranges",
        "labels": [one.name.removesuffix(" %") for one in ranged],
        "values": [one.value for one in ranged],
        "low": [(one.interval or (0.0, 0.0))[0] for one in ranged],
        "high": [(one.interval or (0.0, 0.0))[1] for one in ranged],
        "unit": "right answers in per cent",
    }
    drawn = blocks.one_figure("What a decision tree learns", picture, say("tree"))
    slow = f"Not measured here, because it takes long: {', '.join(left_out)}. `shoal report` with the original does."
    return [
        blocks.text(say("worth")),
        drawn if ranged else blocks.text(say("unlabelled")) if unlabelled else None,
        blocks.table(("measure", ">value", ">95 % interval", "what it is"), lines),
        blocks.text(slow) if left_out else None,
    ]


def _columns(case: Case) -> list[Block | None]:
    """Show every column before and after; those that were not changed once."""
    k, pairs = case.policy.constraints.k, {pair.name: pair for pair in case.columns}
    drawn, rare = [], []
    names = case.released.column_names
    for name in names[:MOST]:
        given, pair = case.policy.columns[name], pairs.get(name)
        if pair is None:
            picture = None if given.role == "items" else of_column(case.released.column(name), given, k)
            said = " Published as it was."
        else:
            after, before = _along_tree(pair)
            picture, said = of_column(after, given, k, before), ""
        if picture is None:
            rare.append(name)
        else:
            drawn.append(blocks.one_figure(name, picture, column_words(picture, case.n, k) + said))
    return [
        blocks.text(say("both", k=k)),
        blocks.figures(drawn),
        blocks.text(f"Too varied for a picture: {', '.join(rare)}.") if rare else None,
        blocks.text(f"{len(names) - MOST} more columns are not drawn.") if len(names) > MOST else None,
    ]


def _along_tree(pair: Pair) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return a column after and before; of a tree of names both as the highest released names above them."""
    if pair.form != "tree" or pair.tree is None or pair.kind in ("numeric", "date"):
        return pair.after, pair.before
    released = set(pair.after.unique().to_pylist()) - {None}
    above: dict[str, str] = {}
    for path in pair.tree.paths().values():
        for place, name in enumerate(path):
            higher = [one for one in path[place:-1] if one in released]
            above.setdefault(name, higher[-1] if higher else name)

    def lifted(column: pa.ChunkedArray) -> pa.ChunkedArray:
        coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
        names = pa.array([above.get(name, name) for name in coded.dictionary.to_pylist()], pa.string())
        return pa.chunked_array([names.take(coded.indices)])

    return lifted(pair.after), lifted(pair.before)


def _correlations(case: Case) -> list[Block | None]:
    """Show the correlations of numeric columns before and after."""
    plain = [pair for pair in case.columns if pair.kind == "numeric" and not pair.truthful]
    middle = ""
    if len(plain) > 1:
        numbers = numbers_of(plain)
        if numbers is None or numbers.before.shape[1] != len(plain):
            return []
        before, after = numbers.correlations
    else:
        plain = [pair for pair in case.columns if pair.kind == "numeric" and pair.truthful]
        found = [middles(pair.after, case.policy.columns[pair.name]) for pair in plain]
        if len(plain) < 2 or any(one is None for one in found):
            return []
        sides = [np.asarray(pair.before.cast(pa.float64()).fill_null(np.nan)) for pair in plain], found
        before, after = (_correlated(np.column_stack(side)) for side in sides)  # type: ignore[arg-type]
        middle = " A published range counts as its middle."
    names = [pair.name for pair in plain][:SIDE]
    both = [
        blocks.one_figure(title, _matrix(names, values), caption)
        for title, values, caption in (
            ("Before", before, "Of original rows."),
            ("After", after, "Of released rows."),
        )
    ]
    more = f" The first {SIDE} columns are shown." if len(plain) > SIDE else ""
    return [
        blocks.text(f"{say('correlations')}{middle}{more}"),
        blocks.figures(both, wide=True),
    ]


def _correlated(X: Any) -> Any:
    """Return correlations over rows without gaps; 0 of a column that is constant."""
    whole = X[np.isfinite(X).all(axis=1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(np.corrcoef(whole, rowvar=False))


def _matrix(names: list[str], values: Any) -> dict[str, Any]:
    """Return a matrix as facts."""
    some = np.round(np.asarray(values)[: len(names), : len(names)], 2) + 0.0  # no -0
    return {"kind": "matrix", "labels": names, "values": some.tolist()}


def _plane(sketch: PlaneSketch | None) -> list[Block | None]:
    """Show rows in the plane of the first two principal axes, before and after."""
    if sketch is None:
        return []
    most = int(max(sketch.before.max(), sketch.after.max(), 1.0))
    held = [int(one) for one in np.unique(np.concatenate([sketch.before.ravel(), sketch.after.ravel()])) if one]
    ticks = [held[0], most] if held else []
    both = [
        blocks.one_figure(
            title, {"kind": "squares", "rows": counts.tolist(), "most": most, "ticks": ticks}, "Darker: more rows."
        )
        for title, counts in (("Before", sketch.before), ("After", sketch.after))
    ]
    return [
        blocks.text(say("plane")),
        blocks.figures(both, wide=True),
    ]


def _attacks(attacks: Sequence[Attack], n: int, k: int) -> list[Block | None]:
    """Show how far each attack got."""
    if not attacks:
        return []
    rows = [(one.name, *({**one.shown(), **_few(one, k)}).values(), for_page(one.note, n, k)) for one in attacks]
    heads = ("attack", ">rate", ">95 % interval", ">baseline", ">control", ">bound", "outcome", "note")
    return [
        blocks.text(f"What somebody tried who {attacks[0].profile}. {say('attacks')}"),
        blocks.table(heads, rows),
    ]


def _few(one: Attack, k: int) -> dict[str, str]:
    """Write the rate of an attack without its interval, if fewer than k tries were right, or wrong."""
    if 0 < one.successes < k:
        return {"rate": f"below {k / one.trials:.3f}" if k < one.trials else "not told", "interval": ""}
    if 0 < one.trials - one.successes < k:
        return {"rate": f"above {1 - k / one.trials:.3f}" if k < one.trials else "not told", "interval": ""}
    return {}


def _without_few(findings: Sequence[Finding], ledger: Sequence[Change], k: int) -> Sequence[Finding]:
    """Leave out what would tell, with the ledger, that fewer than k cells of a column were changed."""
    rare = [one.column for one in ledger if 0 < one.changed < k]
    changed = ("minimal distortion", "cells changed %", "mean squared error of the adversary")
    return [one for one in findings if not rare or one.measure not in changed or one.column not in (None, *rare)]


def _pictures(pictures: Mapping[str, str], plane: bool) -> list[Block | None]:
    """Show what the method drew; the plane only if it is not shown already."""
    known = words()["pictures"]
    held = {name: svg for name, svg in pictures.items() if name in known and not (plane and name == "plane.svg")}
    drawn: list[Block | None] = [
        blocks.one_figure(known[name][0], {"kind": "svg", "svg": svg}, known[name][1])
        for name, svg in held.items()
        if len(svg) <= LARGEST
    ]
    large = [name for name, svg in held.items() if len(svg) > LARGEST]
    return [
        *drawn,
        blocks.text(f"Too large for this page: {', '.join(large)} in the private folder.") if large else None,
    ]


def _changes(ledger: Sequence[Change], suppressed: int, n: int, k: int) -> list[Block | None]:
    """Show the ledger: how many cells of each column are not what they were."""
    if not ledger:
        return []
    rows = [
        (one.column, one.role, one.form, few(one.changed, n, k), *_gaps(one.filled, one.emptied, n, k))
        for one in ledger
    ]
    heads = ("column", "role", "form", ">cells changed", ">filled", ">emptied")
    out = f"{few(suppressed, n + suppressed, k)} rows with missing values were left out." if suppressed else ""
    return [
        blocks.text(f"Cells that are not what they were, of {n:,} in each column. {say('changes')} {out}".strip()),
        blocks.table(heads, rows),
    ]


def _gaps(filled: int, emptied: int, n: int, k: int) -> tuple[str, str]:
    """Write how many cells were filled and emptied: pictures tell the difference, so that both are told or none is."""
    if 0 < filled < k or 0 < emptied < k:
        return "not told", "not told"
    return few(filled, n, k), few(emptied, n, k)
