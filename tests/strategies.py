"""Tables for property tests: whole numbers, so that sums are exact, and few of them, so that many tie."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

SPANS = (0, 1, 2, 9, 1000)


@st.composite
def tables(draw, least=1, most=60, columns=4):
    """A float64 matrix of whole numbers with `least` to `most` rows and up to `columns` columns."""
    n = draw(st.integers(least, most))
    d = draw(st.integers(0, columns))
    span = draw(st.sampled_from(SPANS))
    return draw(arrays(np.int64, (n, d), elements=st.integers(-span, span))).astype(np.float64)


@st.composite
def tables_with_k(draw, most=60, columns=4):
    """A table of whole numbers, and a k for which it has enough rows."""
    k = draw(st.integers(2, 6))
    return draw(tables(least=k, most=most, columns=columns)), k


def random_table(rng, most=60, columns=4):
    """The same from a seeded `random.Random`, for loops over thousands of tables."""
    k = rng.randint(2, 6)
    n = rng.randint(k, rng.choice([3 * k, most]))
    d = rng.randint(0, columns)
    span = rng.choice(SPANS)
    cells = [[float(rng.randint(-span, span)) for _ in range(d)] for _ in range(n)]
    return np.array(cells, np.float64).reshape(n, d), k
