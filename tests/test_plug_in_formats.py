"""File formats of plug-ins: delimited text is read by the rules for CSV files, and what goes wrong names the format."""

import pyarrow as pa
import pyarrow.csv
import pytest

import shoal
from command_line import shoal_command
from shoal.catalogue import file_format, formats
from shoal.errors import CardError, GuaranteeError
from shoal.io.files import read


@file_format("tsv", endings=(".tsv",), called="tab-separated text", text=True)
def joined(table, file):
    """Join the cells by tabs."""
    rows = [table.column_names, *(row.values() for row in table.to_pylist())]
    file.write("".join("\t".join(cell or "" for cell in row) + "\n" for row in rows).encode())


@file_format("quoted", endings=(".qsv",), called="quoted text", text=True)
def quoted(table, file):
    """Write semicolons, and quote every cell."""
    pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(delimiter=";"))


@file_format("rounded", endings=(".rounded",), called="rounded text", text=True)
def rounded(table, file):
    """Leave out the last row."""
    joined(table.slice(0, table.num_rows - 1), file)


def nothing(_path):
    return None


@file_format("unread", endings=(".unread",), called="Unread", read=nothing)
def unread(table, file):
    """Write a file that cannot be read."""
    file.write(b"unread")


@pytest.fixture
def table():
    """Formulas, missing cells, numbers that are labels, empty text, and lists."""
    return pa.table(
        {
            "age": [None, *range(30, 41)],
            "weight": [60.0 + row / 4 for row in range(12)],
            "zip": ["00123", "=1+1", "'x", "9"] * 3,
            "bought": [["tea"], ["milk", "tea"]] * 6,
            "ill": ["-a", "b"] * 6,
        }
    )


@pytest.mark.parametrize("format", [joined, quoted])
@pytest.mark.parametrize("output", ["same-schema", "truthful"])
def test_a_text_format_without_a_reader_is_written_and_verified_like_csv(install, table, tmp_path, format, output):
    install("formats", {format.card.name: format})
    table = table if output == "same-schema" else table.drop_columns(["bought"])
    release = shoal.anonymize(table, k=3, sensitive=["ill"], seed=1, output=output, items=[])
    folder = release.save(tmp_path / "release", private=tmp_path / "private", format=format.card.name)
    assert shoal.verify(folder).holds
    csv = release.save(tmp_path / "csv", format="csv")
    ours, theirs = (read(next(one.glob("data.*")), as_text=True).data for one in (csv, folder))
    assert ours == theirs
    assert shoal.measure(table, folder, private=tmp_path / "private", only=["k-anonymity"])[0].value >= 3
    data = folder / f"data.{format.card.name}"
    data.write_bytes(data.read_bytes().replace(b"b", b"a", 1))
    assert not shoal.verify(folder).holds


def test_a_text_file_of_a_plug_in_is_checked_as_it_is_written(install, tmp_path):
    install("formats", quoted=quoted)
    path = tmp_path / "people.qsv"
    path.write_text('"age";"ill"\n' + '"30";"a"\n' * 3 + '"30.0";"b"\n' * 3)
    assert read(path).data["age"].to_pylist() == [30.0] * 6
    assert shoal.verify(path, k=3, sensitive=["ill"]).holds
    assert not shoal.verify(path, k=4, sensitive=["ill"]).holds


@pytest.mark.parametrize("format", [rounded, unread])
def test_a_format_of_a_plug_in_that_cannot_be_verified_is_named(install, table, tmp_path, format):
    name = format.card.name
    install("formats", {name: format})
    release = shoal.anonymize(table.drop_columns(["bought"]), k=3, sensitive=["ill"])
    with pytest.raises(GuaranteeError, match=f"The format '{name}' is that of a plug-in.*Report this to its authors"):
        release.save(tmp_path / "release", format=name)
    assert not (tmp_path / "release").exists()


def test_a_format_has_exactly_one_way_to_be_read():
    with pytest.raises(CardError, match="the format 'x' has no way to be read: give it `read`, or text=True"):
        file_format("x", endings=(".x",), called="X")
    with pytest.raises(CardError, match="the format 'x' has two ways to be read"):
        file_format("x", endings=(".x",), called="X", text=True, read=nothing)


def test_the_list_of_formats_says_which_endings_are_those_of_a_built_in_format(install):
    install("formats", tsv=joined, quoted=quoted)
    done = shoal_command("formats")
    assert done.code == 0
    assert "files that end in '.tsv' are read as 'csv', which is built in, and not as 'tsv'" in done.err
    assert ".qsv" not in done.err


def test_a_released_file_is_read_in_its_own_format_whatever_endings_that_has(install, table, tmp_path):
    parquet = formats.load("parquet")

    @file_format("my.parquet", endings=(".mine",), called="Mine", read=parquet.read)
    def mine(table, file):
        """Write a Parquet file."""
        parquet.function(table, file)

    install("formats", {"my.parquet": mine})
    release = shoal.anonymize(table.drop_columns(["bought"]), k=3, sensitive=["ill"])
    folder = release.save(tmp_path / "release", format="my.parquet", private=tmp_path / "private")
    assert read(folder / "data.my.parquet").origin.format == "my.parquet"
    assert shoal.report(None, folder, format="md")
