"""Planted damage: whatever would break the guarantee is found by the condition that it breaks, and by no chance."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from set_releases import SOUND, published
from shoal.privacy.verdict.km import verify


@pytest.fixture
def sound():
    return copy.deepcopy(SOUND)


def failing(made):
    found = verify(published(made) if isinstance(made, dict) else made)
    failed = {check.id for check in found.checks if not check.ok}
    assert found.holds == (not failed or (failed == {"C5"} and made["terms"] == "cluster"))
    return failed


def own(made, cluster=0, chunk=0):
    return made["clusters"][cluster]["chunks"][chunk]


def test_the_release_before_any_damage_holds(sound):
    assert failing(sound) == set()


def test_a_lost_sub_record_that_leaves_a_pair_to_one_record_is_found(sound):
    own(sound)[1] = ([0, 1], 1)
    assert failing(sound) >= {"C1"}


def test_an_item_of_one_record_in_a_chunk_is_found(sound):
    own(sound, 1)[1] = ([1], 1)
    assert failing(sound) == {"C1"}


def test_a_rare_triple_is_found_if_m_is_3_and_only_then(sound):
    made = {**sound, "labels": ["a", "b", "c"], "term_global": [], "joints": []}
    made["clusters"] = [
        {"size": 7, "opened": True, "term": [], "chunks": [[([0, 1], 2), ([0, 1, 2], 1), ([0, 2], 2), ([1, 2], 2)]]}
    ]
    made["delta"] = 7
    assert failing(made) == set()
    assert failing({**made, "m": 3}) == {"C1"}


def test_an_item_in_two_chunks_of_a_cluster_is_found(sound):
    sound["clusters"][2]["chunks"][1] = [([1], 3), ([3], 3)]
    assert failing(sound) >= {"C2"}


def test_an_empty_sub_record_is_found(sound):
    own(sound, 2).insert(0, ([], 2))
    assert failing(sound) == {"C2"}


def test_a_chunk_larger_than_its_cluster_is_found(sound):
    own(sound, 2)[0] = ([1], 7)
    assert failing(sound) == {"C2"}


def test_a_chunk_without_sub_records_is_found(sound):
    sound["clusters"][2]["chunks"].insert(0, [])
    assert failing(sound) == {"C2"}


def test_a_closed_cluster_whose_chunks_do_not_cover_it_is_found(sound):
    own(sound)[0] = ([0], 2)
    sound["clusters"][0]["chunks"][1] = [([2], 2)]
    sound["clusters"][0]["size"] = 5
    assert failing(sound) >= {"C3"}
    sound["clusters"][0]["opened"] = True
    assert "C3" not in failing(sound)


def test_a_closed_cluster_without_chunks_is_found(sound):
    sound["clusters"].insert(0, {"size": 2, "opened": False, "term": [], "chunks": []})
    sound["joints"][0]["clusters"] = [1, 2]
    assert failing(sound) == {"C3"}


def test_a_cluster_that_names_terms_and_is_not_opened_is_found(sound):
    sound |= {"terms": "cluster", "term_global": []}
    sound["clusters"][2]["term"] = [5]
    assert failing(sound) == set()
    sound["clusters"][0]["term"] = [5]
    assert failing(sound) == {"C3", "C5"}


def test_a_shared_chunk_with_an_item_of_a_chunk_of_the_joint_is_found(sound):
    sound["joints"][0]["chunks"] = [[([1], 2), ([3], 2), ([4], 2)]]
    assert failing(sound) == {"C4 joints"}


def test_two_joints_of_one_cluster_that_share_an_item_are_found(sound):
    sound["joints"].append({"clusters": [1, 2], "chunks": [[([4], 3)]]})
    assert failing(sound) == {"C4 joints"}
    sound["joints"][1]["clusters"] = [2]
    assert failing(sound) == set()


def test_a_rare_pair_in_a_shared_chunk_is_found(sound):
    sound["joints"][0]["chunks"] = [[([3], 2), ([3, 4], 1), ([4], 2)]]
    assert failing(sound) == {"C4"}


def test_a_shared_chunk_larger_than_its_joint_is_found(sound):
    sound["joints"][0]["chunks"] = [[([3], 6), ([4], 4)]]
    assert failing(sound) == {"C4 joints"}


def test_a_joint_that_names_a_cluster_twice_or_none_is_found(sound):
    sound["joints"][0]["clusters"] = [0, 0]
    assert failing(sound) == {"C4 joints"}
    sound["joints"][0]["clusters"] = []
    assert failing(sound) == {"C4 joints"}


def test_a_joint_without_a_chunk_or_given_twice_is_found(sound):
    sound["joints"] = [*sound["joints"], {"clusters": [0, 2], "chunks": []}]
    assert failing(sound) == {"C6"}
    sound["joints"] = [sound["joints"][0], {"clusters": sound["joints"][0]["clusters"], "chunks": []}]
    assert failing(sound) == {"C6"}


def test_a_joint_of_a_cluster_that_is_not_there_is_found(sound):
    sound["joints"][0]["clusters"] = [0, 3]
    assert failing(sound) == {"form"}


def test_a_cluster_below_k_or_above_delta_is_found(sound):
    assert failing({**sound, "delta": 5}) == {"sizes"}
    sound["clusters"] = [{"size": 1, "opened": True, "term": [], "chunks": []}, *sound["clusters"][1:]]
    assert failing({**sound, "labels": ["a", "b", "c", "d", "e", "f"]}) >= {"sizes"}


def test_a_joint_above_its_level_is_found(sound):
    sound |= {"levels": 0}
    assert failing(sound) == {"sizes"}


def test_fewer_than_k_records_may_have_no_chunk(sound):
    few = {**sound, "joints": [], "term_global": [], "labels": [], "k": 4}
    few["clusters"] = [{"size": 3, "opened": True, "term": [], "chunks": []}]
    assert failing(few) == set()
    few |= {"labels": ["a"], "clusters": [{"size": 3, "opened": True, "term": [], "chunks": [[([0], 4)]]}]}
    assert failing(few) >= {"sizes"}


def reverse_subs(made):
    own(made).reverse()


def reverse_items(made):
    own(made)[1] = ([1, 0], 2)


def reverse_chunks(made):
    made["clusters"][0]["chunks"].reverse()


def reverse_clusters(made):
    made["clusters"][1:] = reversed(made["clusters"][1:])
    made["joints"][0]["clusters"] = [0, 2]


def reverse_labels(made):
    made["labels"].reverse()


def repeat_sub(made):
    own(made)[:] = [([0], 2), ([0, 1], 1), ([0, 1], 1)]


def repeat_term(made):
    made["term_global"] = [5, 5]


def unused_label(made):
    made["labels"].append("g")


def same_label(made):
    made["labels"][5] = "e"


@pytest.mark.parametrize(
    "change",
    [
        reverse_subs,
        reverse_items,
        reverse_chunks,
        reverse_clusters,
        reverse_labels,
        repeat_sub,
        repeat_term,
        unused_label,
        same_label,
    ],
)
def test_an_order_that_may_tell_something_is_found(sound, change):
    change(sound)
    assert failing(sound) == {"C6"}


def test_clusters_of_equal_size_are_ordered_by_content(sound):
    sound["clusters"][1]["size"] = 6
    assert failing(sound) == set()
    sound["clusters"][1:] = reversed(sound["clusters"][1:])
    sound["joints"][0]["clusters"] = [0, 2]
    assert failing(sound) == {"C6"}


def test_labels_that_are_numbers_may_stand_as_numbers_or_as_text(sound):
    assert failing({**sound, "labels": ["1", "2", "9", "10", "11", "12"]}) == set()
    assert failing({**sound, "labels": ["1", "10", "11", "12", "2", "9"]}) == set()
    assert failing({**sound, "labels": ["1", "10", "9", "11", "12", "2"]}) == {"C6"}


def test_a_term_with_a_cluster_is_found_under_global_and_any_term_under_drop(sound):
    assert failing({**sound, "terms": "drop"}) == {"terms"}
    sound["clusters"][2]["term"] = [5]
    assert failing(sound) == {"terms"}


def test_a_term_beside_an_item_of_all_records_warns_or_fails(sound):
    sound |= {"terms": "cluster", "term_global": []}
    sound["clusters"][1]["term"] = [5]
    sound["clusters"][2] |= {"term": [5], "chunks": [[([1], 6)], [([3], 3)]]}
    found = verify(published(sound))
    assert found.holds
    assert found.warnings[0].startswith("1 of 2 clusters name a term")
    assert failing(sound) == {"C5"}
    sound["terms"] = "suppress"
    found = verify(published(sound))
    assert (found.holds, found.warnings) == (False, ())


def test_an_item_of_all_records_of_a_joint_counts_for_its_clusters(sound):
    sound |= {"terms": "suppress", "term_global": [], "delta": 9}
    sound["joints"][0]["chunks"] = [[([3], 2), ([3, 4], 7)]]
    sound["clusters"][1]["term"] = [5]
    sound["clusters"][2]["term"] = [5]
    assert failing(sound) == {"C5"}


@pytest.mark.parametrize(
    "change",
    [
        {"k": 0},
        {"m": 0},
        {"k": 1 << 60},
        {"levels": 99},
        {"terms": "other"},
        {"counts": np.array([2, 2, 2, 3, 2, 4, 3, 0, 2])},
        {"counts": np.array([2, 2, 2, 3, 2, 4, 3, 2])},
        {"counts": np.full(9, 1 << 50)},
        {"sizes": np.array([4, 5, -6])},
        {"sizes": np.array([4, 5])},
        {"items": np.array([0, 0, 1, 2, 0, 1, 1, 3, 3, 6])},
        {"items": np.array([0, 0, 1, 2, 0, 1, 1, 3, 3, -1])},
        {"sub_ptr": np.array([0, 1, 3, 2, 5, 6, 7, 8, 9, 10])},
        {"chunk_ptr": np.array([0, 2, 3, 5, 6, 7])},
        {"chunk_joint": np.array([-1, -1, -1, -1, -1, -1])},
        {"chunk_joint": np.array([-1, -1, -1, -1, 0, 0])},
        {"chunk_cluster": np.array([0, 0, 1, 2, 7, -1])},
        {"term_cluster": np.array([3])},
        {"term_item": np.array([0, 1])},
        {"joint_ptr": np.array([], np.int64)},
        {"joint_ptr": np.array([0, 3])},
        {"opened": np.array([True])},
    ],
)
def test_numbers_that_refer_to_nothing_are_found_and_end_the_check(sound, change):
    assert failing(replace(published(sound), **change)) == {"form"}
