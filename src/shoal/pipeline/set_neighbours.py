"""Neighbours of set-valued releases: drawn from what is published, and drawn again to check one.

The neighbour of a release is a function of the release: its random seed is a digest of what is published. So anybody
can draw it again, nobody can choose it, and it says nothing that the release does not say.
"""

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from shoal.certify.check import VerificationReport
from shoal.certify.check_sets import check_sets_folder
from shoal.certify.sets_neighbour import neighbour_verdict
from shoal.errors import InfeasibleError
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Finding, Verdict
from shoal.model.progress import step
from shoal.model.set_release import Neighbour
from shoal.model.transactions import Transactions
from shoal.privacy.verdict.km_counts import steps

__all__ = ["check_release", "neighbour_of", "neighbour_seed"]

MOST_COMBINATIONS = 2e10  # before any is suppressed; most are gone when long ones are counted
# The work of `harden_km` for any release, some seconds, and for each item in its chunks. Makers and verifiers have the
# same limit, and it does not depend on the machine: whatever is written can be verified.
WORK, WORK_PER_ITEM = 1.2e9, 1.6e5


def neighbour_of(
    published: Disassociated, kind: Neighbour, seed: int | None = None, **how: Any
) -> tuple[Transactions | None, tuple[Verdict, ...], tuple[Finding, ...]]:
    """Draw a neighbour of this kind from what is published; return it, what was verified and what it cost.

    Parameters
    ----------
    published : Disassociated
    kind : {"km", "raw", "none"}
    seed : int, optional
        Without it, that of the one neighbour that belongs into the folder of the release.
    **how
        terms, nonempty: see `shoal.transactions.reassociation.reassociate`.

    Raises
    ------
    InfeasibleError
        If records drawn for "km" hold too many combinations of m items, or if it takes too much work to break them.
    """
    if kind == "none":
        return None, (), ()
    step("neighbour")
    drawn = _drawn(published, kind, seed, **how)
    if kind == "raw":
        return drawn, (), ()
    hard, suppressed = _hardened(drawn, published)
    share = 100.0 * suppressed / max(1, drawn.items.size)
    cost = Finding(
        "neighbour",
        share,
        "of its occurrences, so that every m items are in k records or none",
        "pair",
        part="suppressed %",
        unit="%",
    )
    return hard, (neighbour_verdict(hard, published.k, published.m),), (cost,)


def neighbour_seed(published: Disassociated) -> int:
    """Return the random seed of the neighbour of a release: SHA-256 of all that is published, as a number.

    Parameters
    ----------
    published : Disassociated

    Returns
    -------
    int
        The same for both formats of the files and on every machine.
    """
    told = hashlib.sha256(b"shoal neighbour 1\n")
    for one in sorted(fields(published), key=lambda one: one.name):
        value = getattr(published, one.name)
        if isinstance(value, np.ndarray):
            numbers = value.astype("<i8")
            told.update(f"{one.name} {numbers.size}\n".encode() + numbers.tobytes())
        else:
            told.update(f"{one.name} {json.dumps(value)}\n".encode())
    return int.from_bytes(told.digest(), "big")


def check_release(folder: str | Path) -> VerificationReport:
    """Check the folder of a set-valued release from its bytes, and draw its neighbour again to compare it."""
    return check_sets_folder(folder, _again)


def _again(published: Disassociated, kind: str) -> Transactions:
    """Draw the neighbour that belongs into the folder of a release, unless that takes too much work."""
    drawn = _drawn(published, kind)
    return drawn if kind == "raw" else _hardened(drawn, published)[0]


def _drawn(published: Disassociated, kind: str, seed: int | None = None, **how: Any) -> Transactions:
    """Draw records, unless they are to be hardened and hold far too many combinations."""
    from shoal.transactions.reassociation.reassociate import reassociate

    drawn = reassociate(published, seed=neighbour_seed(published) if seed is None else seed, **how)
    total = float(steps(drawn.lengths, published.m).sum())
    if kind == "km" and total > MOST_COMBINATIONS:
        raise InfeasibleError(
            f"sets: the records of a neighbour hold combinations of at most m={published.m} items some {total:.0e} "
            f"times; at most {MOST_COMBINATIONS:.0e} are weighed. Lower m, or ask for a neighbour 'raw' or 'none'."
        )
    return drawn


def _hardened(drawn: Transactions, published: Disassociated) -> tuple[Transactions, int]:
    """Return a draw made k^m-anonymous, and how many occurrences that cost."""
    from shoal.transactions.reassociation.harden import harden_km

    try:
        hard = harden_km(drawn, published.k, published.m, WORK + WORK_PER_ITEM * published.items.size)
    except InfeasibleError:
        raise InfeasibleError(
            f"sets: making a neighbour k^m-anonymous with m={published.m} takes more work than a release of this size "
            "may cost those who verify it. Lower m, split long records, or ask for a neighbour 'raw' or 'none'."
        ) from None
    return hard.data, hard.suppressed
