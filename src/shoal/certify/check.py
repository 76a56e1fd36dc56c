"""Check a release folder from its bytes: every claim is recomputed, nothing is believed.

1. The certificate is read, and its list of files compared with the folder: names and digests.
2. The policy is read from its own file. It must be as shoal writes it, and one that shoal accepts (`check_policy`).
3. The data file is read: of a CSV file the text of every cell, so that classes are counted on what is written and
   not on numbers made from it. Its bytes must be those of its cells (`data_bytes`), and its rows ascend (`row_order`).
4. `recount` counts, with nothing of what the makers count with; claimed and found figures are put side by side.
5. The certificate must be, byte by byte, what shoal writes of all this, and so must the report, which is drawn again.

`check_data` does step 4 for anybody's table.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from shoal.certify.certificate import (
    BUILDS,
    CERTIFICATE,
    POLICY,
    PREDICATE,
    REPORT,
    STATEMENT,
    digest,
    drawn_with,
    figure,
    plain_version,
    statement,
    written_with,
)
from shoal.certify.check_cells import contradicted
from shoal.certify.check_policy import MOST_POLICY, published_text, refusals, unused_levels
from shoal.certify.checked import (
    Claims,
    Line,
    VerificationReport,
    claims_of,
    compared,
    compared_files,
    is_plain,
    name_of,
    once,
    published_as,
    small_text,
)
from shoal.certify.data_bytes import compared_bytes, starts_with
from shoal.certify.recount import recount
from shoal.certify.released import read_cells, read_release, unescaped, unguarded
from shoal.certify.row_order import ascends
from shoal.errors import DrawingError, PolicyError, ReadError, ShoalError, listed
from shoal.io.data_file import csv_header
from shoal.model.asking import either
from shoal.model.findings import Verdict
from shoal.model.policy import Policy

__all__ = [
    "Claims",
    "Line",
    "Page",
    "VerificationReport",
    "check_data",
    "check_folder",
    "claims_of",
    "compared",
    "compared_files",
    "is_plain",
    "once",
    "read_release",
    "small_text",
    "unescaped",
]

Page = Callable[[Path, Sequence[Verdict]], str]
DATA_FILES = ("data.csv", "data.csv.gz", "data.parquet", "data.feather")
MOST_CERTIFICATE = 1 << 22
NOISE = 1e-14  # by which two ways of counting differ
VERSION = re.compile(r"(\d{1,4}(\.\d{1,4}){1,3})((a|b|rc|\.post|\.dev)\d{1,6})?(\.zlib-ng)?")
FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


class _Stated(NamedTuple):
    """What a certificate says, and its text."""

    text: str
    data: str
    rows: int
    claims: Claims
    subject: dict[str, str]
    policy: Any
    made: dict[str, str]


def check_folder(folder: str | Path, page: Page | None = None) -> VerificationReport:
    """Recompute every claim of a release folder from its bytes.

    Parameters
    ----------
    folder : path
        A folder with certificate.json, policy.toml and a data file, and a report if the certificate lists it.
    page : callable, optional
        Draws the public report of a folder, given the verdicts that it claims. Without it, a report is compared with
        its digest alone, and a note says so.

    Returns
    -------
    VerificationReport
        With the role of every column.

    Guarantee
    ---------
    If everything holds, then every byte of the folder follows from its cells, its policy and the versions of the
    libraries that the certificate names, but for the packing of data that other versions wrote: a note says so then.

    Cost
    ----
    That of reading, judging and writing the data once, and of drawing the report. Files that would unpack to far more
    than their size are refused from their headers, policies above 1 MB and certificates above 4 MB unread.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ReadError(f"verify: there is no folder {str(folder)!r}.")
    if not (place / CERTIFICATE).is_file():
        raise ReadError(f"verify: {str(folder)!r} has no {CERTIFICATE}, so it is not a release of shoal.")
    try:
        stated = _statement(small_text(place / CERTIFICATE, MOST_CERTIFICATE))
    except FAULTS:
        return VerificationReport((Line("certificate", "a statement about a release", "cannot be read", holds=False),))
    own, newer = plain_version(version("shoal")), stated.made["shoal"]
    if _release(newer) > _release(own):
        line = Line("certificate", f"by shoal {newer}", f"shoal {own} is installed", holds=False)
        return VerificationReport((line,), notes=(f"Install shoal {newer} or later to verify this release.",))
    # A report is no part of the claims: it may be left out, but if it is listed, it is the one that was written.
    data, expected = stated.data, {stated.data, POLICY} | ({REPORT} & set(stated.subject))
    lines = [Line("certificate", PREDICATE, PREDICATE, holds=True), *compared_files(place, stated.subject, expected)]
    if not all(is_plain(place / name) for name in expected):
        return VerificationReport((*lines, Line("data and policy", "plain files", "not so", holds=False)))
    try:
        text = small_text(place / POLICY, MOST_POLICY)
        policy = Policy.from_toml(text)
        lines += _policy(policy, text, stated.policy)
    except (PolicyError, ValueError, RecursionError):
        return VerificationReport((*lines, Line("policy", "readable, of at most 1 MB", "cannot be read", holds=False)))
    public = [name for name in policy.columns if policy.columns[name].role != "identifier"]
    if data.startswith("data.csv") and not starts_with(place / data, data, csv_header(public)):
        return VerificationReport((*lines, Line("columns", listed(public), "others, or in another order", holds=False)))
    try:
        cells = read_cells(place / data, data)
        released = unguarded(cells, policy) if data.startswith("data.csv") else cells
        found = recount(released, policy)
        more, note = _data(place / data, cells, released, public, policy, stated)
    except (ShoalError, KeyError, pa.ArrowException):
        return VerificationReport((*lines, Line("data", "readable by the policy", "cannot be read", holds=False)))
    lines += [*more, *compared(stated.claims, found)]
    claimed = [_as_claimed(one, stated.claims) for one in found]
    lines.append(_certificate(place, policy, claimed, released.num_rows, stated))
    notes = [note] if note else []
    if REPORT in expected and page is None:
        notes.append(f"{REPORT} was compared with its digest, and not drawn again.")
    elif REPORT in expected and page is not None and all(line.holds for line in lines):
        line, remedy = _report(place, page, claimed, stated)
        lines.append(line)
        notes += [remedy] if remedy else []
    return VerificationReport(tuple(lines), found, tuple(notes), published_as(policy, released.column_names))


def check_data(data: pa.Table, policy: Policy) -> VerificationReport:
    """Judge a table against a policy; each verdict is a line."""
    found = recount(data, policy)
    lines = tuple(Line(name_of(v), f"asked {v.asked:g}", f"{v.found:.6g}", v.holds) for v in found)
    columns = [replace(one, form="as in the file") for one in published_as(policy, data.column_names)]
    return VerificationReport(lines, found, (), tuple(columns))


def _statement(text: str) -> _Stated:
    """Read a certificate, or raise if it says anything twice, too much, too little or of another type."""
    statement = json.loads(text, object_pairs_hook=once)
    predicate = statement["predicate"]
    subject = {str(entry["name"]): str(entry["digest"]["sha256"]) for entry in statement["subject"]}
    data, rows, made = predicate["data"], predicate["rows"], {"shoal": predicate["shoal"], **predicate["made_with"]}
    sound = (
        statement["_type"] == STATEMENT
        and statement["predicateType"] == PREDICATE
        and set(statement) == {"_type", "subject", "predicateType", "predicate"}
        and set(predicate) == {"shoal", "made_with", "data", "rows", "policy", "claims"}
        and data in DATA_FILES
        and set(made) == {"shoal", *written_with(data), *(drawn_with() if REPORT in subject else ())}
        and all(one in BUILDS if name == "pyarrow build" else VERSION.fullmatch(one) for name, one in made.items())
        and type(rows) is int
        and len(subject) == len(statement["subject"])
        and all(
            set(entry) == {"name", "digest"} and set(entry["digest"]) == {"sha256"} for entry in statement["subject"]
        )
    )
    if not sound:
        raise ValueError
    return _Stated(text, data, rows, claims_of(predicate["claims"]), subject, predicate["policy"], made)


def _release(given: str) -> tuple[int, ...]:
    """Return the numbers of a version."""
    found = VERSION.match(given)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def _policy(policy: Policy, text: str, stated: Any) -> Iterable[Line]:
    """Compare a policy with the certificate and with what shoal writes, and say why shoal would not accept it."""
    same = policy.as_dict() == stated
    yield Line("policy", "as in the certificate", "the same" if same else "another", same)
    why = next(refusals(policy), "")
    yield Line("policy", "one that shoal accepts", why or "it is", not why)
    written = not why and text == published_text(policy)
    yield Line("policy bytes", "as shoal writes them", "the same" if written else "others", written)


def _data(
    path: Path, cells: pa.Table, released: pa.Table, public: list[str], policy: Policy, stated: _Stated
) -> tuple[list[Line], str]:
    """Compare columns, rows and bytes of the data with what is claimed and what shoal writes."""
    names = set(cells.column_names)
    dropped = sum(name in names for name in policy.names("identifier"))
    same = cells.column_names == public
    found = f"{len(names)} columns" + (f", {dropped} of them identifiers" if dropped else "")
    lines = [
        Line("columns", f"{len(public)} columns", found if same else f"{found}, others or in another order", same),
        Line("rows", str(stated.rows), str(cells.num_rows), stated.rows == cells.num_rows),
    ]
    here = written_with(stated.data)
    made = {name: stated.made[name] for name in here}
    bytes_ = compared_bytes(path, stated.data, cells, made, here)
    lines.append(Line("data bytes", "those of its cells", bytes_.found, bytes_.holds))
    separators = {name: policy.columns[name].separator or "|" for name in policy.names("items")}
    order = ascends(cells, separators)
    lines.append(Line("order of rows", "ascending", "ascending" if order else "another", order))
    lines += contradicted(released, policy)
    if strange := unused_levels(policy, released):
        lines.append(Line("levels", "those that occur", f"others, too, of {listed(strange)}", holds=False))
    return lines, bytes_.note


def _as_claimed(verdict: Verdict, claims: Claims) -> Verdict:
    """Return a verdict with the figure that is claimed, if it is the one found but for noise in the last digit."""
    claim = claims.get((verdict.model, verdict.column))
    noise = NOISE * max(1.0, abs(verdict.found))
    near = {figure(verdict.found + shift) for shift in (0.0, noise, -noise)}
    return replace(verdict, found=claim[1] if claim is not None and claim[1] in near else verdict.found)


def _certificate(place: Path, policy: Policy, claimed: list[Verdict], rows: int, stated: _Stated) -> Line:
    """Compare a certificate with what shoal writes for this folder."""
    files = [stated.data, POLICY, *({REPORT} & set(stated.subject))]
    digests = {name: digest(place / name) for name in files}
    same = stated.text == statement(stated.data, policy, claimed, rows, digests, stated.made)
    return Line("certificate bytes", "as shoal writes them", "the same" if same else "others", same)


def _report(place: Path, page: Page, claimed: list[Verdict], stated: _Stated) -> tuple[Line, str]:
    """Draw the report again and compare it; return the line, and what to do if others drew it or it cannot be drawn."""
    try:
        same = page(place, claimed).encode() == (place / REPORT).read_bytes()
        found = "the same" if same else "another"
    except (DrawingError, MemoryError) as problem:
        # Pictures are drawn in a process of their own, so this one outlives whatever happens to it.
        why = str(problem) if isinstance(problem, DrawingError) else "memory is not enough."
        remedy = f"{REPORT} could not be compared: {why} To check all but it: {either('report', value=False)}."
        return Line("report", "as shoal draws it", "could not be compared", holds=False), remedy
    except Exception:  # noqa: BLE001 - a stranger's cells may break the drawing, and a message might quote them
        same, found = False, "cannot be drawn"
    here = {"shoal": plain_version(version("shoal")), **drawn_with()}
    made = {name: stated.made[name] for name in here}
    if same or made == here:
        return Line("report", "as shoal draws it", found, same), ""
    by = ", ".join(f"{name} {made[name]}" for name in made if made[name] != here[name])
    remedy = (
        f"{REPORT} was drawn with {by}, which are not the versions installed here. Install them to compare it, or "
        "leave it unread: `shoal report FOLDER` draws another one, and `shoal verify` checks all but it if you ask so "
        f"({either('report', value=False)})."
    )
    return Line("report", f"as drawn with {by}", found, holds=False), remedy
