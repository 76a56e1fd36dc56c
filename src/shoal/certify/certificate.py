"""The certificate of a release: a Statement about its files, with claims and the figures behind them.

Its bytes follow from what it says: keys are sorted, figures have twelve digits, whole ones no decimal point. It names
the versions of the libraries that the bytes of data and report depend on, so that whoever has the same ones can write
both again and compare.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.model.findings import Verdict
from shoal.model.policy import Policy

__all__ = [
    "BUILDS",
    "CERTIFICATE",
    "POLICY",
    "PREDICATE",
    "REPORT",
    "STATEMENT",
    "drawn_with",
    "figure",
    "plain_version",
    "statement",
    "write_certificate",
    "write_policy",
    "written_with",
]

CERTIFICATE = "certificate.json"
POLICY = "policy.toml"
REPORT = "report.html"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:shoal:release:v1"
BUILDS = ("wheel", "other")
DRAWING = ("altair", "jinja2", "vl-convert-python")


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
    listed = {name: digest(folder / name) for name in (data, POLICY, *others)}
    made = {**written_with(data), **(drawn_with() if REPORT in others else {})}
    place = folder / CERTIFICATE
    text = statement(data, policy, verdicts, rows, listed, {"shoal": plain_version(version("shoal")), **made})
    place.write_text(text, encoding="utf-8", newline="\n")
    return place


def statement(
    data: str,
    policy: Policy,
    verdicts: Sequence[Verdict],
    rows: int,
    digests: Mapping[str, str],
    made: Mapping[str, str],
) -> str:
    """Return the text of a certificate.

    Parameters
    ----------
    data : str
        The name of the data file.
    policy : Policy
        As it may be published.
    verdicts : sequence of Verdict
    rows : int
    digests : mapping of str to str
        The SHA-256 of each file.
    made : mapping of str to str
        The version of shoal and of each library that the bytes depend on.
    """
    claims = [
        {"model": v.model, "column": v.column, "asked": figure(v.asked), "found": figure(v.found)} for v in verdicts
    ]
    said: dict[str, Any] = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": found}} for name, found in digests.items()],
        "predicateType": PREDICATE,
        "predicate": {
            "shoal": made["shoal"],
            "made_with": {name: made[name] for name in made if name != "shoal"},
            "data": data,
            "rows": rows,
            "policy": policy.as_dict(),
            "claims": claims,
        },
    }
    return json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def figure(value: float) -> float:
    """Return a figure as it is claimed: to twelve digits and twelve decimals, and whole if it is."""
    short = float(f"{round(value, 12):.12g}")
    return int(short) if short.is_integer() else short


def written_with(data: str) -> dict[str, str]:
    """Return the versions of the installed libraries that the bytes of a data file depend on.

    Parameters
    ----------
    data : str
        The name of the file, which tells its format. A CSV file depends on none.
    """
    if data.endswith(".csv.gz"):
        return {"zlib": plain_version(zlib.ZLIB_RUNTIME_VERSION)}
    if data.endswith(".csv"):
        return {}
    # Wheels bring their own libraries for packing, others use those of the system.
    wheel = str(pa.cpp_build_info.package_kind).startswith("python-wheel")
    return {"pyarrow": plain_version(pa.__version__), "pyarrow build": BUILDS[0 if wheel else 1]}


def drawn_with() -> dict[str, str]:
    """Return the versions of the installed libraries that the bytes of a report depend on."""
    return {name: plain_version(version(name)) for name in DRAWING}


def plain_version(given: str) -> str:
    """Return a version without what is local to a machine."""
    return given.split("+", maxsplit=1)[0]


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
