"""The pipeline of set-valued data: read, cluster, disassociate, verify, draw a neighbour, measure; then write.

1. Records are clustered, and the items of each cluster are split into chunks (`disassociate`).
2. The judge (`privacy.verdict.km`) checks what is published, and compares it with the original records.
3. A neighbour is drawn from what is published alone, with a random seed derived from it; for "km" rare combinations are
   removed until it is itself k^m-anonymous, which is verified as well.

A verdict that fails raises GuaranteeError, and there is no release.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.errors import GuaranteeError, InfeasibleError, PolicyError, ReadError, counted, kind_of, listed, shortened
from shoal.io.files import opened
from shoal.io.transactions import ReadingOptions
from shoal.io.transactions import read as read_transactions
from shoal.model.asking import argument, check_number
from shoal.model.disassociated import Disassociated, TermPolicy
from shoal.model.findings import Finding
from shoal.model.notes import Note, as_note
from shoal.model.options import with_options
from shoal.model.progress import step
from shoal.model.seeds import drawn_seed
from shoal.model.sentences import Rows, Sentence, few
from shoal.model.set_release import Neighbour, SetRelease
from shoal.model.transactions import Transactions
from shoal.pipeline.answering import KEPT, answer_of_sets
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.set_neighbours import neighbour_of
from shoal.pipeline.write import refuse_unless, write_sets
from shoal.privacy.verdict.km import verify, verify_against

if TYPE_CHECKING:
    from shoal.transactions.disassociation.disassociate import Partitioning

RAW = (
    "the neighbour is a draw from what is published and not itself k^m-anonymous: combinations in few of its records "
    "are mostly random. Choose the neighbour 'km' before you share it on its own."
)


@without_arrow_errors
@with_options("sets")
def anonymize(
    source: Any,
    *,
    k: int = 3,
    m: int = 2,
    delta: int = 60,
    partition: "Partitioning | None" = None,
    rules: Any = None,
    neighbour: Neighbour = "km",
    levels: int = 6,
    terms: TermPolicy = "global",
    beta: float = 0.6,
    rounds: int = 10_000,
    rho: float = 0.8,
    seed: int | None = None,
    **reading: Unpack[ReadingOptions],
) -> SetRelease:
    """Publish set-valued records as chunks, so that anyone who knows m items of a record finds k candidates or more.

    Parameters
    ----------
    source : path, frame, column, matrix or iterable
        As in `shoal.sets.read`.
    k, m : int
        An attacker who knows m items of a record must be left with at least k candidates. k is at least 2, and at most
        the number of records with items.
    delta : int
        Maximum number of records per cluster: at least 2k - 1, preferably 10k or more.
    partition : {"recursive", "iterative", "rules", "ugac"}, optional
        How records are clustered: by default "rules" if there are rules, else "recursive".
    rules : path, text or lists of items, optional
        Itemsets whose support should be preserved; in a file or text, one per line.
    neighbour : {"km", "raw", "none"}
        Plain records published with the chunks: k^m-anonymous themselves ("km"), drawn without that guarantee ("raw"),
        or none.
    levels : int, 0 to 16
        Rounds of joining neighbouring clusters to share chunks.
    terms : {"global", "drop", "cluster", "suppress"}
        How items that are in no chunk are treated.
    beta, rounds : float and int
        For partition "ugac": the share of the records of a rule that should stay in the same clusters, and the maximum
        number of rounds.
    rho : float
        The share of records that keep an item under `terms="suppress"`.
    seed : int, optional
        The random seed of the clusters ("ugac") and of `terms="suppress"`; drawn from the system if not given, and
        never published. The neighbour does not depend on it.
    **reading
        layout, column, record, item, separator, labels: as in `shoal.sets.read`.

    Returns
    -------
    SetRelease

    Guarantee
    ---------
    The judge has checked the conditions C1 to C6 of k^m-anonymity on the chunks and, for "km", every combination of at
    most m items on the neighbour.

    Examples
    --------
    >>> import shoal.sets
    >>> records = [["tea", "milk"], ["tea", "milk"], ["tea", "milk", "gin"], ["tea"], ["milk"], ["tea", "milk"]]
    >>> release = shoal.sets.anonymize(records, k=3, m=2, delta=6, seed=1)
    >>> release.published.chunks, all(verdict.holds for verdict in release.verdicts)
    (1, True)
    """
    from shoal.transactions.disassociation.disassociate import disassociate

    if not isinstance(neighbour, str) or neighbour not in get_args(Neighbour):
        raise PolicyError(
            f"sets: {argument('neighbour')} must be one of {listed(get_args(Neighbour))}; got {shortened(neighbour)}."
        )
    start = _start(seed)
    _check_k(k)
    for name, number in (("beta", beta), ("rho", rho)):
        check_number(number, "sets", name)
    step("read")
    data = read_transactions(source, **reading)
    if data.n < k:
        raise InfeasibleError(
            f"sets: k is {k}, but there are {data.n} records with items. "
            + (f"Lower k to {data.n} or less." if data.n >= 2 else "No release is possible.")
        )
    wanted = _rules(rules, data, reading.get("separator"))
    step("cluster")
    how: Partitioning = ("rules" if wanted else "recursive") if partition is None else partition
    made = disassociate(
        data,
        k=k,
        m=m,
        delta=delta,
        partition=how,
        rules=wanted,
        levels=levels,
        terms=terms,
        beta=beta,
        rounds=rounds,
        rho=rho,
        seed=start,
    )
    published, hidden = _shown(made.published)
    step("verify")
    found = verify(published)
    refuse_unless(found.verdicts)
    # Items suppressed on purpose are missing from what is published: only the rest is compared.
    against = [check for check in verify_against(published, data, made.cluster_of) if not check.ok]
    if against:
        raise GuaranteeError(
            f"verify: the chunks do not match the original records ({listed(check.id for check in against)}). Nothing "
            "was written."
        )
    drawn, verdicts, more = neighbour_of(published, neighbour)
    refuse_unless(verdicts)
    step("measure")
    findings = (*_findings(data, published), *more)
    cluster_of = np.full(data.inputs, -1, np.int64)
    cluster_of[data.rows] = made.cluster_of
    own = [as_note(note).suppressed(data.n, k) for note in made.notes]
    risks = [Note("risk-allowed", warning) for warning in found.warnings]
    notes = (*own, *risks, *_notes(data, neighbour, hidden, k))
    step("")
    every = (*found.verdicts, *verdicts)
    return SetRelease(
        published, drawn, neighbour, cluster_of, start, every, findings, notes, write_sets, answer_of_sets
    )


def _shown(published: Disassociated) -> tuple[Disassociated, int]:
    """Remove terms that are in no chunk, and their labels: only chunks show that k records contain an item."""
    used = np.zeros(len(published.labels), bool)
    used[published.items] = True
    number = (np.cumsum(used) - 1).astype(np.int32)
    listed_too = used[published.term_item]
    kept = replace(
        published,
        labels=tuple(label for label, here in zip(published.labels, used.tolist(), strict=True) if here),
        items=number[published.items],
        term_cluster=published.term_cluster[listed_too],
        term_item=number[published.term_item[listed_too]],
    )
    return kept, int((~used).sum())


def _check_k(k: Any) -> None:
    """Refuse a k that protects nobody."""
    whole = isinstance(k, Integral) and not isinstance(k, bool)
    if not whole or int(k) < 2:
        expected = "at least 2" if whole else "a whole number"
        raise PolicyError(f"sets: {argument('k')} must be {expected}; got {shortened(k)}.")


def _start(seed: Any) -> int:
    """Validate the random seed, or draw one from the system."""
    if seed is None:
        return drawn_seed()
    if isinstance(seed, bool) or not isinstance(seed, Integral) or int(seed) < 0:
        raise PolicyError(f"sets: {argument('seed')} must be an integer of at least 0; got {shortened(seed)}.")
    return int(seed)


def _rules(given: Any, data: Transactions, separator: str | None) -> list[NDArray[np.int32]] | None:
    """Return rules as item numbers: from a file, from text of several lines, or from lists of items."""
    from shoal.transactions.disassociation.rules import read_rules

    if given is None:
        return None
    if isinstance(given, Path) or (isinstance(given, str) and "\n" not in given):
        with opened(Path(given), "a file of rules, one per line") as file:
            try:
                text = file.read().decode("utf-8-sig")
            except UnicodeDecodeError as problem:
                line = problem.object.count(b"\n", 0, problem.start) + 1
                raise ReadError(
                    f"read: {Path(given).name!r}, line {line}: not UTF-8. Save the file as UTF-8."
                ) from None
    elif isinstance(given, str):
        text = given
    elif isinstance(given, Iterable):
        given = list(given)
        if not all(isinstance(rule, Iterable) for rule in given):
            raise PolicyError("sets: each rule must be a list of items.")
        return read_rules(json.dumps([[str(item) for item in rule] for rule in given]), data.labels)
    else:
        raise PolicyError(f"sets: rules must be a file or lists of items; got {kind_of(given)}.")
    if separator is not None and not text.lstrip().startswith("["):
        lines = [[word.strip() for word in line.split(separator)] for line in text.splitlines() if line.strip()]
        text = json.dumps(lines)
    return read_rules(text, data.labels)


def _findings(data: Transactions, published: Disassociated) -> tuple[Finding, ...]:
    """Return the findings that are cheap to compute."""
    kept = 100.0 * published.occurrences / max(1, data.items.size)
    used = np.unique(published.items).size
    smallest = int(published.sizes.min(initial=data.n)) if published.clusters else 0
    shared = int((published.chunk_cluster < 0).sum())
    of_them = "{shared} of them shared by several clusters"
    return (
        Finding("clusters", float(published.clusters), "groups of records that were split into chunks", "release"),
        Finding("smallest cluster", float(smallest), "records", "release", counts_rows=False),
        Finding("chunks", float(published.chunks), Sentence(of_them, shared=shared), "release"),
        Finding(KEPT, kept, "of all items of all records; the others are terms", "pair", unit="%"),
        Finding(
            "items in chunks %", 100.0 * used / max(1, len(data.labels)), "of all different items", "pair", unit="%"
        ),
    )


def _notes(data: Transactions, neighbour: Neighbour, hidden: int, k: int) -> tuple[Note, ...]:
    """Return notes on the input and the neighbour."""
    n = max(1, data.items.size)
    notes = [Note("reading", note).suppressed(n, k) for note in data.notes]
    if data.empty:
        # Without the number of all records, from which that of the released ones could be subtracted.
        empty = few(data.empty, data.inputs, k)
        notes.append(Note("records-left-out", f"{empty} of the records have no items and are not part of the release."))
    if data.repeated:
        twice = Sentence(
            "{items} items occurred twice in their record and were counted once.", items=Rows(data.repeated)
        )
        notes.append(Note("items-repeated", twice).suppressed(data.items.size, k))
    if hidden:
        verb, them = ("is", "it") if hidden == 1 else ("are", "them")
        named = f"{counted(hidden, 'item')} in no chunk {verb} not named"
        notes.append(Note("items-not-named", f"{named}, as it cannot be verified that k records contain {them}."))
    if neighbour == "raw":
        notes.append(Note("neighbour-raw", RAW))
    return tuple(notes)
