"""The verifier of set-valued releases: its counts are those of its twin, its conditions what the guarantee needs."""

import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import km as naive
from set_releases import bag, damaged, published, release
from shoal.errors import DataError, InfeasibleError, MethodError
from shoal.model.transactions import Transactions
from shoal.privacy.verdict import km_chunks, km_counts
from shoal.privacy.verdict.km import verify, verify_against, verify_plain, violations


def counted(found):
    return {check.id: (check.n_checked, check.n_bad) for check in found.checks if check.id != "form"}


def agrees(made):
    ref, comp = naive.checks(made), counted(verify(published(made)))
    comp["C6"] = (None, comp["C6"][1])
    assert comp == ref
    return not any(wrong for _, wrong in ref.values())


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_every_count_is_that_of_the_twin_on_releases_good_and_bad(part):
    rng = random.Random(part)
    good = 0
    for turn in range(100):
        made, _ = release(rng, terms="cluster" if turn % 3 == 0 else "global")
        good += agrees(made)
        agrees(damaged(rng, made))
    assert good >= 50


@pytest.mark.parametrize("terms", ["global", "cluster"])
def test_a_release_that_is_well_made_holds_and_says_what_is_true_of_its_records(terms):
    rng = random.Random(7)
    for _ in range(150):
        made, truth = release(rng, terms)
        found = verify(published(made))
        assert found.holds
        data, cluster_of = Transactions.of(record for record, _ in truth), np.array([c for _, c in truth], np.int64)
        assert all(check.ok for check in verify_against(published(made), data, cluster_of))


@pytest.mark.parametrize("terms", ["global", "cluster"])
def test_a_release_that_says_anything_else_of_its_records_is_found_out(terms):
    rng = random.Random(8)
    caught = 0
    for _ in range(200):
        made, truth = release(rng, terms)
        if not any(each["chunks"] for each in made["clusters"]):
            continue
        chunk = rng.choice([chunk for each in made["clusters"] for chunk in each["chunks"]])
        place = rng.randrange(len(chunk))
        chunk[place] = (chunk[place][0], chunk[place][1] + 1)
        data, cluster_of = Transactions.of(record for record, _ in truth), np.array([c for _, c in truth], np.int64)
        checks = {check.id: check for check in verify_against(published(made), data, cluster_of)}
        assert checks["projections"].n_bad == 1
        assert checks["counts"].n_bad >= 1
        caught += 1
    assert caught > 100


def small():
    """Return three records in one cluster, with an item that only one of them has."""
    chunks = [[([0], 3)]]
    cluster = {"size": 3, "opened": True, "chunks": chunks, "term": []}
    made = {"k": 2, "m": 2, "delta": 5, "levels": 0, "terms": "global", "labels": ["a", "b"]}
    made |= {"clusters": [cluster], "joints": [], "term_global": [1]}
    return made, Transactions.of(["a", "ab", "ab"]), np.zeros(3, np.int64)


def broken(made, data, cluster_of):
    return {check.id for check in verify_against(published(made), data, cluster_of) if not check.ok}


def test_what_the_holder_compares_is_named():
    made, data, cluster_of = small()
    assert broken(made, data, cluster_of) == set()
    assert broken({**made, "labels": ["a", "z"]}, data, cluster_of) == {"labels"}
    assert broken(made, Transactions.of(["a", "a", "a"]), cluster_of) == {"labels"}
    assert broken(made, Transactions.of(["a", "ab", "ab", "a"]), np.zeros(4, np.int64)) >= {"records", "projections"}
    made["clusters"][0]["opened"] = False
    assert broken(made, data, cluster_of) == {"opened"}
    assert broken(made, data, cluster_of + 1) == {"form"}
    with pytest.raises(DataError, match="2 cluster numbers were given for 3 records"):
        verify_against(published(made), data, cluster_of[:2])


def test_a_term_that_no_chunk_holds_may_be_left_out_and_no_other():
    made, data, cluster_of = small()
    made |= {"term_global": [], "labels": ["a"]}
    assert broken(made, data, cluster_of) == set()
    made["clusters"].append({"size": 3, "opened": False, "chunks": [[([1], 3)]], "term": []})
    made["labels"] = ["a", "b"]
    data, cluster_of = Transactions.of(["a", "ab", "ab", "b", "b", "b"]), np.repeat([0, 1], 3)
    assert broken(made, data, cluster_of) == {"listed terms"}
    made["term_global"] = [1]
    assert broken(made, data, cluster_of) == set()


def test_where_items_were_deleted_a_chunk_may_hold_less_and_never_more():
    made, data, cluster_of = small()
    made["terms"] = "suppress"
    made["term_global"] = []
    made["clusters"][0] |= {"term": [1], "chunks": [[([0], 2)]]}
    assert broken(made, data, cluster_of) == set()
    made["clusters"][0]["chunks"] = [[([0], 4)]]
    assert broken(made, data, cluster_of) == {"counts"}


def whole_cluster(rng):
    """Return a cluster without terms, torn at random into k^m-anonymous chunks, or nothing."""
    size, k, m = rng.randint(2, 5), 2, rng.randint(2, 3)
    letters = list(range(rng.randint(2, 4)))
    records = [set(rng.sample(letters, rng.randint(1, len(letters)))) for _ in range(size)]
    used = sorted(set().union(*records))
    home = {item: rng.randrange(3) for item in used}
    chunks = [bag(records, {item for item in used if home[item] == part}) for part in set(home.values())]
    total = sum(naive.size(chunk) for chunk in chunks)
    # A cluster is torn where a record has items of two chunks. Where none has, nothing can be put together at all.
    if naive.rare(chunks, k, m)[1] or (len(chunks) > 1 and total == size):
        return None
    return size, chunks, k, m


@pytest.mark.slow
def test_the_cover_condition_holds_exactly_where_the_guarantee_does():
    rng = random.Random(3)
    seen = {True: 0, False: 0}
    tried = set()
    while min(seen.values()) < 120:
        case = whole_cluster(rng)
        if case is None or repr(case) in tried:
            continue
        tried.add(repr(case))
        size, chunks, k, m = case
        labels = [chr(97 + i) for i in range(5)]
        cluster = {"size": size, "opened": False, "chunks": sorted(chunks), "term": []}
        made = {"k": k, "m": m, "delta": 9, "levels": 0, "terms": "global", "labels": labels}
        made |= {"clusters": [cluster], "joints": [], "term_global": []}
        ref = naive.guaranteed(size, chunks, k, m)
        assert (counted(verify(published(made)))["C3"][1] == 0) == ref
        seen[ref] += 1


records = st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=6), max_size=14)


@given(records, st.integers(1, 4), st.integers(1, 8))
def test_violations_are_exactly_the_itemsets_in_fewer_than_k_records(given, k, m):
    data = Transactions.of([str(item) for item in record] for record in given)
    found = violations(data.indptr, data.items, len(data.labels), k, m)
    comp = [tuple(map(int, (data.labels[i] for i in row))) for _, rows in found for row in rows.tolist()]
    assert comp == naive.plain(given, k, m)
    assert all(rows.shape[1] == size for size, rows in found)
    assert verify_plain(data, k, m).holds == (not comp)


@pytest.mark.parametrize("block", [1, 7, 100])
def test_blocks_do_not_change_what_is_counted(block, monkeypatch):
    rng = random.Random(block)
    data = Transactions.of([rng.choices("abcdefgh", k=rng.randint(1, 7)) for _ in range(60)])
    ref = violations(data.indptr, data.items, len(data.labels), 5, 4)
    monkeypatch.setattr(km_counts, "BLOCK", block)
    comp = violations(data.indptr, data.items, len(data.labels), 5, 4)
    assert [(size, rows.tolist()) for size, rows in comp] == [(size, rows.tolist()) for size, rows in ref]
    monkeypatch.setattr(km_chunks, "BLOCK", block)
    made, _ = release(rng)
    assert agrees(made)


def test_found_is_the_support_of_the_rarest_itemset():
    verdict = verify_plain(Transactions.of(["abc", "abc", "abc", "ab", "ab"]), 4, 3)
    assert (verdict.found, verdict.holds) == (3, False)
    assert verdict.note == "4 of 7 itemsets of at most m=3 items are in fewer than k=4 records"
    assert verify_plain(Transactions.of([]), 4, 3).holds


@pytest.mark.parametrize(("k", "m"), [(0, 1), (2, 0), (-1, 3)])
def test_parameters_that_promise_nothing_are_refused(k, m):
    data = Transactions.of(["ab"])
    for asked in (lambda: verify_plain(data, k, m), lambda: violations(data.indptr, data.items, 2, k, m)):
        with pytest.raises(MethodError, match="k and m must be integers of at least 1"):
            asked()


def test_records_that_nobody_could_count_are_refused_and_not_counted_for_ever():
    data = Transactions.of([[str(i) for i in range(4000)]] * 3)
    with pytest.raises(InfeasibleError, match="Lower m"):
        verify_plain(data, 2, 4)


def one_chunk(chunk, k, m, items):
    cluster = {"size": sum(count for _, count in chunk), "opened": True, "chunks": [chunk], "term": []}
    made = {"k": k, "m": m, "delta": 99, "levels": 0, "terms": "drop", "labels": [f"{i:05d}" for i in range(items)]}
    return published(made | {"clusters": [cluster], "joints": [], "term_global": []})


def test_a_chunk_of_very_long_sub_records_is_decided():
    long = list(range(9000))
    assert verify(one_chunk([(long, 3)], 3, 5, 9000)).holds
    assert counted(verify(one_chunk([(long[:-1], 1), (long, 2)], 3, 5, 9000)))["C1"][1] > 0
    # Items of both, and of one alone: two kinds, and the second is in too few.
    assert verify(one_chunk([(long[:4500], 3), (long, 3)], 3, 2, 9000)).holds


def test_a_chunk_that_takes_too_long_to_decide_does_not_hold():
    rng = random.Random(5)
    subs = sorted({tuple(sorted(rng.sample(range(400), 200))) for _ in range(40)})
    found = verify(one_chunk([(list(sub), 1) for sub in subs], 2, 8, 400))
    verdict = found.verdicts[0]
    assert not verdict.holds
    assert "1 chunks with too many to count" in verdict.note


def test_heavy_and_light_chunks_are_judged_alike(monkeypatch):
    rng = random.Random(6)
    for _ in range(200):
        made, _ = release(rng)
        made = damaged(rng, made) if rng.random() < 0.5 else made
        monkeypatch.setattr(km_chunks, "HEAVY", 1e6)
        ref = [verdict.holds for verdict in verify(published(made)).verdicts]
        monkeypatch.setattr(km_chunks, "HEAVY", 0.0)
        assert [verdict.holds for verdict in verify(published(made)).verdicts] == ref


def test_nothing_at_all_and_k_of_1_are_fine():
    made, _ = release(random.Random(1), k=2)
    empty = {**made, "clusters": [], "joints": [], "term_global": [], "labels": []}
    assert verify(published(empty)).holds
    everything = {"size": 2, "opened": False, "chunks": [[([0], 1), ([0, 1], 1)]], "term": []}
    single = {**made, "k": 1, "labels": ["a", "b"], "clusters": [everything], "joints": [], "term_global": []}
    found = verify(published(single))
    assert found.holds
    assert "nothing is protected" in found.warnings[0]


@pytest.mark.process
def test_the_verifier_loads_no_maker_and_no_compiled_loop():
    code = "import shoal.privacy.verdict.km, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert not {
        name
        for name in loaded
        if name.startswith(("numba", "shoal.kernels", "shoal.prepare", "shoal.transactions", "shoal.io"))
    }


def test_what_was_found_is_plain_values_without_labels():
    made, _ = release(random.Random(2))
    made["labels"] = [f"secret{label}" for label in made["labels"]]
    facts = verify(published(made)).as_dict()
    assert {"id", "what", "ok", "n_checked", "n_bad", "where"} == set(facts["checks"][0])
    assert "secret" not in repr(facts)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", ["bms1.dat", "groceries.dat"])
def test_releases_of_public_data_hold_for_nine_parameter_sets(name, data_file):
    from shoal.transactions.disassociation.disassociate import disassociate

    data = Transactions.of(line.split() for line in data_file(name).read_text(encoding="utf-8").splitlines())
    for k in (2, 3, 4):
        for delta in (20, 40, 60):
            made = disassociate(data, k, k, delta)
            found = verify(made.published)
            assert (found.holds, found.warnings) == (True, ())
            assert [check.id for check in verify_against(made.published, data, made.cluster_of) if not check.ok] == []


def test_bms1_has_as_many_itemsets_as_were_counted_before(data_file):
    # The specification: 63,973 pairs and 497 items.
    data = Transactions.of(line.split() for line in data_file("bms1.dat").read_text(encoding="utf-8").splitlines())
    every = violations(data.indptr, data.items, len(data.labels), data.n + 1, 2)
    assert [rows.shape for _, rows in every] == [(497, 1), (63_973, 2)]
    assert verify_plain(data, 2, 2).found == 1
