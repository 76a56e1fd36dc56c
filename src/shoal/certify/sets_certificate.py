"""The certificate of a set-valued release: a Statement about its files, with claims and the figures behind them."""

import json
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from shoal.certify.certificate import CERTIFICATE, STATEMENT, digest
from shoal.errors import WriteError
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict

__all__ = ["SETS_FORMAT", "SETS_PREDICATE", "certificate_text", "write_sets_certificate"]

SETS_PREDICATE = "urn:shoal:sets:v1"
SETS_FORMAT = "disassoc/1"


def write_sets_certificate(
    folder: Path,
    names: Iterable[str],
    published: Disassociated,
    verdicts: Sequence[Verdict],
    neighbour: Literal["km", "raw"] | None = None,
) -> Path:
    """Write certificate.json beside the files of a set-valued release.

    Parameters
    ----------
    folder : Path
        Where the files are.
    names : iterable of str
        The names of all of them: those of `write_disassociated`, and that of `write_neighbour` if there is one.
    published : Disassociated
        What the files hold; its parameters and its number of records are stated.
    verdicts : sequence of Verdict
        Those of `privacy.verdict.km.verify`, and that of `verify_plain` if the neighbour is of kind "km".
    neighbour : {"km", "raw"}, optional
        Whether a neighbour lies beside them, and whether it is k^m-anonymous as it stands or merely drawn.

    Returns
    -------
    Path
        The certificate. It has no seed, no time, and no digest of the input.
    """
    files = sorted(names)
    if (neighbour is None) == any(name.startswith("neighbour.") for name in files):
        raise WriteError(
            "certify: a neighbour must be named among the files, and its kind told; got one without the other."
        )
    subject = {name: digest(folder / name) for name in files}
    place = folder / CERTIFICATE
    place.write_bytes(certificate_text(subject, published, verdicts, neighbour).encode())
    return place


def certificate_text(
    subject: dict[str, str],
    published: Disassociated,
    verdicts: Sequence[Verdict],
    neighbour: str | None,
    by: str | None = None,
) -> str:
    """Return the text of a certificate, which is the same for equal facts.

    Parameters
    ----------
    subject : dict
        The digest of each file by its name.
    published, verdicts, neighbour
        As `write_sets_certificate` takes them.
    by : str, optional
        The version of shoal that it names; this one, if not given.
    """
    stated = {name: getattr(published, name) for name in ("k", "m", "delta", "partition", "levels", "terms")}
    statement: dict[str, Any] = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": subject[name]}} for name in sorted(subject)],
        "predicateType": SETS_PREDICATE,
        "predicate": {
            "shoal": by or version("shoal"),
            "format": SETS_FORMAT,
            "parameters": stated,
            "records": published.n,
            "neighbour": neighbour and {"kind": neighbour, "k": published.k, "m": published.m},
            "claims": [{"model": v.model, "column": v.column, "asked": v.asked, "found": v.found} for v in verdicts],
        },
    }
    return json.dumps(statement, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
