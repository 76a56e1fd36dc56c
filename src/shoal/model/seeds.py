"""Random seeds that nobody chose: drawn from the operating system, or made from a secret key."""

import hashlib
import hmac
import secrets

__all__ = ["derived_seed", "drawn_seed"]

BITS = 63  # TOML promises whole numbers below 2^63


def drawn_seed() -> int:
    """Return a random seed from the operating system, which nobody can guess."""
    return secrets.randbits(BITS)


def derived_seed(key: bytes) -> int:
    """Return the random seed of a secret key: the same for the same key, and of no use to find the key.

    Parameters
    ----------
    key : bytes
    """
    return int.from_bytes(hmac.new(key, b"seed", hashlib.sha256).digest()[:8], "big") >> (64 - BITS)
