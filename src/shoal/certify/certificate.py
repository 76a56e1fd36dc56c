"""The certificate of a release, of a table or of sets: an in-toto Statement about its files, written and read.

Its bytes follow from what it says: keys are sorted, and the figures of a table have twelve digits, whole ones no
decimal point. It has no seed, no time and no digest of the input. Of a table it names the versions of the libraries
that the bytes of data and report depend on, so that whoever has the same ones can write both again and compare.
"""

import hashlib
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from shoal.catalogue import formats
from shoal.io.disassociated import FORMAT, PARAMETERS
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Verdict
from shoal.model.policy import Policy

__all__ = [
    "CERTIFICATE",
    "FAULTS",
    "POLICY",
    "PREDICATE",
    "REPORT",
    "SETS_PREDICATE",
    "Claims",
    "Stated",
    "data_files",
    "drawn_with",
    "figure",
    "numbers_of",
    "once",
    "own_version",
    "read_statement",
    "sets_predicate",
    "sound_parameters",
    "statement",
    "table_predicate",
    "write_certificate",
    "written_with",
]

CERTIFICATE = "certificate.json"
POLICY = "policy.toml"
REPORT = "report.html"


def data_files() -> tuple[str, ...]:
    """Return what a released data file may be called."""
    return tuple(f"data.{name}" for name in formats.names())


STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:shoal:release:v1"
SETS_PREDICATE = "urn:shoal:sets:v1"
BUILDS = ("wheel", "other")
DRAWING = ("altair", "jinja2", "vl-convert-python")
VERSION = re.compile(r"(\d{1,4}(\.\d{1,4}){1,3})((a|b|rc)\d{1,6})?(\.post\d{1,6})?(\.dev\d{1,6})?(\.zlib-ng)?")
MOST_PARAMETER = 10**9
NUMBERS = {"k": (1, MOST_PARAMETER), "m": (1, MOST_PARAMETER), "delta": (1, MOST_PARAMETER), "levels": (0, 16)}
WORDS = {
    "partition": ("recursive", "iterative", "rules", "ugac"),
    "terms": ("global", "drop", "cluster", "suppress"),
}
FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)

Claims = dict[tuple[str, str | None], tuple[float, float]]


class Stated(NamedTuple):
    """What a certificate says, and its text.

    Parameters
    ----------
    text : str
    kind : str
        The type of its predicate: a table or sets.
    subject : dict
        The digest of each file by its name.
    predicate : dict
        As `table_predicate` or `sets_predicate` make it.
    claims : dict
        Asked and found figures by model and column.
    """

    text: str
    kind: str
    subject: dict[str, str]
    predicate: dict[str, Any]
    claims: Claims

    @property
    def made(self) -> dict[str, str]:
        """The versions of shoal and of the libraries that it names."""
        return {"shoal": self.predicate["shoal"], **self.predicate.get("made_with", {})}


def write_certificate(folder: Path, kind: str, names: Iterable[str], predicate: Mapping[str, Any]) -> Path:
    """Write certificate.json beside the files that it speaks of, and return its place.

    Parameters
    ----------
    folder : Path
        Where the files are.
    kind : str
        The type of the predicate.
    names : iterable of str
        The files, in the order in which they are listed.
    predicate : mapping
    """
    place = folder / CERTIFICATE
    text = statement(kind, {name: digest(folder / name) for name in names}, predicate)
    place.write_text(text, encoding="utf-8", newline="\n")
    return place


def statement(kind: str, subject: Mapping[str, str], predicate: Mapping[str, Any]) -> str:
    """Return the text of a certificate, which is the same for equal facts."""
    said: dict[str, Any] = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": found}} for name, found in subject.items()],
        "predicateType": kind,
        "predicate": predicate,
    }
    return json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def table_predicate(
    data: str, policy: Policy, verdicts: Sequence[Verdict], rows: int, made: Mapping[str, str]
) -> dict[str, Any]:
    """Return what is stated of a table.

    Parameters
    ----------
    data : str
        The name of the data file.
    policy : Policy
        As it may be published.
    verdicts : sequence of Verdict
    rows : int
    made : mapping of str to str
        The version of shoal and of each library that the bytes depend on.
    """
    return {
        "shoal": made["shoal"],
        "made_with": {name: made[name] for name in made if name != "shoal"},
        "data": data,
        "rows": rows,
        "policy": policy.as_dict(),
        "claims": _claimed(verdicts, figure),
    }


def sets_predicate(
    published: Disassociated, verdicts: Sequence[Verdict], neighbour: str | None, by: str
) -> dict[str, Any]:
    """Return what is stated of sets.

    Parameters
    ----------
    published : Disassociated
        Its parameters and its number of records are stated.
    verdicts : sequence of Verdict
        Those of `privacy.verdict.km.verify`, and that on the neighbour if it is of kind "km".
    neighbour : {"km", "raw"}, optional
        Whether a neighbour lies beside them, and whether it is k^m-anonymous as it stands or merely drawn.
    by : str
        The version of shoal that wrote it.
    """
    return {
        "shoal": by,
        "format": FORMAT,
        "parameters": {name: getattr(published, name) for name in PARAMETERS},
        "records": published.n,
        "neighbour": neighbour and {"kind": neighbour, "k": published.k, "m": published.m},
        "claims": _claimed(verdicts, float),
    }


def _claimed(verdicts: Sequence[Verdict], figure: Callable[[float], float]) -> list[dict[str, Any]]:
    """Return the figures of verdicts as they are claimed."""
    return [
        {"model": one.model, "column": one.column, "asked": figure(one.asked), "found": figure(one.found)}
        for one in verdicts
    ]


def read_statement(text: str) -> Stated:
    """Read a certificate, or raise one of `FAULTS` if it says anything twice, too much, too little or of another type.

    Parameters
    ----------
    text : str
        It may come from anybody.
    """
    said = json.loads(text, object_pairs_hook=once)
    predicate, entries, kind = said["predicate"], said["subject"], said["predicateType"]
    subject = {str(entry["name"]): str(entry["digest"]["sha256"]) for entry in entries}
    sound = (
        set(said) == {"_type", "subject", "predicateType", "predicate"}
        and said["_type"] == STATEMENT
        and len(subject) == len(entries)
        and all(set(entry) == {"name", "digest"} and set(entry["digest"]) == {"sha256"} for entry in entries)
        and (_speaks_of_sets(predicate) if kind == SETS_PREDICATE else _speaks_of_a_table(predicate, subject))
    )
    if not sound or kind not in (PREDICATE, SETS_PREDICATE):
        raise ValueError
    return Stated(text, kind, subject, predicate, _claims(predicate["claims"]))


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is given twice."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError
    return dict(pairs)


def _speaks_of_a_table(predicate: Any, subject: Mapping[str, str]) -> bool:
    """Say whether a predicate has the fields and types of that of a table."""
    data, made = predicate["data"], {"shoal": predicate["shoal"], **predicate["made_with"]}
    return (
        set(predicate) == {"shoal", "made_with", "data", "rows", "policy", "claims"}
        and data in data_files()
        and set(made) == {"shoal", *written_with(data), *(drawn_with() if REPORT in subject else ())}
        and all(one in BUILDS if name == "pyarrow build" else VERSION.fullmatch(one) for name, one in made.items())
        and type(predicate["rows"]) is int
    )


def _speaks_of_sets(predicate: Any) -> bool:
    """Say whether a predicate has the fields and types of that of sets."""
    neighbour, parameters = predicate["neighbour"], predicate["parameters"]
    return (
        set(predicate) == {"shoal", "format", "parameters", "records", "neighbour", "claims"}
        and predicate["format"] == FORMAT
        and VERSION.fullmatch(predicate["shoal"]) is not None
        and type(predicate["records"]) is int
        and sound_parameters(parameters)
        and (neighbour is None or _is_neighbour(neighbour, parameters))
    )


def sound_parameters(given: Any) -> bool:
    """Say whether parameters are those that `disassociate` takes: known words, and numbers in range."""
    return (
        type(given) is dict
        and set(given) == {*NUMBERS, *WORDS}
        and all(type(given[name]) is int and low <= given[name] <= high for name, (low, high) in NUMBERS.items())
        and all(type(given[name]) is str and given[name] in words for name, words in WORDS.items())
        and given["delta"] >= 2 * given["k"] - 1
    )


def _is_neighbour(given: Any, parameters: dict[str, Any]) -> bool:
    """Say whether a certificate speaks of a neighbour as it should: of the k and m of the release."""
    return (
        set(given) == {"kind", "k", "m"}
        and given["kind"] in ("km", "raw")
        and all(type(given[name]) is int and given[name] == parameters[name] for name in ("k", "m"))
    )


def _claims(given: Any) -> Claims:
    """Read claims: asked and found by model and column."""
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
        return {"zlib": _plain(zlib.ZLIB_RUNTIME_VERSION)}
    if data.endswith(".csv"):
        return {}
    # Wheels bring their own libraries for packing, others use those of the system.
    wheel = str(pa.cpp_build_info.package_kind).startswith("python-wheel")
    return {"pyarrow": _plain(pa.__version__), "pyarrow build": BUILDS[0 if wheel else 1]}


def drawn_with() -> dict[str, str]:
    """Return the versions of the installed libraries that the bytes of a report depend on."""
    return {name: _plain(version(name)) for name in DRAWING}


def own_version() -> str:
    """Return the version of shoal that is installed."""
    return _plain(version("shoal"))


def numbers_of(given: str) -> tuple[int, ...]:
    """Return the numbers of a version, which say whether it is later than another."""
    found = VERSION.match(given)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def _plain(given: str) -> str:
    """Return a version without what is local to a machine."""
    return given.split("+", maxsplit=1)[0]


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
