"""Inner loops are compiled for other loops only, which takes less time."""

import os

import numpy as np
import pytest

from shoal.cluster.search.layout import measure


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_an_inner_loop_that_is_called_from_python_says_so():
    with pytest.raises(TypeError, match="measure can be called only from compiled loops"):
        measure(np.zeros((2, 16)), 1.0, np.zeros(2), 1.0, np.zeros(16))
