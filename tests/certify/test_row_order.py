"""The order of rows beside columns of sets: it follows from what is published, whatever the items are."""

import pyarrow as pa
import pytest
from forging import seal

import shoal
from shoal.certify.row_order import ascends

BASKETS = {
    "text": (["a;b", "b", "a;c", "b;c"], {"separator": ";"}),
    "lists of words": ([["a", "b"], ["b"], ["a", "c"], ["b", "c"]], {}),
    "lists of numbers": ([[2, 10], [10], [2, 9], [9, 10]], {}),
}


@pytest.mark.parametrize("kind", BASKETS)
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_rows_in_another_order_are_refused(kind, format, tmp_path):
    cells, given = BASKETS[kind]
    table = pa.table({"basket": cells * 15, "age": [20 + row % 30 for row in range(60)]})
    policy = {"columns": {"basket": {"role": "items", **given}}}
    folder = tmp_path / "release"
    shoal.anonymize(table, k=3, policy=policy, seed=1).save(folder, format=format, report=False)
    assert shoal.verify(folder).holds
    if format == "csv":
        head, *body = (folder / "data.csv").read_bytes().splitlines(keepends=True)
        assert len(set(body)) > 1
        (folder / "data.csv").write_bytes(head + b"".join(body[::-1]))
        seal(folder)
        assert "order of rows" in [line.what for line in shoal.verify(folder).lines if not line.holds]


def test_items_that_are_numbers_ascend_as_numbers_or_as_text():
    cells = pa.table({"s": ["1;10", "1;2", "2"], "a": ["3", "2", "1"]})
    assert ascends(cells, {"s": ";"})
    assert not ascends(cells.take([1, 2, 0]), {"s": ";"})
    assert ascends(pa.table({"s": ["10", "2", "9"]}), {"s": ";"})
    assert ascends(pa.table({"s": ["2;9", "10"]}), {"s": ";"}) is False
