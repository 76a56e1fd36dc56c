"""The documentation of errors quotes messages verbatim."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal

PAGE = (Path(__file__).parents[1] / "docs" / "errors.md").read_text(encoding="utf-8").splitlines()
N = 100
SALARY = np.random.default_rng(1).permutation(N) * 0.5
TABLE = pa.table({"age": np.arange(N) % 30, "salary": [*SALARY[:-1], SALARY[0]]})
CHANGED = pa.table({"age": ["young", "old"] * 9, "ward": [1, 2] * 9})


def header(place):
    (place / "patients.csv").write_text("x,y,3,4,1990-01-01\n" + "a,b,5,6,1990-02-01\n" * 5)
    shoal.profile("patients.csv")


@pytest.mark.parametrize(
    "wrong",
    [
        header,
        lambda _: shoal.anonymize(TABLE, k=5, l=2),
        lambda _: shoal.anonymize(TABLE, k=5, l_kind="entropy"),
        lambda _: shoal.anonymize(TABLE, k=5, sensitive=["salary"]),
        lambda _: shoal.Policy.of({"columns": {"income": {"role": "keep", "importance": 2}}}),
        lambda _: shoal.Policy.of({"columns": {"ward": {"role": "keep", "hierarchy": "prefix"}}}),
        lambda _: shoal.anonymize(TABLE, k=5, budget=0),
        lambda _: shoal.anonymize(CHANGED, policy={"columns": {"age": {"kind": "numeric"}}}, strict=True),
        lambda _: shoal.anonymize(pa.table({"age": np.arange(5000) % 90}), method="exact"),
    ],
    ids=["header", "constraint", "kind", "unique-kept", "importance", "hierarchy", "budget", "strict", "rows"],
)
def test_every_quoted_message_is_verbatim(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(shoal.ShoalError) as caught:
        wrong(tmp_path)
    assert str(caught.value) in PAGE


def section_of(message):
    """Return the section of the page that quotes a message."""
    above = PAGE[: PAGE.index(message)]
    return next(line.strip("# `") for line in reversed(above) if line.startswith("## "))


@pytest.mark.parametrize("wrong", [lambda: shoal.sample(1), lambda: shoal.anonymize(TABLE, threads=0)])
def test_a_message_is_in_the_section_of_its_class(wrong):
    with pytest.raises(shoal.ShoalError) as caught:
        wrong()
    assert section_of(str(caught.value)) == type(caught.value).__name__
