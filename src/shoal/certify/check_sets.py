"""Verify the folder of a set-valued release from its bytes: every claim is recomputed, nothing is trusted.

1. The certificate is read, and its list of files compared with the folder: names and digests.
2. The disassociated data set is read by `sets_bytes`, which shares no code with its writer; its parameters and its
   number of records are compared with those of the certificate.
3. The judge, `privacy.verdict.km`, counts; claimed and found figures are compared.
4. The files, and finally the certificate, must have the bytes that shoal writes, and k records must have every label.
5. A neighbour is drawn again and must be the same. If it is claimed to be k^m-anonymous, that is counted too.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from shoal.certify.certificate import SETS_PREDICATE, Stated, own_version, sets_predicate, statement
from shoal.certify.checked import Line, VerificationReport, compared, compared_files, is_plain, missing_file, same_bytes
from shoal.certify.sets_bytes import TABLES, Files, read_files
from shoal.certify.sets_form import shown_labels, written_bytes
from shoal.certify.sets_neighbour import DRAWN, NEIGHBOUR_MODEL, Redraw, check_neighbour
from shoal.errors import InfeasibleError, ReadError
from shoal.io.disassociated import JSON_FILE, NEIGHBOURS
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict
from shoal.privacy.verdict.km import verify

__all__ = ["Redraw", "check_sets"]


def check_sets(place: Path, stated: Stated, redraw: Redraw | None = None) -> VerificationReport:
    """Recompute every claim of the folder of a set-valued release from its bytes; `stated` is its certificate.

    `redraw` draws the neighbour of a kind ("km" or "raw") from a release, or raises `InfeasibleError` if that takes too
    much work. Without it a neighbour cannot be compared, and a folder that has one does not hold. The notes of the
    report are warnings: risks that the parameters allow.

    Guarantee
    ---------
    If everything holds, then the files are those of the certificate, and the guarantee of `km.verify` holds for
    their bytes; k records of the chunks have every label; the files contain nothing but their values; the neighbour is
    what `redraw` draws from the release, and one of kind "km" is itself k^m-anonymous.

    Cost
    ----
    That of `privacy.verdict.km.verify`, of writing the files, and of drawing the neighbour.
    """
    neighbour = stated.predicate["neighbour"]
    data = {JSON_FILE} if JSON_FILE in stated.subject else set(TABLES)
    beside = next((name for name in NEIGHBOURS if name in stated.subject), NEIGHBOURS[0])
    expected = data | ({beside} if neighbour else set())
    lines = [
        Line("certificate", SETS_PREDICATE, SETS_PREDICATE, holds=True),
        *compared_files(place, stated.subject, expected),
    ]
    if absent := [missing_file("data", place / name) for name in sorted(data) if not is_plain(place / name)]:
        return VerificationReport((*lines, *absent))
    try:
        files = read_files(place)
        found = verify(files.published)
    except ReadError:
        return VerificationReport((*lines, Line("data", "a disassociated data set", "cannot be read", holds=False)))
    except InfeasibleError:
        return VerificationReport((*lines, Line("data", "few enough itemsets to count", "too many", holds=False)))
    published = files.published
    lines += _same(published, stated)
    if all(check.ok for check in found.checks if check.id == "form"):
        # Where numbers refer to nothing, which already fails a verdict, nothing can be written or counted.
        lines += [*written_bytes(files), shown_labels(published)]
    verdicts, notes, claims = list(found.verdicts), [*found.warnings, *_versions(stated, files)], dict(stated.claims)
    if neighbour:
        more, plain = _neighbour(place / beside, stated, files, redraw, sound=found.holds)
        lines += more
        verdicts += plain
        if neighbour["kind"] == "raw":
            notes.append("The neighbour is drawn from the release and is not k^m-anonymous as it stands.")
        elif not plain and claims.pop((NEIGHBOUR_MODEL, None), None) is not None:
            lines.append(Line(NEIGHBOUR_MODEL, "claimed", "not counted", holds=False))
    lines += compared(claims, verdicts)
    if all(line.holds for line in lines):
        # Everything in the certificate is known by now, so it must be what shoal would write.
        subject = {name: stated.subject[name] for name in sorted(stated.subject)}
        predicted = sets_predicate(published, verdicts, neighbour and neighbour["kind"], stated.made["shoal"])
        lines.append(
            same_bytes("bytes of the certificate", stated.text == statement(SETS_PREDICATE, subject, predicted))
        )
    return VerificationReport(tuple(lines), tuple(verdicts), tuple(notes))


def _same(published: Disassociated, stated: Stated) -> Iterator[Line]:
    """Compare parameters and number of records of the files and the certificate."""
    parameters, records = stated.predicate["parameters"], stated.predicate["records"]
    same = {name: getattr(published, name) for name in parameters} == parameters
    yield Line("parameters", "as in the certificate", "the same" if same else "different", same)
    yield Line("records", f"{records:,}", f"{published.n:,}", records == published.n)


def _versions(stated: Stated, files: Files) -> Iterator[str]:
    """Say that another version of shoal or of pyarrow wrote the files: the names of versions cannot be verified."""
    for name, by, here in (("shoal", stated.made["shoal"], own_version()), ("pyarrow", files.creator, pa.__version__)):
        if by not in ("", here):
            yield f"The files name {name} {by} as their writer; this is {here}."


def _neighbour(
    path: Path, stated: Stated, files: Files, redraw: Redraw | None, *, sound: bool
) -> tuple[list[Line], list[Verdict]]:
    """Check the neighbour of a release on which every verdict holds; nothing is drawn from any other."""
    if not is_plain(path):
        return [missing_file("neighbour", path)], []
    if not sound:
        return [Line("neighbour", DRAWN, "not compared: the release does not hold", holds=False)], []
    size = sum(map(len, files.raw.values())) + path.stat().st_size
    return check_neighbour(path, stated.predicate["neighbour"], files.published, redraw, stated.made["shoal"], size)
