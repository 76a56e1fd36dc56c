"""Check the folder of a set-valued release from its bytes: every claim is recomputed, nothing is believed.

1. The certificate is read, and its list of files compared with the folder: names and digests.
2. The disassociated data set is read by `sets_bytes`, which shares no code with what wrote it; its parameters and its
   number of records are compared with those of the certificate.
3. The judge, `privacy.km`, counts; claimed and found figures are put side by side.
4. A neighbour beside it must be a possible one: no more records, no unknown label, no item more often than published,
   and an order that says nothing. If it is said to be k^m-anonymous, that is counted too.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.certify.certificate import CERTIFICATE, STATEMENT
from shoal.certify.check import Checked, Claims, Line, claims_of, compared, compared_files, is_plain, once, small_text
from shoal.certify.sets_bytes import DOCUMENT, NEIGHBOURS, TABLES, read_document, read_neighbour, read_tables
from shoal.certify.sets_certificate import SETS_FORMAT, SETS_PREDICATE
from shoal.errors import InfeasibleError, ReadError
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict
from shoal.model.transactions import Transactions
from shoal.privacy.km import verify, verify_plain

__all__ = ["check_sets_folder", "holds_sets", "neighbour_verdict"]

FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


class _Stated(NamedTuple):
    """What a certificate says."""

    parameters: dict[str, Any]
    records: int
    neighbour: dict[str, Any] | None
    claims: Claims
    subject: dict[str, str]


def check_sets_folder(folder: str | Path) -> Checked:
    """Recompute every claim of the folder of a set-valued release from its bytes.

    Parameters
    ----------
    folder : path
        A folder with certificate.json, the files of a disassociated data set, and perhaps a neighbour.

    Returns
    -------
    Checked
        Its notes are warnings: what the parameters allow though it is a risk.

    Raises
    ------
    ReadError
        If there is no such folder, or no certificate in it. Whatever else is wrong is a line that fails.

    Guarantee
    ---------
    If everything holds, then the files are those of the certificate, and the guarantee of `privacy.km.verify` holds for
    their bytes; and a neighbour of kind "km" is k^m-anonymous as it stands.

    Cost
    ----
    That of `privacy.km.verify`.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ReadError(f"verify: there is no folder {str(folder)!r}.")
    if not (place / CERTIFICATE).is_file():
        raise ReadError(f"verify: {str(folder)!r} has no {CERTIFICATE}, so it is not a release of shoal.")
    try:
        stated = _statement(small_text(place / CERTIFICATE))
    except FAULTS:
        return Checked((Line("certificate", "a statement about sets", "cannot be read", holds=False),))
    data = {DOCUMENT} if DOCUMENT in stated.subject else set(TABLES)
    beside = next((name for name in NEIGHBOURS if name in stated.subject), NEIGHBOURS[0])
    expected = data | ({beside} if stated.neighbour else set())
    lines = [
        Line("certificate", SETS_PREDICATE, SETS_PREDICATE, holds=True),
        *compared_files(place, stated.subject, expected),
    ]
    if not all(is_plain(place / name) for name in expected):
        return Checked((*lines, Line("data", "plain files", "not so", holds=False)))
    try:
        published = read_document(place / DOCUMENT) if DOCUMENT in data else read_tables(place)
        found = verify(published)
    except ReadError:
        return Checked((*lines, Line("data", "a disassociated data set", "cannot be read", holds=False)))
    except InfeasibleError:
        return Checked((*lines, Line("data", "few enough itemsets to count", "too many", holds=False)))
    lines += _same(published, stated)
    verdicts, notes = list(found.verdicts), list(found.warnings)
    # Where numbers refer to nothing, which is a failing verdict already, nothing can be compared with them.
    if stated.neighbour and all(check.ok for check in found.checks if check.id == "form"):
        more, plain = _neighbour(place / beside, stated.neighbour, published)
        lines += more
        verdicts += plain
        if stated.neighbour["kind"] == "raw":
            notes.append("The neighbour is drawn from the release and is not k^m-anonymous as it stands.")
    return Checked((*lines, *compared(stated.claims, verdicts)), tuple(verdicts), tuple(notes))


def holds_sets(folder: str | Path) -> bool:
    """Say whether the certificate of a folder speaks of a set-valued release; whether it is true is asked elsewhere."""
    try:
        return f'"{SETS_PREDICATE}"' in small_text(Path(folder) / CERTIFICATE)
    except FAULTS:
        return False


def neighbour_verdict(neighbour: Transactions, k: int, m: int) -> Verdict:
    """Return the verdict on a neighbour of kind "km", under the name by which certificates claim it."""
    plain = verify_plain(neighbour, k, m)
    return Verdict("k^m-anonymity of the neighbour", None, plain.asked, plain.found, plain.holds, plain.note)


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
        and re.fullmatch(r"[0-9A-Za-z.+-]{1,60}", predicate["shoal"])
        and type(records) is int
        and set(parameters) == {"k", "m", "delta", "partition", "levels", "terms"}
        and all(type(parameter) in (int, str) for parameter in parameters.values())
        and len(subject) == len(entries)
        and all(set(entry) == {"name", "digest"} and set(entry["digest"]) == {"sha256"} for entry in entries)
        and (neighbour is None or _is_neighbour(neighbour, parameters))
    )
    if not sound:
        raise ValueError
    return _Stated(parameters, records, neighbour, claims_of(predicate["claims"]), subject)


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


def _neighbour(path: Path, stated: dict[str, Any], published: Disassociated) -> tuple[list[Line], list[Verdict]]:
    """Check a neighbour against the release that it is drawn from."""
    try:
        read = read_neighbour(path, published.labels)
    except ReadError:
        return [Line("neighbour", "a list of records", "cannot be read", holds=False)], []
    if read is None:
        return [Line("neighbour items", "published ones", "others too", holds=False)], []
    data, ascending = read
    lines = [
        Line("neighbour records", f"at most {published.n}", str(data.n), data.n <= published.n),
        Line("neighbour order", "ascending", "ascending" if ascending else "another", ascending),
    ]
    times = np.bincount(published.items, _weights(published), minlength=len(published.labels))
    drawn = data.supports > times
    drawn[published.term_item] = False
    surplus = int(drawn.sum())
    lines.append(Line("neighbour items", "none more often than published", f"{surplus} are", surplus == 0))
    if stated["kind"] == "raw":
        return lines, []
    try:
        return lines, [neighbour_verdict(data, stated["k"], stated["m"])]
    except InfeasibleError:
        return [*lines, Line("neighbour", "few enough itemsets to count", "too many", holds=False)], []


def _weights(published: Disassociated) -> Any:
    """Return for each item of each sub-record how many records it stands for."""
    return np.repeat(published.counts, np.diff(published.sub_ptr))
