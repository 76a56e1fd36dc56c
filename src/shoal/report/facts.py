"""Facts: all that a report says, as one dictionary; HTML, Markdown and JSON only render it.

`public_facts` looks at the release alone: the released table, the policy as it is published, and what the judge finds.
`holder.holder_facts` adds what the pair tells, for the holder's eyes.

| key | holds |
| --- | --- |
| `kind`, `title`, `kicker`, `lead` | which report this is |
| `rows`, `k`, `holds` | the size of the release, and whether every constraint holds |
| `verdicts` | a line each: model, column, asked, claimed, found, holds, wish |
| `findings` | a line each: name, value, interval, how, need, shown |
| `sections` | id, title and blocks (see `blocks`) |
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.errors import listed
from shoal.model.findings import Finding, Verdict
from shoal.model.policy import Policy
from shoal.model.sentences import for_page
from shoal.privacy.measures.case import Case
from shoal.report import blocks
from shoal.report.blocks import Block
from shoal.report.counting import joined, of_column
from shoal.report.wording import asked_for, few, figure, measure_words, method_words, promise, say, shown, words

__all__ = [
    "Claims",
    "all_figures",
    "between",
    "column_words",
    "frame",
    "public_facts",
    "said_findings",
    "shared_sections",
    "told",
]

Claims = Mapping[tuple[str, str | None], tuple[float, float]]
MOST = 24  # columns that have a picture


def public_facts(
    case: Case,
    verdicts: Sequence[Verdict],
    findings: Iterable[Finding],
    claims: Claims | None = None,
    files: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the facts of the public report, from the release alone.

    Parameters
    ----------
    case : Case
        Without the original: the released table and the policy as it is published.
    verdicts : sequence of Verdict
        What the judge found in the release.
    findings : iterable of Finding
        Those that need the pair or the groups are left out.
    claims : mapping, optional
        What the certificate claims, asked and found, by model and column.
    files : mapping of str to str, optional
        The digests of the released files, by name.

    Guarantee
    ---------
    Everything in it can be computed from the release. No number of rows from 1 to k - 1 is in it.
    """
    public = [finding for finding in findings if finding.need == "release"]
    lead = say("public", n=f"{case.n:,}", k=case.policy.constraints.k)
    given = frame(case, verdicts, public, claims, "public", lead)
    first, last = shared_sections(case, verdicts, public, claims, files)
    middle = blocks.section("columns", "Released columns", _columns(case))
    return {**given, "sections": [*first, middle, *last]}


def frame(
    case: Case,
    verdicts: Sequence[Verdict],
    findings: Sequence[Finding],
    claims: Claims | None,
    kind: str,
    lead: str,
) -> dict[str, Any]:
    """Return what stands above the sections of a report of either kind."""
    k = case.policy.constraints.k
    who = "public report" if kind == "public" else "holder's report, not for publication"
    lines = [
        {
            **verdict.as_dict(),
            "found": told(verdict.found),
            "claimed": _claimed(verdict, claims),
            "wish": asked_for(verdict, case.policy),
            "more": f"found {figure(verdict.found)}" if math.isfinite(verdict.found) else "",
        }
        for verdict in verdicts
    ]
    return {
        "kind": kind,
        "title": "What this release protects" if kind == "public" else "What this release protects and keeps",
        "kicker": f"shoal · {who}",
        "lead": lead,
        "rows": case.n,
        "k": k,
        "holds": all(verdict.holds for verdict in verdicts),
        "verdicts": lines,
        "findings": said_findings(findings, case.n, k),
    }


def said_findings(findings: Iterable[Finding], n: int, k: int) -> list[dict[str, Any]]:
    """Return findings as plain values, without numbers that would tell of fewer than k rows."""
    lines = []
    for one in findings:
        said = shown(one, n, k)
        open_ = said == figure(one.value)
        value = one.value if math.isfinite(one.value) and open_ else None
        interval = one.interval if open_ else None
        told_ = {"value": value, "interval": interval, "how": for_page(one.how, n, k), "shown": said}
        lines.append({**one.as_dict(), **told_})
    return lines


def told(value: float) -> float | None:
    """Return a figure, or None if it is infinite, which JSON cannot say."""
    return value if math.isfinite(value) else None


def shared_sections(
    case: Case,
    verdicts: Sequence[Verdict],
    findings: Sequence[Finding],
    claims: Claims | None,
    files: Mapping[str, str] | None,
) -> tuple[list[Block], list[Block]]:
    """Return the sections that both kinds of report begin with, and those that they end with."""
    first = [
        blocks.section("done", "What was done", _done(case.policy, case, verdicts)),
        blocks.section("guarantees", "Guarantees", _guarantees(verdicts, claims)),
        blocks.section("classes", "Class sizes", _classes(case)),
        blocks.section("risk", "Risk of being found", _risk(findings, case.n, case.policy.constraints.k)),
    ]
    last = [
        blocks.section("limits", "What it does not protect against", _limits(verdicts, case.policy)),
        blocks.section("verify", "How to verify this", _verify(files)),
        blocks.section("figures", "All figures", [all_figures(findings, case.n, case.policy.constraints.k)]),
    ]
    return first, last


def all_figures(findings: Iterable[Finding], n: int, k: int) -> Block:
    """Return every finding as a table, folded up."""
    rows = [(one["name"], one["shown"], between(one["interval"]), one["how"]) for one in said_findings(findings, n, k)]
    held = blocks.table(("measure", ">value", ">95 % interval", "how"), rows)
    return blocks.more(f"All {len(rows)} figures", [blocks.text(say("figures")), held])


def shown_between(one: Finding, n: int, k: int) -> tuple[str, str]:
    """Write a finding and its interval, which would tell a value that is not told."""
    said = shown(one, n, k)
    return said, between(one.interval) if said == figure(one.value) else ""


def between(interval: tuple[float, float] | None) -> str:
    """Write an interval, or nothing if there is none."""
    return "" if interval is None else f"{interval[0]:.4g} to {interval[1]:.4g}"


def _claimed(verdict: Verdict, claims: Claims | None) -> float | None:
    """Return what the certificate claims of a constraint."""
    return None if claims is None else told(claims.get((verdict.model, verdict.column), (0.0, math.nan))[1])


def _done(policy: Policy, case: Case, verdicts: Sequence[Verdict]) -> list[Block | None]:
    """Say what became of the table."""
    sizes, known = case.sizes, words()
    refined = "" if policy.method.refine == "none" else f" A search ({policy.method.refine}) then improved the groups."
    roles = {role: [name for name in policy.columns if policy.columns[name].role == role] for role in known["roles"]}
    rows = [
        (name, role, _form(policy, name) if role == "quasi" else known["roles"][role][0])
        for role, held in roles.items()
        for name in held
    ]
    least = int(sizes.min()) if sizes.size else 0
    items = [verdict.found for verdict in verdicts if "k^m" in verdict.model]
    fewest = min([least, *items]) if least else 0
    known_items = f" by whoever also knows {policy.constraints.m} items" if fewest < least else ""
    how = f"{method_words(policy.method.name)}{refined} {known['missing'][policy.missing]}"
    return [
        blocks.tiles(
            (
                (f"{case.n:,}", "rows"),
                (f"{len(case.released.column_names):,}", "columns"),
                (f"{sizes.size:,}", "classes of rows alike"),
                (f"{least:,}", "rows in the smallest class"),
                (f"{100 / max(fewest, 1):.3g} %", f"largest risk of being found by quasi-identifiers{known_items}"),
            )
        ),
        blocks.note(say("accepted", columns=listed(policy.names("sensitive") + policy.names("keep"))))
        if "unique-kept" in policy.accept
        else None,
        blocks.text(f"{say('done')} {how} {say('order')}"),
        blocks.table(("column", "role", "published as"), rows, "What became of each column"),
        blocks.items([f"{role}: {known['roles'][role][1]}" for role, held in roles.items() if held]),
    ]


def _form(policy: Policy, name: str) -> str:
    """Say how a quasi-identifier is published."""
    return str(words()["forms"].get(policy.columns[name].form, "a value of its class"))


def _guarantees(verdicts: Sequence[Verdict], claims: Claims | None) -> list[Block | None]:
    """Put what was asked, claimed and found side by side."""
    rows = [
        (
            verdict.model,
            verdict.column or "",
            figure(verdict.asked),
            *(() if claims is None else ("none" if (c := _claimed(verdict, claims)) is None else figure(c),)),
            figure(verdict.found) if math.isfinite(verdict.found) else "without limit",
            "holds" if verdict.holds else "does not hold",
        )
        for verdict in verdicts
    ]
    middle = () if claims is None else (">claimed",)
    return [
        blocks.text(say("guarantees") if claims is None else f"{say('guarantees')} {say('claimed')}"),
        blocks.table(("guarantee", "column", ">asked", *middle, ">found", "verdict"), rows),
    ]


def _classes(case: Case) -> list[Block | None]:
    """Show how many rows are in classes of each size."""
    k = case.policy.constraints.k
    sizes = case.sizes
    if not sizes.size:
        return []
    rows = np.bincount(sizes, sizes).astype(np.float64)
    step = max(1, int(np.ceil((sizes.max() - sizes.min() + 1) / 30)))
    starts = np.arange(int(sizes.min()), int(sizes.max()) + 1, step)
    counts = np.array([rows[start : start + step].sum() for start in starts])
    runs = joined([counts], k)
    labels = [_span(int(starts[first]), int(starts[last - 1]) + step - 1) for first, last in runs]
    held = [round(float(counts[first:last].sum())) for first, last in runs]
    picture = {"kind": "sizes", "labels": labels, "rows": held}
    return [
        blocks.text(say("classes")),
        blocks.one_figure("Rows by the size of their class", picture, say("sizes")),
    ]


def _span(low: int, high: int) -> str:
    """Write a size, or a range of sizes."""
    return str(low) if high <= low else f"{low}–{high}"


def _risk(findings: Sequence[Finding], n: int, k: int) -> list[Block | None]:
    """Show the risk of being found, in words."""
    known = {finding.name: finding for finding in findings}
    told = measure_words(("release",), built_in=True).items()
    lines = [(name, *shown_between(known[name], n, k), what) for name, what in told if name in known]
    rest = [one for one in findings if one.measure == "contribution to risk"]
    shares = sorted(rest, key=lambda one: -one.value)[:MOST]
    picture = {
        "kind": "lengths",
        "labels": [one.column or "" for one in shares],
        "values": [one.value for one in shares],
        "unit": "part of the mean risk",
    }
    drawn = blocks.one_figure("Which columns carry the risk", picture, say("shares"))
    return [
        blocks.text(say("risk")),
        blocks.table(("risk", ">value", ">95 % interval", "what it is"), lines),
        drawn if len(shares) > 1 and any(one.value > 0 for one in shares) else None,
    ]


def _columns(case: Case) -> list[Block | None]:
    """Show how the released columns are distributed."""
    k = case.policy.constraints.k
    drawn, rare = [], []
    for name in case.released.column_names[:MOST]:
        given = case.policy.columns[name]
        picture = None if given.role == "items" else of_column(case.released.column(name), given, k)
        if picture is None:
            rare.append(name)
        else:
            drawn.append(blocks.one_figure(name, picture, column_words(picture, case.n, k)))
    left = len(case.released.column_names) - MOST
    return [
        blocks.text(say("columns", k=k)),
        blocks.figures(drawn),
        blocks.text(f"Too varied for a picture: {', '.join(rare)}.") if rare else None,
        blocks.text(f"{left} more columns are not drawn.") if left > 0 else None,
    ]


def column_words(picture: Mapping[str, Any], n: int, k: int) -> str:
    """Say how to read the picture of a column."""
    if picture["kind"] == "bars":
        return "Rows with each value."
    said = "Taller means more rows for the same width."
    if not picture["missing"]:
        return said
    when = ("now", "before") if picture["before"] else ("",)
    gaps = [f"{few(rows, n, k)} rows {at}".strip() for rows, at in zip(picture["missing"], when, strict=True)]
    return f"{said} Without a value: {', '.join(gaps)}."


def _limits(verdicts: Sequence[Verdict], policy: Policy) -> list[Block | None]:
    """Say what is not promised, for each constraint asked and for all of them."""
    asked = []
    for verdict in verdicts:
        says, leaves = promise(verdict)
        name = f"{verdict.model}, {verdict.column}" if verdict.column else verdict.model
        asked.append((name, f"{says} {leaves}"))
    return [
        blocks.text(say("asked")),
        blocks.terms(asked),
        blocks.text(say("beyond")),
        blocks.terms((words()["limits"] | (words()["protected"] if policy.protect else {})).items()),
    ]


def _verify(files: Mapping[str, str] | None) -> list[Block | None]:
    """Say how anybody can check the claims."""
    rows = [(name, digest) for name, digest in (files or {}).items()]
    return [
        blocks.text(say("verify")),
        blocks.code("shoal verify FOLDER"),
        blocks.text(say("recount")),
        blocks.table(("file", "SHA-256"), rows, "The published files") if rows else None,
    ]
