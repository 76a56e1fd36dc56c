"""The certificate of a release, of a table or of sets: an in-toto Statement about its files, written and read.

Its bytes follow from its contents: keys are sorted, and the figures of a table have twelve digits, integers no decimal
point. It has no seed, no time and no digest of the input. For a table it names the versions of the libraries that the
bytes of data and report depend on, so that anyone who has the same ones can write both again and compare.
"""

import hashlib
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pyarrow as pa

from shoal.catalogue import formats
from shoal.io.disassociated import FORMAT, PARAMETERS
from shoal.model.disassociated import Disassociated, TermPolicy
from shoal.model.findings import Verdict
from shoal.model.policy import Policy
from shoal.model.sentences import MOST_DIGITS

CERTIFICATE = "certificate.json"
POLICY = "policy.toml"
REPORT = "report.html"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:shoal:release:v1"
SETS_PREDICATE = "urn:shoal:sets:v1"
BUILDS = ("wheel", "other")
DRAWING = ("jinja2",)
VERSION = re.compile(r"(\d{1,4}(\.\d{1,4}){1,3})((a|b|rc)\d{1,6})?(\.post\d{1,6})?(\.dev\d{1,6})?(\.zlib-ng)?")
MOST_PARAMETER = 10**9
NUMBERS = {"k": (2, MOST_PARAMETER), "m": (1, MOST_PARAMETER), "delta": (1, MOST_PARAMETER), "levels": (0, 16)}
WORDS = {
    "partition": ("recursive", "iterative", "rules", "ugac"),
    "terms": get_args(TermPolicy),
}
FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)

Claims = dict[tuple[str, str | None], tuple[float, float]]


class Stated(NamedTuple):
    """What a certificate says, and its text."""

    text: str
    kind: str  # of its predicate: a table or sets
    subject: dict[str, str]  # digests by file name
    predicate: dict[str, Any]  # as made by `table_predicate` or `sets_predicate`
    claims: Claims  # asked and found figures by model and column

    @property
    def made(self) -> dict[str, str]:
        """The versions of shoal and of the libraries that it names."""
        return {"shoal": self.predicate["shoal"], **self.predicate.get("made_with", {})}


def data_files() -> tuple[str, ...]:
    """Return the possible names of a released data file."""
    return tuple(f"data.{name}" for name in formats.names())


def write_certificate(folder: Path, kind: str, names: Iterable[str], predicate: Mapping[str, Any]) -> Path:
    """Write certificate.json beside the files `names`, listed in this order; `kind` is the type of the predicate."""
    place = folder / CERTIFICATE
    text = statement(kind, {name: digest(folder / name) for name in names}, predicate)
    place.write_text(text, encoding="utf-8", newline="\n")
    return place


def statement(kind: str, subject: Mapping[str, str], predicate: Mapping[str, Any]) -> str:
    """Return the text of a certificate, which is the same for equal facts."""
    content: dict[str, Any] = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": found}} for name, found in subject.items()],
        "predicateType": kind,
        "predicate": predicate,
    }
    return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def table_predicate(
    data: str, policy: Policy, verdicts: Sequence[Verdict], rows: int, made: Mapping[str, str]
) -> dict[str, Any]:
    """Return the predicate of a table: `data` is the file name, `policy` as published.

    `made` has the version of shoal and of each library that the bytes depend on.
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
    """Return the predicate of sets: parameters, number of records, claims and the version of shoal that wrote it.

    `verdicts` are those of `privacy.verdict.km.verify`, and that on the neighbour if it is of kind "km". `neighbour` is
    "km" if one exists that is itself k^m-anonymous, "raw" if it is merely drawn, None if there is none.
    """
    return {
        "shoal": by,
        "format": FORMAT,
        "parameters": {name: getattr(published, name) for name in PARAMETERS},
        "records": published.n,
        "neighbour": neighbour and {"kind": neighbour, "k": published.k, "m": published.m},
        "claims": _claimed(verdicts, float),
    }


def _claimed(verdicts: Sequence[Verdict], written: Callable[[float], float]) -> list[dict[str, Any]]:
    """Return verdicts as claims; `written` returns a figure as the certificate has it."""
    return [
        {"model": one.model, "column": one.column, "asked": written(one.asked), "found": written(one.found)}
        for one in verdicts
    ]


def read_statement(text: str) -> Stated:
    """Read an untrusted certificate; raise one of `FAULTS` on a duplicate, unknown or missing key or a wrong type."""
    content = json.loads(text, object_pairs_hook=unique_keys)
    predicate, entries, kind = content["predicate"], content["subject"], content["predicateType"]
    subject = {str(entry["name"]): str(entry["digest"]["sha256"]) for entry in entries}
    sound = (
        set(content) == {"_type", "subject", "predicateType", "predicate"}
        and content["_type"] == STATEMENT
        and len(subject) == len(entries)
        and all(set(entry) == {"name", "digest"} and set(entry["digest"]) == {"sha256"} for entry in entries)
        and (_is_about_sets(predicate) if kind == SETS_PREDICATE else _is_about_a_table(predicate, subject))
    )
    if not sound or kind not in (PREDICATE, SETS_PREDICATE):
        raise ValueError
    return Stated(text, kind, subject, predicate, _claims(predicate["claims"]))


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a duplicate key."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError
    return dict(pairs)


def _is_about_a_table(predicate: Any, subject: Mapping[str, str]) -> bool:
    """Return whether a predicate has the fields and types of a table's."""
    data, made = predicate["data"], {"shoal": predicate["shoal"], **predicate["made_with"]}
    return (
        set(predicate) == {"shoal", "made_with", "data", "rows", "policy", "claims"}
        and data in data_files()
        and set(made) == {"shoal", *written_with(data), *(drawn_with() if REPORT in subject else ())}
        and all(one in BUILDS if name == "pyarrow build" else VERSION.fullmatch(one) for name, one in made.items())
        and type(predicate["rows"]) is int
    )


def _is_about_sets(predicate: Any) -> bool:
    """Return whether a predicate has the fields and types of a set-valued release's."""
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
    """Return whether parameters are valid for `disassociate`: known words, and numbers in range."""
    return (
        type(given) is dict
        and set(given) == {*NUMBERS, *WORDS}
        and all(type(given[name]) is int and low <= given[name] <= high for name, (low, high) in NUMBERS.items())
        and all(type(given[name]) is str and given[name] in words for name, words in WORDS.items())
        and given["delta"] >= 2 * given["k"] - 1
    )


def _is_neighbour(given: Any, parameters: dict[str, Any]) -> bool:
    """Return whether a neighbour is described correctly, with the k and m of the release."""
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
    """Return a figure as claimed: to twelve digits and twelve decimals, and an integer if it is one of few digits."""
    short = float(f"{round(value, 12):.12g}")
    return int(short) if short.is_integer() and abs(short) < MOST_DIGITS else short


def written_with(data: str) -> dict[str, str]:
    """Return the versions of the installed libraries that the bytes of a data file of this name depend on.

    A CSV file depends on none.
    """
    if data.endswith(".csv.gz"):
        return {"zlib": _plain(zlib.ZLIB_RUNTIME_VERSION)}
    if data.endswith(".csv"):
        return {}
    # Wheels bundle their own compression libraries, others use those of the system.
    wheel = str(pa.cpp_build_info.package_kind).startswith("python-wheel")
    return {"pyarrow": _plain(pa.__version__), "pyarrow build": BUILDS[0 if wheel else 1]}


def drawn_with() -> dict[str, str]:
    """Return the versions of the installed libraries that the bytes of a report depend on."""
    return {name: _plain(version(name)) for name in DRAWING}


@cache
def own_version() -> str:
    """Return the installed version of shoal."""
    return _plain(version("shoal"))


def numbers_of(given: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparison with another."""
    found = VERSION.match(given)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def _plain(given: str) -> str:
    """Return a version without its local part."""
    return given.split("+", maxsplit=1)[0]


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
