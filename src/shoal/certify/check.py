"""Verify a release folder from its bytes: every claim is recomputed, nothing is trusted.

1. The certificate is read, and its list of files compared with the folder: names and digests.
2. The policy is read from its own file. It must be as shoal writes it, and one that shoal accepts (`check_policy`).
3. The data file is read: of a CSV file the text of every cell, so that classes are counted on what is written and not
   on numbers parsed from it. Its bytes must be those of its cells (`data_bytes`), and its rows ascend (`row_order`).
4. `recount` counts, with none of the code that makes releases; claimed and found figures are compared.
5. The certificate must be, byte for byte, what shoal writes for all this, and so must the report, which is rendered
   again.

`check_data` does step 4 for any table.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.catalogue import formats
from shoal.certify.certificate import (
    CERTIFICATE,
    FAULTS,
    POLICY,
    PREDICATE,
    REPORT,
    SETS_PREDICATE,
    Claims,
    Stated,
    digest,
    drawn_with,
    figure,
    numbers_of,
    own_version,
    read_statement,
    statement,
    table_predicate,
    written_with,
)
from shoal.certify.check_cells import contradicted
from shoal.certify.check_policy import MOST_POLICY, published_text, refusals, uninstalled, unused_levels
from shoal.certify.check_sets import Redraw, check_sets
from shoal.certify.checked import (
    Line,
    VerificationReport,
    compared,
    compared_files,
    is_plain,
    lacking,
    missing_file,
    name_of,
    plug_ins_trusted,
    published_as,
    same_bytes,
    small_text,
)
from shoal.certify.data_bytes import compared_bytes, starts_with
from shoal.certify.recount import recount
from shoal.certify.released import is_csv, is_text, read_cells, unguarded, with_points
from shoal.certify.replaced import while_unchanged
from shoal.certify.row_order import ascends
from shoal.errors import InfeasibleError, PlugInError, PolicyError, ReadError, ShoalError, counted, listed, shortened
from shoal.io.data_file import csv_header
from shoal.model.asking import either
from shoal.model.csv_style import STANDARD
from shoal.model.findings import Verdict
from shoal.model.policy import SEPARATOR, Policy

__all__ = ["Line", "Page", "VerificationReport", "check_data", "check_folder", "holds_sets"]

Page = Callable[[Path, Sequence[Verdict]], str]
MOST_CERTIFICATE = 1 << 22
NOISE = 1e-14  # relative difference between two ways of counting


def check_folder(folder: str | Path, page: Page | None = None, redraw: Redraw | None = None) -> VerificationReport:
    """Recompute every claim of a release folder from its bytes.

    `page` renders the public report of a table's folder, given the verdicts that it claims; without it, a report is
    compared with its digest alone, and a note says so. `redraw` draws the neighbour of sets; see `check_sets`.
    `ReadError` is raised only if there is no such folder, or no certificate in it: whatever else is wrong is a line
    that fails.

    Guarantee
    ---------
    If everything holds, then every byte of a table's folder follows from its cells, its policy and the versions of the
    libraries that the certificate names, except for the compression of data that other versions wrote, which is noted.
    Where a plug-in read the data or gave a figure, that depends on the plug-in, which is noted as well. For sets, see
    `check_sets`. All files are those of one release: a folder that another process replaces is read again.

    Cost
    ----
    That of reading, counting and writing the data once, and of rendering the report. Files that would unpack to far
    more than their size are refused from their headers, policies above 1 MB and certificates above 4 MB unread.
    """
    place = Path(folder)
    return while_unchanged(place, lambda: _check(place, page, redraw))


def _check(place: Path, page: Page | None, redraw: Redraw | None) -> VerificationReport:
    """Verify a folder once."""
    if not place.is_dir():
        raise ReadError(f"verify: there is no folder {str(place)!r}. Check the path.")
    if not (place / CERTIFICATE).is_file():
        raise ReadError(f"verify: {str(place)!r} has no {CERTIFICATE}, so it is not a release of shoal.")
    try:
        stated = read_statement(small_text(place / CERTIFICATE, MOST_CERTIFICATE))
    except FAULTS:
        return _unread(place)
    return check_sets(place, stated, redraw) if stated.kind == SETS_PREDICATE else _check_table(place, stated, page)


def _unread(place: Path) -> VerificationReport:
    """Say that a certificate cannot be read, or that its data has the format of a plug-in that is not installed."""
    try:
        predicate = json.loads(small_text(place / CERTIFICATE, MOST_CERTIFICATE))["predicate"]
        named = re.fullmatch(r"data\.([\w+-]+(\.[\w+-]+)*)", predicate["data"])
    except FAULTS:
        named = None
    format = "" if named is None else named[1]  # noqa: A001
    if not format or (format in formats.names() and format not in formats.broken()):
        line = Line("certificate", "a statement about a release", "cannot be read", holds=False)
        return VerificationReport((line,))
    line = Line("certificate", f"the format {shortened(format)}", "not known here", holds=False)
    told = (lacking("format", format),)
    return VerificationReport((line,), notes=told, missing=told)


def holds_sets(folder: str | Path) -> bool:
    """Return whether the certificate of a folder is about sets; it is not verified here."""
    try:
        return bool(json.loads(small_text(Path(folder) / CERTIFICATE))["predicateType"] == SETS_PREDICATE)
    except FAULTS:
        return False


def _check_table(place: Path, stated: Stated, page: Page | None) -> VerificationReport:
    """Verify the folder of a table; see the steps above."""
    own, newer = own_version(), stated.made["shoal"]
    if numbers_of(newer) > numbers_of(own):
        line = Line("certificate", f"by shoal {newer}", f"shoal {own} is installed", holds=False)
        return VerificationReport((line,), notes=(f"Install shoal {newer} or later to verify this release.",))
    # A report is not part of the claims: it may be absent, but if it is listed, it must be the one that was written.
    data = stated.predicate["data"]
    expected = {data, POLICY} | ({REPORT} & set(stated.subject))
    lines = [Line("certificate", PREDICATE, PREDICATE, holds=True), *compared_files(place, stated.subject, expected)]
    if not is_plain(place / POLICY):
        return VerificationReport((*lines, missing_file("policy", place / POLICY)))
    try:
        text = small_text(place / POLICY, MOST_POLICY)
        policy = Policy.from_toml(text)
        unknown = list(uninstalled(policy))
        lines += _policy(policy, text, stated.predicate["policy"], unknown, csv=is_csv(data))
    except (PolicyError, ValueError, RecursionError):
        return VerificationReport((*lines, Line("policy", "readable, of at most 1 MB", "cannot be read", holds=False)))
    missing = tuple(lacking(kind, name) for kind, name in unknown)
    if any(kind == "model" for kind, _ in unknown):  # nothing can be counted
        return VerificationReport(tuple(lines), notes=missing, missing=missing)
    if not is_plain(place / data):
        return VerificationReport((*lines, missing_file("data", place / data)))
    public = [name for name in policy.columns if policy.columns[name].role != "identifier"]
    style = policy.csv or STANDARD
    if is_csv(data) and not starts_with(place / data, data, csv_header(public, style)):
        return VerificationReport((*lines, Line("columns", listed(public), "different columns or order", holds=False)))
    try:
        cells = read_cells(place / data, data, style)
        released = unguarded(with_points(cells, policy, style), policy) if is_text(data) else cells
        found = recount(released, policy)
        more, note = _data(place / data, cells, released, public, policy, stated)
    except MemoryError:
        raise
    except InfeasibleError as problem:
        line = Line("combinations of items", "few enough to count", "too many", holds=False)
        return VerificationReport((*lines, line), notes=(str(problem),))
    except (ShoalError, KeyError, pa.ArrowException) as problem:
        why = str(problem) if isinstance(problem, PlugInError) else "cannot be read"
        return VerificationReport((*lines, Line("data", "readable by the policy", why, holds=False)))
    lines += [*more, *compared(stated.claims, found)]
    claimed = [_as_claimed(one, stated.claims) for one in found]
    lines.append(_certificate(place, policy, claimed, released.num_rows, stated))
    notes = [*missing, *plug_ins_trusted(data, policy), *([note] if note else [])]
    if REPORT in expected and not is_plain(place / REPORT):
        notes.append(f"{REPORT}, which the certificate lists, is missing from the folder. All else was checked.")
    elif REPORT in expected and page is None:
        notes.append(f"{REPORT} was compared with its digest only; it was not rendered again.")
    elif REPORT in expected and page is not None and all(line.holds for line in lines):
        line, remedy = _report(place, page, claimed, stated)
        lines.append(line)
        notes += [remedy] if remedy else []
    return VerificationReport(tuple(lines), found, tuple(notes), published_as(policy, released.column_names), missing)


def check_data(data: pa.Table, policy: Policy) -> VerificationReport:
    """Check a table against a policy; each verdict is a line."""
    found = recount(data, policy)
    lines = tuple(Line(name_of(v), f"required {v.asked:g}", f"{v.found:.6g}", v.holds) for v in found)
    columns = [replace(one, form="as in the file") for one in published_as(policy, data.column_names)]
    return VerificationReport(lines, found, (), tuple(columns))


def _policy(policy: Policy, text: str, stated: Any, unknown: list[tuple[str, str]], *, csv: bool) -> Iterable[Line]:
    """Compare a policy with the certificate and with what shoal writes, and say why shoal would not accept it.

    Whatever is `unknown`, because a plug-in is not installed, has lines of its own.
    """
    same = policy.as_dict() == stated
    yield Line("policy", "as in the certificate", "the same" if same else "different", same)
    why = next(refusals(policy), "")
    yield Line("policy", "accepted by shoal", why or "yes", not why)
    for kind, name in unknown:
        yield Line("policy", f"the {kind} {shortened(name)}", "not known here", holds=False)
    yield same_bytes("policy bytes", not why and text == published_text(policy) and (csv or policy.csv is None))


def _data(
    path: Path, cells: pa.Table, released: pa.Table, public: list[str], policy: Policy, stated: Stated
) -> tuple[list[Line], str]:
    """Compare columns, rows and bytes of the data with the claims and with what shoal writes."""
    names, rows = set(cells.column_names), stated.predicate["rows"]
    dropped = sum(name in names for name in policy.names("identifier"))
    same = cells.column_names == public
    found = counted(len(names), "column") + (f", {dropped} of them identifiers" if dropped else "")
    lines = [
        Line(
            "columns",
            counted(len(public), "column"),
            found if same else f"{found}, not these or in a different order",
            same,
        ),
        Line("rows", f"{rows:,}", f"{cells.num_rows:,}", rows == cells.num_rows),
    ]
    here = written_with(path.name)
    made = {name: stated.made[name] for name in here}
    bytes_ = compared_bytes(path, path.name, cells, made, here, policy.csv or STANDARD)
    writer = "shoal" if formats.load(path.name.removeprefix("data.")).built_in else "the plug-in"
    lines.append(Line("data bytes", f"as {writer} writes them", bytes_.found, bytes_.holds))
    separators = {name: policy.columns[name].separator or SEPARATOR for name in policy.names("items")}
    order = ascends(with_points(cells, policy, policy.csv or STANDARD) if is_csv(path.name) else cells, separators)
    lines.append(Line("order of rows", "ascending", "ascending" if order else "not ascending", order))
    lines += contradicted(released, policy)
    if unexpected := unused_levels(policy, released):
        lines.append(Line("levels", "only those that occur", f"unused ones in {listed(unexpected)}", holds=False))
    return lines, bytes_.note


def _as_claimed(verdict: Verdict, claims: Claims) -> Verdict:
    """Return a verdict with the claimed figure, if it equals the one found up to noise in the last digit."""
    claim = claims.get((verdict.model, verdict.column))
    noise = NOISE * max(1.0, abs(verdict.found))
    near = {figure(verdict.found + shift) for shift in (0.0, noise, -noise)}
    return replace(verdict, found=claim[1] if claim is not None and claim[1] in near else verdict.found)


def _certificate(place: Path, policy: Policy, claimed: list[Verdict], rows: int, stated: Stated) -> Line:
    """Compare a certificate with what shoal writes for this folder."""
    data = stated.predicate["data"]
    digests = {name: digest(place / name) for name in (data, POLICY)}
    if REPORT in stated.subject:
        there = is_plain(place / REPORT)
        digests[REPORT] = digest(place / REPORT) if there else stated.subject[REPORT]
    expected = table_predicate(data, policy, claimed, rows, stated.made)
    return same_bytes("certificate bytes", stated.text == statement(PREDICATE, digests, expected))


def _report(place: Path, page: Page, claimed: list[Verdict], stated: Stated) -> tuple[Line, str]:
    """Render the report again and compare; return the line, and a remedy if versions differ or rendering fails."""
    try:
        same = page(place, claimed).encode() == (place / REPORT).read_bytes()
        found = "the same" if same else "different"
    except MemoryError:
        everything_else = f"To check everything else: {either('report', value=False)}."
        remedy = f"{REPORT} could not be compared: there is not enough memory. {everything_else}"
        return Line("report", "as shoal renders it", "could not be compared", holds=False), remedy
    except Exception:  # noqa: BLE001 - untrusted cells may break the drawing, and a message might quote them
        same, found = False, "cannot be rendered"
    here = {"shoal": own_version(), **drawn_with()}
    made = {name: stated.made[name] for name in here}
    if same or made == here:
        return Line("report", "as shoal renders it", found, same), ""
    by = ", ".join(f"{name} {made[name]}" for name in made if made[name] != here[name])
    remedy = (
        f"{REPORT} was rendered with {by}, which are not the versions installed here. Install them to compare it, or "
        "ignore it: `shoal report FOLDER` renders another one, and `shoal verify` can check everything else "
        f"({either('report', value=False)})."
    )
    return Line("report", f"as rendered with {by}", found, holds=False), remedy
