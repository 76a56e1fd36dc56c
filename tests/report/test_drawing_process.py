"""Charts are drawn in a separate process, whose death is an error like any other."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from shoal.errors import DrawingError
from shoal.reports import converter, drawing_process
from shoal.reports.drawing_process import converted, prepare

pytestmark = [pytest.mark.process, pytest.mark.slow]

CHART = {
    "data": {"values": [{"a": 1, "b": "CANARY"}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "quantitative"}, "y": {"field": "b", "type": "nominal"}},
}
TEXT = json.dumps(CHART)


@pytest.fixture(autouse=True)
def _fresh():
    drawing_process._end()
    yield
    drawing_process._end()


@pytest.fixture
def instead(tmp_path, monkeypatch):
    """Replace the program that draws by another one."""

    def put(program):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(program))
        monkeypatch.setattr(converter, "__file__", str(path))

    return put


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_chart_is_drawn_without_loading_the_drawing_library_in_this_process():
    output = run(f"""
        import sys
        from shoal.reports.drawing_process import converted
        assert converted({TEXT!r}).startswith("<svg")
        print("vl_convert" in sys.modules)
    """)
    assert output == "False\n"


def test_one_process_draws_all_charts_and_equal_charts_equally():
    first = converted(TEXT)
    number = drawing_process._drawer.process.pid
    assert converted(TEXT) == first
    assert drawing_process._drawer.process.pid == number


def test_a_prepared_process_is_used():
    prepare()
    number = drawing_process._drawer.process.pid
    prepare()
    converted(TEXT)
    assert drawing_process._drawer.process.pid == number


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_killed_process_is_an_error_and_the_next_chart_is_drawn(number):
    converted(TEXT)
    os.kill(drawing_process._drawer.process.pid, number)
    with pytest.raises(DrawingError, match=number.name) as caught:
        converted(TEXT)
    assert caught.value.exit_code == 3
    assert "<svg" in converted(TEXT)


def test_an_invalid_chart_is_an_error_that_quotes_nothing():
    wrong = json.dumps(CHART | {"mark": {"type": "CANARY"}})
    for chart in (wrong, "{CANARY"):
        with pytest.raises(DrawingError, match=r"vl-convert failed \(\w+\)") as caught:
            converted(chart)
        assert "CANARY" not in str(caught.value)
    assert "<svg" in converted(TEXT)


def test_a_chart_that_takes_too_long_is_ended(instead):
    instead("import time\ntime.sleep(60)")
    start = time.monotonic()
    with pytest.raises(DrawingError, match=r"it took more than 0.5 seconds"):
        converted(TEXT, seconds=0.5)
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("raise RuntimeError('CANARY')", "exit 1"),
        ("import os; os._exit(7)", "exit 7"),
        ("import os; os.write(1, b'CANARY')", "exit 0"),
        ("import os; os.write(1, bytes(7) + bytes([9]) + b'+half')", "exit 0"),
    ],
)
def test_any_failure_of_the_process_is_reported_in_one_sentence(instead, capfd, program, message):
    instead(program)
    with pytest.raises(DrawingError, match=message) as caught:
        converted(TEXT)
    assert "CANARY" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("program", ["", "/no/such/python"])
def test_a_process_that_cannot_be_started_is_reported(monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    prepare()
    with pytest.raises(DrawingError, match="can(not)? be started"):
        converted(TEXT)


def test_an_interrupt_during_a_chart_leaves_nothing_in_the_pipe(monkeypatch):
    first = converted(TEXT)

    def stop(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(converter, "receive", stop)
        with pytest.raises(KeyboardInterrupt):
            converted(json.dumps(CHART | {"mark": "point"}))
    assert converted(TEXT) == first


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_draws_by_itself():
    output = run(f"""
        import os
        from shoal.reports import drawing_process
        first = drawing_process.converted({TEXT!r})
        child = os.fork()
        if child == 0:
            assert drawing_process._drawer is None
            same = drawing_process.converted({TEXT!r}) == first
            drawing_process._end()
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
        print(drawing_process.converted({TEXT!r}) == first)
    """)
    assert output == "True\n"


def runs(number):
    """Return whether a process is running, and not a zombie."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
def test_it_ends_with_the_process_that_it_draws_for():
    program = textwrap.dedent(f"""
        import os, signal
        from shoal.reports import drawing_process
        drawing_process.converted({TEXT!r})
        print(drawing_process._drawer.process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    number = int(done.stdout)
    until = time.monotonic() + 30
    while runs(number) and time.monotonic() < until:
        time.sleep(0.05)
    assert not runs(number)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
def test_a_crash_leaves_no_core_file():
    converted(TEXT)
    limits = Path(f"/proc/{drawing_process._drawer.process.pid}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max core file size")]
    assert line.split()[4:6] == ["0", "0"]
