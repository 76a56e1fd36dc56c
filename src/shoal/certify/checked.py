"""The result of a verification, and the parts shared by the checks of tables and of sets."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shoal.catalogue import formats
from shoal.certify.certificate import CERTIFICATE, Claims, digest
from shoal.certify.recounted_models import SLACK
from shoal.errors import counted, listed, shortened
from shoal.model.findings import Verdict
from shoal.model.policy import MOST_TEXT, Policy

SHOWN = 5  # names of failed checks in the conclusion


@dataclass(frozen=True)
class Line:
    """One check."""

    what: str
    claimed: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Published:
    """What a policy says of a column: its role, its kind, and how it is published."""

    column: str
    role: str
    kind: str | None
    form: str


@dataclass(frozen=True)
class VerificationReport:
    """Everything that was checked in a release.

    Attributes
    ----------
    lines : tuple of Line
        Each check: what was checked, what is claimed, what was found, and whether it holds.
    verdicts : tuple of Verdict
        The constraints, counted in the release.
    notes : tuple of str
        What a recipient should know.
    columns : tuple of Published
        The role and the published form of each column.
    missing : tuple of str
        Those of the notes that say which plug-in must be installed to verify the release.
    """

    lines: tuple[Line, ...]
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()
    columns: tuple[Published, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything is as claimed."""
        return all(line.holds for line in self.lines) and all(verdict.holds for verdict in self.verdicts)

    @property
    def conclusion(self) -> str:
        """The outcome in one line: what was found, or which checks failed."""
        failed = [line.what for line in self.lines if not line.holds]
        failed = failed or [name_of(one) for one in self.verdicts if not one.holds]
        if failed:
            which = f"{len(failed)} of {counted(len(self.lines), 'check')} failed: {listed(failed, SHOWN)}"
            return f"{which}. Do not rely on these data."
        found = ", ".join(f"{name_of(one)} {one.found:.6g}" for one in self.verdicts if one.asked)
        passed = "The check passed" if len(self.lines) == 1 else f"All {len(self.lines)} checks passed"
        return f"Everything holds. {passed}" + (f"; found: {found}." if found else ".")

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "holds": self.holds,
            "lines": [asdict(line) for line in self.lines],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
            "columns": [asdict(column) for column in self.columns],
        }

    def __str__(self) -> str:
        """List the checks, one per line, the role of each column, and the outcome."""
        checks = [
            f"{line.what}: {line.claimed} / {line.found}: {'holds' if line.holds else 'FAILS'}" for line in self.lines
        ]
        roles = [f"column {one.column!r}: {one.role}, {one.form}" for one in self.columns]
        return "\n".join([*checks, *roles, *self.notes, self.conclusion])


def published_as(policy: Policy, names: Iterable[str]) -> tuple[Published, ...]:
    """Return what each column of a release is by its policy; anyone who relies on a release should read it.

    A column that the policy does not name counts as a quasi-identifier.
    """
    found = []
    for name in names:
        column = policy.columns.get(name)
        role = "quasi" if column is None else column.role
        changed = {"sensitive": "unchanged", "keep": "unchanged", "items": "items exchanged within groups"}
        form = changed.get(role) or (column.form if column is not None and column.form else "as in the file")
        found.append(Published(name, role, None if column is None else column.kind, form))
    return tuple(found)


def plug_ins_trusted(data: str, policy: Policy) -> list[str]:
    """Say on which plug-ins the verdict on a release with this data file depends."""
    name, found = data.removeprefix("data."), list[str]()
    if name not in formats.built_in:
        found.append(
            f"The verdict depends on the plug-in of the format {name!r}, which read {data} and says which bytes it "
            "writes: shoal cannot tell whether the file contains more than the cells that were counted."
        )
    models = listed(policy.constraints.others)
    if models:
        found.append(f"The verdict depends on the plug-ins of these models, which gave their figures: {models}.")
    return found


def small_text(path: Path, most: int = MOST_TEXT) -> str:
    """Return the text of a regular file of at most `most` bytes."""
    if not is_plain(path) or path.stat().st_size > most:
        raise ValueError
    return path.read_bytes().decode("utf-8")


def is_plain(path: Path) -> bool:
    """Return whether a path is a regular file, not a link, pipe or device."""
    return path.is_file() and not path.is_symlink()


def compared_files(place: Path, subject: dict[str, str], expected: set[str]) -> Iterable[Line]:
    """Compare the files of the folder with those that the certificate lists, and these with what a release has."""
    present = {path.name for path in place.iterdir()} - {CERTIFICATE}
    for name in sorted(expected | set(subject)):
        claimed = subject.get(name, "not listed")
        inside = name in present and is_plain(place / name)
        found = digest(place / name) if inside else _fault(place / name)
        holds = inside and found == claimed and name in expected
        yield Line(f"file {name}", claimed[:16], found[:16] if inside else found, holds)
    for name in sorted(present - expected - set(subject)):
        yield Line(f"file {name}", "not listed", "in the folder", holds=False)


def missing_file(what: str, path: Path) -> Line:
    """Return the line of something that cannot be checked, because its file is missing."""
    return Line(what, "a regular file", f"{path.name} is {_fault(path)}", holds=False)


def _fault(path: Path) -> str:
    """Say why a path is not a regular file."""
    return "not a regular file" if path.exists() or path.is_symlink() else "not in the folder"


def compared(claims: Claims, found: Iterable[Verdict]) -> Iterable[Line]:
    """Compare the claimed and the found figure of each model."""
    left = dict(claims)
    for verdict in found:
        claim = left.pop((verdict.model, verdict.column), None)
        shown = f"{verdict.found:.6g} (required {verdict.asked:g})"
        if claim is None:
            yield Line(name_of(verdict), "no claim", shown, holds=False)
            continue
        asked, claimed = claim
        same = _close(asked, verdict.asked) and _close(claimed, verdict.found)
        yield Line(name_of(verdict), f"{claimed:.6g} (required {asked:g})", shown, same and verdict.holds)
    for model, column in left:
        yield Line(f"{model} of {column!r}" if column else model, "claimed", "not required", holds=False)


def _close(claimed: float, found: float) -> bool:
    """Return whether two figures differ by rounding alone."""
    return abs(claimed - found) <= SLACK * max(1.0, abs(found))


def lacking(kind: str, name: str) -> str:
    """Say that something that a release uses comes from a plug-in that is not installed here, or cannot be loaded."""
    return f"The {kind} {shortened(name)} of this release is not known here. Install the plug-in that provides it."


def same_bytes(what: str, same: bool) -> Line:
    """Return the line of a file that must have the bytes that shoal writes."""
    return Line(what, "as shoal writes them", "the same" if same else "different bytes", same)


def name_of(verdict: Verdict) -> str:
    """Name a verdict by its model and column."""
    return f"{verdict.model} of {verdict.column!r}" if verdict.column else verdict.model
