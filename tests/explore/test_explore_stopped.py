"""An exploration that is stopped: its processes end, results are kept, and the next run continues."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import shoal
from shoal.exploration.run import explore
from shoal.io.data_file import write_data

pytestmark = [pytest.mark.process, pytest.mark.slow]

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in /proc")
METHODS, K = ["mdav", "mondrian", "one_pass", "tfrp"], [3, 5]
ROLES = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"]}
SCRIPT = """
import sys
from shoal.cli import exploring
from shoal.cli.app import app, main
if not any(command.callback.__name__ == "explore" for command in app.registered_commands):
    exploring.add_to(app)
sys.argv = ["shoal", "explore", *sys.argv[1:]]
main()
"""


def children(number):
    """The processes that a process has started, by their numbers."""
    threads = Path(f"/proc/{number}/task").iterdir()
    return [int(word) for thread in threads for word in (thread / "children").read_text().split()]


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(done, seconds=300):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


@LINUX
@pytest.mark.compiled
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_leaves_no_process_and_the_next_run_continues(tmp_path, how):
    write_data(shoal.sample(400, seed=5), tmp_path, "csv")
    table, out = tmp_path / "data.csv", tmp_path / "explored"
    words = ["--methods", ",".join(METHODS), "-k", ",".join(map(str, K)), "--jobs", "2", "-o", str(out)]
    for role, names in (("--identifier", ROLES["identifiers"]), ("--sensitive", ROLES["sensitive"])):
        words += [word for name in names for word in (role, name)]
    run = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(table), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    points = out / "points"
    until(lambda: run.poll() is not None or (points.is_dir() and len(list(points.glob("*.json"))) >= 3))
    assert run.poll() is None, run.communicate()
    started = children(run.pid)
    assert len(started) >= 2
    run.send_signal(how)
    _, output = run.communicate(timeout=60)
    assert run.returncode == (-9 if how == signal.SIGKILL else 128 + how)
    assert "Traceback" not in output
    if how != signal.SIGKILL:
        assert "kept in" in output
        assert "the same command resumes from there" in output
    until(lambda: not any(alive(one) for one in started), 60)
    kept = {path.name: path.stat().st_mtime_ns for path in points.glob("*.json")}
    assert all(json.loads((points / name).read_text())["facts"]["status"] == "done" for name in kept)
    assert 3 <= len(kept) < len(METHODS) * len(K)

    found = explore(table, methods=METHODS, k=K, jobs=1, output=out, **ROLES)
    assert found.estimate.runs == len(METHODS) * len(K) - len(kept)
    assert len(found.outcomes) == len(METHODS) * len(K)
    assert found.failed == ()
    assert {name: (points / name).stat().st_mtime_ns for name in kept} == kept
    assert {path.name.partition(".")[0] for path in points.iterdir()} >= {name.partition(".")[0] for name in kept}
    assert not list(out.rglob("*.draft"))
