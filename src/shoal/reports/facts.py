"""Facts: the whole content of a report as one dictionary, which HTML, Markdown and JSON merely render.

`public_facts` uses the release alone: the released table, the published policy, and the verdicts. `holder.holder_facts`
adds what comparing it with the original reveals, for the data holder only.

| key | content |
| --- | --- |
| `kind`, `title`, `kicker`, `lead` | which report this is |
| `answer` | the three lines that come first: a heading and a text each (see `answer`) |
| `rows`, `k`, `holds` | the size of the release, and whether every constraint holds |
| `verdicts` | one entry each: model, column, asked, claimed, found, holds, constraint |
| `findings` | one entry each: name, value, interval, how, need, shown |
| `sections` | id, title and blocks (see `blocks`) |
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.errors import listed
from shoal.model.findings import Finding, Verdict
from shoal.model.options import UNIQUE_KEPT
from shoal.model.policy import Policy
from shoal.model.sentences import for_page
from shoal.privacy.measures.case import Case
from shoal.reports import blocks
from shoal.reports.answer import Answer, fewest_candidates, items_known, table_answer
from shoal.reports.blocks import Block
from shoal.reports.counting import joined, of_column
from shoal.reports.render import FAILS, HOLDS
from shoal.reports.wording import (
    asked_for,
    few,
    figure,
    legend,
    measure_words,
    method_words,
    promise,
    say,
    shown,
    shown_figure,
    shown_interval,
    words,
)

Claims = Mapping[tuple[str, str | None], tuple[float, float]]
MOST = 24  # columns with a picture at most


def public_facts(
    case: Case,
    verdicts: Sequence[Verdict],
    findings: Iterable[Finding],
    claims: Claims | None = None,
    files: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the facts of the public report.

    `case` is without the original; findings that need the original or the groups are left out. `claims` has what the
    certificate claims, (asked, found) by model and column; `files` has the digests of the released files by name.

    Guarantee
    ---------
    Everything in it can be computed from the release. No number of rows from 1 to k - 1 is in it.
    """
    public = [finding for finding in findings if finding.need == "release"]
    middle = [blocks.section("columns", "Released columns", _columns(case))]
    first = table_answer(case, verdicts, public, words()["next"]["public"])
    return report_facts("public", first, middle, case, verdicts, public, claims, files)


def report_facts(
    kind: str,
    first: Answer,
    middle: Sequence[Block],
    case: Case,
    verdicts: Sequence[Verdict],
    findings: Sequence[Finding],
    claims: Claims | None,
    files: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return the facts of a "public" or "holder" report, with its own first lines and sections in the middle."""
    k = case.policy.constraints.k
    lines = [
        {
            **verdict.as_dict(),
            "found": _open(verdict, verdict.found, case.n, k),
            "claimed": _open(verdict, _claimed(verdict, claims), case.n, k),
            "constraint": asked_for(verdict, case.policy),
            "more": f"found {shown_figure(verdict, verdict.found, case.n, k)}" if math.isfinite(verdict.found) else "",
        }
        for verdict in verdicts
    ]
    return {
        "kind": kind,
        "title": "What this release protects" if kind == "public" else "What this release protects and preserves",
        "kicker": words()["kickers"][kind],
        "answer": first.lines("long"),
        "lead": say(kind),
        "rows": case.n,
        "k": k,
        "holds": all(verdict.holds for verdict in verdicts),
        "verdicts": lines,
        "findings": shown_findings(findings, case.n, k),
        "sections": [
            blocks.section("done", "What was done", _done(case.policy, case, verdicts)),
            blocks.section("guarantees", "Guarantees", _guarantees(verdicts, claims, case.n, k)),
            blocks.section("classes", "Class sizes", _classes(case)),
            blocks.section("risk", "Re-identification risk", _risk(findings, case.n, k)),
            *middle,
            blocks.section("limits", "What it does not protect against", _limits(verdicts, case.policy)),
            blocks.section("verify", "How to verify this", _verify(files)),
            blocks.section("figures", "All figures", [all_figures(findings, case.n, k)]),
        ],
    }


def shown_findings(findings: Iterable[Finding], n: int, k: int) -> list[dict[str, Any]]:
    """Return findings as plain values, without numbers that count fewer than k rows."""
    lines = []
    for one in findings:
        text = shown(one, n, k)
        value = finite(one.value) if text == figure(one.value) else None
        public = {"value": value, "interval": shown_interval(one, n, k), "how": for_page(one.how, n, k), "shown": text}
        lines.append({**one.as_dict(), **public})
    return lines


def finite(value: float) -> float | None:
    """Return a figure, or None if it is infinite, which JSON cannot express."""
    return value if math.isfinite(value) else None


def all_figures(findings: Iterable[Finding], n: int, k: int) -> Block:
    """Return every finding as a collapsed table."""
    rows = [(one["name"], one["shown"], between(one["interval"]), one["how"]) for one in shown_findings(findings, n, k)]
    held = blocks.table(("measure", ">value", ">95% interval", "computed as"), rows)
    return blocks.more(f"All {len(rows)} figures", [blocks.text(say("figures")), held])


def shown_between(one: Finding, n: int, k: int) -> tuple[str, str]:
    """Format a finding and its interval; an interval would reveal a withheld value."""
    return shown(one, n, k), between(shown_interval(one, n, k))


def between(interval: tuple[float, float] | None) -> str:
    """Format an interval; empty if there is none."""
    return "" if interval is None else f"{interval[0]:.4g} to {interval[1]:.4g}"


def _claimed(verdict: Verdict, claims: Claims | None) -> float:
    """Return what the certificate claims for a constraint; NaN if nothing."""
    return (claims or {}).get((verdict.model, verdict.column), (0.0, math.nan))[1]


def _open(verdict: Verdict, value: float, n: int, k: int) -> float | None:
    """Return a figure of a verdict for JSON; None if it must not be shown or is not finite."""
    return finite(value) if shown_figure(verdict, value, n, k) == figure(value) else None


def _done(policy: Policy, case: Case, verdicts: Sequence[Verdict]) -> list[Block | None]:
    """Explain what was done with the table."""
    sizes, known = case.sizes, words()
    refined = (
        "" if policy.method.refine == "none" else f" A local search ({policy.method.refine}) then improved the groups."
    )
    forms = {name: known["forms"].get(column.form, "a value of its class") for name, column in policy.columns.items()}
    roles = {role: [name for name in policy.columns if policy.columns[name].role == role] for role in known["roles"]}
    rows = [
        (name, role, forms[name] if role == "quasi" else known["roles"][role][0])
        for role, held in roles.items()
        for name in held
    ]
    least = int(sizes.min()) if sizes.size else 0
    fewest = fewest_candidates(case, verdicts)
    how = f"{method_words(policy.method.name)}{refined} {known['missing'][policy.missing]}"
    return [
        blocks.tiles(
            (
                (f"{case.n:,}", "rows"),
                (f"{len(case.released.column_names):,}", "columns"),
                (f"{sizes.size:,}", "classes of rows with identical quasi-identifiers"),
                (f"{least:,}", "rows in the smallest class"),
                (
                    f"{100 / max(fewest, 1):.3g}%",
                    f"largest re-identification risk from quasi-identifiers{items_known(policy)}",
                ),
            )
        ),
        blocks.note(say("accepted", columns=listed(policy.names("sensitive") + policy.names("keep"))))
        if UNIQUE_KEPT in policy.accept
        else None,
        blocks.text(f"{say('done')} {how} {say('order')}"),
        blocks.table(("column", "role", "published as"), blocks.alike(rows), "What happened to each column"),
        blocks.items([f"{role}: {known['roles'][role][1]}" for role, held in roles.items() if held]),
    ]


def _guarantees(verdicts: Sequence[Verdict], claims: Claims | None, n: int, k: int) -> list[Block | None]:
    """Return what was requested, claimed and found, side by side."""

    def text(verdict: Verdict, value: float, infinite: str) -> str:
        return shown_figure(verdict, value, n, k) if math.isfinite(value) else infinite

    rows = [
        (
            verdict.model,
            verdict.column or "",
            figure(verdict.asked),
            *(() if claims is None else (text(verdict, _claimed(verdict, claims), "none"),)),
            text(verdict, verdict.found, "unlimited"),
            HOLDS if verdict.holds else FAILS,
        )
        for verdict in verdicts
    ]
    middle = () if claims is None else (">claimed",)
    return [
        blocks.text(say("guarantees") if claims is None else f"{say('guarantees')} {say('claimed')}"),
        blocks.table(("guarantee", "column", ">required", *middle, ">found", "verdict"), rows),
    ]


def _classes(case: Case) -> list[Block | None]:
    """Return how many rows are in classes of each size."""
    k = case.policy.constraints.k
    sizes = case.sizes
    if not sizes.size:
        return []
    rows = np.bincount(sizes, sizes).astype(np.float64)
    step = max(1, int(np.ceil((sizes.max() - sizes.min() + 1) / 30)))
    starts = np.arange(int(sizes.min()), int(sizes.max()) + 1, step)
    counts = np.array([rows[start : start + step].sum() for start in starts])
    runs = joined([counts], k)
    ends = [(int(starts[first]), int(starts[last - 1]) + step - 1) for first, last in runs]
    labels = [str(low) if high <= low else f"{low}–{high}" for low, high in ends]
    held = [round(float(counts[first:last].sum())) for first, last in runs]
    picture = {"kind": "sizes", "labels": labels, "rows": held}
    return [
        blocks.text(say("classes")),
        blocks.one_figure("Rows by the size of their class", picture, say("sizes"), legend("sizes")),
    ]


def _risk(findings: Sequence[Finding], n: int, k: int) -> list[Block | None]:
    """Return the re-identification risks with explanations."""
    known = {finding.name: finding for finding in findings}
    explained = measure_words(("release",), built_in=True).items()
    lines = [(name, *shown_between(known[name], n, k), what) for name, what in explained if name in known]
    rest = [one for one in findings if one.measure == "contribution to risk"]
    shares = sorted(rest, key=lambda one: -one.value)[:MOST]
    whole = sum(one.value for one in rest) or 1.0  # the mean risk, less that of a guess among all rows
    picture = {
        "kind": "lengths",
        "labels": [one.column or "" for one in shares],
        "values": [100 * one.value / whole for one in shares],
        "unit": "share of the mean risk in %",
    }
    drawn = blocks.one_figure("Which columns cause the risk", picture, say("shares"))
    return [
        blocks.text(say("risk")),
        blocks.table(("risk", ">value", ">95% interval", "meaning"), lines),
        drawn if len(shares) > 1 and any(one.value > 0 for one in shares) else None,
    ]


def _columns(case: Case) -> list[Block | None]:
    """Return the distributions of the released columns."""
    pictures = {name: released_picture(case, name) for name in case.released.column_names[:MOST]}
    return [blocks.text(say("columns", k=case.policy.constraints.k)), *column_figures(case, pictures)]


def released_picture(case: Case, name: str) -> dict[str, Any] | None:
    """Return the distribution of a released column; None for items and for values that are all too rare."""
    given = case.policy.columns[name]
    if given.role == "items":
        return None
    return of_column(case.released.column(name), given, case.policy.constraints.k)


def column_figures(
    case: Case, pictures: Mapping[str, dict[str, Any] | None], unchanged: Collection[str] = ()
) -> list[Block | None]:
    """Return the pictures of columns with captions, and which columns have none."""
    drawn = [
        blocks.one_figure(
            name,
            picture,
            _column_words(picture, case) + (" Published unchanged." if name in unchanged else ""),
            legend("steps") if picture["kind"] == "steps" else "",
        )
        for name, picture in pictures.items()
        if picture is not None
    ]
    rare = [name for name, picture in pictures.items() if picture is None]
    left = len(case.released.column_names) - MOST
    return [
        blocks.figures(drawn),
        *map(blocks.text, undrawn(case, rare)),
        blocks.text(f"{left} more columns are not drawn.") if left > 0 else None,
    ]


def undrawn(case: Case, names: Collection[str]) -> list[str]:
    """Say why columns have no picture: no cell of theirs has a value, or every value is too rare to be shown."""
    held = case.released
    empty = [name for name in names if held.column(name).null_count == held.num_rows]
    rare = [name for name in names if name not in empty]
    said = (("Published as missing in every row: {}.", empty), ("Too many rare values for a picture: {}.", rare))
    return [text.format(", ".join(some)) for text, some in said if some]


def _column_words(picture: Mapping[str, Any], case: Case) -> str:
    """Explain the figures of a column."""
    if picture["kind"] == "bars":
        return "Number of rows with each value."
    caption = "Number of rows in each range of values."
    if not picture["missing"]:
        return caption
    when = ("now", "before") if picture["before"] else ("",)
    n, k = case.n, case.policy.constraints.k
    gaps = [f"{few(rows, n, k)} rows {at}".strip() for rows, at in zip(picture["missing"], when, strict=True)]
    return f"{caption} Missing values: {', '.join(gaps)}."


def _limits(verdicts: Sequence[Verdict], policy: Policy) -> list[Block | None]:
    """State what is not guaranteed, for each constraint requested and in general."""
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
    """Explain how anyone can check the claims."""
    rows = [(name, digest) for name, digest in (files or {}).items()]
    return [
        blocks.text(say("verify")),
        blocks.code("shoal verify FOLDER"),
        blocks.text(say("recount")),
        blocks.table(("file", "SHA-256"), rows, "The published files") if rows else None,
    ]
