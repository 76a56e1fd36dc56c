"""The certificate of a release: a Statement about its files, with claims and the figures behind them."""

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.model.findings import Verdict
from shoal.model.policy import Policy

__all__ = ["CERTIFICATE", "POLICY", "PREDICATE", "STATEMENT", "write_certificate"]

CERTIFICATE = "certificate.json"
POLICY = "policy.toml"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:shoal:release:v1"


def write_certificate(folder: Path, data: str, policy: Policy, verdicts: Sequence[Verdict], rows: int) -> Path:
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

    Returns
    -------
    Path
        The certificate.
    """
    (folder / POLICY).write_text(policy.to_toml(), encoding="utf-8", newline="\n")
    statement: dict[str, Any] = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest(folder / name)}} for name in (data, POLICY)],
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
