"""Set releases in folders: verify them, draw from them, measure their distance; and mine records."""

import json
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from shoal.certify.certificate import CERTIFICATE
from shoal.certify.check import Line, VerificationReport, check_folder
from shoal.certify.sets_bytes import read_files
from shoal.errors import DataError, GuaranteeError, PolicyError, ReadError, WriteError, kind_of, shortened
from shoal.io.bundle import is_folder, settle
from shoal.io.disassociated import NEIGHBOURS
from shoal.io.item_lines import write_lines
from shoal.io.transactions import ReadingOptions
from shoal.io.transactions import read as read_transactions
from shoal.model.asking import argument, check_number, option
from shoal.model.disassociated import Disassociated
from shoal.model.options import with_options
from shoal.model.progress import step
from shoal.model.seeds import drawn_seed
from shoal.model.set_release import SetRelease
from shoal.model.transactions import Transactions
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.private import read_private
from shoal.pipeline.set_neighbours import neighbour_of, redrawn
from shoal.privacy.verdict.km import verify_against


@without_arrow_errors
@with_options("verify")
def verify(
    release: str | Path | SetRelease,
    *,
    original: Any = None,
    private: str | Path | None = None,
    **reading: Unpack[ReadingOptions],
) -> VerificationReport:
    """Check a set release from its bytes; with the original records and the private folder, against these as well.

    Parameters
    ----------
    release : path or SetRelease
        A release folder, or a release in memory, whose verdicts are given.
    original : path or records, optional
        The records that the release was made from.
    private : path, optional
        The folder written with a release folder; needed with `original`.
    **reading
        How `original` is read, as in `shoal.sets.read`.

    Returns
    -------
    VerificationReport
    """
    step("verify")
    if isinstance(release, SetRelease):
        lines = [Line(one.model, f"{one.asked:g}", f"{one.found:g}", one.holds) for one in release.verdicts]
        if original is not None:
            data = read_transactions(original, **reading)
            lines += _against(release.published, data, _of(release.cluster_of, data))
        return VerificationReport(tuple(lines), release.verdicts)
    settle(release, private)
    checked = check_folder(release, redraw=redrawn)
    if original is None:
        return checked
    if private is None:
        raise PolicyError(
            "verify: comparing with the original needs the private folder, which has the cluster of each record. "
            f"Give it ({option('private', 'FOLDER')})."
        )
    if not checked.holds:
        return checked
    data = read_transactions(original, **reading)
    cluster_of = _of(read_private(Path(private), Path(release), "cluster", lambda _, places: places), data)
    lines = _against(read_files(Path(release)).published, data, cluster_of)
    return VerificationReport((*checked.lines, *lines), checked.verdicts, checked.notes)


def verified(folder: str | Path | SetRelease) -> Disassociated:
    """Return the published part of a release in memory, or of a folder after checking all its claims."""
    if isinstance(folder, SetRelease):
        return folder.published
    settle(folder)
    checked = check_folder(folder, redraw=redrawn)
    if not checked.holds:
        raise DataError(f"sets: {str(folder)!r} does not pass verification. Run `shoal sets verify` on it first.")
    return read_files(Path(folder)).published


def published_neighbour(folder: str | Path | SetRelease) -> tuple[Transactions | None, str]:
    """Return the neighbour published with a verified release, and its kind: "km", "raw" or "none"."""
    if isinstance(folder, SetRelease):
        return folder.neighbour, folder.kind
    stated = json.loads((Path(folder) / CERTIFICATE).read_text(encoding="utf-8"))["predicate"].get("neighbour")
    return (read_transactions(_neighbour_in(folder)), str(stated["kind"])) if stated else (None, "none")


@without_arrow_errors
@with_options("reassociate")
def reassociate(
    release: str | Path | SetRelease,
    output: str | Path,
    *,
    neighbour: Literal["km", "raw"] = "km",
    terms: Literal["omit", "once"] = "omit",
    nonempty: bool = False,
    seed: int | None = None,
) -> dict[str, Any]:
    """Draw plain records from a release and write them to a file; return figures about them.

    Parameters
    ----------
    release : path or SetRelease
        A release of sets.
    output : path
        The file to write: lines of items, or a JSON list of lists if its name ends in .json. An existing file is not
        replaced.
    neighbour : {"km", "raw"}
        Records that are k^m-anonymous themselves ("km"), or drawn without that guarantee ("raw").
    terms : {"omit", "once"}
        Omit the items that are in no chunk, or give each of them to one record.
    nonempty : bool
        Leave no record empty where possible.
    seed : int, optional
        Random seed; drawn from the system if not given.

    Returns
    -------
    dict
        Figures about the records.
    """
    if not isinstance(neighbour, str) or neighbour not in ("km", "raw"):
        raise PolicyError(f"sets: {argument('neighbour')} must be 'km' or 'raw'; got {shortened(neighbour)}.")
    if not isinstance(output, str | PathLike):
        raise WriteError(f"write: expected the path of a file; got {kind_of(output)}.")
    if seed is not None:
        check_number(seed, "reassociate", "seed", whole=True, least=0)
    place = Path(output)
    if place.exists():
        raise WriteError(f"write: {str(output)!r} already exists. Choose another name.")
    step("verify")
    published = verified(release)
    start = drawn_seed() if seed is None else seed
    drawn, verdicts, findings = neighbour_of(published, neighbour, start, terms=terms, nonempty=nonempty)
    if drawn is None or not all(verdict.holds for verdict in verdicts):
        raise GuaranteeError("verify: the neighbour is not k^m-anonymous. Nothing was written.")
    step("write")
    if place.suffix.lower() == ".json":
        try:
            place.write_text(json.dumps(drawn.records(), ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
        except OSError as problem:
            raise WriteError(f"write: {str(output)!r} cannot be written: {problem.strerror}.") from None
    else:
        _write_lines(drawn, place)
    step("")
    return {
        "file": str(output),
        "neighbour": neighbour,
        "records": drawn.n,
        "empty records": drawn.empty,
        "items": len(drawn.labels),
        "occurrences": int(drawn.items.size),
        **{
            verdict.model: f"{'holds' if verdict.holds else 'FAILS'} (k={published.k}, m={published.m})"
            for verdict in verdicts
        },
        **{finding.name: finding.value for finding in findings},
    }


@without_arrow_errors
@with_options("distance")
def distance(
    original: Any, release: Any, *, exact: bool = False, seed: int = 0, **reading: Unpack[ReadingOptions]
) -> dict[str, Any]:
    """Return the tree edit distance between two data sets, with bounds and baselines.

    Parameters
    ----------
    original, release : path, records or release
        For a set release, its neighbour is used.
    exact : bool
        Whether to compute the exact distance even if it takes very long.
    seed : int
        Random seed of the baselines.
    **reading
        How records are read, as in `shoal.sets.read`.

    Returns
    -------
    dict
    """
    from shoal.transactions.trees.tree_distance import tree_distance

    check_number(seed, "distance", "seed", whole=True, least=0)
    step("read")
    first, second = (
        read_transactions(_neighbour_in(source), **(ReadingOptions() if _is_read(source) else reading))
        for source in (original, release)
    )
    step("distance")
    found = tree_distance(first, second, exact=True if exact else None, seed=seed)
    step("")
    return found.as_dict()


@without_arrow_errors
@with_options("mine")
def mine(
    source: Any,
    *,
    support: float = 0.001,
    confidence: float = 0.8,
    most: int = 50,
    **reading: Unpack[ReadingOptions],
) -> dict[str, Any]:
    """Return the most frequent itemsets of two or more items, and the rules of highest support, by the labels of items.

    Parameters
    ----------
    source : path or records
        As in `shoal.sets.read`.
    support : float
        Minimum share of records that contain an itemset or, as an integer, their minimum number.
    confidence : float
        Minimum confidence of a rule.
    most : int
        Number of itemsets and rules returned.
    **reading
        How records are read, as in `shoal.sets.read`.

    Returns
    -------
    dict
    """
    from shoal.transactions.itemsets.mining import frequent_itemsets, rules

    for name, number in (("support", support), ("confidence", confidence)):
        check_number(number, "mine", name)
    check_number(most, "mine", "most", whole=True, least=1)
    step("read")
    data = read_transactions(source, **reading)
    step("mine")
    least = int(support) if support > 1 or (support == 1 and isinstance(support, int)) else support
    found = frequent_itemsets(data, least)
    pairs: list[dict[str, Any]] = [
        {"items": [data.labels[item] for item in items], "support": int(count)}
        for items, count in zip(found.tuples(), found.supports.tolist(), strict=True)
        if len(items) > 1
    ]
    pairs.sort(key=lambda one: -one["support"])
    mined_rules = rules(data, least, confidence, most)
    step("")
    return {
        "records": data.n,
        "itemsets found": len(pairs),
        "itemsets": pairs[:most],
        "rules": [
            {
                "if": [data.labels[item] for item in rule.antecedent],
                "then": data.labels[rule.consequent],
                "support": rule.support,
                "confidence": rule.confidence,
                "lift": rule.lift,
            }
            for rule in mined_rules
        ],
    }


def _write_lines(drawn: Transactions, place: Path) -> None:
    """Write records as lines; refuse labels that contain whitespace."""
    blank = sum(label.split() != [label] for label in drawn.labels)
    if blank:
        raise WriteError(
            f"write: {blank} of {len(drawn.labels)} labels contain whitespace, which lines of items cannot hold. "
            "Choose a name that ends in .json."
        )
    write_lines(drawn, place)


def _is_read(source: Any) -> bool:
    """Return whether a source is a release or has been read, so that nothing says how to read it."""
    return isinstance(source, SetRelease | Transactions) or is_folder(source)


def _neighbour_in(source: Any) -> Any:
    """Return the neighbour of a release, or the source itself."""
    if isinstance(source, SetRelease):
        if source.neighbour is None:
            raise ReadError("sets: this release has no neighbour. Create it with neighbour='km'.")
        return source.neighbour
    if not is_folder(source):
        return source
    for name in NEIGHBOURS:
        path = Path(source) / name
        if path.is_file():
            return path
    raise ReadError(
        f"sets: {str(source)!r} has no neighbour. Draw one with `shoal sets reassociate`, or give a file of records."
    )


def _against(published: Disassociated, data: Transactions, cluster_of: NDArray[np.int64]) -> list[Line]:
    """Return the comparison of a release with the original records."""
    return [
        Line(
            f"against the records, {check.id}: {check.what}", "0 fail", f"{check.n_bad} of {check.n_checked}", check.ok
        )
        for check in verify_against(published, data, cluster_of)
    ]


def _of(cluster_of: NDArray[np.int64], data: Transactions) -> NDArray[np.int64]:
    """Return the cluster of each record with items; refuse records of another release."""
    if cluster_of.size != data.inputs or (cluster_of[data.rows] < 0).any():
        raise DataError("verify: the original does not have the records that the release was made from.")
    return cluster_of[data.rows]
