"""Random seeds: drawn from the operating system, or derived from a secret key."""

import hashlib
import hmac
import secrets

SEEDS = 1 << 64  # seeds are whole numbers below this
SEEDS_OF_SKLEARN = 1 << 32
BITS = 63  # TOML guarantees integers below 2^63


def drawn_seed() -> int:
    """Return an unpredictable random seed from the operating system."""
    return secrets.randbits(BITS)


def for_sklearn(seed: int) -> int:
    """Return a random seed in the range of scikit-learn: itself if it is small enough."""
    return seed % SEEDS_OF_SKLEARN


def derived_seed(key: bytes) -> int:
    """Return the random seed of a secret key: the same for the same key, and useless for finding the key."""
    return int.from_bytes(hmac.new(key, b"seed", hashlib.sha256).digest()[:8], "big") >> (64 - BITS)
