"""Small files that unpack to a great deal are refused with little time and memory: verify runs under hard limits."""

import gzip
import json
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from forging import seal

import shoal

pytestmark = [pytest.mark.process, pytest.mark.slow]

MANY = 200_000_000
PART = 10_000_000
SMALL = pa.table({"age": [1] * 8, "town": ["a"] * 8})
# One GB and ten seconds of work beyond what Python and its libraries take by themselves.
LIMITED = textwrap.dedent(
    """
    import os, resource, sys
    import shoal, pyarrow.parquet
    from shoal.pipeline.line import verify

    def answer(good, folder):
        shoal.verify(good)
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 30),) * 2)
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 10,) * 2)
        try:
            checked = verify(folder, report=False)
            return str((checked.holds, [line.what for line in checked.lines if not line.holds]))
        except shoal.errors.ShoalError as problem:
            return f"refused: {problem}".replace("\\n", " ")

    # Each question is answered by a fork, which starts with all imports done and no limit yet.
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            print(answer(*line.rstrip("\\n").split("\\t")), flush=True)
            os._exit(0)
        state = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if state:
            print("ended with", state, flush=True)
    """
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    place = tmp_path_factory.mktemp("honest")
    release = shoal.anonymize(SMALL, k=4, method="mdav")
    return {
        name: release.save(place / name, format=name, report=False) for name in ("csv", "csv.gz", "parquet", "feather")
    }


@pytest.fixture(scope="module")
def answer():
    """A function that returns the output of `verify` for a folder under hard limits, after an honest one."""
    words = [sys.executable, "-c", LIMITED]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:

        def ask(good, folder):
            running.stdin.write(f"{good}\t{folder}\n")
            running.stdin.flush()
            return running.stdout.readline()

        yield ask
        running.stdin.close()


def parts(table, rows=MANY):
    """Return as many copies of a table as make up this many rows."""
    return [table] * (rows // table.num_rows)


def parquet(place, table, rows=MANY, **options):
    with pyarrow.parquet.ParquetWriter(place, table.schema, compression="zstd", **options) as out:
        for part in parts(table, rows):
            out.write_table(part, row_group_size=table.num_rows)


def feather(place, table, rows=MANY):
    with pa.ipc.new_file(place, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as out:
        for part in parts(table, rows):
            out.write_table(part)


def zeros(rows):
    return pa.table({"age": np.zeros(rows, np.int64), "town": pa.array(np.zeros(rows, np.int8))})


def words(rows):
    """One word of a megabyte, in every row."""
    town = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array(["a" * 1_000_000]))
    return pa.table({"age": np.zeros(rows, np.int64), "town": town})


def lists(items):
    held = pa.ListArray.from_arrays(pa.array([0, items], pa.int32()), pa.array(np.zeros(items, np.int8)))
    return pa.table({"age": [1], "town": held})


def gaps(rows):
    return pa.table({"age": pa.nulls(rows), "town": pa.nulls(rows)})


def one_page(place):
    """A few rows, whose page unpacks to 400 MB."""
    held = pa.FixedSizeBinaryArray.from_buffers(pa.binary(1000), 400_000, [None, pa.py_buffer(bytes(400_000_000))])
    table = pa.table({"age": np.zeros(400_000, np.int64), "town": held})
    options = {"use_dictionary": False, "data_page_size": 1 << 30, "write_batch_size": 400_000}
    pyarrow.parquet.write_table(table, place, compression="zstd", write_statistics=False, **options)


def packed_text(place):
    with place.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as out:
        out.write(b"age,town\n")
        for _ in range(60):
            out.write(b"1,a\n" * 2_000_000)


BOMBS = {
    "parquet: 200 million rows": ("parquet", lambda place: parquet(place, zeros(PART))),
    "parquet: 200 million gaps": ("parquet", lambda place: parquet(place, gaps(PART))),
    "parquet: one long word": ("parquet", lambda place: parquet(place, words(1_000_000), 1_000_000)),
    "parquet: one long list": ("parquet", lambda place: parquet(place, lists(100_000_000), 1)),
    "parquet: large pages": ("parquet", one_page),
    "feather: 200 million rows": ("feather", lambda place: feather(place, zeros(PART))),
    "feather: 200 million gaps": ("feather", lambda place: feather(place, gaps(MANY))),
    "feather: one long word": ("feather", lambda place: feather(place, words(1_000_000), 1_000_000)),
    "feather: one long list": ("feather", lambda place: feather(place, lists(100_000_000), 1)),
    "csv.gz: 480 MB of text": ("csv.gz", packed_text),
    "csv: ten million columns": ("csv", lambda place: place.write_bytes(b"a" + b"," * 10_000_000 + b"\n")),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_with_little_time_and_memory(honest, answer, tmp_path, name):
    format, build = BOMBS[name]
    folder = shutil.copytree(honest[format], tmp_path / "bomb")
    build(folder / f"data.{format}")
    seal(folder, rows=MANY)
    output = answer(honest[format], folder)
    assert output.startswith("(False")
    assert "'data'" in output or "'columns'" in output


@pytest.mark.parametrize("kind", ["deep", "wide", "long key", "long number", "many columns"])
def test_policies_that_are_hard_to_read_are_refused(honest, answer, tmp_path, kind):
    folder = shutil.copytree(honest["csv"], tmp_path / "bomb")
    odd = {
        "deep": "a = " + "[" * 500_000 + "]" * 500_000,
        "wide": "a = [" + "1," * 500_000 + "]",
        "long key": "a." * 400_000 + "b = 1",
        "long number": "seed = 0x" + "f" * 1_000_000,
        "many columns": "".join(f"[columns.c{place}]\n" for place in range(50_000)),
    }
    (folder / "policy.toml").write_text(odd[kind])
    seal(folder)
    assert "'policy" in answer(honest["csv"], folder)


def test_certificates_that_are_hard_to_read_are_refused(honest, answer, tmp_path):
    folder = shutil.copytree(honest["csv"], tmp_path / "bomb")
    place = folder / "certificate.json"
    good = json.loads(place.read_text())
    for text in ("[" * 4_000_000, json.dumps({**good, "x": "y" * (1 << 22)}), '{"rows": ' + "9" * 1_000_000 + "}"):
        place.write_text(text)
        assert "'certificate'" in answer(honest["csv"], folder)
