"""Check policy files without a table, as before a commit."""

from pathlib import Path

from shoal.catalogue import requested_model
from shoal.errors import PolicyError
from shoal.model.policy import Policy, Role
from shoal.pipeline.grouping import check_method
from shoal.pipeline.hierarchies import given_trees


def check_policy(path: str | Path) -> Policy:
    """Read a policy, and refuse what no table could make right.

    That is: unknown keys and values, a method or a parameter that does not exist, a hierarchy that cannot be read, a
    privacy model that is not installed, and constraints for which no column of the policy has the role.
    """
    policy = Policy.load(path)
    unlisted: set[Role] = {"quasi", "items"}  # that columns may have by default
    if problem := policy.constraints.unanswered(unlisted.union(column.role for column in policy.columns.values())):
        raise PolicyError(f"policy: {problem}")
    for name in policy.constraints.others:
        requested_model(name)
    check_method(policy, 0)
    given_trees(policy)
    return policy
