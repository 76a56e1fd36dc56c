"""Check a release folder from its bytes: every claim is recomputed, nothing is believed.

1. The certificate is read, and its list of files compared with the folder: names and digests.
2. The policy is read from its own file and compared with the one in the certificate.
3. The data file is read: of a CSV file the text of every cell, so that classes are counted on what is written and
   not on numbers made from it.
4. `recount` counts, with nothing of what the makers count with; claimed and found figures are put side by side.

`check_file` does steps 3 and 4 for anybody's file.
"""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shoal.certify.certificate import CERTIFICATE, POLICY, PREDICATE, REPORT, STATEMENT, digest
from shoal.certify.recount import recount
from shoal.certify.recounted_models import SLACK
from shoal.errors import PolicyError, ReadError, ShoalError, listed
from shoal.io.files import opened, typed_columns, unpacked
from shoal.model.findings import Verdict
from shoal.model.policy import MOST_TEXT, Policy, Role

Claims = dict[tuple[str, str | None], tuple[float, float]]
DATA_FILES = ("data.csv", "data.csv.gz", "data.parquet", "data.feather")
ROLES: tuple[Role, ...] = ("quasi", "sensitive", "keep", "items")

__all__ = [
    "Checked",
    "Claims",
    "Line",
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


@dataclass(frozen=True)
class Line:
    """One thing that was checked."""

    what: str
    claimed: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Checked:
    """All that was checked of a release; `holds` only if every line does."""

    lines: tuple[Line, ...]
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything is as claimed."""
        return all(line.holds for line in self.lines) and all(verdict.holds for verdict in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "holds": self.holds,
            "lines": [asdict(line) for line in self.lines],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Say what was checked, a line each, and the outcome."""
        said = [
            f"{line.what}: {line.claimed} / {line.found}: {'holds' if line.holds else 'FAILS'}" for line in self.lines
        ]
        return "\n".join([*said, *self.notes, "Everything holds." if self.holds else "Not everything holds."])


def check_folder(folder: str | Path) -> Checked:
    """Recompute every claim of a release folder from its bytes.

    Parameters
    ----------
    folder : path
        A folder with certificate.json, policy.toml and a data file, and a report if the certificate lists it.

    Returns
    -------
    Checked
    """
    place = Path(folder)
    if not place.is_dir():
        raise ReadError(f"verify: there is no folder {str(folder)!r}.")
    if not (place / CERTIFICATE).is_file():
        raise ReadError(f"verify: {str(folder)!r} has no {CERTIFICATE}, so it is not a release of shoal.")
    try:
        data, rows, claims, subject, stated = _statement(small_text(place / CERTIFICATE))
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return Checked((Line("certificate", "a statement about a release", "cannot be read", holds=False),))
    # A report is no part of the claims: it may be left out, but if it is listed, it is the one that was written.
    expected = {data, POLICY} | ({REPORT} & set(subject))
    lines = [Line("certificate", PREDICATE, PREDICATE, holds=True), *compared_files(place, subject, expected)]
    if not all(is_plain(place / name) for name in (data, POLICY)):
        return Checked((*lines, Line("data and policy", "plain files", "not so", holds=False)))
    try:
        policy = Policy.load(place / POLICY)
        same = policy.as_dict() == stated
        lines.append(Line("policy", "as in the certificate", "the same" if same else "another", same))
        policy.refuse_unanswered()
        released = read_release(place / data, data, policy)
        found = recount(released, policy)
    except PolicyError:
        return Checked((*lines, Line("policy", "readable", "cannot be read", holds=False)))
    except (ShoalError, KeyError):
        return Checked((*lines, Line("data", "readable by the policy", "cannot be read", holds=False)))
    lines += _columns(released.column_names, policy)
    lines.append(Line("rows", str(rows), str(released.num_rows), rows == released.num_rows))
    return Checked((*lines, *compared(claims, found)), found)


def check_data(data: pa.Table, policy: Policy) -> Checked:
    """Judge a table against a policy; each verdict is a line."""
    found = recount(data, policy)
    lines = tuple(Line(_name(v), f"asked {v.asked:g}", f"{v.found:.6g}", v.holds) for v in found)
    roles = {role: [name for name in data.column_names if name in policy.names(role)] for role in ROLES}
    return Checked(lines, found, tuple(f"{role}: {listed(names)}" for role, names in roles.items() if names))


def read_release(path: Path, name: str, policy: Policy) -> pa.Table:
    """Read a released data file: the text of a CSV file cell by cell, typed values of the other formats.

    Cells of sensitive columns and of items lose the apostrophe that kept a spreadsheet from running them, so that their
    meaning is found; all other text is judged as it stands.
    """
    try:
        if name.endswith((".csv", ".csv.gz")):
            table = _read_text(path, name)
        else:
            table = typed_columns(path, name.removeprefix("data."))
    except (OSError, pa.ArrowException, ValueError):
        raise ReadError(f"verify: {name!r} cannot be read as a released table.") from None
    for place, column in enumerate(table.column_names):
        known = policy.columns.get(column)
        if known is not None and known.role in ("sensitive", "items") and name.startswith("data.csv"):
            table = table.set_column(place, column, unescaped(table.column(column)))
    return table


def _read_text(path: Path, name: str) -> pa.Table:
    """Read every cell of a CSV file as text; only an empty cell without quotes is missing."""
    with opened(path) as file:
        block = unpacked(file, name, "csv.gz" if name.endswith(".gz") else "csv")
    buffer = pa.py_buffer(block)
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    whole = pyarrow.csv.ReadOptions(block_size=min(len(block) + 1, 2**31 - 1))
    names = pyarrow.csv.open_csv(buffer, parse_options=parse, read_options=whole).schema.names
    texts = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    table = pyarrow.csv.read_csv(buffer, parse_options=parse, read_options=whole, convert_options=texts)
    return pa.table(table.columns, names=[unescaped(pa.array([word]))[0].as_py() for word in table.column_names])


def unescaped(text: Any) -> Any:
    """Return text without the apostrophe that keeps a spreadsheet from running a cell.

    Parameters
    ----------
    text : pyarrow array of text
    """
    return pc.replace_substring_regex(text, r"(?s)^'(['=+\-@\t\r].*)$", r"\1")


def small_text(path: Path) -> str:
    """Return the text of a plain file that is not absurdly large."""
    if not is_plain(path) or path.stat().st_size > MOST_TEXT:
        raise ValueError
    return path.read_text(encoding="utf-8")


def is_plain(path: Path) -> bool:
    """Say whether a path is a file itself, and neither a link nor a pipe nor a device."""
    return path.is_file() and not path.is_symlink()


def _statement(text: str) -> tuple[str, int, Claims, dict[str, str], Any]:
    """Read a certificate, or raise if it says anything twice, too much, too little or of another type."""
    statement = json.loads(text, object_pairs_hook=once)
    predicate = statement["predicate"]
    subject = {str(entry["name"]): str(entry["digest"]["sha256"]) for entry in statement["subject"]}
    data, rows = predicate["data"], predicate["rows"]
    sound = (
        statement["_type"] == STATEMENT
        and statement["predicateType"] == PREDICATE
        and set(statement) == {"_type", "subject", "predicateType", "predicate"}
        and set(predicate) == {"shoal", "data", "rows", "policy", "claims"}
        and data in DATA_FILES
        and re.fullmatch(r"[0-9A-Za-z.+-]{1,60}", predicate["shoal"])
        and type(rows) is int
        and len(subject) == len(statement["subject"])
        and all(
            set(entry) == {"name", "digest"} and set(entry["digest"]) == {"sha256"} for entry in statement["subject"]
        )
    )
    if not sound:
        raise ValueError
    return data, rows, claims_of(predicate["claims"]), subject, predicate["policy"]


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is given twice."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError
    return dict(pairs)


def claims_of(given: Any) -> Claims:
    """Read the claims of a certificate: asked and found by model and column."""
    claims = {}
    for claim in given:
        asked, found = claim["asked"], claim["found"]
        numbers = all(type(figure) in (int, float) and math.isfinite(figure) for figure in (asked, found))
        if set(claim) != {"model", "column", "asked", "found"} or not numbers:
            raise ValueError
        claims[str(claim["model"]), claim["column"]] = (float(asked), float(found))
    if len(claims) < len(given):
        raise ValueError
    return claims


def compared_files(place: Path, subject: dict[str, str], expected: set[str]) -> Iterable[Line]:
    """Compare the files of the folder with those that the certificate lists, and those with what a release has."""
    present = {path.name for path in place.iterdir()} - {CERTIFICATE}
    for name in sorted(expected | set(subject)):
        claimed = subject.get(name, "not listed")
        inside = name in present and is_plain(place / name)
        found = digest(place / name) if inside else "not in the folder"
        holds = inside and found == claimed and name in expected
        yield Line(f"file {name}", claimed[:16], found[:16] if inside else found, holds)
    for name in sorted(present - expected - set(subject)):
        yield Line(f"file {name}", "not listed", "in the folder", holds=False)


def _columns(names: list[str], policy: Policy) -> Iterable[Line]:
    """Compare the columns of the data with those that the policy publishes."""
    public = [name for name in policy.columns if policy.columns[name].role != "identifier"]
    same = sorted(names) == sorted(public)
    dropped = sum(name in names for name in policy.names("identifier"))
    found = (
        f"{len(names)} columns" + (f", {dropped} of them identifiers" if dropped else "") + ("" if same else ", others")
    )
    yield Line("columns", f"{len(public)} columns", found, same)


def compared(claims: dict[tuple[str, str | None], tuple[float, float]], found: Iterable[Verdict]) -> Iterable[Line]:
    """Put the claimed and the found figure of each model side by side."""
    left = dict(claims)
    for verdict in found:
        claim = left.pop((verdict.model, verdict.column), None)
        shown = f"{verdict.found:.6g} (asked {verdict.asked:g})"
        if claim is None:
            yield Line(_name(verdict), "no claim", shown, holds=False)
            continue
        asked, claimed = claim
        same = abs(asked - verdict.asked) <= SLACK and abs(claimed - verdict.found) <= SLACK
        yield Line(_name(verdict), f"{claimed:.6g} (asked {asked:g})", shown, same and verdict.holds)
    for model, column in left:
        yield Line(f"{model} of {column!r}" if column else model, "claimed", "not asked for", holds=False)


def _name(verdict: Verdict) -> str:
    """Name a verdict by its model and column."""
    return f"{verdict.model} of {verdict.column!r}" if verdict.column else verdict.model
