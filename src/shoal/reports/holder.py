"""The facts of the data holder's report: what the release preserves of the original table.

Everything here counts at least k rows. Bin limits depend on released values alone, so that original values are shown
only where something was released: the first and the last bin include everything beyond, which hides extreme values.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.catalogue import measures
from shoal.model.findings import Attack, Finding, Verdict
from shoal.model.release import Change
from shoal.model.sentences import for_page
from shoal.model.sketches import PlaneSketch
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair
from shoal.reports import blocks
from shoal.reports.answer import table_answer
from shoal.reports.attempts import without_few
from shoal.reports.blocks import Block
from shoal.reports.counting import middles, of_column
from shoal.reports.facts import MOST, Claims, column_figures, released_picture, report_facts, shown_between
from shoal.reports.wording import few, legend, measure_words, say, shown_interval, words
from shoal.utility.moments import numbers_of

SIDE = 16  # columns of a matrix at most
LARGEST = 600_000  # characters of a picture


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
    """Return the facts of the data holder's report, from the original table and the release.

    `case` includes the original, row by row; `claims` and `files` are as in `public_facts`. `ledger`, `suppressed` and
    `notes` say what was changed and noted when the release was made. `pictures` are the method's own drawings, SVG by
    file name; `left_out` names measures skipped because they are slow; `sections` are placed before the limits.

    Guarantee
    ---------
    It contains no number of rows from 1 to k - 1, no row and no cell of the original: categories and limits are those
    of the release.
    """
    n, k = case.n, case.policy.constraints.k
    findings = _without_few(findings, ledger, k)
    middle = [
        blocks.section("worth", "Utility", _worth(findings, n, k, left_out, unlabelled=case.policy.label is None)),
        blocks.section("columns", "Columns before and after", _columns(case)),
        blocks.section("correlations", "Correlations", _correlations(case)),
        blocks.section("plane", "Rows in two dimensions", _plane(plane)),
        blocks.section("attacks", "Attacks", _attacks(attacks, case)),
        blocks.section("method", "Pictures of the method", _pictures(pictures or {}, plane is not None)),
        blocks.section("changes", "What was changed", _changes(ledger, suppressed, n, k)),
        blocks.section("notes", "Notes", [blocks.items(notes)] if notes else []),
        *sections,
    ]
    kept = [part for part in middle if part["blocks"]]
    following = " ".join(
        words()["next"][one] for one in (*(["notes"] if notes else []), "attacked" if attacks else "holder")
    )
    first = table_answer(case, verdicts, findings, following, attacks)
    return report_facts("holder", first, kept, case, verdicts, findings, claims, files)


def _worth(
    findings: Sequence[Finding], n: int, k: int, left_out: Sequence[str], *, unlabelled: bool
) -> list[Block | None]:
    """Return utility with intervals, the honest figure first and the flattering one beside it."""
    known = {finding.name: finding for finding in reversed(findings)}  # the first one of a name has the interval
    explained = measure_words(("pair", "groups"), built_in=False)
    held = [known[name] for name in explained if name in known]
    lines = [(one.name, *shown_between(one, n, k), explained[one.name]) for one in held]
    ranged = [(one, *ends) for one in held if (ends := shown_interval(one, n, k)) is not None]
    picture = {
        "kind": "ranges",
        "labels": [one.name.removesuffix(" %") for one, _, _ in ranged],
        "values": [one.value for one, _, _ in ranged],
        "low": [low for _, low, _ in ranged],
        "high": [high for _, _, high in ranged],
        "unit": "correct predictions in %",
    }
    drawn = blocks.one_figure("What a decision tree learns", picture, say("tree"), legend("tree"))
    slow = say("slow", measures=", ".join(left_out))
    return [
        blocks.text(say("worth")),
        drawn if ranged else blocks.text(say("unlabelled")) if unlabelled else None,
        blocks.table(("measure", ">value", ">95% interval", "meaning"), lines),
        blocks.text(slow) if left_out else None,
    ]


def _columns(case: Case) -> list[Block | None]:
    """Return every column before and after; unchanged columns once."""
    pictures = before_and_after(case, case.released.column_names[:MOST])
    unchanged = pictures.keys() - {pair.name for pair in case.columns}
    return [
        blocks.text(say("both", k=case.policy.constraints.k), legend("both")),
        *column_figures(case, pictures, unchanged=unchanged),
    ]


def before_and_after(case: Case, names: Iterable[str]) -> dict[str, dict[str, Any] | None]:
    """Return the picture of each of these columns before and after; columns published unchanged have only one side."""
    k, pairs = case.policy.constraints.k, {pair.name: pair for pair in case.columns}
    pictures: dict[str, dict[str, Any] | None] = {}
    for name in names:
        if name in pairs:
            after, before = _along_tree(pairs[name])
            pictures[name] = of_column(after, case.policy.columns[name], k, before)
        else:
            pictures[name] = released_picture(case, name)
    return pictures


def _along_tree(pair: Pair) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return a column after and before; for a hierarchy of categories, both at the highest released level."""
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
    """Return the correlations of numeric columns before and after."""
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
        middle = " A published range counts as its midpoint."
    names = [pair.name for pair in plain][:SIDE]
    both = [
        blocks.one_figure("Before", _matrix(names, before), "Original rows."),
        blocks.one_figure("After", _matrix(names, after), "Released rows."),
    ]
    more = f" The first {SIDE} columns are shown." if len(plain) > SIDE else ""
    explained = f"{say('correlations')}{middle}{more}"
    return [blocks.text(explained, legend("correlations")), blocks.figures(both, wide=True)]


def _correlated(X: Any) -> Any:
    """Return correlations over complete rows; 0 for a constant column."""
    whole = X[np.isfinite(X).all(axis=1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(np.corrcoef(whole, rowvar=False))


def _matrix(names: list[str], values: Any) -> dict[str, Any]:
    """Return a matrix as the facts of a picture."""
    some = np.round(np.asarray(values)[: len(names), : len(names)], 2) + 0.0  # no -0
    return {"kind": "matrix", "labels": names, "values": some.tolist()}


def _plane(sketch: PlaneSketch | None) -> list[Block | None]:
    """Return rows in the plane of the first two principal axes, before and after."""
    if sketch is None:
        return []
    most = int(max(sketch.before.max(), sketch.after.max(), 1.0))
    held = [int(one) for one in np.unique(np.concatenate([sketch.before.ravel(), sketch.after.ravel()])) if one]
    ticks = [held[0], most] if held else []
    both = [
        blocks.one_figure(
            title, {"kind": "squares", "rows": counts.tolist(), "most": most, "ticks": ticks}, what, legend("squares")
        )
        for title, counts, what in (
            ("Before", sketch.before, "Original rows."),
            ("After", sketch.after, "Released rows."),
        )
    ]
    sampled = f" {say('plane_sampled')}" if sketch.sampled else ""
    return [blocks.text(f"{say('plane')}{sampled}", legend("plane")), blocks.figures(both, wide=True)]


def _attacks(attacks: Sequence[Attack], case: Case) -> list[Block | None]:
    """Return how successful each attack was."""
    if not attacks:
        return []
    n, k = case.n, case.policy.constraints.k
    rows = [(one.name, *without_few(one, case).values(), for_page(one.note, n, k)) for one in attacks]
    heads = ("attack", ">rate", ">95% interval", ">baseline", ">control", ">bound", "outcome", "note")
    return [
        blocks.text(f"Attempts by an attacker who {attacks[0].profile}. {say('attacks')}"),
        blocks.table(heads, rows),
    ]


def _without_few(findings: Sequence[Finding], ledger: Sequence[Change], k: int) -> Sequence[Finding]:
    """Drop findings that together with the ledger would reveal that fewer than k cells of a column changed."""
    rare = [one.column for one in ledger if 0 < one.changed < k]
    changed = {name for name, card in measures.cards().items() if card.counts_changes}
    return [one for one in findings if not rare or one.measure not in changed or one.column not in (None, *rare)]


def _pictures(pictures: Mapping[str, str], plane: bool) -> list[Block | None]:
    """Return the method's own drawings; the plane only if it is not shown already."""
    known = words()["pictures"]
    held = {name: svg for name, svg in pictures.items() if name in known and not (plane and name == "plane.svg")}
    drawn: list[Block | None] = [
        blocks.one_figure(known[name][0], {"kind": "svg", "svg": svg}, "Drawn by the method.", known[name][1])
        for name, svg in held.items()
        if len(svg) <= LARGEST
    ]
    large = [name for name, svg in held.items() if len(svg) > LARGEST]
    return [
        *drawn,
        blocks.text(f"Too large for this page: {', '.join(large)} in the private folder.") if large else None,
    ]


def _changes(ledger: Sequence[Change], suppressed: int, n: int, k: int) -> list[Block | None]:
    """Return the ledger: how many cells of each column have changed."""
    if not ledger:
        return []
    rows = [
        (one.column, one.role, one.form, few(one.changed, n, k), *_gaps(one.filled, one.emptied, n, k))
        for one in ledger
    ]
    heads = ("column", "role", "form", ">cells changed", ">filled", ">emptied")
    out = f"{few(suppressed, n + suppressed, k)} rows with missing values were removed." if suppressed else ""
    return [
        blocks.text(f"Changed cells, out of {n:,} in each column. {say('changes')} {out}".strip()),
        blocks.table(heads, blocks.alike(rows)),
    ]


def _gaps(filled: int, emptied: int, n: int, k: int) -> tuple[str, str]:
    """Format cells filled and emptied, both or neither: pictures reveal the difference."""
    if 0 < filled < k or 0 < emptied < k:
        return "withheld", "withheld"
    return few(filled, n, k), few(emptied, n, k)
