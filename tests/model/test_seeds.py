"""Random seeds that are drawn or derived."""

import subprocess
import sys

import pytest

from shoal.model import seeds
from shoal.model.policy import Policy
from shoal.model.seeds import derived_seed, drawn_seed


def test_a_drawn_seed_comes_from_the_system_with_63_bits(monkeypatch):
    asked = []
    monkeypatch.setattr(seeds.secrets, "randbits", lambda bits: asked.append(bits) or 5)
    assert drawn_seed() == 5
    assert asked == [63]


@pytest.mark.process
def test_two_processes_draw_two_seeds():
    code = "from shoal.model.policy import Policy; print(Policy().seeded().seed)"
    drawn = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)]
    assert drawn[0] != drawn[1]


def test_a_key_always_gives_the_same_seed_and_another_key_another_one():
    found = [derived_seed(bytes([number]) * 32) for number in range(50)]
    assert len(set(found)) == 50
    assert found[7] == derived_seed(bytes([7]) * 32)
    assert all(0 <= seed < 2**63 for seed in found)
    assert max(found) > 2**60


def test_a_policy_keeps_its_seed_and_draws_one_only_if_it_has_none():
    assert Policy.of(seed=0).seeded().seed == 0
    policy = Policy.of(k=3)
    assert policy.seed is None
    assert "seed" not in policy.to_toml()
    drawn = policy.seeded()
    assert drawn.seed != policy.seeded().seed
    assert drawn.start == drawn.seed
    assert Policy.from_toml(drawn.to_toml()) == drawn
    with pytest.raises(ValueError, match="no seed yet"):
        _ = policy.start
