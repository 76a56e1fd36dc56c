"""The certificate of a release: a Statement about its files, with claims and the figures behind them."""

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.model.findings import Verdict
from shoal.model.policy import Policy

__all__ = ["CERTIFICATE", "POLICY", "PREDICATE", "REPORT", "STATEMENT", "write_certificate", "write_policy"]

CERTIFICATE = "certificate.json"
POLICY = "policy.toml"
REPORT = "report.html"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:shoal:release:v1"


def write_policy(folder: Path, policy: Policy) -> Path:
    """Write policy.toml, and return its place.

    Parameters
    ----------
    folder : Path
    policy : Policy
        As it may be published.
    """
    place = folder / POLICY
    place.write_text(policy.to_toml(), encoding="utf-8", newline="\n")
    return place


def write_certificate(
    folder: Path,
    data: str,
    policy: Policy,
    verdicts: Sequence[Verdict],
    rows: int,
    others: Sequence[str] = (),
) -> Path:
    """Write policy.toml and certificate.json beside a data file.

    Parameters
    ----------
    folder : Path
        Where the data file is.
    data : str
        Its name.
    policy : Policy
        As it may be published.
    verdicts : sequence of Verdict
        What the judge found.
    rows : int
        The number of released rows.
    others : sequence of str
        Names of more files of the folder that the certificate lists: the report.

    Returns
    -------
    Path
        The certificate.
    """
    write_policy(folder, policy)
    listed = (data, POLICY, *others)
    statement: dict[str, Any] = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest(folder / name)}} for name in listed],
        "predicateType": PREDICATE,
        "predicate": {
            "shoal": version("shoal"),
            "data": data,
            "rows": rows,
            "policy": policy.as_dict(),
            "claims": [{"model": v.model, "column": v.column, "asked": v.asked, "found": v.found} for v in verdicts],
        },
    }
    place = folder / CERTIFICATE
    text = json.dumps(statement, indent=2, sort_keys=True, ensure_ascii=False)
    place.write_text(text + "\n", encoding="utf-8", newline="\n")
    return place


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
