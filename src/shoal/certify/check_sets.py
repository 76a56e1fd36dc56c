"""Check the folder of a set-valued release from its bytes: every claim is recomputed, nothing is believed.

1. The certificate is read, and its list of files compared with the folder: names and digests.
2. The disassociated data set is read by `sets_bytes`, which shares no code with what wrote it; its parameters and its
   number of records are compared with those of the certificate.
3. The judge, `privacy.verdict.km`, counts; claimed and found figures are put side by side.
4. The files, and at last the certificate, must have the bytes that shoal writes, and k records must hold every label.
5. A neighbour is drawn again and must be the same. If it is said to be k^m-anonymous, that is counted too.
"""

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from shoal.certify.certificate import CERTIFICATE, STATEMENT
from shoal.certify.check import (
    Claims,
    Line,
    VerificationReport,
    claims_of,
    compared,
    compared_files,
    is_plain,
    once,
    small_text,
)
from shoal.certify.sets_bytes import DOCUMENT, TABLES, Files, read_document, read_tables, sound_parameters
from shoal.certify.sets_certificate import SETS_FORMAT, SETS_PREDICATE, certificate_text
from shoal.certify.sets_form import shown_labels, written_bytes
from shoal.certify.sets_neighbour import NEIGHBOURS, Redraw, check_neighbour
from shoal.errors import InfeasibleError, ReadError
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict
from shoal.privacy.verdict.km import verify

__all__ = ["check_sets_folder", "holds_sets"]

COUNTED: tuple[str, str | None] = ("k^m-anonymity of the neighbour", None)
VERSION = r"\d{1,3}(\.\d{1,3}){1,3}((a|b|rc)\d{1,3})?(\.post\d{1,3})?(\.dev\d{1,4})?"
FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


class _Stated(NamedTuple):
    """What a certificate says."""

    parameters: dict[str, Any]
    records: int
    neighbour: dict[str, Any] | None
    claims: Claims
    subject: dict[str, str]
    by: str


def check_sets_folder(folder: str | Path, redraw: Redraw | None = None) -> VerificationReport:
    """Recompute every claim of the folder of a set-valued release from its bytes.

    Parameters
    ----------
    folder : path
        A folder with certificate.json, the files of a disassociated data set, and perhaps a neighbour.
    redraw : callable, optional
        Draws the neighbour of a kind ("km" or "raw") from a release, or raises `InfeasibleError` if that takes too much
        work. Without it a neighbour cannot be compared, and a folder that has one does not hold.

    Returns
    -------
    VerificationReport
        Its notes are warnings: what the parameters allow though it is a risk.

    Raises
    ------
    ReadError
        If there is no such folder, or no certificate in it. Whatever else is wrong is a line that fails.

    Guarantee
    ---------
    If everything holds, then the files are those of the certificate, and the guarantee of `km.verify` holds for
    their bytes; k records of the chunks hold every label; the files say nothing beside their values; the neighbour is
    what `redraw` draws from the release, and one of kind "km" is k^m-anonymous as it stands.

    Cost
    ----
    That of `privacy.verdict.km.verify`, of writing the files, and of drawing the neighbour.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ReadError(f"verify: there is no folder {str(folder)!r}.")
    if not (place / CERTIFICATE).is_file():
        raise ReadError(f"verify: {str(folder)!r} has no {CERTIFICATE}, so it is not a release of shoal.")
    try:
        stated = _statement(small_text(place / CERTIFICATE))
    except FAULTS:
        return VerificationReport((Line("certificate", "a statement about sets", "cannot be read", holds=False),))
    data = {DOCUMENT} if DOCUMENT in stated.subject else set(TABLES)
    beside = next((name for name in NEIGHBOURS if name in stated.subject), NEIGHBOURS[0])
    expected = data | ({beside} if stated.neighbour else set())
    lines = [
        Line("certificate", SETS_PREDICATE, SETS_PREDICATE, holds=True),
        *compared_files(place, stated.subject, expected),
    ]
    if not all(is_plain(place / name) for name in expected):
        return VerificationReport((*lines, Line("data", "plain files", "not so", holds=False)))
    try:
        files = read_document(place / DOCUMENT) if DOCUMENT in data else read_tables(place)
        found = verify(files.published)
    except ReadError:
        return VerificationReport((*lines, Line("data", "a disassociated data set", "cannot be read", holds=False)))
    except InfeasibleError:
        return VerificationReport((*lines, Line("data", "few enough itemsets to count", "too many", holds=False)))
    published = files.published
    lines += _same(published, stated)
    if all(check.ok for check in found.checks if check.id == "form"):
        # Where numbers refer to nothing, which is a failing verdict already, nothing can be written or counted.
        lines += [*written_bytes(files), shown_labels(published)]
    verdicts, notes, claims = list(found.verdicts), [*found.warnings, *_versions(stated, files)], dict(stated.claims)
    if stated.neighbour:
        more, plain = _neighbour(place / beside, stated, files, redraw, sound=found.holds)
        lines += more
        verdicts += plain
        if stated.neighbour["kind"] == "raw":
            notes.append("The neighbour is drawn from the release and is not k^m-anonymous as it stands.")
        elif not plain and COUNTED in claims:
            del claims[COUNTED]
            lines.append(Line(COUNTED[0], "claimed", "not counted", holds=False))
    lines += compared(claims, verdicts)
    if all(line.holds for line in lines):
        # Everything that a certificate says is known by now, so it must be what shoal writes of it.
        kind = stated.neighbour["kind"] if stated.neighbour else None
        text = certificate_text(stated.subject, published, verdicts, kind, stated.by)
        same = text.encode() == (place / CERTIFICATE).read_bytes()
        lines.append(Line("bytes of the certificate", "as shoal writes them", "the same" if same else "others", same))
    return VerificationReport(tuple(lines), tuple(verdicts), tuple(notes))


def holds_sets(folder: str | Path) -> bool:
    """Say whether the certificate of a folder speaks of a set-valued release; whether it is true is asked elsewhere."""
    try:
        return f'"{SETS_PREDICATE}"' in small_text(Path(folder) / CERTIFICATE)
    except FAULTS:
        return False


def _statement(text: str) -> _Stated:
    """Read a certificate, or raise if it says anything twice, too much, too little or of another type."""
    statement = json.loads(text, object_pairs_hook=once)
    predicate, entries = statement["predicate"], statement["subject"]
    subject = {str(entry["name"]): str(entry["digest"]["sha256"]) for entry in entries}
    records, neighbour, parameters = predicate["records"], predicate["neighbour"], predicate["parameters"]
    sound = (
        set(statement) == {"_type", "subject", "predicateType", "predicate"}
        and statement["_type"] == STATEMENT
        and statement["predicateType"] == SETS_PREDICATE
        and set(predicate) == {"shoal", "format", "parameters", "records", "neighbour", "claims"}
        and predicate["format"] == SETS_FORMAT
        and re.fullmatch(VERSION, predicate["shoal"])
        and type(records) is int
        and sound_parameters(parameters)
        and len(subject) == len(entries)
        and all(set(entry) == {"name", "digest"} and set(entry["digest"]) == {"sha256"} for entry in entries)
        and (neighbour is None or _is_neighbour(neighbour, parameters))
    )
    if not sound:
        raise ValueError
    return _Stated(parameters, records, neighbour, claims_of(predicate["claims"]), subject, predicate["shoal"])


def _is_neighbour(given: Any, parameters: dict[str, Any]) -> bool:
    """Say whether a certificate speaks of a neighbour as it should: of the k and m of the release."""
    numbers = (given["k"], given["m"])
    return (
        set(given) == {"kind", "k", "m"}
        and given["kind"] in ("km", "raw")
        and numbers == (parameters["k"], parameters["m"])
        and all(type(number) is int and 1 <= number < 1 << 31 for number in numbers)
    )


def _same(published: Disassociated, stated: _Stated) -> Iterator[Line]:
    """Compare what the files and the certificate say of the whole."""
    found = {name: getattr(published, name) for name in stated.parameters}
    same = found == stated.parameters
    yield Line("parameters", "as in the certificate", "the same" if same else "others", same)
    yield Line("records", str(stated.records), str(published.n), stated.records == published.n)


def _versions(stated: _Stated, files: Files) -> Iterator[str]:
    """Say that another version of shoal or of pyarrow wrote the files: the names of versions cannot be checked."""
    for name, by, here in (("shoal", stated.by, version("shoal")), ("pyarrow", files.creator, pa.__version__)):
        if by not in ("", here):
            yield f"The files name {name} {by} as their writer; this is {here}."


def _neighbour(
    path: Path, stated: _Stated, files: Files, redraw: Redraw | None, *, sound: bool
) -> tuple[list[Line], list[Verdict]]:
    """Check the neighbour of a release on which every verdict holds; nothing is drawn from another."""
    if not sound:
        return [Line("neighbour", "drawn from the release", "not compared: the release does not hold", holds=False)], []
    size = sum(map(len, files.raw.values())) + path.stat().st_size
    return check_neighbour(path, stated.neighbour or {}, files.published, redraw, stated.by, size)
