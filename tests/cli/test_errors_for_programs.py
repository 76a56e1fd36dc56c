"""How commands end for programs: errors as JSON, closed and full outputs, and too little memory."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from command_line import shoal_command
from shoal.errors import DataError, InfeasibleError, is_out_of_memory
from shoal.io.data_file import write_data
from shoal.pipeline.arrow_errors import without_arrow_errors

SHOAL = [sys.executable, "-c", "from shoal.cli.app import main; main()"]


@pytest.mark.parametrize(
    ("words", "kind", "code", "message"),
    [
        (["--json"], "UsageError", 2, "No such option: --json"),
        (["swim", "--json"], "UsageError", 2, "No such command 'swim'"),
        (["sets", "--json"], "UsageError", 2, "No such option: --json"),
        (["sets", "swim", "--json"], "UsageError", 2, "No such command 'swim'"),
        (["anonymize", "--json"], "UsageError", 2, "Missing argument"),
        (["anonymize", "x.csv", "--json"], "UsageError", 2, "Missing option"),
        (["init", "x.csv", "--json", "-o"], "UsageError", 2, "requires an argument"),
        (["anonymize", "x.csv", "-o", "o", "-k", "x", "--json"], "UsageError", 2, "must be a whole number; got 'x'."),
        (["anonymize", "x.csv", "-o", "o", "--threads", "0", "--json"], "UsageError", 2, "at least 1; got '0'."),
        (["anonymize", "x.csv", "-o", "o", "-l", "x", "--json"], "UsageError", 2, "'-l': must be a number; got 'x'."),
        (["anonymize", "x.csv", "-o", "o", "--log-format", "xml", "--json"], "UsageError", 2, "): 'xml' is not one of"),
        (["anonymize", "x.csv", "-o", "o", "--swim", "--json"], "UsageError", 2, "No such option: --swim"),
        (["anonymize", "x.csv", "-o", "o", "--parameter", "p", "--json"], "UsageError", 2, "NAME=VALUE"),
        (["methods", "a", "b", "--json"], "UsageError", 2, "unexpected extra argument"),
        (["methods", "--json=yes"], "UsageError", 2, "does not take a value"),
        (["explore", "x.csv", "--json"], "UsageError", 2, "Missing option '-o' / '--output', the folder"),
        (["anonymize", "x.csv", "-o", "o", "-k", "1", "--json"], "PolicyError", 2, "at least 2"),
        (["methods", "mdaw", "--json"], "MethodError", 2, "Did you mean 'mdav'?"),
        (["profile", "none.csv", "--json"], "ReadError", 2, "does not exist"),
        (["anonymize", "x.csv", "-o", "o", "-k", "9", "--json"], "InfeasibleError", 3, "Lower k"),
    ],
)
def test_every_error_is_one_json_object_on_stdout(words, kind, code, message, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n2,3\n3,4\n")
    done = shoal_command(*words, cwd=tmp_path)
    error = json.loads(done.out)["error"]
    assert (error["kind"], error["exit"], done.code) == (kind, code, code)
    assert message in error["message"]
    assert f"shoal: {error['message']}" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_without_json_usage_errors_are_text_with_a_hint():
    done = shoal_command("anonymize")
    assert (done.code, done.out) == (2, "")
    assert "Usage:" in done.err
    assert "Missing argument" in done.err
    assert shoal_command().code == shoal_command("sets").code == 2
    assert "Commands" in shoal_command("sets").out


@pytest.mark.parametrize("raised", [MemoryError(), pa.ArrowMemoryError("malloc of size 8 failed"), OSError(12, "no")])
def test_too_little_memory_is_infeasible(raised, monkeypatch, tmp_path):
    def broken(*_, **__):
        raise raised

    (tmp_path / "x.csv").write_text("a,b\n1,2\n2,3\n")
    monkeypatch.setattr("shoal.pipeline.ready.encode", broken)
    done = shoal_command("anonymize", "x.csv", "-k", 2, "-o", "out", "--json", cwd=tmp_path)
    assert done.code == 3
    assert json.loads(done.out)["error"]["message"].startswith("not enough memory for this table.")


def test_an_error_without_a_reason_names_its_place(monkeypatch, tmp_path):
    def broken(*_, **__):
        raise OSError("SECRET")

    (tmp_path / "x.csv").write_text("a,b\n1,2\n2,3\n")
    monkeypatch.setattr("shoal.pipeline.ready.encode", broken)
    done = shoal_command("anonymize", "x.csv", "-k", 2, "-o", "out", "--json", cwd=tmp_path)
    assert done.code == 2
    assert json.loads(done.out)["error"]["kind"] == "OSError"
    assert "cannot be read (OSError, test_errors_for_programs.py line" in done.err
    assert "SECRET" not in done.err


@pytest.mark.parametrize(
    ("problem", "memory"),
    [
        (MemoryError(), True),
        (OSError(12, "Cannot allocate memory"), True),
        (OSError("malloc of size 64 failed"), True),
        (ImportError("x.so: failed to map segment from shared object"), True),
        (RuntimeError("can't start new thread"), True),
        (pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"), True),
        (pa.ArrowInvalid("CSV conversion error to int64: invalid value 'malloc'"), False),
        (ValueError("out of memory"), False),
        (OSError(28, "No space left on device"), False),
        (OSError(13, "Permission denied", "/malloc of size 8/x.csv"), False),
        (ImportError("libjemalloc.so.2: cannot open shared object file"), False),
    ],
)
def test_what_counts_as_too_little_memory(problem, memory):
    assert is_out_of_memory(problem) is memory
    try:
        raise RuntimeError("later") from problem
    except RuntimeError as later:
        assert is_out_of_memory(later) is memory


def test_arrow_errors_are_told_from_a_lack_of_memory():
    def raising(problem):
        raise problem

    guarded = without_arrow_errors(raising)
    with pytest.raises(MemoryError):
        guarded(pa.ArrowMemoryError("malloc of size 8 failed"))
    with pytest.raises(DataError, match="ArrowInvalid"):
        guarded(pa.ArrowInvalid("the cell was SECRET"))
    with pytest.raises(InfeasibleError):
        guarded(InfeasibleError("as it is"))


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("command", ["profile", "anonymize"])
def test_a_memory_limit_ends_in_one_sentence(command, ending, tmp_path):
    rows = 400_000
    numbers = pa.table({name: pa.array(range(rows)) for name in "abcdefgh"})
    write_data(numbers, tmp_path, ending)
    script = textwrap.dedent(
        """
        import resource, sys
        from shoal.cli.app import main
        import shoal.pipeline.line, shoal.pipeline.write, shoal.cluster.methods.auto
        with open("/proc/self/statm") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + (24 << 20), held + (24 << 20)))
        main()
        """
    )
    words = [command, f"data.{ending}", "--json", "--log-format", "none"]
    words += ["-o", "out", "--no-report"] if command == "anonymize" else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr == "shoal: not enough memory for this table. A release folder is either complete or absent.\n"
    assert json.loads(done.stdout)["error"]["kind"] == "MemoryError"
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("words", [["methods"], ["methods", "--json"], ["--help"], ["methods", "mdaw", "--json"]])
def test_a_reader_that_leaves_early_ends_a_command_quietly(words, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*SHOAL, *words], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr.count("\n") == ("mdaw" in words)


@pytest.mark.slow
@pytest.mark.process
def test_messages_that_nobody_reads_do_not_change_the_result(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 9)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*SHOAL, "verify", "x.csv", "--json"], cwd=tmp_path, stdout=-1, stderr=writing, check=False)
    os.close(writing)
    assert done.returncode == 0
    assert json.loads(done.stdout)["holds"]


@pytest.mark.slow
@pytest.mark.process
def test_a_full_disk_is_named_once():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*SHOAL, "methods", "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.process
def test_a_run_that_is_stopped_says_so_in_json(tmp_path):
    write_data(shoal.sample(60, seed=1), tmp_path, "csv")
    script = textwrap.dedent(
        """
        import time
        from pathlib import Path
        from shoal.pipeline import line
        def slow(*_):
            Path("ready").touch()
            time.sleep(60)
        line.make_groups = slow
        from shoal.cli.app import main
        main()
        """
    )
    words = [sys.executable, "-c", script, "anonymize", "data.csv", "-o", "out", "--json", "--log-format", "none"]
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "ready").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    output, messages = running.communicate(timeout=30)
    assert running.returncode == 143
    assert json.loads(output)["error"]["exit"] == 143
    assert messages.startswith("shoal: stopped.")


@pytest.mark.slow
@pytest.mark.process
def test_an_error_of_the_system_is_json_on_stdout_of_a_process(tmp_path):
    script = (
        "import shoal.pipeline.ready as ready\n"
        "def broken(*_, **__):\n    raise OSError(5, 'Input/output error')\n"
        "ready.encode = broken\nfrom shoal.cli.app import main; main()"
    )
    (tmp_path / "x.csv").write_text("a,b\n1,2\n2,3\n")
    words = [sys.executable, "-c", script, "anonymize", "x.csv", "-k", "2", "-o", "out", "--json"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Input/output error" in json.loads(done.stdout)["error"]["message"]
