"""Forged folders are refused, each by name: only the content reveals them, as digests were corrected."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from forging import FEATHER, FORGED, PACKED, PARQUET, TABLE, N, data_of, seal, without_report

import shoal
from shoal.catalogue import formats
from shoal.certify import check
from shoal.io import parquet_pages
from shoal.io.data_file import write_table
from shoal.pipeline.line import verify


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """Return the folders of one release in every format, with reports."""
    place = tmp_path_factory.mktemp("honest")
    release = shoal.anonymize(TABLE, k=4, l=2, sensitive=["ill"], keep=["note"], method="mdav")
    return {name: release.save(place / name, format=name, report=True) for name in formats.names()}


@pytest.fixture
def copy(honest, tmp_path):
    """Return a function that copies the folder of a format."""
    return lambda name: shutil.copytree(honest[name], tmp_path / "copy")


@pytest.mark.slow
@pytest.mark.parametrize("format", formats.names())
def test_honest_folders_hold_with_and_without_their_reports(copy, format):
    folder = copy(format)
    assert verify(folder).holds
    without_report(folder)
    checked = verify(folder)
    assert checked.holds
    assert not checked.notes


@pytest.mark.slow
@pytest.mark.parametrize(("format", "name", "forge", "line"), FORGED, ids=[f"{one[0]}: {one[1]}" for one in FORGED])
def test_a_forged_folder_is_refused(copy, format, name, forge, line):
    folder = copy(format)
    forge(folder)
    checked = verify(folder)
    assert not checked.holds
    assert line in {one.what for one in checked.lines if not one.holds}


def attributed_to_another(folder):
    """Put another version of pyarrow into a Parquet file, and return it."""
    here = pa.__version__
    other = f"{'1' if here[0] != '1' else '2'}{here[1:]}"
    place = data_of(folder)
    place.write_bytes(place.read_bytes().replace(f"version {here}".encode(), f"version {other}".encode()))
    return other


SECRET = b"row 5 is CANARY."
LAID_OUT = [("parquet", name) for name in PARQUET if name != "no dictionaries"] + [
    ("feather", name) for name in FEATHER
]


@pytest.mark.parametrize(("format", "name"), LAID_OUT)
def test_a_forged_file_of_another_pyarrow_is_refused_by_its_parts(copy, format, name):
    folder = copy(format)
    forge, line = (PARQUET if format == "parquet" else FEATHER)[name]
    forge(folder)
    seal(folder, made_with={"pyarrow": attributed_to_another(folder), "pyarrow build": "other"})
    assert line in {one.what for one in verify(folder).lines if not one.holds}


def behind_the_footer(data):
    """Return a Feather file whose footer is longer than what it says."""
    length = int.from_bytes(data[-10:-6], "little")
    return data[:-10] + SECRET + (length + len(SECRET)).to_bytes(4, "little") + b"ARROW1"


def in_an_unknown_field(data):
    """Return a Parquet file whose footer has a field with the number 100."""
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -9] + bytes([0x08, 0xC8, 0x01, len(SECRET)]) + SECRET + b"\0"
    return data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize(("format", "hide"), [("feather", behind_the_footer), ("parquet", in_an_unknown_field)])
def test_a_footer_that_hides_a_message_is_refused_for_any_pyarrow_version(copy, format, hide):
    folder = copy(format)
    without_report(folder)
    data_of(folder).write_bytes(hide(data_of(folder).read_bytes()))
    seal(folder, made_with={"pyarrow": attributed_to_another(folder), "pyarrow build": "other"})
    assert "data bytes" in {one.what for one in verify(folder).lines if not one.holds}


def in_a_field_given_twice(footer):
    """Return a footer that names its library twice, the first time by a message."""
    assert footer[0] == 0x15
    return bytes([0x08, 12, len(SECRET)]) + SECRET + bytes([0x05, 2]) + footer[1:]


def in_truth_values(footer):
    """Return a footer with an unknown truth value for each bit of a message."""
    bits = [byte >> place & 1 for byte in SECRET[:6] for place in range(8)]
    fields = [
        bytes([1 if bit else 2, 0x80 | (2 * number & 0x7F), 2 * number >> 7]) for number, bit in enumerate(bits, 100)
    ]
    first, *rest = fields
    return footer[:-1] + first + b"".join(bytes([0x10 | one[0]]) for one in rest) + b"\0"


def in_long_numbers(footer):
    """Return a footer whose first number has a byte that it does not need."""
    return footer[:1] + bytes([footer[1] | 0x80, 0]) + footer[2:]


@pytest.mark.parametrize("hide", [in_a_field_given_twice, in_truth_values, in_long_numbers])
def test_a_footer_must_have_the_shortest_form_and_only_known_fields(copy, hide):
    folder = copy("parquet")
    without_report(folder)
    other, data = attributed_to_another(folder), data_of(folder).read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = hide(data[start:-8])
    data_of(folder).write_bytes(data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    seal(folder, made_with={"pyarrow": other, "pyarrow build": "other"})
    assert {one.what for one in verify(folder).lines if not one.holds} & {"data", "data bytes"}


def test_no_number_hides_in_the_bits_of_categories(tmp_path):
    odd = np.array([0x7FF8_00C0_FFEE_0000 + row for row in range(10)], np.uint64).view(np.float64)
    levels = pa.DictionaryArray.from_arrays(pa.array(range(10), pa.int32()), pa.array(odd), ordered=True)
    table = pa.table({"age": [50] * 10, "kept": levels})
    with pa.OSFile(str(tmp_path / "forged"), "wb") as file:
        write_table(table, file, "feather")
    held = pyarrow.feather.read_table(tmp_path / "forged").column("kept").chunk(0).dictionary
    assert len(held) == 1


def wrong_sizes(data):
    """Return a Parquet file that states a wrong unpacked size of its first column chunk."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[start:-8]
    stated = parquet_pages.Compact(footer).struct()[4][0][1][0][3][6]
    coded = varint(2 * stated)
    place = footer.index(b"\x16" + coded)  # a field of 64 bits, one after the last
    footer = footer[: place + 1] + varint(2 * (stated + 1)) + footer[place + 1 + len(coded) :]
    return data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def varint(number):
    """Return a number as Thrift writes it."""
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def padded_blocks(data):
    """Return a Feather file with a message in the padding of the last block of its footer."""
    length = int.from_bytes(data[-10:-6], "little")
    start = len(data) - 10 - length
    blocks = [at for at in range(start, len(data) - 34) if data[at + 12 : at + 16] == b"\0\0\0\0" and at % 8 == 0]
    for at in blocks:
        offset = int.from_bytes(data[at : at + 8], "little")
        if 8 <= offset < start and data[offset : offset + 4] == b"\xff\xff\xff\xff":
            return data[: at + 12] + b"HIV!" + data[at + 16 :]
    raise AssertionError


@pytest.mark.parametrize(("format", "hide"), [("parquet", wrong_sizes), ("feather", padded_blocks)])
def test_sizes_in_a_file_of_another_pyarrow_must_match_its_parts(copy, format, hide):
    folder = copy(format)
    without_report(folder)
    other = attributed_to_another(folder)
    data_of(folder).write_bytes(hide(data_of(folder).read_bytes()))
    seal(folder, made_with={"pyarrow": other, "pyarrow build": "other"})
    failing = {one.what: one.found for one in verify(folder).lines if not one.holds}
    assert "other sizes" in failing["data bytes"]


@pytest.mark.parametrize("format", ["parquet", "feather"])
@pytest.mark.parametrize("wrap", [lambda one: [one], lambda one: {"x": one}])
def test_no_number_hides_in_the_bits_of_nested_nans(tmp_path, format, wrap):
    odd = np.array([0x7FF8_00C0_FFEE_0000 + row for row in range(10)], np.uint64).view(np.float64)
    table = pa.table({"age": [20, 40] * 5, "kept": [wrap(one) for one in odd.tolist()]})
    folder = shoal.anonymize(table, k=5, keep=["kept"], seed=1).save(tmp_path / "out", format=format, report=False)
    read = pyarrow.parquet.read_table if format == "parquet" else pyarrow.feather.read_table
    held = read(data_of(folder)).column("kept").combine_chunks()
    inner = held.values if pa.types.is_list(held.type) else held.field(0)
    assert len(set(inner.to_numpy().view(np.uint64).tolist())) == 1


@pytest.mark.parametrize("format", ["parquet", "feather", "csv.gz"])
def test_an_honest_file_of_another_version_holds_with_a_note(copy, format):
    folder = copy(format)
    without_report(folder)
    if format == "parquet":
        table = pyarrow.parquet.read_table(data_of(folder))
        pyarrow.parquet.write_table(table, data_of(folder), compression="zstd", compression_level=9)
    elif format == "feather":
        table = pyarrow.feather.read_table(data_of(folder))
        pyarrow.feather.write_feather(table, data_of(folder), compression="zstd", compression_level=9)
    else:
        PACKED["packed otherwise"][0](folder)
    other = attributed_to_another(folder)
    seal(folder, made_with={"zlib": "1.0"} if format == "csv.gz" else {"pyarrow": other, "pyarrow build": "other"})
    checked = verify(folder)
    assert checked.holds
    assert "install these versions" in checked.notes[0]


def test_a_report_of_another_version_fails_with_a_remedy(copy):
    folder = copy("csv")
    page = (folder / "report.html").read_text()
    (folder / "report.html").write_text(page.replace("font", "Font", 1))
    made = json.loads((folder / "certificate.json").read_text())["predicate"]["made_with"]
    seal(folder, made_with={**made, "jinja2": "2.0.0"})
    checked = verify(folder)
    assert [line.what for line in checked.lines if not line.holds] == ["report"]
    assert "rendered with jinja2 2.0.0" in checked.notes[0]
    assert "--no-report" in checked.notes[0]
    left = verify(folder, report=False)
    assert left.holds
    assert "not rendered again" in left.notes[0]


def test_without_its_report_all_else_of_a_folder_is_checked(copy):
    folder = copy("csv")
    before = verify(folder, report=False)
    (folder / "report.html").unlink()
    checked = verify(folder)
    assert [line.what for line in checked.lines] == [line.what for line in before.lines]
    assert [line.what for line in checked.lines if not line.holds] == ["file report.html"]
    assert "report.html, which the certificate lists, is missing" in checked.notes[0]
    assert checked.columns == before.columns


def test_a_report_that_cannot_be_drawn_fails_without_details(copy):
    def broken(*_):
        raise RuntimeError("SECRET")

    checked = check.check_folder(copy("csv"), broken)
    assert [line.found for line in checked.lines if not line.holds] == ["cannot be rendered"]
    assert "SECRET" not in str(checked)


def test_without_enough_memory_the_report_could_not_be_compared(copy):
    def broken(*_):
        raise MemoryError("SECRET")

    checked = check.check_folder(copy("csv"), broken)
    assert [line.found for line in checked.lines if not line.holds] == ["could not be compared"]
    assert "there is not enough memory" in checked.notes[0]
    assert "SECRET" not in str(checked)


def test_a_raw_column_called_kept_is_listed_as_such(copy):
    checked = verify(copy("csv"))
    assert {one.column: one.role for one in checked.columns} == {
        "age": "quasi",
        "town": "quasi",
        "ill": "sensitive",
        "note": "keep",
    }
    assert "column 'note': keep, unchanged" in str(checked)
    assert checked.as_dict()["columns"][3] == {"column": "note", "role": "keep", "kind": "nominal", "form": "unchanged"}


def test_apostrophes_do_not_make_different_rows_equal(tmp_path):
    """Ten ordinal columns with one level, written with and without a guard: 60 different rows."""
    names = [f"q{place}" for place in range(10)]
    table = pa.table({name: pa.array(["-1"] * N).dictionary_encode() for name in names})
    policy = {"columns": {name: {"kind": "ordinal", "order": ["-1"]} for name in names}}
    release = shoal.anonymize(table, k=N, policy=policy, method="mondrian")
    folder = release.save(tmp_path / "out", format="csv", report=False)
    assert verify(folder).holds
    rows = [[f"{chr(39) * (row >> place & 1)}-1" for place in range(10)] for row in range(N)]
    text = "\n".join(",".join(row) for row in [names, *sorted(rows)]) + "\n"
    (folder / "data.csv").write_text(text)
    seal(folder)
    lines = {line.what: line for line in verify(folder).lines}
    assert not lines["k-anonymity"].holds
    assert lines["k-anonymity"].found.startswith("1 ")


def test_a_release_of_a_newer_shoal_is_not_judged_by_this_one(copy):
    folder = copy("csv")
    seal(folder, shoal="999.0.0")
    checked = verify(folder)
    assert not checked.holds
    assert checked.notes == ("Install shoal 999.0.0 or later to verify this release.",)


@pytest.mark.parametrize("word", ["SECRET", "1.0 SECRET", "1.0+SECRET", "", None, 1])
def test_versions_must_look_like_versions(copy, word):
    for format in ("csv.gz", "feather"):
        folder = copy(format)
        made = json.loads((folder / "certificate.json").read_text())["predicate"]["made_with"]
        for name in made:
            seal(folder, made_with={**made, name: word})
            assert [line.what for line in verify(folder).lines if not line.holds] == ["certificate"]
        shutil.rmtree(folder)


def test_a_parquet_file_cannot_be_attributed_to_another_pyarrow(copy):
    folder = copy("parquet")
    without_report(folder)
    seal(folder, made_with={"pyarrow": "17.0.0", "pyarrow build": "wheel"})
    assert [line.what for line in verify(folder).lines if not line.holds] == ["data bytes"]


def test_another_version_is_reported_even_if_the_bytes_are_equal(copy):
    folder = copy("feather")
    without_report(folder)
    seal(folder, made_with={"pyarrow": "17.0.0", "pyarrow build": "wheel"})
    checked = verify(folder)
    assert checked.holds
    assert "written with pyarrow 17.0.0" in checked.notes[0]
