"""Releases of sets that are made to be expensive to verify: they are given up in time, and shoal makes none of them."""

import time

import pytest

import shoal.sets
from set_folders import check_release, written
from shoal.errors import InfeasibleError
from shoal.model.transactions import Transactions

SECONDS = 10


def lonely(k, m, items, size, count):
    """Return a release of one cluster, where every item is alone in its chunk: items meet in a record at random."""
    return {
        "k": k,
        "m": m,
        "delta": size,
        "levels": 0,
        "terms": "global",
        "joints": [],
        "term_global": [],
        "labels": [f"{item:04d}" for item in range(items)],
        "clusters": [
            {"size": size, "opened": False, "term": [], "chunks": [[([item], count)] for item in range(items)]}
        ],
    }


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Compile all loops before anything is timed."""
    place = tmp_path_factory.mktemp("warm")
    records = [["a", "b", "c"], ["a", "b", "d"], ["b", "c", "d"], ["a", "c"]] * 4
    assert check_release(shoal.sets.anonymize(records, k=3, m=3).save(place / "out")).holds


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    "how",
    [
        {"k": 3, "m": 8, "items": 40, "size": 400, "count": 200},  # some 260,000 itemsets in each record
        {"k": 40, "m": 2, "items": 500, "size": 20000, "count": 900},  # most of it is suppressed, and tried again
    ],
    ids=["deep", "back"],
)
def test_releases_too_expensive_to_harden_are_given_up_in_time(tmp_path, how):
    forged = Transactions.of([["0001"]])
    folder = written(tmp_path / "out", lonely(**how), neighbour=forged, claimed=True)
    start = time.process_time()
    checked = check_release(folder)
    assert time.process_time() - start < SECONDS
    line = next(line for line in checked.lines if line.what == "neighbour")
    assert line.found == "not compared: it takes too long for files of this size"


def test_a_neighbour_too_expensive_to_verify_is_not_made(monkeypatch):
    monkeypatch.setattr("shoal.pipeline.set_neighbours.WORK", 10.0)
    monkeypatch.setattr("shoal.pipeline.set_neighbours.WORK_PER_ITEM", 1.0)
    records = [["a", "b"], ["a", "b"], ["a", "c"], ["b", "c"]] * 5
    with pytest.raises(InfeasibleError, match="m=2 takes more work .* Lower m, split long records, or choose"):
        shoal.sets.anonymize(records, k=2, m=2)
    assert shoal.sets.anonymize(records, k=2, m=2, neighbour="raw").neighbour is not None
