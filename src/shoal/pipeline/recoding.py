"""Recoding of groups whose published values may coincide.

Groups with equal published values form one equivalence class. A union of groups that meet k, l, t, alpha or beta meets
it too; this does not hold for delta-disclosure. Where such a class violates it, its groups become one group, which is
merged with others until it meets the constraints, and everything is recoded.
"""

from collections.abc import Mapping

from shoal.enforce import enforce
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.privacy.verdict.classes import classes
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values, quasi_columns
from shoal.recode.table import Recoded, recode


def recode_classes(
    table: Table, partition: Partition, policy: Policy, encoded: Encoded, sensitive: Mapping[str, Values]
) -> tuple[Recoded, Partition]:
    """Give every row the values of its group, and merge groups that violate delta-disclosure as one class.

    Every group of `partition` meets the constraints; it is returned unchanged unless groups were merged.
    """
    while True:
        recoded = recode(table, partition, policy, encoded)
        if policy.constraints.delta is None or policy.protect is not None:
            return recoded, partition
        alike = classes([column.codes for column in quasi_columns(recoded.data, recoded.policy)], table.n)
        together = Partition.of(alike, partition.notes)
        if together.groups == partition.groups or not failing(alike, policy.constraints, sensitive).any():
            return recoded, partition
        partition = enforce(together, encoded.X, policy.constraints, sensitive, encoded.weights)
