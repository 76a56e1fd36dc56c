"""Nothing that shoal publishes changes by accident: see `golden_cases`."""

import json

import pytest

from golden_cases import CASES, STORED, digest_of

EXPECTED = json.loads(STORED.read_text(encoding="utf-8"))


def test_every_case_has_a_digest():
    assert sorted(CASES) == sorted(EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.compiled
def test_the_same_input_gives_the_same_output(case):
    assert digest_of(case) == EXPECTED[case], f"{case} changed; if it was meant to, see tests/golden_cases.py"
