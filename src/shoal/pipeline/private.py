"""The data holder's private folder: the map from input to release, the findings and the random seed."""

import csv
import json
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.certify.certificate import CERTIFICATE, REPORT, digest
from shoal.errors import DataError, ReadError, kind_of
from shoal.model.asking import option
from shoal.reports.figures import NAMES

FINDINGS = "findings.json"
MAP = "map.csv"
HELD = {FINDINGS: '"certificate"', MAP: "", REPORT: "", **dict.fromkeys(NAMES, "<svg")}
FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)

Places = NDArray[np.int64]
Taken = TypeVar("Taken")


def write_private(folder: Path, head: tuple[str, str], places: Iterable[int], facts: dict[str, Any]) -> None:
    """Write what only the data holder may see.

    The map, with two columns named by `head`, gives the place in the release of each row or record of the input, which
    is negative in `places` if it is not released. The facts include the digest of the certificate as "certificate".
    """
    with (folder / MAP).open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(head)
        lines.writerows((row, "" if at < 0 else at) for row, at in enumerate(places))
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    (folder / FINDINGS).write_text(text, encoding="utf-8", newline="\n")


def read_private(private: Path, folder: Path, column: str, take: Callable[[dict[str, Any], Places], Taken]) -> Taken:
    """Read the facts and the map of a private folder; refuse one that belongs to another release.

    `take` receives the facts and the place of each input row in the release (-1 if not released), read from `column`
    of the map; it returns what is needed or raises if something is malformed.
    """
    try:
        facts = json.loads((private / FINDINGS).read_text(encoding="utf-8"))
        with (private / MAP).open(encoding="utf-8", newline="") as file:
            lines = [line[column] for line in csv.DictReader(file)]
        places = np.array([int(line) if line else -1 for line in lines], np.int64)
        signed, taken = facts["certificate"], take(facts, places)
    except FAULTS:
        raise ReadError(
            f"private folder: {str(private)!r} was not written with a release; expected the one written with it "
            f"({option('private', 'FOLDER')})."
        ) from None
    if signed != digest(folder / CERTIFICATE):
        raise DataError(f"private folder: {str(private)!r} belongs to another release.")
    return taken


def seed_of(private: str | Path) -> int:
    """Return the random seed of an earlier run, to repeat it.

    Parameters
    ----------
    private : path
        The private folder that was written with the release, of a table or of sets.

    Returns
    -------
    int
        Keep it confidential: with the seed, guesses about the table can be tested by repeating the run.

    Examples
    --------
    >>> import pyarrow as pa, shoal, tempfile
    >>> table = pa.table({"age": [34, 36, 35, 61, 60, 62]})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     release = shoal.anonymize(table, k=3)
    ...     _ = release.save(f"{place}/release", private=f"{place}/mine")
    ...     shoal.seed_of(f"{place}/mine") == release.policy.seed
    True
    """
    if not isinstance(private, str | PathLike):
        raise ReadError(f"seed: expected the path of a private folder; got {kind_of(private)}.")
    folder = Path(private)
    if not folder.exists():
        raise ReadError(
            f"seed: {str(folder)!r} does not exist; expected the private folder of an earlier run. Check the path."
        )
    try:
        facts = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
        seed = facts["seed"] if "seed" in facts else facts["policy"]["seed"]
    except FAULTS:
        seed = None
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ReadError(
            f"seed: {str(folder)!r} contains no random seed; expected the private folder of an earlier run. Give "
            f"that folder ({option('private', 'FOLDER')})."
        )
    return seed
