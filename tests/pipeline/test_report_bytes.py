"""The public report depends on the folder alone: no clock, language, hash seed, thread or font changes a byte of it."""

import hashlib
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.catalogue import measure, measures
from shoal.certify.check import check_folder
from shoal.model.findings import Finding
from shoal.pipeline.reporting import public_page

RNG = np.random.default_rng(2)
N = 120
TABLE = pa.table(
    {
        "age": RNG.integers(20, 90, N),
        "born": pa.array(RNG.integers(0, 20_000, N), pa.int32()).cast(pa.date32()),
        "town": RNG.choice(["Wien AVAVAV", "東京都千代田区", "القاهرة", "กรุงเทพ", "\ue123 \U0001f600 Łódź"], N),
        "ill": RNG.choice(["flu", "gout", "none"], N),
    }
)
DRAW = textwrap.dedent(
    """
    import hashlib, json, sys
    from pathlib import Path
    from shoal.certify.check import check_folder
    from shoal.pipeline.reporting import public_page
    folder = Path(sys.argv[1])
    print(hashlib.sha256(public_page(folder, check_folder(folder).verdicts).encode()).hexdigest())
    """
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    release = shoal.anonymize(TABLE, k=4, l=2, sensitive=["ill"], method="gower")
    return release.save(tmp_path_factory.mktemp("pure") / "out", format="csv", report=True)


def drawn(folder, **other):
    words = [sys.executable, "-c", DRAW, str(folder)]
    done = subprocess.run(words, env={**os.environ, **other}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    "other",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "America/St_Johns", "LANG": "de_DE.UTF-8", "LC_ALL": "C.UTF-8"},
        {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
    ],
    ids=["time and hash seed", "language", "threads"],
)
def test_the_environment_does_not_change_the_report(folder, other):
    assert drawn(folder, **other) == hashlib.sha256((folder / "report.html").read_bytes()).hexdigest()


@pytest.mark.slow
def test_twice_in_one_process_gives_the_same_report(folder):
    verdicts = check_folder(folder).verdicts
    assert public_page(folder, verdicts) == public_page(folder, verdicts) == (folder / "report.html").read_text()


def test_the_versions_that_drew_it_are_in_the_certificate(folder):
    made = json.loads((folder / "certificate.json").read_text())["predicate"]["made_with"]
    assert set(made) == {"jinja2"}


def test_measures_of_plug_ins_are_not_in_the_public_report(folder, install):
    @measure("strange", formula="1", better="low", need="release", cost="1")
    def strange(case):
        """Return 1."""
        return (Finding("strange", 1.0, "always", "release", counts_rows=False),)

    install("measures", strange=strange)
    assert "strange" in measures.cards()
    assert public_page(folder, check_folder(folder).verdicts) == (folder / "report.html").read_text()
