"""The profile counts correctly, gives reasons, and reveals no cell."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.model.table import Table
from shoal.prepare.profile import Profile, profile

cells = st.one_of(st.none(), st.integers(0, 2))
tables = st.integers(0, 25).flatmap(
    lambda rows: st.lists(st.lists(cells, min_size=rows, max_size=rows), min_size=1, max_size=4)
)


def held(**columns: object) -> Table:
    return Table.of(pa.table(columns))


def naive_counts(columns: list[list[object]]) -> tuple[int, int]:
    """Count classes in plain Python: the smallest, and those of one row."""
    sizes = Counter(zip(*columns, strict=True)).values()
    return min(sizes, default=0), sum(size == 1 for size in sizes)


def everything(found: Profile) -> str:
    return "\n".join([str(found), repr(found), found._repr_html_(), json.dumps(found.as_dict()), repr(found.columns)])


@pytest.mark.slow
@given(tables)
@settings(max_examples=300, deadline=None)
def test_k_and_unique_rows_are_those_of_a_plain_count(columns):
    # Text of few rows and few values is never taken for an identifier, so that all columns count.
    texts = [[None if cell is None else f"x{cell} y" for cell in column] for column in columns]
    found = profile(held(**{f"c{place}": pa.array(texts[place], pa.string()) for place in range(len(texts))}))
    assert found.compared_columns == tuple(f"c{place}" for place in range(len(texts)))
    assert (found.k, found.unique_rows) == naive_counts(columns)
    for place, facts in enumerate(found.columns):
        others = [column for other, column in enumerate(columns) if other != place] or [[0] * len(columns[0])]
        assert facts.unique_alone == naive_counts([columns[place]])[1]
        assert facts.unique_without == naive_counts(others)[1]
        assert facts.missing == columns[place].count(None)
        assert facts.distinct == len({cell for cell in columns[place] if cell is not None})


@pytest.mark.slow
@given(tables)
@settings(max_examples=300, deadline=None)
def test_dependencies_between_columns_are_those_that_a_dictionary_finds(columns):
    found = profile(held(**{f"c{place}": pa.array(column, pa.int64()) for place, column in enumerate(columns)}))
    expected = []
    for a, first in enumerate(columns):
        present = [cell for cell in first if cell is not None]
        if present and len(set(present)) / len(present) > 0.5:
            continue
        for b, second in enumerate(columns):
            beside = {}
            agrees = all(beside.setdefault(x, y) == y for x, y in zip(first, second, strict=True))
            if a != b and agrees and len(set(second)) > 1:
                expected.append((f"c{a}", f"c{b}"))
    assert found.determines == tuple(expected)


def test_plain_figures_of_a_small_table():
    found = profile(held(sex=["F", "F", "M", None], smoker=[True, True, False, False]))
    assert (found.rows, found.k, found.unique_rows) == (4, 1, 2)
    sex, smoker = found.columns
    assert (sex.kind, sex.type, sex.distinct, sex.missing, sex.unique_alone, sex.unique_without) == (
        "nominal",
        "string",
        2,
        1,
        2,
        0,
    )
    assert (smoker.kind, smoker.unique_alone, smoker.unique_without) == ("boolean", 0, 2)
    assert sex.uniqueness == pytest.approx(2 / 3)
    assert found.determines == ()


def test_identifiers_are_not_counted():
    found = profile(held(id=[1, 2, 3, 4], sex=["F", "F", "M", "M"]))
    assert found.compared_columns == ("sex",)
    assert (found.k, found.unique_rows, found.column("id").unique_without) == (2, 0, 0)


def test_kinds_are_read_from_the_types():
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["low", "high"]), ordered=True)
    loose = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([10, 20]))
    found = profile(
        held(
            whole=[1, 1],
            real=[0.5, 0.5],
            text=["a", "a"],
            day=pa.array([1, 1], pa.date32()),
            moment=pa.array([1, 1], pa.timestamp("us")),
            truth=[True, True],
            ordered=ordered,
            loose=loose,
            list=[["a"], ["a"]],
            record=[{"x": 1}, {"x": 1}],
        )
    )
    kinds = "numeric numeric nominal date date boolean ordinal nominal set nominal"
    assert [facts.kind for facts in found.columns] == kinds.split()


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [1], None]),
        pa.array([{"x": 1}, {"x": 1}, None]),
        pa.array([[("a", 1)], [("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        pa.array([b"\xff", b"\xff", None]),
        pa.array([(1, 2, 3), (1, 2, 3), None], pa.month_day_nano_interval()),
        pa.array([1, 1, None], pa.time64("ns")),
        pa.array([[[0.5]], [[0.5]], None]),
        pa.array([1, 1, None], pa.decimal128(5, 0)),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_of_any_type_are_counted(column):
    facts = profile(held(odd=column)).columns[0]
    assert (facts.distinct, facts.missing, facts.unique_alone) == (1, 1, 1)


def test_the_type_of_a_column_does_not_name_the_keys_of_its_cells():
    found = profile(held(odd=pa.array([{"SECRET": 1}]), more=pa.array([[{"SECRET": 1}]])))
    assert [facts.type for facts in found.columns] == ["structs", "lists"]
    assert "SECRET" not in everything(found)


def test_cells_that_python_cannot_hold_count_as_different():
    beyond = pa.array([[2**31 - 1], [2**31 - 1], None], pa.list_(pa.date32()))
    facts = profile(held(odd=beyond)).columns[0]
    assert (facts.distinct, facts.missing) == (2, 1)


def test_chunks_do_not_matter():
    column = pa.chunked_array([["x", "y"], ["y", None], []], pa.string())
    facts = profile(held(column=column)).columns[0]
    assert (facts.distinct, facts.missing, facts.unique_alone) == (2, 1, 2)


@pytest.mark.parametrize(
    "table", [pa.table({}), pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})]
)
def test_an_empty_table_has_a_profile(table):
    found = profile(Table.of(table))
    assert (found.rows, found.k, found.unique_rows, found.determines) == (0, 0, 0, ())
    assert str(found).startswith("0 rows")


def test_notes_name_dependencies():
    found = profile(held(city=["x", "x", "y", "z"] * 9, land=["p", "p", "p", "q"] * 9))
    assert found.determines == (("city", "land"),)
    assert found.column("city").notes == ("determines column 'land'",)
    assert found.column("land").notes == ("is determined by column 'city'",)


def test_a_dependency_violated_in_one_row_of_many_is_noticed():
    rows = 50_000
    city = np.arange(rows) % 10
    land = city // 2
    assert profile(held(city=city, land=land)).determines == (("city", "land"),)
    land[-1] = 0
    assert profile(held(city=city, land=land)).determines == ()


def test_a_column_that_makes_every_row_unique_is_noted():
    found = profile(held(dose=np.linspace(0.1, 0.9, 50), sex=["F", "M"] * 25))
    assert found.column("dose").role == "quasi"
    assert found.column("dose").notes == ("every row is unique by this column alone",)
    assert (found.unique_rows, found.column("dose").unique_without, found.column("sex").unique_without) == (50, 0, 50)


def test_the_profile_is_the_same_each_time():
    table = held(a=list(range(100)), b=["x", "y"] * 50)
    assert profile(table) == profile(table)


def test_no_cell_value_is_in_the_profile():
    rows = 40
    number = 918273645
    found = profile(
        held(
            name=[f"MARKER Person{place}" for place in range(rows)],
            email=[f"marker{place}@MARKER.example" for place in range(rows)],
            city=["MARKER-A", "MARKER-B"] * (rows // 2),
            code=[f"MARKER{place:04d}" for place in range(rows)],
            word=["MARKER", "unknown"] * (rows // 2),
            amount=[number, *range(rows - 1)],
            measure=[float(number) + 0.125, *np.linspace(1.0625, 2.0625, rows - 1)],
            coded=[-9999] * 3 + [7771, 7772, 7773, 7774, 7775] * 7 + [7776, 7777],
            infinite=[float("inf"), 918273645.5, *([7773.25] * (rows - 2))],
            constant=["MARKER"] * rows,
            list=[["MARKER"]] * rows,
            record=[{"x": "MARKER"}] * rows,
            binary=[b"MARKER"] * rows,
            ordered=pa.DictionaryArray.from_arrays(
                pa.array([0, 1] * 20), pa.array(["MARKER-1", "MARKER-2"]), ordered=True
            ),
        )
    )
    message = everything(found)
    for secret in ("MARKER", "marker", "918273645", "9999", "777", "1.0625", "2.0625", ".125"):
        assert secret not in message


def test_column_names_are_shown_as_text_only():
    page = profile(held(**{"<img src=x onerror=alert(1)>": [1, 1]}))._repr_html_()
    assert "<img" not in page
    assert "&lt;img" in page


def test_as_dict_is_plain_json():
    plain = profile(held(city=["x", "y"] * 4, land=["p", "p"] * 4)).as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["columns"][0]["name"] == "city"


def test_education_decides_its_number_in_adult(data_file):
    path = data_file("adult.csv.gz")
    options = pyarrow.csv.ConvertOptions(null_values=["?"], strings_can_be_null=True)
    found = profile(Table.of(pyarrow.csv.read_csv(path, convert_options=options)))
    assert found.rows == 48842
    assert set(found.determines) == {("education", "education-num"), ("education-num", "education")}
    assert sum(facts.missing for facts in found.columns) == 6465
    roles = {facts.name: facts.role for facts in found.columns}
    assert roles.pop("income") == "sensitive"
    assert set(roles.values()) == {"quasi"}
