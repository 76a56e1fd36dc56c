"""Public data for tests of methods."""

import numpy as np
import pytest

from figures import standardized


@pytest.fixture(scope="session")
def census(data_file):
    """The Census data, 1,080 x 13, by the population standard deviation."""
    return standardized(np.loadtxt(data_file("census.csv"), delimiter=",", skiprows=1))


@pytest.fixture(scope="session")
def census_sample(data_file):
    """The same by the sample standard deviation, as in the thesis of Alarte Aleixandre."""
    return standardized(np.loadtxt(data_file("census.csv"), delimiter=",", skiprows=1), ddof=1)
