"""t-closeness along the tree of a sensitive column, from the policy to the released folder and back."""

import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, PolicyError
from shoal.privacy.verdict.values import sensitive_columns

TREE = {"lungs": ["flu", "asthma"], "gut": {"upper": ["gastritis", "ulcer"]}, "none": ["none"]}
ILL = ["flu", "asthma", "gastritis", "ulcer", "none", None]


def table(rows=60):
    return pa.table({"age": [20 + i % 31 for i in range(rows)], "ill": [ILL[i * i % 6] for i in range(rows)]})


def policy(tree=TREE):
    return {"columns": {"ill": {"role": "sensitive", "hierarchy": tree}}}


def test_values_of_a_tree_have_a_node_at_every_level():
    data = pa.table({"ill": ["flu", "asthma", "ulcer", "none", None]})
    found = sensitive_columns(data, shoal.Policy.of(policy()))["ill"].tree
    # Itself; the lowest node above it; below the root; the root. What has fewer levels stays itself for longer.
    assert found.tolist() == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 0, 1, 2, 3], [0, 0, 0, 0, 0]]


def test_a_release_meets_t_along_the_tree_and_can_be_checked_from_its_bytes(tmp_path):
    release = shoal.anonymize(table(), k=4, t=0.25, policy=policy())
    assert [v.model for v in release.verdicts] == ["k-anonymity", "t-closeness"]
    release.save(tmp_path / "release", private=tmp_path / "private", report=False)
    assert shoal.verify(tmp_path / "release").holds
    assert "lungs" in (tmp_path / "release" / "policy.toml").read_text()


def test_the_tree_makes_near_values_cheaper_than_far_ones():
    plain = shoal.verify(table(), k=1 + 1, t=0.9, sensitive=["ill"]).verdicts[1].found
    along = shoal.verify(table(), k=2, t=0.9, policy=policy()).verdicts[1].found
    assert along < plain


def test_values_that_the_table_does_not_hold_are_not_published(tmp_path):
    tree = {**TREE, "rare": ["secret plague"]}
    shoal.anonymize(table(), k=4, t=0.5, policy=policy(tree)).save(tmp_path / "release", report=False)
    assert "secret" not in (tmp_path / "release" / "policy.toml").read_text()


def test_a_tree_without_a_place_for_a_value_is_refused_without_its_name():
    with pytest.raises(DataError, match="cannot be found in its hierarchy") as caught:
        shoal.anonymize(table(), k=4, t=0.5, policy=policy({"lungs": ["flu"]}))
    assert "ulcer" not in str(caught.value)


def test_a_word_is_no_tree_of_a_sensitive_column():
    with pytest.raises(PolicyError, match="a file or nested tables"):
        shoal.anonymize(table(), k=4, t=0.5, policy=policy("mask"))
    with pytest.raises(PolicyError, match="is for categories"):
        shoal.Policy.of({"columns": {"pay": {"role": "sensitive", "kind": "numeric", "hierarchy": TREE}}})
