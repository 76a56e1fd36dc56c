"""Reports of a release in memory or of a release folder.

1. Without the original, the public report: the folder is checked from its bytes, and the report is made from its
   content alone. `save` writes it into the release as `report.html`.
2. With the original, the holder's report: the pair is aligned as for `measure`, with all measures and optional attacks.

Figures are those of `measure` and `attack`: the same functions, with the same seed.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from shoal.catalogue import MeasureCard, measures
from shoal.catalogue import attacks as known_attacks
from shoal.catalogue.measure_card import taken
from shoal.certify.certificate import CERTIFICATE, POLICY, data_files, digest, figure
from shoal.certify.check import check_folder, holds_sets
from shoal.errors import DataError, GuaranteeError, PolicyError, ShoalError, WriteError, kind_of, listed, shortened
from shoal.io.bundle import check_outside, draft_file, is_folder, settle
from shoal.model.asking import option
from shoal.model.findings import Attack, Finding, Verdict
from shoal.model.notes import text_of
from shoal.model.options import ReportFormat, with_options
from shoal.model.policy import Policy
from shoal.model.progress import step
from shoal.model.release import Change, Release
from shoal.model.set_release import SetRelease
from shoal.model.sketches import PlaneSketch
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.attempts import tried
from shoal.pipeline.judging import case_of, refuse_sets, refuse_swapped
from shoal.pipeline.private import FINDINGS
from shoal.pipeline.set_report import set_page
from shoal.pipeline.write import published_policy, read_back
from shoal.prepare.encode import encode
from shoal.privacy.attacks.attack import profiles
from shoal.privacy.measures.case import Case
from shoal.reports.facts import Claims, public_facts
from shoal.reports.figures import NAMES, pictures
from shoal.reports.holder import holder_facts
from shoal.reports.render import as_html, as_json, as_markdown
from shoal.utility.plane import Floats, Rows, plane_of_some

FORMATS: dict[str, Callable[[dict[str, Any]], str]] = {"html": as_html, "md": as_markdown, "json": as_json}
QUICK = 10_000  # rows up to which a report written with a release includes randomized measures
LARGE = 200_000  # rows above which it includes, of the pair, only the findings of the release


@without_arrow_errors
@with_options("report")
def report(
    original: Any,
    release: Release | SetRelease | str | Path | None = None,
    *,
    private: str | Path | None = None,
    attacks: bool = False,
    control: Any = None,
    format: ReportFormat = "html",  # noqa: A002
) -> str:
    """Return the report of a release: the public one, or the holder's if the original is given.

    Parameters
    ----------
    original : path, frame or None
        The original table, for the holder's confidential report; None for the public one. A release alone, as in
        `shoal.report("release")`, also gives the public one.
    release : Release, SetRelease or path
        A release, or a release folder. A release of sets has a public report only; `shoal.sets.report` returns the
        figures for the holder.
    private : path, optional
        The private folder of a release folder, whose map aligns its rows; needed with `original`.
    attacks : bool
        Whether to attack the release, which takes a while and needs the original.
    control : path or frame, optional
        Similar people who are not in the release, for attacks that need them.
    format : {"html", "md", "json"}

    Returns
    -------
    str
        The text of one file. It contains no row count from 1 to k - 1 and no cell of the original.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> table = pa.table({"age": [34, 36, 35, 61, 60, 62], "ill": ["a", "b", "a", "b", "b", "a"]})
    >>> release = shoal.anonymize(table, k=3, sensitive=["ill"])
    >>> shoal.report(None, release, format="md").splitlines()[8]
    '- **k = 3: holds**'
    """
    check_format(format)
    if release is None and (isinstance(original, Release | SetRelease) or is_folder(original)):
        original, release = None, original
    if isinstance(original, str) and original in FORMATS and not Path(original).exists():
        raise DataError(f"report: the original must be a table; got {original!r}. Write format={original!r}.")
    refuse_swapped(original)
    if isinstance(release, SetRelease) or (isinstance(release, str | Path) and holds_sets(release)):
        if original is not None:
            refuse_sets(release, "report")
        return FORMATS[format](set_page(release))
    return FORMATS[format](facts_of(original, release, private=private, attacks=attacks, control=control))


def check_format(name: str) -> None:
    """Refuse an unknown format."""
    if not isinstance(name, str) or name not in FORMATS:
        raise PolicyError(f"report: unknown format {shortened(name)}; expected one of {listed(FORMATS)}.")


def facts_of(
    original: Any,
    release: Release | str | Path | None,
    *,
    private: str | Path | None = None,
    attacks: bool = False,
    control: Any = None,
) -> dict[str, Any]:
    """Return the facts that `report` renders."""
    if attacks and original is None:
        raise DataError("report: attacks need the original to score guesses. Give the original table as well.")
    if control is not None and not attacks:
        raise DataError(
            f"report: control rows are for attacks. Request attacks as well ({option('attacks', value=True)})."
        )
    step("report")
    if isinstance(release, Release):
        if original is None:
            case = Case(release.table, published_policy(release))
            return public_facts(case, release.verdicts, taken(case, _of_release()))
        case = case_of(original, release, control=control)
        outcomes = _attacked(case) if attacks else ()
        return _held_facts(case, release, taken(case, list(measures.cards().values())), outcomes)
    if not isinstance(release, str | PathLike):
        raise DataError(
            f"report: {kind_of(release)} is not a release; expected a Release or a release folder. Other tables are "
            "measured by `shoal.measure` and `shoal.attack`."
        )
    folder = Path(release)
    settle(folder, private)
    checked = check_folder(folder)
    if not checked.holds:
        why = " ".join(checked.missing) or "`shoal verify` says why."
        raise GuaranteeError(f"report: {str(folder)!r} does not pass verification. {why}")
    if original is None:
        return _public_facts(folder, checked.verdicts, _claims_of(folder))
    case = case_of(original, folder, private=private, control=control)
    held = json.loads((Path(private or "") / FINDINGS).read_text(encoding="utf-8"))
    drawn = {name: path.read_text(encoding="utf-8") for name in NAMES if (path := Path(private or "") / name).is_file()}
    return holder_facts(
        case,
        checked.verdicts,
        taken(case, list(measures.cards().values())),
        claims=_claims_of(folder),
        files=_files(folder),
        attacks=_attacked(case) if attacks else (),
        ledger=[Change(**line) for line in held["ledger"]],
        suppressed=int(held["suppressed"]),
        notes=[*map(text_of, held["notes"]), *case.faults.values()],
        plane=_plane(case),
        pictures=drawn,
    )


def write_report(facts: dict[str, Any], place: Path, format: str) -> None:  # noqa: A002
    """Write a report atomically to a new file or over an earlier report, not inside a folder that shoal wrote.

    The file of the holder's report is readable by its owner only.
    """
    check_outside(place)
    try:
        if not place.name or place.is_dir():
            raise WriteError(f"write: {str(place)!r} is a folder. Name a file, such as report.{format}.")
        if place.is_symlink() or (place.exists() and not (place.is_file() and _is_report(place))):
            raise WriteError(f"write: {str(place)!r} is not an earlier report, and shoal will not replace it.")
    except OSError as problem:
        raise WriteError(f"write: {str(place)!r} cannot be written: {problem.strerror}.") from None
    with draft_file(place, 0o600 if facts["kind"] == "holder" else 0o644) as made:
        made.write_text(FORMATS[format](facts), encoding="utf-8", newline="\n")


def _is_report(place: Path) -> bool:
    """Return whether a file is a report by shoal: by its beginning and, for Markdown, its end."""
    text = place.read_text(encoding="utf-8", errors="replace")
    if text.startswith("<!doctype html>"):
        return '\n<meta name="generator" content="shoal">\n' in text[:1000]
    if text.startswith("{"):
        return re.match(r'\{\n  "shoal": "[^"\n]*",\n  "kind": "(public|holder)"', text) is not None
    return text.startswith("# ") and re.search(r"\n\nMade by shoal [^\s]+\.\n\Z", text) is not None


def public_page(folder: Path, verdicts: Sequence[Verdict]) -> str:
    """Return the public report of a folder that is being written or verified: its claims are the verdicts found.

    The same files give the same bytes on every machine with the same versions of shoal and the drawing libraries:
    nothing depends on time, path, language, fonts, threads or installed plug-ins.
    """
    claimed = [replace(one, asked=figure(one.asked), found=figure(one.found)) for one in verdicts]
    return as_html(_public_facts(folder, claimed, _own_claims(claimed)))


def holder_page(folder: Path, release: Release, original: Any) -> str:
    """Return the holder's report of a folder that is being written.

    So that a release need not wait for its report, measures that train several classifiers are omitted, randomized ones
    for many rows, and for very many rows all but the findings of the release. The report lists what was omitted.
    """
    case = case_of(original, release)
    drawn = [card for card in measures.cards().values() if card.chance and card.need != "release"]
    slow = [card for card in drawn if case.n > QUICK or "classifiers" in card.cost]
    if case.n > LARGE:
        slow = [card for card in measures.cards().values() if card.need != "release"]
    quick = [card for card in measures.cards().values() if card not in slow]
    known = [finding for finding in release.findings if finding.need != "release" and case.n > LARGE]
    findings = [*taken(case, quick), *known]
    there = {"label": case.policy.label is not None, "sensitive": bool(case.policy.names("sensitive"))}
    possible = [card for card in slow if all(there.get(one, False) for one in card.requires)]
    names = [card.name for card in possible if card.name not in {finding.name for finding in known}]
    claims = _own_claims(release.verdicts)
    return as_html(_held_facts(case, release, findings, (), claims=claims, files=_files(folder), left_out=names))


def _held_facts(
    case: Case, release: Release, findings: Sequence[Finding], attacks: Sequence[Attack], **more: Any
) -> dict[str, Any]:
    """Return the facts of the holder's report of a release in memory."""
    views = {name: column.view for name, column in release.policy.columns.items()}
    return holder_facts(
        case,
        release.verdicts,
        findings,
        attacks=attacks,
        ledger=release.ledger,
        suppressed=release.suppressed,
        notes=list(dict.fromkeys((*release.notes, *case.faults.values()))),
        plane=_plane(case),
        pictures=pictures(release._making.sketches, release._making.sketched, views),
        **more,
    )


def _public_facts(folder: Path, verdicts: Sequence[Verdict], claims: Claims) -> dict[str, Any]:
    """Return the facts of the public report, from the files of a folder."""
    policy = Policy.load(folder / POLICY)
    data = next(folder / name for name in data_files() if (folder / name).is_file())
    case = Case(read_back(data, policy), policy)
    return public_facts(case, verdicts, taken(case, _of_release()), claims, _files(folder))


def _of_release() -> list[MeasureCard]:
    """Return the built-in measures that need the release alone; plug-ins are omitted, as verifiers may lack them."""
    return [measures.load(name) for name in sorted(measures.built_in) if measures.declared(name, "need") == "release"]


def _attacked(case: Case) -> tuple[Attack, ...]:
    """Attack the release, as `attack` does with all quasi-identifiers known and no time limit."""
    return tried(case, list(known_attacks.cards().values()), profiles(case)["all"])


def _plane(case: Case) -> PlaneSketch | None:
    """Return the rows projected on their two main axes, or None if there are none; of a large table, some classes."""

    def matrix(rows: Rows | None) -> Floats:
        if case.matrix is not None:
            return case.matrix if rows is None else case.matrix[rows]
        table = case.before if rows is None else case.before.take(rows)
        return encode(table, case.policy, case.trees).X

    try:
        return plane_of_some(case.labels, case.policy.constraints.k, matrix)
    except ShoalError:
        return None  # a table of hierarchies alone need not have a matrix


def _own_claims(verdicts: Sequence[Verdict]) -> Claims:
    """Return the claims of a certificate of these verdicts."""
    return {(one.model, one.column): (one.asked, one.found) for one in verdicts}


def _claims_of(folder: Path) -> Claims:
    """Return the claims of the certificate of a folder that has been checked."""
    stated: Mapping[str, Any] = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    lines = stated["predicate"]["claims"]
    return {(line["model"], line["column"]): (float(line["asked"]), float(line["found"])) for line in lines}


def _files(folder: Path) -> dict[str, str]:
    """Return the digests of data and policy; the report cannot contain its own."""
    return {name: digest(folder / name) for name in (*data_files(), POLICY) if (folder / name).is_file()}
