"""The profile of a table under a policy: with the roles, kinds and codes for missing values of `anonymize`."""

import pyarrow as pa

from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.arrange import as_declared
from shoal.prepare.complete import complete
from shoal.prepare.profile import Profile, profile


def profile_declared(table: Table, policy: Policy) -> Profile:
    """Profile a table under a policy; if it names no column, with proposed roles.

    The policy is completed as `anonymize` completes it, so that a column it leaves open has the role that it would have
    there, and a policy that does not suit the table is refused.

    Examples
    --------
    >>> table = Table.of(pa.table({"age": [31, -1, -1], "ill": ["flu", "flu", "cold"]}))
    >>> policy = Policy.of({"columns": {"age": {"missing_codes": [-1]}}}, sensitive=["ill"])
    >>> found = profile_declared(table, policy)
    >>> found.column("age").missing, found.column("ill").shown_role, found.unique_rows
    (2, 'sensitive (policy)', 1)
    """
    facts = profile(table)
    if not policy.columns:
        return facts
    done, _ = complete(policy, table, facts)
    columns = {
        name: table.column(name) if given.role == "identifier" else as_declared(table.column(name), name, given)
        for name, given in done.columns.items()
    }
    named = frozenset(name for name, given in policy.columns.items() if "role" in given.model_fields_set)
    return profile(table.with_data(pa.table(columns)), done.columns, named)
