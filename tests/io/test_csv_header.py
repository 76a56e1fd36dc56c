"""A first line is a header, a row, or doubtful; if doubtful, the file is refused without showing the line."""

import numpy as np
import pytest

import shoal
from reading import refusal
from shoal.errors import ReadError
from shoal.io.data_file import write_data
from shoal.io.files import read

VALUES = r"line 1: it is not clear whether this is a header: \d of its \d cells looks? like"
TEXTS = r"nothing distinguishes its cells from the values below"
AGAIN = r"\d of its \d cells occurs? in the rows below as well"
SEX = ["F", "M"] * 30
ILL = ["flu", "gout", "cold"] * 20
PEOPLE = [f"{first} {last}" for first in ("Anna", "Paul", "Eva") for last in ("Koch", "Meyer", "Silva", "Kim")] * 5


def lines(head, *columns):
    return "\n".join([head, *map(",".join, zip(*columns, strict=True))]) + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("F1,Marked Person,1959-01-20,w,01069\nF2,Other,1960-01-01,w,01069\n", VALUES),
        ("w,01069\nm,01067\nw,01069\n", VALUES),
        ("39,x\n40,y\n", VALUES),
        ("1,Marked Person,Berlin\n2,Other,Berlin\n", VALUES),
        ("1985,Marked Person,flu\n1986,Other,gout\n", VALUES),
        ("name,101,102\nx,5,6\n", VALUES),
        ("Marked Person,unknown,x@y.org\nOther,35,z@y.org\n", VALUES),
        ("Marked Person,NA\nOther,35\n", VALUES),
        ("Marked Person,?\nOther,35\n", VALUES),
        ("Marked Person,true\nOther,35\n", VALUES),
        ("Marked Person,45+\nOther,35\n", VALUES),
        ("Marked Person,<18\nOther,35\n", VALUES),
        ("Marked Person,1e3\nOther,35.5\n", VALUES),
        ("0,1\n5,6\n", VALUES),
        ("1,2,3\n3,1,2\n1,3,2\n", VALUES),
        ("2019,2020\n2011,2012\n2018,2021\n", VALUES),
        ("Marked Person,Unknown\nOther,35\n", TEXTS),
        ("Marked Person,Berlin\nOther,Bonn\nThird,Ulm\n", TEXTS),
        ("A,b\nB,x\n", TEXTS),
        ("marked\nother\nthird\n", TEXTS),
        (lines("Marked Person,Berlin", PEOPLE[:12], [f"Town {place}" for place in range(12)]), TEXTS),
        (lines("Marked Person,Unknown", PEOPLE, [str(place) for place in range(60)]), TEXTS),
        (lines("Marked Person,F,flu", PEOPLE, SEX, ILL), AGAIN),
        (lines("F,keine Angabe,flu", SEX, [str(place % 7) for place in range(60)], ILL), AGAIN),
        (lines("P0017,keine Angabe", [f"P{place:04d}" for place in range(60)], ["3", "4"] * 30), AGAIN),
    ],
)
def test_a_first_line_that_may_be_a_row_is_refused_but_not_shown(put, text, message):
    with pytest.raises(ReadError, match=message) as caught:
        read(put(text))
    shown = str(caught.value)
    assert "(header=True)" in shown
    assert shown.endswith("or is a row (header=False).")
    assert not any(cell in shown for cell in ("Marked", "Berlin", "unknown", "Unknown", "keine", "01069", "P0017"))


@pytest.mark.parametrize(
    "text",
    [
        "2019,2020\n1,2\n",
        "0,1,2\n5,6,7\n",
        "c,2019,2020\nx,5,6\n",
        "label,0,1\n7,5,6\n",
        "a,b\na,1\n",
        "RI,Na,class\n1.5,13.6,1\n",
        "1stFlrSF,area\n7,5\n",
        "name,seen\nx,2024-01-31\n",
        "name,smoker\nx,true\n",
        lines("name,sex,diagnosis", PEOPLE, SEX, ILL),
        lines("Name,Sex,Diagnosis", PEOPLE, SEX, ILL),
        lines("sex,diagnosis", SEX[:12], ILL[:12]),
        lines("name,town", [f"Person {place}" for place in range(12)], [f"Town {place}" for place in range(12)]),
        lines("code,zip", [f"K{place:03d}" for place in range(12)], [f"{place:05d}" for place in range(12)]),
    ],
)
def test_a_first_line_that_cannot_be_a_row_is_a_header(put, text):
    assert read(put(text)).names == text.split("\n")[0].split(",")


def test_a_first_line_is_a_header_if_the_user_says_so(put):
    assert read(put("name,101,102\nx,5,6\n"), header=True).names == ["name", "101", "102"]


def test_a_first_line_is_a_row_if_the_user_says_so(put):
    table = read(put("Anna,34\nPaul,51\n"), header=False)
    assert table.data.to_pydict() == {"column_1": ["Anna", "Paul"], "column_2": [34, 51]}
    assert "column names column_1 to column_2, as the file has no header" in table.origin.notes
    assert read(put("Anna,34\n"), header=False).n == 1
    assert read(put("x,x\n,1\n"), header=False).data.to_pydict() == {"column_1": ["x", None], "column_2": ["x", "1"]}


def test_faults_of_a_file_without_a_header_are_named_too(put):
    with pytest.raises(ReadError, match="line 2: 1 cell where the first line has 2; column 2 is the first without one"):
        read(put("Anna,34\nPaul\n"), header=False)
    with pytest.raises(ReadError, match="line 1: a quote opens here and is never closed"):
        read(put('"Anna,34\nPaul,51\n'), header=False)


def test_the_first_line_of_a_ragged_file_is_not_shown(put):
    assert "Anna" not in refusal(put("Paul,Anna\nx\n"))
    assert "header=False" in refusal(put("x,x\n1,2\n"))
    assert "header=False" in refusal(put("x,\n1,2\n"))


@pytest.mark.slow
def test_rows_of_a_sample_are_never_taken_for_a_header(tmp_path, put):
    """Each of 60 rows of a table with many kinds of columns, put first, is refused."""
    write_data(shoal.sample(200, seed=3), tmp_path, "csv")
    head, *rows = (tmp_path / "data.csv").read_text().splitlines()
    assert read(put("\n".join([head, *rows]))).n == 200
    for place in range(60):
        with pytest.raises(ReadError, match="header=False"):
            read(put("\n".join([rows[place], *rows[:place], *rows[place + 1 :]])))


@pytest.mark.slow
def test_rows_of_text_are_hardly_ever_taken_for_a_header(put):
    """Tables of text alone: the header is found in most, and a row is taken for one in fewer than one of a hundred."""
    rng = np.random.default_rng(7)
    wrong = found = 0
    for _ in range(300):
        n = int(rng.integers(5, 200))
        width = int(rng.integers(2, 5))
        columns = []
        for _ in range(width):
            shares = rng.dirichlet(np.full(int(rng.integers(2, 30)), 0.5))
            columns.append(
                [f"w{'abcdefghijklmnopqrstuvwxyzABCD'[code]}" for code in rng.choice(shares.size, n, p=shares)]
            )
        body = list(map(",".join, zip(*columns, strict=True)))
        for head in (",".join(f"column {'ABCD'[place]}" for place in range(width)), None):
            try:
                read(put("\n".join([head, *body] if head else body)))
                found += head is not None
                wrong += head is None
            except ReadError:
                continue
    assert wrong <= 3
    assert found >= 200


PUBLIC = {
    "adult.csv.gz": (48842, 15),
    "arx_adult.csv.gz": (30162, 9),
    "census.csv": (1080, 13),
    "ecoli.csv": (336, 8),
    "german_credit.csv": (1000, 21),
    "glass.csv": (214, 10),
    "grid_stability.csv": (10000, 14),
    "page_blocks.csv": (5473, 11),
    "satimage.csv": (6435, 37),
    "spambase.csv": (4601, 58),
    "waveform.csv": (5000, 22),
    "wine.csv": (178, 14),
    "yeast.csv": (1484, 9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_the_headers_of_public_tables_are_never_doubted(data_file, name):
    table = read(data_file(name))
    assert (table.n, len(table.names)) == PUBLIC[name]
