"""Groups whose published values coincide: one class, which must meet delta-disclosure as well."""

import numpy as np
import pyarrow as pa
import pytest

from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.pipeline.recoding import recode_classes
from shoal.prepare.encode import Encoded
from shoal.privacy.verdict.judge import judge
from shoal.privacy.verdict.values import sensitive_columns

# Two groups with the mean 2, each within delta = 0.8 of the table; of both together, one y in eight is too few.
NUMBERS = [1, 3, 1, 3, 2, 2, 2, 2, *[100] * 20]
ILLNESSES = [*"yxxx", *"xxxw", *"yyyyyyyyyyyyyxxxxwww"]
LABELS = np.repeat([0, 1, 2], [4, 4, 20])


def recoded(**asked):
    table = Table.of(pa.table({"a": NUMBERS, "s": ILLNESSES}))
    columns = {"a": {"kind": "numeric", "form": "mean"}, "s": {"role": "sensitive", "kind": "nominal"}}
    policy = Policy.of({"columns": columns, "constraints": {"k": 4, **asked}})
    sensitive = sensitive_columns(table.data, policy)
    encoded = Encoded(np.array(NUMBERS, float)[:, None], None)
    return *recode_classes(table, Partition.of(LABELS), policy, encoded, sensitive), policy


def test_groups_that_miss_delta_together_are_merged_with_others():
    made, partition, policy = recoded(delta=0.8)
    assert all(verdict.holds for verdict in judge(made.data, policy))
    assert partition.groups == 1


@pytest.mark.parametrize("asked", [{"delta": 1.5}, {"l": 2}])
def test_groups_that_meet_everything_together_stay(asked):
    made, partition, _ = recoded(**asked)
    assert partition.groups == 3
    assert len(set(made.data["a"].to_pylist())) == 2
