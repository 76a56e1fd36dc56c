"""The two steps that put rows into groups: the method of the policy, and the search that may follow it.

A method is handed what its card says that it uses: the seed, the number of threads, the row weights, the limits on
sensitive values, the label, and the views of columns. Nothing else of the run reaches it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import methods
from shoal.enforce import enforce
from shoal.errors import MethodError, PolicyError
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.progress import step
from shoal.prepare.encode import Encoded
from shoal.privacy.verdict.values import Values
from shoal.protect import protected
from shoal.utility.loss import sse

if TYPE_CHECKING:
    from shoal.cluster.search.limits import Limits

__all__ = ["Grouped", "cluster", "make_groups", "merged", "refine"]

UNGUIDED = "row weights count in means and in SSE, but do not guide this method."
UNVIEWED = "the policy names views of columns, which this method does not look at; k_tca and c_tca do."
MERGED = (
    "groups were merged to meet the constraints, which this method does not look at; anneal, or refine, loses less."
)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups on their way.

    Parameters
    ----------
    found : Partition
        Of the method.
    enforced : Partition
        Of which every group meets every constraint; the same object if those of the method did.
    partition : Partition
        After the search that may follow.
    """

    found: Partition
    enforced: Partition
    partition: Partition


def make_groups(
    encoded: Encoded,
    policy: Policy,
    sensitive: Mapping[str, Values],
    threads: int,
    label: NDArray[np.int64] | None = None,
) -> Grouped:
    """Put rows into groups that meet the constraints: cluster, enforce, refine.

    Parameters
    ----------
    encoded, policy, sensitive, threads, label
        As for `cluster`.

    Returns
    -------
    Grouped
    """
    if policy.protect is not None:
        found = _protected(encoded, policy, sensitive)
        return Grouped(found, found, found)
    step("cluster")
    found = cluster(encoded, policy, sensitive, threads, label)
    step("enforce")
    enforced = enforce(found, encoded.X, policy.constraints, sensitive, encoded.weights)
    step("refine")
    return Grouped(found, enforced, refine(enforced, encoded, policy, sensitive, threads))


def cluster(
    encoded: Encoded,
    policy: Policy,
    sensitive: Mapping[str, Values],
    threads: int,
    label: NDArray[np.int64] | None = None,
) -> Partition:
    """Run the policy's method on the matrix.

    Parameters
    ----------
    encoded : Encoded
        The matrix and the row weights.
    policy : Policy
        With every column named.
    sensitive : mapping of str to Values
        The sensitive columns, row by row.
    threads : int
        How many may work.
    label : int64 array, optional
        The class of each row, if the policy names a label.

    Returns
    -------
    Partition
        With the notes of the method, and one more if it does not look at weights that there are.
    """
    card = methods.load(policy.method.name)
    if card.data == "mixed" and policy.method.refine != "none":
        raise PolicyError(f"policy: method.refine is for methods on numbers. Set the effort of {card.name} instead.")
    given = card.check({"k": policy.constraints.k, **policy.method.parameters})
    run: dict[str, Any] = {"seed": policy.start, "threads": threads, "weights": encoded.weights}
    if "limits" in card.uses:
        run["limits"] = _limits(policy, sensitive)
    run["view_of"], run["label"] = encoded.view_of, label
    seen = encoded.X if encoded.columns is None else encoded.columns
    found = card.function(seen, **given, **{name: run[name] for name in card.uses})
    if found.n != len(encoded.X):
        raise MethodError(
            f"{card.name}: it gave groups for {found.n} rows of {len(encoded.X)}. Report it to its author."
        )
    if encoded.view_of is not None and "view_of" not in card.uses:
        found = replace(found, notes=(*found.notes, f"{card.name}: {UNVIEWED}"))
    if encoded.weights is None or "weights" in card.uses:
        return found
    # What it found out about its groups it found out without the weights.
    return replace(found, notes=(*found.notes, f"{card.name}: {UNGUIDED}"), findings=())


def _protected(encoded: Encoded, policy: Policy, sensitive: Mapping[str, Values]) -> Partition:
    """Return groups whose making does not depend on sensitive values, or hardly."""
    from shoal.cluster.methods.bisection import cut_in_halves

    step("cluster")
    cuts = cut_in_halves(encoded.X, policy.constraints.k)
    step("enforce")
    found = protected(cuts, policy.constraints, sensitive, policy.start)
    return found if encoded.weights is None else replace(found, notes=(f"{policy.method.name}: {UNGUIDED}",))


def merged(before: Partition, after: Partition, policy: Policy) -> tuple[str, ...]:
    """Return what to say where groups had to be merged after a method that does not look at l and t."""
    card = methods.load(policy.method.name)
    silent = before is after or "limits" in card.uses or policy.method.refine != "none"
    return () if silent else (f"{card.name}: {MERGED}",)


def refine(
    partition: Partition, encoded: Encoded, policy: Policy, sensitive: Mapping[str, Values], threads: int
) -> Partition:
    """Improve groups that meet the constraints by a local search, if the policy asks for it.

    Parameters
    ----------
    partition : Partition
        Of which every group meets every constraint.
    encoded, policy, sensitive, threads
        As for `cluster`.

    Returns
    -------
    Partition
        The one given if nothing is asked or nothing was better; else a new one with its notes.

    Guarantee
    ---------
    Every group meets every constraint, and SSE is not above that of the partition given.
    """
    if policy.method.refine == "none":
        return partition
    from shoal.cluster.inputs import matrix, row_weights
    from shoal.cluster.search.effort import search
    from shoal.cluster.search.sizes import capped

    k, limits = policy.constraints.k, _limits(policy, sensitive)
    X = matrix(encoded.X, k, "refine")
    asked = limits if limits is not None and limits.binding else None
    # Without limits, cutting a group of 2k rows or more never raises SSE.
    start = capped(X, partition.labels, k) if asked is None else partition.labels
    weights = row_weights(encoded.weights, len(X), "refine")
    found = Partition.of(
        search(X, start, k, policy.method.refine, weights, asked, policy.start, threads), partition.notes
    )
    # The search looks at k, l and t. Where the policy asks for more, groups are merged anew, if that is worth it.
    met = enforce(found, X, policy.constraints, sensitive, encoded.weights)
    if met is not found and sse(X, met.labels, encoded.weights) >= sse(X, partition.labels, encoded.weights):
        return partition
    return partition if np.array_equal(met.labels, partition.labels) else met


def _limits(policy: Policy, sensitive: Mapping[str, Values]) -> "Limits | None":
    """Return what the policy asks of sensitive values; imported here, since it brings the compiled loops along."""
    from shoal.cluster.search.limits import Limits

    return Limits.of(policy.constraints, sensitive)
