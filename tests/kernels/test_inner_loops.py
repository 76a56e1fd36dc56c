"""Inner loops are compiled for other loops only, which takes less time."""

import os

import numpy as np
import pytest

from shoal.cluster.search.layout import WIDTH, measure
from shoal.kernels.loops import loop


@loop
def called(block, point, squares):
    return measure(block, 1.0, point, 1.0, squares)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_an_inner_loop_that_is_called_from_python_says_so():
    arrays = np.zeros((2, WIDTH)), np.zeros(2), np.zeros(WIDTH)
    assert called(*arrays)  # now it is compiled for just these types
    with pytest.raises(TypeError, match="measure can be called only from compiled loops"):
        measure(arrays[0], 1.0, arrays[1], 1.0, arrays[2])
