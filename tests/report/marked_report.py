"""A table of people in which every secret can be recognized."""

import numpy as np
import pyarrow as pa

MARK = "Zq7Xw"
EXTREMES = (987654.25, 0.03125, 424242.5)
HOSTILE = "<img src=x onerror=alert(1)>"
N, K = 300, 5


def marked_table():
    """A table of people in which every secret can be recognized."""
    rng = np.random.default_rng(3)
    pay, height = rng.normal(3000, 500, N).round(2), rng.normal(170, 9, N).round(1)
    pay[7], pay[8], height[9] = EXTREMES
    town = rng.choice(["north", "south", "east", "west"], N).astype(object)
    town[:3] = [f"{MARK}-town-{place}" for place in range(3)]
    ill = rng.choice(["flu", "gout", "none"], N).astype(object)
    ill[20:24] = f"{MARK}-ill"
    ward = rng.normal(50, 10, N).round(1)
    ward[11] = EXTREMES[0]
    return pa.table(
        {
            "person": [f"{MARK}-id-{place}" for place in range(N)],
            HOSTILE: pa.array([None if place < 3 else int(age) for place, age in enumerate(rng.integers(18, 90, N))]),
            "pay": pay,
            "height": height,
            "town": pa.array(town, pa.string()),
            "kept": ward,
            "sex": rng.choice(["f", "m"], N),
            "ill": pa.array(ill, pa.string()),
        }
    )
