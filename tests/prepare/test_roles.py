"""Roles are proposed with a reason, and odd values are noted without being shown."""

import unicodedata
import uuid

import numpy as np
import pyarrow as pa
import pytest

from shoal.model.table import Table
from shoal.prepare.profile import ColumnFacts, profile

ROWS = 60
RNG = np.random.default_rng(5)
FIRST = ["Anna", "Paul", "Eva", "Jan", "Ruth", "Omar"]
LAST = ["Koch", "O'Neill", "Meyer-Graf", "Silva", "Weiß", "Kim", "Rossi", "Novak", "Moore", "Lang"]
PEOPLE = [f"{first} {last}" for first in FIRST for last in LAST]
DIFFERENT = [f"{first}{second}".title() for first in "bcdfghjk" for second in "aeiouyrl"]  # more than there are people
SHARED = [*(f"{last.lower()}{end}" for last in LAST for end in "aeiouy"), *["koch"] * 7, *["kim"] * 5]
UNKNOWN = "nothing recognized; default role"
FREE = "text of which most values differ, as in names and free text"


def facts(name: str, column: object) -> ColumnFacts:
    return profile(Table.of(pa.table({name: column}))).columns[0]


@pytest.mark.parametrize(
    ("name", "column", "reason"),
    [
        ("a", list(range(100, 100 + ROWS)), "all values differ and number the rows"),
        ("a", [5, 3, 4], "all values differ and number the rows"),
        ("a", list(range(10_000_000, 10_000_000 + 97 * ROWS, 97)), "all values differ"),
        ("a", RNG.permutation(10**6)[:ROWS], "all values differ"),
        ("id", [17, 3, 912], "all values differ"),
        ("id", [17.0, None, 912.0], "all values differ"),
        ("id", pa.array([17, None, 912], pa.decimal128(10, 0)), "all values differ"),
        ("a", [f"x{place}" for place in range(ROWS)], "all values differ"),
        ("a", [f"{place} and more words" for place in range(ROWS)], "all values differ"),
        (
            "a",
            [f"AB-{place:04d}" for place in range(ROWS)] + ["AB-0000"] * 4,
            "nearly all values differ and follow one pattern",
        ),
        (
            "record_no",
            [f"{place} b" for place in range(ROWS)] + ["0 b"] * 4,
            "the column name suggests a key, and nearly all values differ",
        ),
        ("patient_id", [1, 2, 2, 9, 9, 9], "the column name suggests an identification number or contact details"),
        ("patientID", ["q", "r", "r"], "the column name suggests an identification number or contact details"),
        (
            "Phone",
            [30123456, 30123457, 30123457],
            "the column name suggests an identification number or contact details",
        ),
        ("home_address", [f"Road {place}" for place in range(9)], "the column name suggests an address"),
        ("a", [str(uuid.UUID(int=place)) for place in (1, 2, 2)], "the values look like random identifiers"),
        ("a", ["x@y.org", "z@y.org", "z@y.org"], "the values look like e-mail addresses"),
        ("a", ["+49 30 123456", "+49 30 123457", "+49 30 123457"], "the values look like phone numbers"),
        ("a", ["030/1234567", "(030) 123-456", "212-555-0188"], "the values look like phone numbers"),
        ("a", ["123-45-6789", "123-45-6780", "123-45-6780"], "the values look like identity numbers"),
        ("a", ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"], "the values look like bank account numbers"),
        ("a", ["192.168.0.1", "192.168.0.2", "192.168.0.2"], "the values look like network addresses"),
        ("name", ["x", "x", "y"], "the column name suggests a person's name"),
        ("surname", ["x", "x", "y"], "the column name suggests a person's name"),
        ("FirstName", ["x", "x", "y"], "the column name suggests a person's name"),
        ("patient_name", ["x", "x", "y"], "the column name suggests a person's name"),
        ("Prénom", ["x", "x", "y"], "the column name suggests a person's name"),
        ("nombre", ["x", "x", "y"], "the column name suggests a person's name"),
        ("who", PEOPLE + PEOPLE[:20], "the values look like people's names"),
        ("column_2", PEOPLE * 25, "the values look like people's names"),
        (
            "column_2",
            [*PEOPLE * 25, *["Ward 7", "unclear", "Ludwig van Beethoven"] * 9],
            "the values look like people's names",
        ),
        ("column_2", [", ".join(reversed(one.split())) for one in PEOPLE] * 25, "the values look like people's names"),
        (
            "column_2",
            [unicodedata.normalize("NFD", f"{one} É") for one in PEOPLE] * 9,
            "the values look like people's names",
        ),
        ("name", SHARED, "the column name suggests a person's name"),
        *(
            (
                name,
                [f"P{row % 100:05}" for row in range(3000)],
                "the column name suggests an identification number or contact details",
            )
            for name in ("patient_no", "PatientID", "pid", "mrn", "insurance_number", "NHS number", "nhs_no")
        ),
        *(
            (
                name,
                [f"B{row % 40:04}" for row in range(480)],
                "the column name suggests a person, and the values are codes",
            )
            for name in ("patient", "subject", "participant", "badge_no", "pseudonym", "case_id")
        ),
        *(
            (
                name,
                [7000 + row % 100 for row in range(3000)],
                "the column name suggests an identification number or contact details",
            )
            for name in ("patient_no", "NHS number", "nhs_no", "NHSNumber", "hospital_no", "Hospital Number", "loan_no")
        ),
        (
            "diagnosis_id",
            list(range(100, 200)),
            "the column name suggests health information, and nearly all values differ",
        ),
        ("last name", LAST * 40, "the column name suggests a person's name"),
        ("nom", SHARED, "the column name suggests a person's name"),
        ("who", SHARED, FREE),
        ("remarks", [f"words {place} and more" for place in range(40)] + ["none"] * 30, FREE),
        ("address", [f"Main Street {place % 150}" for place in range(600)], "the column name suggests an address"),
    ],
)
def test_identifiers_are_proposed_with_their_reason(name, column, reason):
    found = facts(name, column)
    assert (found.role, found.reason) == ("identifier", reason)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("diagnosis", ["a", "b"]),
        ("icd10", ["a", "b"]),
        ("hiv_status", [True, False]),
        ("annual-income", [20_000, 30_000, 40_000] * 20),
        ("Salary", [1.5, 2.5] * 3),
        ("religion", ["a", "b"]),
        ("loan_amount", [5_000, 10_000, 20_000] * 20),
        ("diagnosis_code", [401, 402, 403] * 20),
    ],
)
def test_names_that_sound_sensitive_are_proposed_as_such(name, column):
    found = facts(name, column)
    assert found.role == "sensitive"
    assert found.reason.endswith("which an attacker rarely knows")


@pytest.mark.parametrize(
    ("name", "column", "reason"),
    [
        (
            "zip",
            [f"{place:05d}" for place in range(ROWS)],
            "the column name suggests a postcode, which is widely known",
        ),
        (
            "birth_date",
            pa.array(range(ROWS), pa.date32()),
            "the column name suggests a date of birth, which is widely known",
        ),
        ("age", list(range(20, 20 + ROWS)), "the column name suggests an age, which is widely known"),
        ("Gender", ["F", "M"], "the column name suggests sex, which is widely known"),
        ("year", list(range(1960, 1960 + ROWS)), "the column name suggests a date, which is widely known"),
        ("place", ["01067", "80331", "80331"], "the values look like postcodes"),
        ("a", [f"{1 + place % 12:02d}/05/1990" for place in range(9)], "the values are dates, which others may know"),
        ("a", [f"1990-05-{1 + place:02d}" for place in range(28)], "the values are dates, which others may know"),
        ("measure", RNG.normal(size=ROWS), UNKNOWN),
        (
            "amount",
            (1000 * RNG.lognormal(3, 1, 500)).astype(int) * 500 + np.arange(500),
            UNKNOWN,
        ),
        ("product_name", ["Red Wine", "Oat Milk"] * 30, UNKNOWN),
        ("name", ["Red Wine", "Oat Milk", "Tea"] * 30, UNKNOWN),
        ("name", [f"Ward {place % 25}" for place in range(60)], UNKNOWN),
        ("ward_name", [f"ward {chr(97 + place % 26)}" for place in range(600)], UNKNOWN),
        ("street", [f"{last} Street" for last in LAST] * 40, UNKNOWN),
        ("column_2", PEOPLE[:19] * 25, UNKNOWN),
        ("column_2", [one.lower() for one in PEOPLE] * 25, UNKNOWN),
        (
            "column_2",
            [f"{one} {DIFFERENT[place]}" for place, one in enumerate(PEOPLE)] * 25,
            UNKNOWN,
        ),
        (
            "column_2",
            [f"{DIFFERENT[place]} {one}" for place, one in enumerate(PEOPLE)] * 25,
            UNKNOWN,
        ),
        ("column_2", [*PEOPLE, *(f"ward {place}" for place in range(7))] * 25, UNKNOWN),
        ("phone", ["landline", "mobile"] * 30, UNKNOWN),
        ("hospital_id", [1, 2, 3] * 20, UNKNOWN),
        ("moment", pa.array(range(ROWS), pa.timestamp("us")), "the values are dates, which others may know"),
        ("admitted", pa.array(range(ROWS), pa.date32()), "the values are dates, which others may know"),
        ("few", ["a", "b", "c"], UNKNOWN),
        ("few", [31, 45, 27, 62], UNKNOWN),
        ("sure", [True, False], UNKNOWN),
        ("empty", pa.array([None, None], pa.string()), "every cell is missing"),
    ],
)
def test_everything_else_is_a_quasi_identifier(name, column, reason):
    found = facts(name, column)
    assert (found.role, found.reason) == ("quasi", reason)


@pytest.mark.parametrize(
    ("name", "column", "role"),
    [
        ("annual-income", list(range(0, 7000, 100)), "quasi"),
        ("Salary", RNG.lognormal(10, 1, ROWS).round(2), "quasi"),
        ("salary", [*RNG.lognormal(10, 1, 13), *[1000.0] * 47], "quasi"),
        ("cost_eur", RNG.lognormal(7, 1, ROWS).round(2), "quasi"),
        ("wage", [31.5, 27.25, 40.0, 12.75, 33.0, 28.5], "quasi"),
        ("diagnosis_date", pa.array(range(ROWS), pa.date32()), "quasi"),
        ("diagnosis", [f"code {place}" for place in range(15)] + ["a"] * 45, "quasi"),
        ("diagnosis", [f"words about {place}" for place in range(ROWS)], "identifier"),
    ],
)
def test_a_column_that_sounds_sensitive_is_not_proposed_raw_if_rows_stand_out_by_it(name, column, role):
    found = facts(name, column)
    assert found.role == role
    assert found.reason.startswith(("the column name suggests health ", "the column name suggests financial "))
    if role == "quasi":
        assert found.reason.endswith("give it the role sensitive and accept the risk unique-kept)")


def test_sensitive_columns_that_identify_rows_together_are_not_proposed_raw_together():
    rng = np.random.default_rng(3)
    diagnosis, wage = rng.integers(0, 40, 300), rng.integers(0, 60, 300) * 500
    found = profile(Table.of(pa.table({"diagnosis": diagnosis.astype(str), "wage": wage})))
    assert [column.role for column in found.columns] == ["sensitive", "quasi"]
    assert "together with other sensitive columns" in found.columns[1].reason
    alone = profile(Table.of(pa.table({"diagnosis": diagnosis.astype(str), "sex": ["F", "M"] * 150})))
    assert alone.columns[0].role == "sensitive"


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("patient", list(range(100_000, 100_000 + ROWS))),
        ("patient", RNG.permutation(900_000)[:ROWS] + 100_000),
        ("patient", list(range(4_000_000, 4_000_000 + 977 * ROWS, 977))),
        ("x", [*range(ROWS), 3, 7]),
        ("x", RNG.permutation(10**6)[:2000]),
        ("patient_no", [17, 3, 912]),
        ("patient_id", [1, 2, 2, 9, 9, 9]),
        ("id", [17.0, None, 912.0]),
        ("Phone", [30123456, 30123457, 30123457]),
    ],
)
def test_numbers_that_identify_rows_are_direct_identifiers(name, column):
    found = facts(name, column)
    assert found.direct
    assert found.role == "identifier"


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("income", list(range(20_000, 20_000 + ROWS))),
        ("year", list(range(1900, 1900 + ROWS))),
        ("amount", (1000 * RNG.lognormal(3, 1, 500)).astype(int)),
        ("weight", RNG.normal(250_000, 40_000, 500).astype(int)),
        ("x", RNG.permutation(10**6)[:200]),
        ("x", list(range(19))),
        ("x", list(range(ROWS)) * 2),
        ("x", np.arange(ROWS, dtype=float)),
        ("hospital_id", [1, 2, 3] * 20),
        ("diagnosis_name", ["flu", "gout", "asthma"] * 20),
        ("name", ["Red Wine", "Oat Milk", "Tea"] * 30),
        ("postcode", [f"{place:05d}" for place in range(ROWS)]),
        ("born", [f"1990-05-{1 + place:02d}" for place in range(28)]),
    ],
)
def test_amounts_measures_and_categories_are_not_direct_identifiers(name, column):
    assert not facts(name, column).direct


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("name", SHARED),
        ("surname", LAST * 6),
        ("e-mail", [f"x{place}@y.org" for place in range(6)] * 5),
        ("contact", ["+49 30 123456", "+49 30 123457", "+49 30 123457"]),
        ("address", [f"Road {place}" for place in range(9)]),
        ("code", [f"x{place}" for place in range(ROWS)]),
        ("remarks", SHARED),
        ("name", pa.array(SHARED).dictionary_encode()),
    ],
)
def test_text_that_identifies_people_or_rows_is_a_direct_identifier(name, column):
    assert facts(name, column).direct


@pytest.mark.parametrize("name", ["adult.csv.gz", "census.csv", "german_credit.csv", "wine.csv", "page_blocks.csv"])
def test_no_column_of_a_public_table_is_taken_for_a_direct_identifier(data_file, name):
    from shoal.io.files import read

    table = read(data_file(name))
    assert not [column.name for column in profile(table).columns if column.direct]
    some = Table.of(table.data.slice(0, 150))
    assert not [column.name for column in profile(some).columns if column.direct]


def test_nine_in_ten_values_must_fit_a_pattern():
    mails = [f"x{place}@y.org" for place in range(9)]
    assert facts("a", [*mails, "none of it", "none of it"]).role == "identifier"
    assert facts("a", [*mails[:8], "none of it", "nor this", "nor this"]).role == "quasi"


def test_a_float_measurement_is_never_an_identifier():
    for column in (RNG.normal(size=ROWS), np.arange(ROWS, dtype=float), np.linspace(0, 1, ROWS)):
        found = facts("measure", column)
        assert found.role == "quasi"
        assert found.notes[-1] == "every row is unique by this column alone"


CODE = "looks like a code for a missing value; if it is one, list it in missing_codes"


@pytest.mark.parametrize(
    ("column", "note"),
    [
        ([20, 31, 42, 53, 64, -999, -999, -999], f"3 cells share one extreme value that {CODE}"),
        ([20, 31, 42, 53, 64, 9999, 9999], f"2 cells share one extreme value that {CODE}"),
        ([20, 31, 42, 53, 64, -1, -1], f"2 cells share one extreme value that {CODE}"),
        ([1, 2, 3, 4, 5, 99.0, 99.0], f"2 cells share one extreme value that {CODE}"),
        (
            [1, 2, 3, 4, 5, 88, 88, 99, 99],
            (
                "4 cells share 2 extreme values that look like codes for missing values; "
                "if they are, list them in missing_codes"
            ),
        ),
        ([*range(100), 2**31 - 1, 2**31 - 1], f"2 cells share one extreme value that {CODE}"),
    ],
)
def test_codes_for_missing_are_suspected(column, note):
    assert note in facts("x", column).notes


@pytest.mark.parametrize(
    "column",
    [
        [20, 31, 42, 53, 64, -999],  # only one row has it
        [-1, -1, 1, 1, 1],  # a label
        [-3, -2, -1, -1, 0, 1, 2],  # inside the rest
        [*range(101), 99, 99],  # inside the rest
        [20, 31, 42, 53, 64, 1234, 1234],  # not a number that people write for missing
        [5, 5, 5, 99, 99],  # too little to compare with
    ],
)
def test_other_numbers_are_not_taken_for_codes(column):
    assert not any("missing" in note for note in facts("x", column).notes)


def test_words_for_missing_are_suspected():
    found = facts("town", ["Ulm", "Unknown", " n/a ", "Ulm", "Bonn"])
    assert (
        "a word that looks like a code for a missing value in 2 cells; if it is one, list it in missing_codes"
        in found.notes
    )


def test_infinities_and_extremes_are_counted():
    found = facts("x", [float("inf"), float("-inf"), 1e300, *np.linspace(0, 1, 20).round(1)])
    assert found.notes[:2] == (
        "infinite in 2 cells",
        "more than 1,000 interquartile ranges from the middle half in 1 cell",
    )


def test_extreme_floats_do_no_harm():
    assert facts("x", [1.7e308, -1.7e308, 1.7e308, -1.7e308, 0.0]).role == "quasi"
    assert facts("id", [float("inf"), 1e300, 5.0]).role == "quasi"


def test_constants_and_many_categories_are_noted():
    assert facts("x", ["a"] * 5).notes == ("all cells have the same value",)
    assert facts("x", ["a", "a", "a", None, None]).notes == ("all cells have the same value, if any",)
    many = facts("x", [f"{place} b" for place in range(101)] * 3)
    assert many.notes == ("101 categories; more than 100 are hard to group",)
    assert facts("x", [f"{place} b" for place in range(100)] * 3).notes == ()


def test_text_that_looks_like_dates_gets_a_hint():
    days = [f"19{year}-0{1 + year % 9}-11" for year in range(50, 90)]
    [message] = [note for note in facts("born", days).notes if "dates" in note]
    assert message == 'text that looks like dates; if it is, set kind = "date"'
    assert not any("dates" in note for note in facts("born", ["11.1.1950", "12.1.1950"]).notes)


@pytest.mark.parametrize("days", [["03/04/1950", "31/12/1961"], ["3-4-50", "31-12-61"], ["1950/04/03", "1961/12/31"]])
def test_dates_that_are_not_read_as_dates_get_a_hint(days):
    [message] = [note for note in facts("born", days).notes if "dates" in note]
    assert "write dates like 2024-01-31 before the release" in message


def test_a_number_of_a_person_is_recognized_by_the_name_of_its_column():
    numbers = ["485 777 3456", "485 777 3464", "943 476 5919"]
    assert facts("NHS Number", numbers).reason.startswith("the column name suggests an identification number")
    assert facts("a", numbers).reason == "the values look like phone numbers"


def test_names_are_recognized_by_all_values_of_a_large_table():
    syllables = [f"{first}{second}" for first in "bdfgklmnprst" for second in "aeiou"]
    lasts = [f"{first}{second}".title() for first in syllables for second in syllables[:40]]
    people = [
        f"{first.title()} {last}" for first in syllables for last in lasts[::3]
    ]  # 1,000 of them share few surnames
    assert facts("column_2", people * 3).reason == "the values look like people's names"
