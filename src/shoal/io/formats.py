"""The file formats of tables as cards: CSV, gzipped CSV, Parquet and Feather."""

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet

from shoal.catalogue import file_format
from shoal.io.data_file import BATCH, GROUP, packing, storable, write_csv
from shoal.io.files import typed_columns
from shoal.model.csv_style import STANDARD, CsvStyle


def _read_parquet(path: Path) -> pa.Table:
    """Return the table of a Parquet file."""
    return typed_columns(path, "parquet")


def _read_feather(path: Path) -> pa.Table:
    """Return the table of a Feather file."""
    return typed_columns(path, "feather")


@file_format("csv", endings=(".csv", ".tsv", ".tab", ".txt"), called="CSV", text=True)
def csv(table: pa.Table, file: BinaryIO, style: CsvStyle = STANDARD) -> None:
    """Write a CSV file: UTF-8, a header, by default commas."""
    write_csv(table, file, style)


@file_format("csv.gz", endings=(".gz",), magic=b"\x1f\x8b", called="gzip", text=True)
def csv_gz(table: pa.Table, file: BinaryIO, style: CsvStyle = STANDARD) -> None:
    """Write a gzipped CSV file, without a file name or a time in its header."""
    with packing(file) as packed:
        write_csv(table, packed, style)


@file_format("parquet", endings=(".parquet", ".pq"), magic=b"PAR1", called="Parquet", read=_read_parquet)
def parquet(table: pa.Table, file: BinaryIO) -> None:
    """Write a Parquet file, compressed by Zstandard."""
    plain = pa.table([storable(column) for column in table.columns], names=table.column_names)
    with pyarrow.parquet.ParquetWriter(file, plain.schema, compression="zstd") as writer:
        for start in range(0, plain.num_rows, GROUP):
            writer.write_table(plain.slice(start, GROUP).combine_chunks(), row_group_size=GROUP)


@file_format(
    "feather", endings=(".feather", ".arrow", ".ipc"), magic=b"ARROW1", called="Feather or Arrow", read=_read_feather
)
def feather(table: pa.Table, file: BinaryIO) -> None:
    """Write a Feather (Arrow IPC) file, compressed by Zstandard."""
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(file, table.schema, options=options) as writer:
        for start in range(0, table.num_rows, BATCH):
            writer.write_table(table.slice(start, BATCH).combine_chunks(), max_chunksize=BATCH)
