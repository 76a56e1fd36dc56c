"""Warm-up: methods are compiled into the cache folder that later runs use."""

import os
import subprocess
import sys

import pytest

import shoal
from command_line import shoal_command
from shoal.exploration.warmup import Task, compile_loops


@pytest.mark.process
@pytest.mark.slow
def test_a_method_that_was_compiled_ahead_compiles_nothing_in_a_later_run(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    program = "import shoal; print(shoal.warmup('univariate', jobs=1))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "('univariate',)\n"
    compiled = sorted(tmp_path.rglob("*.nbc"))
    assert compiled
    later = (
        "from numba.core import event; import shoal\n"
        "with event.install_recorder('numba:compile') as found:\n"
        "    shoal.anonymize(shoal.sample(200).select(['days']), k=5, method='univariate', seed=1)\n"
        "print(len(found.buffer))"
    )
    done = subprocess.run([sys.executable, "-c", later], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
    assert sorted(tmp_path.rglob("*.nbc")) == compiled


def test_a_table_without_a_release_is_no_obstacle():
    compile_loops(Task("mdav", 4, numeric=True))


def test_unknown_methods_and_numbers_of_processes_are_refused():
    with pytest.raises(shoal.MethodError, match="unknown method 'mdaf'"):
        shoal.warmup("mdaf")
    with pytest.raises(shoal.PolicyError, match="warmup: jobs must be a whole number of at least 1; got 0"):
        shoal.warmup("mdav", jobs=0)
    with pytest.raises(shoal.PolicyError, match="warmup: unknown option 'job'. Did you mean 'jobs'"):
        shoal.warmup("mdav", job=1)


@pytest.mark.slow
def test_the_command_names_the_methods_that_are_ready():
    assert "NUMBA_CACHE_DIR" in os.environ  # the cache of the tests, where little is left to compile
    done = shoal_command("warmup", "univariate", "--jobs", "1", "--json")
    assert done.code == 0, done.err
    assert '"univariate"' in done.out
