"""Every step runs once per release, up to the holder's report; only the written bytes are read again."""

import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import shoal
from shoal.catalogue import measures
from shoal.pipeline.judging import case_of

STEPS = {
    "text_columns.py": {"read_for"},
    "profile.py": {"profile"},
    "arrange.py": {"arrange"},
    "hierarchies.py": {"given_trees"},
    "encode.py": {"encode"},
    "trees.py": {"hierarchies"},
    "judge.py": {"judge"},
    "pairs.py": {"pairs"},
    "recount.py": {"recount"},
    "released.py": {"read_cells"},
}


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(3)
    made = {
        "age": rng.integers(18, 90, 120),
        "zip": rng.integers(10, 16, 120).astype(str),
        "weight": rng.integers(1, 9, 120),
        "ill": rng.choice(["a", "b", "c"], 120),
    }
    pyarrow.csv.write_csv(pa.table(made), tmp_path / "people.csv")
    return tmp_path / "people.csv"


def called(work):
    """Count how often each step of the pipeline runs."""
    counts = Counter()

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_name in STEPS.get(code.co_filename.rsplit("/", 1)[-1], ()):
            counts[code.co_name] += 1

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return dict(counts)


@pytest.mark.slow
def test_each_step_runs_once_up_to_the_holders_report(people, tmp_path):
    def work():
        release = shoal.anonymize(people, k=4, l=2, sensitive=["ill"], keep=["weight"], accept=["unique-kept"], seed=1)
        release.save(tmp_path / "out", private=tmp_path / "mine", report=True, original=people)

    assert called(work) == {step: 1 for steps in STEPS.values() for step in steps}


def test_no_measure_is_computed_twice_for_a_release(people):
    release = shoal.anonymize(people, k=4, sensitive=["ill"])
    before = dict(release._making.case.taken)
    assert set(before) == {card.name for card in measures.cards().values() if card.always}
    shoal.measure(people, release)
    assert all(release._making.case.taken[name] is found for name, found in before.items())


@pytest.mark.parametrize("again", [False, True], ids=["the same file", "a frame of the same rows"])
def test_findings_of_a_release_equal_those_of_measure(people, again):
    release = shoal.anonymize(people, k=4, sensitive=["ill"], keep=["weight"], weight="weight", accept=["unique-kept"])
    values = {finding.name: finding.value for finding in release.findings}
    measured = shoal.measure(pa.csv.read_csv(people) if again else people, release)
    found = {finding.name: finding.value for finding in measured}
    own = set(values) - {"loss by rounding %"}
    assert own <= set(found)
    assert {name: found[name] for name in own} == pytest.approx({name: values[name] for name in own})


def test_another_table_is_not_mistaken_for_the_one_that_was_read(people, tmp_path):
    release = shoal.anonymize(people, k=4, sensitive=["ill"])
    assert case_of(people, release) is case_of(str(people), release) is release._making.case
    assert case_of(people, release, seed=3).seed == 3
    other = tmp_path / "other.csv"
    other.write_bytes(people.read_bytes())
    assert case_of(other, release) is not release._making.case
    assert case_of(None, release).original is None
