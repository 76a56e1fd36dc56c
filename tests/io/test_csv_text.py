"""CSV text: types, missing values, quotes and delimiters found, and faults named by their line."""

import csv
import datetime as dt
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import MARK, columns, refusal
from shoal.errors import ReadError
from shoal.io import csv_text
from shoal.io.files import read


def kinds(path, **options):
    table = read(path, **options)
    return {name: str(table.column(name).type) for name in table.names}


def one(put, *cells):
    """Return type and values of one column beside another that is never empty."""
    table = read(put("".join(f"{line}\n" for line in ["x,row", *(f"{cell},r" for cell in cells)])), header=True)
    return str(table.column("x").type), table.column("x").to_pylist()


# Types


def test_whole_numbers_stay_integers_even_if_some_are_missing(put):
    assert one(put, "39", "", "-7", "?") == ("int64", [39, None, -7, None])


def test_numbers_with_a_leading_zero_stay_text(put):
    assert one(put, "01067", "99084") == ("string", ["01067", "99084"])
    assert one(put, "007.5", "1.5") == ("string", ["007.5", "1.5"])


def test_zero_alone_is_a_number(put):
    assert one(put, "0", "-0", "10") == ("int64", [0, 0, 10])


def test_numbers_with_a_leading_plus_stay_text(put):
    assert one(put, "+49301234", "5") == ("string", ["+49301234", "5"])


def test_other_spellings_of_numbers_stay_text(put):
    assert one(put, "0x1F", "1")[0] == "string"
    assert one(put, "1_000", "1")[0] == "string"
    assert one(put, "1 000", "1")[0] == "string"


def test_whole_numbers_beyond_64_bits_stay_text(put):
    assert one(put, "9223372036854775807", "1")[0] == "int64"
    assert one(put, "9223372036854775808", "1") == ("string", ["9223372036854775808", "1"])


def test_long_whole_numbers_are_never_rounded(put):
    assert one(put, "9007199254740993", "1.5") == ("string", ["9007199254740993", "1.5"])
    assert one(put, "900719925474099", "1.5") == ("double", [900719925474099.0, 1.5])


def test_decimal_points_and_exponents_make_numbers(put):
    assert one(put, "1", "2.5", ".5", "5.", "-1e-3", "1E+2") == ("double", [1.0, 2.5, 0.5, 5.0, -0.001, 100.0])


def test_words_for_infinity_are_numbers(put):
    inf = float("inf")
    assert one(put, "1", "inf", "-inf", "Infinity") == ("double", [1.0, inf, -inf, inf])


def test_a_number_too_large_for_a_float_stays_text(put):
    assert one(put, "1e300", "1.5") == ("double", [1e300, 1.5])
    assert one(put, "1e400", "1.5") == ("string", ["1e400", "1.5"])


def test_a_decimal_comma_is_read_where_the_comma_is_no_delimiter(put):
    table = read(put("a;b\n1,5;2\n1.234,25;3\n-7;4\n"))
    assert table.data.to_pydict() == {"a": [1.5, 1234.25, -7.0], "b": [2, 3, 4]}
    assert "decimal commas in column 'a'" in table.origin.notes
    assert columns(put('a,b\n"1,5",2\n')) == {"a": ["1,5"], "b": [2]}
    assert columns(put("a;b\n01,5;2\n")) == {"a": ["01,5"], "b": [2]}
    assert columns(put("a;b\n1.23,5;2\n")) == {"a": ["1.23,5"], "b": [2]}


def test_dates_with_dots_are_dates_and_others_stay_text(put):
    table = read(put("a,b\n31.12.1999,1/2/2020\n1.2.2024,2/1/2020\n"))
    assert table.data.column("a").to_pylist() == [dt.date(1999, 12, 31), dt.date(2024, 2, 1)]
    assert table.data.column("b").type == "string"
    assert "dates with dots, written as ISO dates, in column 'a'" in table.origin.notes
    assert read(put("a,b\n31.2.1999,1\n")).data.column("a").type == "string"


def test_thousands_separators_are_read_where_another_column_has_decimal_commas(put):
    table = read(put("pay;q\n900;0,5\n1.200;1,5\n"))
    assert table.data.to_pydict() == {"pay": [900, 1200], "q": [0.5, 1.5]}
    assert columns(put("pay;q\n1.200;5\n"))["pay"] == [1.2]


def test_commas_that_may_separate_thousands_are_left_alone(put):
    assert columns(put("a;b\n1,234;1\n12,345;2\n"))["a"] == ["1,234", "12,345"]


def test_codes_that_look_like_powers_of_ten_stay_text(put):
    assert columns(put("a,b\n1E5,1\n2E10,2\n"))["a"] == ["1E5", "2E10"]


def test_booleans_are_known_by_their_usual_spellings(put):
    assert one(put, "True", "FALSE", "true", "") == ("bool", [True, False, True, None])
    assert one(put, "yes", "no")[0] == "string"
    assert one(put, "0", "1")[0] == "int64"


def test_iso_dates_are_dates(put):
    assert one(put, "2024-02-29", "") == ("date32[day]", [dt.date(2024, 2, 29), None])
    assert one(put, "2023-02-29", "2024-01-01")[0] == "string"


def test_iso_timestamps_are_timestamps(put):
    first, second = dt.datetime(2024, 1, 2, 3, 4), dt.datetime(2024, 1, 2, 3, 4, 5, 678900)
    assert one(put, "2024-01-02 03:04", "2024-01-02T03:04:05.6789") == ("timestamp[us]", [first, second])
    assert one(put, "2024-01-02", "2024-01-02T03:04") == ("timestamp[us]", [dt.datetime(2024, 1, 2), first])
    assert one(put, "2024-01-02T03:04:05.123456789")[0] == "timestamp[ns]"


def test_timestamps_keep_their_time_zone(put):
    assert one(put, "2024-01-02T03:04Z")[0] == "timestamp[us, tz=UTC]"
    kind, values = one(put, "2024-01-02T03:04+0230", "", "2024-01-02T03:04:00+02:30")
    assert kind == "timestamp[us, tz=UTC]"
    kind, values = one(put, "2024-01-02T03:04+02:30", "")
    assert kind == "timestamp[us, tz=+02:30]"
    assert values == [dt.datetime(2024, 1, 2, 0, 34, tzinfo=dt.UTC), None]
    assert one(put, "2024-01-02T03:04+01", "2024-01-02T03:04+02")[0] == "timestamp[us, tz=UTC]"


def test_a_column_without_values_is_text(put):
    assert one(put, "", "NA") == ("string", [None, None])


def test_a_type_must_fit_cells_far_down_too(put):
    cells = ["1"] * 3000
    assert one(put, *cells, "2.5")[0] == "double"
    assert one(put, *cells, "x")[0] == "string"
    assert one(put, *[""] * 3000, "7") == ("int64", [None] * 3000 + [7])


# Missing values and blanks


def test_quoted_words_for_missing_values_are_text(put):
    assert columns(put('a,b\nNA,"NA"\n?,"?"\nx,""\n'), header=True) == {"a": [None, None, "x"], "b": ["NA", "?", ""]}


def test_a_quoted_empty_cell_among_numbers_is_missing(put):
    assert columns(put('a,b\n"1","x"\n"",""\n')) == {"a": [1, None], "b": ["x", ""]}


def test_numbers_and_missing_values_may_have_blanks_around_them_and_text_keeps_them(put):
    path = put("age, job, gain\n39, Private, 2.5\n 40 , ?,  ?\n")
    assert columns(path) == {"age": [39, 40], "job": [" Private", None], "gain": [2.5, None]}


def test_quoted_blanks_around_a_word_for_a_missing_value_are_text(put):
    path = put('a,b\n   ? ,"   ? "\n ?," ?"\n\t,x\n')
    assert columns(path, header=True) == {"a": [None, None, None], "b": ["   ? ", " ?", "x"]}


def test_other_words_can_mean_missing(put):
    path = put("a,b\n-,1\n2,\n")
    assert columns(path, null_words=["-", ""]) == {"a": [None, 2], "b": [1, None]}
    assert columns(path, null_words="-") == {"a": [None, 2], "b": ["1", ""]}


# Lines and quotes


def test_blank_lines_are_skipped(put):
    assert columns(put("\na,b\n\n1,2\n\n3,4\n\n\n")) == {"a": [1, 3], "b": [2, 4]}


def test_all_line_endings_are_recognized(put):
    for end in ("\n", "\r\n", "\r"):
        assert columns(put(end.join(["a,b", "1,x", "2,y"]))) == {"a": [1, 2], "b": ["x", "y"]}


def test_quoted_cells_may_contain_line_breaks_delimiters_and_quotes(put):
    path = put('a,"b\nc"\n"1, ""2""\r\n3",x\n')
    assert columns(path, header=True) == {"a": ['1, "2"\r\n3'], "b\nc": ["x"]}


def test_quotes_inside_a_cell_are_plain_characters(put):
    path = put('a,b\n5" pipe,x\ny,6"\nz,7"\n')
    assert columns(path, header=True) == {"a": ['5" pipe', "y", "z"], "b": ["x", '6"', '7"']}


def test_a_file_with_one_column_is_read(put):
    assert columns(put('age\n39\n\n50\n""\nNA\n')) == {"age": [39, 50, None, None]}
    assert columns(put("note\nfirst; second\n"), header=True) == {"note": ["first; second"]}


def test_a_cell_larger_than_a_block_is_read(put):
    text = "x\n" * csv_text.CHUNK
    assert columns(put(f'a,b\n1,"{text}"\n2,"y"\n')) == {"a": [1, 2], "b": [text, "y"]}


@pytest.mark.parametrize(("sign", "word"), [(",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")])
def test_delimiters_are_found(put, sign, word):
    rows = ["a", "b", "c"], ['"1,5;|\t"', "2", "x"], ['"1,5;|\t"', "", "y"]
    table = read(put("\n".join(sign.join(row) for row in rows)))
    assert table.data.to_pydict() == {"a": ["1,5;|\t"] * 2, "b": [2, None], "c": ["x", "y"]}
    assert table.origin.notes == ("encoding utf-8", f"delimiter {word}")


def test_the_delimiter_that_records_agree_on_is_used(put):
    path = put("name, first;age\nLovelace, Ada;36\nPlato;80\nHopper, Grace, Rear Admiral;85\n")
    assert columns(path)["age"] == [36, 80, 85]


simple = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(simple, simple, simple), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_any_text_is_read_back_as_written(rows, delimiter):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("one", "two", "three"), *(("t" + row[0], *row[1:]) for row in rows), ("t", "t", "t")])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(text.getvalue().encode())
        found = columns(path, header=True)
    assert list(zip(*found.values(), strict=True)) == [*(("t" + row[0], *row[1:]) for row in rows), ("t", "t", "t")]


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_sentence(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(content)
        message = ""
        try:
            assert read(path).n > 0
        except ReadError as refused:
            message = str(refused)
        assert "\n" not in message


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.text(st.sampled_from('ab1,;"\r\n '), max_size=40))
def test_rows_equal_those_of_the_csv_module(text):
    """Whatever is read has as many rows as Python's csv finds, and whatever is ragged there is refused here."""
    records = [row for row in csv.reader(io.StringIO("a,b\n" + text, newline="")) if row]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_text("a,b\n" + text, newline="")
        try:
            assert read(path, header=True).n == len(records) - 1
        except ReadError:
            unclosed = False
            try:
                list(csv.reader(io.StringIO("a,b\n" + text, newline=""), strict=True))
            except csv.Error:
                unclosed = True
            assert unclosed or len(records) == 1 or any(len(row) != 2 for row in records)


# Faults of CSV files, named by their line


def test_a_row_with_too_few_cells_is_named_by_line_and_column(put):
    lines = ["a,b,c"] + ["1,2,3"] * 15 + [f"{MARK},2"] + ["1,2,3"] * 3
    assert refusal(put("\n".join(lines))) == (
        "read: 'x.csv', line 17: 2 cells where the header has 3; column 3 is the first without one. Correct that line."
    )


def test_a_row_with_too_many_cells_is_named_by_line(put):
    assert refusal(put(f"a,b\n1,2\n3,4,{MARK}\n")) == (
        "read: 'x.csv', line 3: 3 cells where the header has 2. Correct that line."
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_numbers_count_physical_lines_even_after_quoted_line_breaks(put, end):
    text = end.join(["", "a,b", f'1,"x{end}y{end}z"', "", "3,4", MARK, "5,6", ""])
    assert "line 8: 1 cell where the header has 2" in refusal(put(text))


def test_a_ragged_row_of_several_lines_hints_at_a_quote(put):
    message = refusal(put(f'a,b\n1,2\n"{MARK},4\n5,6\n7,"8","9",1\n'))
    assert "line 3: 3 cells" in message
    assert message.endswith("It runs to line 5: is a quote left open?")


def test_a_quote_left_open_is_named_by_the_line_where_it_starts(put):
    message = "read: 'x.csv', line 3: a quote opens here and is never closed. Correct that line."
    assert refusal(put(f'a,b\n1,2\n3,"{MARK}\n5,6\n')) == message
    assert refusal(put(f'a,b\n1,5" pipe\n3,"{MARK}\n')) == message
    assert refusal(put(f'a\n1\n"{MARK}')) == message
    assert "line 5: a quote opens" in refusal(put(f'a,b\n1,2\n"3\n4\n5","{MARK}'))


def test_a_quote_left_open_in_the_header_is_named(put):
    assert "line 1: a quote opens" in refusal(put(f'a,"b\n1,{MARK}\n'))


def test_duplicate_names_are_refused_by_position(put):
    assert "columns 1 and 3 have the same name" in refusal(put(f"{MARK},b, {MARK}\n1,2,3\n"))


def test_a_column_without_a_name_is_refused_by_position(put):
    assert "column 2 of 3 has no name" in refusal(put(f"{MARK}, ,c\n1,2,3\n"))


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(put, text):
    assert "'x.csv' is empty" in refusal(put(text))


def test_a_header_without_rows_is_refused(put):
    for text in ("a,b", "a,b\n", "a,b\n\n"):
        assert refusal(put(text)) == "read: 'x.csv' has a header but no rows. Check the file."


def test_adult_style_files_have_the_right_counts(put):
    """The first rows of the original adult.data, with a header and blanks after commas."""
    path = put("age, workclass, fnlwgt\n39, State-gov, 77516\n50, ?, 83311\n\n")
    assert kinds(path) == {"age": "int64", "workclass": "string", "fnlwgt": "int64"}
    assert columns(path)["workclass"] == [" State-gov", None]
