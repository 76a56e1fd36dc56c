"""Neighbours of set-valued releases: drawn from what is published, and drawn again to check one.

The neighbour is a function of the release: its random seed is a digest of what is published. So anyone can draw it
again, no one can choose it, and it reveals nothing beyond the release.
"""

import hashlib
import json
from dataclasses import fields
from typing import Any

import numpy as np

from shoal.certify.sets_neighbour import neighbour_verdict
from shoal.errors import InfeasibleError
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Finding, Verdict
from shoal.model.progress import step
from shoal.model.set_release import Neighbour
from shoal.model.transactions import Transactions
from shoal.privacy.verdict.km_counts import steps

MOST_COMBINATIONS = 2e10  # before suppression; most are gone when long ones are counted
# Maximum work of `harden_km` per release, some seconds, and per item in its chunks. It is the same for making and
# verifying and does not depend on the machine, so that whatever is written can be verified.
WORK, WORK_PER_ITEM = 1.2e9, 1.6e5


def neighbour_of(
    published: Disassociated, kind: Neighbour, seed: int | None = None, **how: Any
) -> tuple[Transactions | None, tuple[Verdict, ...], tuple[Finding, ...]]:
    """Draw a neighbour from what is published; return it, its verdicts and what it cost.

    Without a seed it is the neighbour that belongs in the release folder. `how` goes to `reassociate`. InfeasibleError
    is raised if the records drawn for "km" contain too many combinations of m items, or breaking them is too expensive.
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
        "of its occurrences, so that any m items are in at least k records or in none",
        "pair",
        part="suppressed %",
        unit="%",
    )
    return hard, (neighbour_verdict(hard, published.k, published.m),), (cost,)


def neighbour_seed(published: Disassociated) -> int:
    """Return the random seed of a release's neighbour: the SHA-256 of all that is published, as a number.

    It is the same for both file formats and on every machine.
    """
    state = hashlib.sha256(b"shoal neighbour 1\n")
    for one in sorted(fields(published), key=lambda one: one.name):
        value = getattr(published, one.name)
        if isinstance(value, np.ndarray):
            numbers = value.astype("<i8")
            state.update(f"{one.name} {numbers.size}\n".encode() + numbers.tobytes())
        else:
            state.update(f"{one.name} {json.dumps(value)}\n".encode())
    return int.from_bytes(state.digest(), "big")


def redrawn(published: Disassociated, kind: str) -> Transactions:
    """Draw the neighbour that belongs in the release folder, unless that is too expensive."""
    drawn = _drawn(published, kind)
    return drawn if kind == "raw" else _hardened(drawn, published)[0]


def _drawn(published: Disassociated, kind: str, seed: int | None = None, **how: Any) -> Transactions:
    """Draw records; refuse those to be hardened that contain far too many combinations."""
    from shoal.transactions.reassociation.reassociate import reassociate

    drawn = reassociate(published, seed=neighbour_seed(published) if seed is None else seed, **how)
    total = float(steps(drawn.lengths, published.m).sum())
    if kind == "km" and total > MOST_COMBINATIONS:
        raise InfeasibleError(
            f"sets: the records of a neighbour contain about {total:.0e} combinations of at most m={published.m} "
            f"items; the limit is {MOST_COMBINATIONS:.0e}. Lower m, or choose the neighbour 'raw' or 'none'."
        )
    return drawn


def _hardened(drawn: Transactions, published: Disassociated) -> tuple[Transactions, int]:
    """Return a draw made k^m-anonymous, and the number of occurrences suppressed."""
    from shoal.transactions.reassociation.harden import harden_km

    try:
        hard = harden_km(drawn, published.k, published.m, WORK + WORK_PER_ITEM * published.items.size)
    except InfeasibleError:
        raise InfeasibleError(
            f"sets: making a neighbour k^m-anonymous with m={published.m} takes more work than verifying a release of "
            "this size may cost. Lower m, split long records, or choose the neighbour 'raw' or 'none'."
        ) from None
    return hard.data, hard.suppressed
