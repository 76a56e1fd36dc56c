"""Shared by all tests: the cache of compiled loops, the profiles of hypothesis, the public data sets."""

import getpass
import hashlib
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCES = REPOSITORY / "src" / "shoal"


LOOPS = ("cluster", "density", "kernels", "som", "transactions")  # the packages that compile, as the import rules say


def digest_of_loops():
    """Return a short name that changes with any byte of a package whose loops are compiled."""
    digest = hashlib.sha256()
    for path in sorted(path for package in LOOPS for path in (SOURCES / package).rglob("*.py")):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


# numba does not notice that a loop of another file has changed, so each state of these packages gets
# its own cache. This must be set before numba is imported, hence here and not in a fixture.
os.environ["NUMBA_CACHE_DIR"] = str(
    Path(tempfile.gettempdir()) / f"shoal-loops-{getpass.getuser()}" / digest_of_loops()
)

settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=10_000)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(PROFILE)

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


SEEDS = SimpleNamespace(stream=np.random.default_rng(0))


def pytest_configure():
    if PROFILE == "ci":  # every run of the tests draws the same seeds, as hypothesis does
        from shoal.model import seeds

        seeds.secrets = SimpleNamespace(randbits=lambda bits: int(SEEDS.stream.integers(1 << bits)))


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in item.fixturenames:  # starting one takes seconds
            item.add_marker("browser")
            item.add_marker("slow")


def pytest_runtest_setup(item):
    # The seed depends on the file only: fixtures shared by several tests are made by whichever runs first.
    SEEDS.stream = np.random.default_rng([int(os.environ.get("SHOAL_TEST_SEED", "0")), *item.path.name.encode()])
    if item.get_closest_marker("compiled") and not COMPILED:
        pytest.skip("loops are not compiled (NUMBA_DISABLE_JIT is set), and this would take too long")


@pytest.fixture(scope="session")
def compiled():
    """Whether loops are compiled; tests with many repetitions make fewer of them if not."""
    return COMPILED


@pytest.fixture
def install(monkeypatch):
    """A function that installs plug-ins, as the entry points of another package would: install("models", name=...)."""
    from shoal.model import plug_ins

    points = {}

    def add(kind, named=None, /, **more):
        group = points.setdefault(f"shoal.{kind}", {})
        group |= {**(named or {}), **more}
        monkeypatch.setattr(plug_ins, "_entry_points", lambda group, _: entries(group))

    def entries(group):
        return {
            name: SimpleNamespace(name=name, load=lambda one=one: one) for name, one in points.get(group, {}).items()
        }

    return add


@pytest.fixture(scope="session")
def data_folder():
    """The folder of public data sets."""
    folder = Path(os.environ.get("SHOAL_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("public data sets are not here; set SHOAL_DATA")
    return folder


@pytest.fixture(scope="session")
def data_file(data_folder):
    """A function from the name of a public data set to its path."""

    def find(name):
        path = data_folder / name
        if not path.is_file():
            pytest.skip(f"the public data set {name} is not here; set SHOAL_DATA")
        return path

    return find
