"""The two steps that form the groups: the method of the policy, and an optional local search.

A method receives only what its card declares under `uses`: the random seed, the number of threads, the row weights, the
limits on sensitive values, the label, and the views of columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import MethodCard, methods
from shoal.catalogue.measure_card import of_plug_in
from shoal.enforce import enforce
from shoal.errors import MethodError, PolicyError, failed
from shoal.model.asking import option
from shoal.model.notes import Note
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.progress import step
from shoal.model.read_only import read_only
from shoal.prepare.encode import Encoded
from shoal.privacy.verdict.values import Values
from shoal.protect import protected
from shoal.utility.loss import sse

if TYPE_CHECKING:
    from shoal.cluster.search.limits import Limits

IGNORED = "ignored-by-method"
UNGUIDED = "row weights count in means and in SSE, but this method ignores them when it forms groups."
UNVIEWED = "the policy names views of columns, which this method ignores; k_tca and c_tca use them."
MERGED = (
    "groups were merged to meet constraints that this method ignores; anneal or refine would lose less information."
)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups after each step."""

    found: Partition  # by the method
    enforced: Partition  # every group meets every constraint; the same object as `found` if nothing was merged
    partition: Partition  # after the optional search


def make_groups(
    encoded: Encoded,
    policy: Policy,
    sensitive: Mapping[str, Values],
    threads: int,
    label: NDArray[np.int64] | None = None,
) -> Grouped:
    """Form groups that meet the constraints: cluster, enforce, refine."""
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
    """Run the policy's method on the matrix, and note which weights or views of columns it ignores.

    The policy must list every column. `label` is the class of each row, if the policy names a label.
    """
    card, given = check_method(policy, len(encoded.X))
    run: dict[str, Any] = {"seed": policy.start, "threads": threads, "weights": encoded.weights}
    if "limits" in card.uses:
        run["limits"] = limits_of(policy, sensitive)
    run["view_of"], run["label"] = encoded.view_of, label
    seen: Any = encoded.X if encoded.columns is None else encoded.columns
    passed = {name: run[name] for name in card.uses}
    if not card.built_in:  # what a plug-in changed would falsify the figures
        seen, passed = read_only((seen, passed))
    found = card.function(seen, **given, **passed)
    if found.n != len(encoded.X):
        raise MethodError(failed(card.name, f"it returned groups for {found.n} of {len(encoded.X)} rows"))
    if not card.built_in:
        named = of_plug_in(found.findings, f"method {card.name!r}", (card.name,), policy.columns)
        found = replace(found, findings=named)
    if encoded.view_of is not None and "view_of" not in card.uses:
        found = replace(found, notes=(*found.notes, Note(IGNORED, f"{card.name}: {UNVIEWED}")))
    if encoded.weights is None or "weights" in card.uses:
        return found
    # The findings of a method that ignores weights are not valid for weighted rows.
    return replace(found, notes=(*found.notes, Note(IGNORED, f"{card.name}: {UNGUIDED}")), findings=())


def check_method(policy: Policy, n: int) -> tuple[MethodCard, dict[str, Any]]:
    """Return the card and all parameters of the policy's method, or refuse what it cannot do for n rows."""
    card = methods.load(policy.method.name)
    if card.data == "mixed" and policy.method.refine != "none":
        raise PolicyError(f"policy: method.refine is for methods on numbers. Set the effort of {card.name} instead.")
    if card.most_rows is not None and n > card.most_rows:
        raise MethodError(
            f"{card.name}: accepts at most {card.most_rows:,} rows; the table has {n:,}. Choose another method."
        )
    # A plug-in may do without a label; the built-in methods that use it learn from it.
    if "label" in card.uses and card.built_in and policy.label is None:
        raise MethodError(
            f"{card.name}: there are no labels to learn from. Name the label column ({option('label', 'COLUMN')}), or "
            "choose another method."
        )
    return card, card.check({"k": policy.constraints.k, **policy.method.parameters})


def _protected(encoded: Encoded, policy: Policy, sensitive: Mapping[str, Values]) -> Partition:
    """Return groups that depend on sensitive values hardly or not at all."""
    from shoal.cluster.methods.bisection import cut_in_halves

    step("cluster")
    cuts = cut_in_halves(encoded.X, policy.constraints.k)
    step("enforce")
    found = protected(cuts, policy.constraints, sensitive, policy.start)
    return (
        found
        if encoded.weights is None
        else replace(found, notes=(Note(IGNORED, f"{policy.method.name}: {UNGUIDED}"),))
    )


def merged(before: Partition, after: Partition, policy: Policy) -> tuple[Note, ...]:
    """Return a note if groups had to be merged after a method that ignores l and t."""
    card = methods.load(policy.method.name)
    silent = before is after or "limits" in card.uses or policy.method.refine != "none"
    return () if silent else (Note("groups-merged", f"{card.name}: {MERGED}"),)


def refine(
    partition: Partition, encoded: Encoded, policy: Policy, sensitive: Mapping[str, Values], threads: int
) -> Partition:
    """Improve groups that meet the constraints by local search, if the policy asks for it.

    Every group of the result meets every constraint, and its SSE is at most that of the partition given, which is
    returned if nothing better was found.
    """
    if policy.method.refine == "none":
        return partition
    from shoal.cluster.inputs import matrix, row_weights
    from shoal.cluster.search.effort import search
    from shoal.cluster.search.sizes import capped

    k, limits = policy.constraints.k, limits_of(policy, sensitive)
    X = matrix(encoded.X, k, "refine")
    asked = limits if limits is not None and limits.binding else None
    # Without limits, cutting a group of 2k rows or more never raises SSE.
    start = capped(X, partition.labels, k) if asked is None else partition.labels
    weights = row_weights(encoded.weights, len(X), "refine")
    found = Partition.of(
        search(X, start, k, policy.method.refine, weights, asked, policy.start, threads), partition.notes
    )
    # The search respects k, l and t. For other constraints groups are merged again, if that still pays.
    met = enforce(found, X, policy.constraints, sensitive, encoded.weights)
    if met is not found and sse(X, met.labels, encoded.weights) >= sse(X, partition.labels, encoded.weights):
        return partition
    return partition if np.array_equal(met.labels, partition.labels) else met


def limits_of(policy: Policy, sensitive: Mapping[str, Values]) -> "Limits | None":
    """Return the constraints on sensitive values; imported late, since it loads compiled loops."""
    from shoal.cluster.search.limits import Limits

    return Limits.of(policy.constraints, sensitive)
