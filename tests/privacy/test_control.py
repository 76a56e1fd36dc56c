"""Control rows that are not what attacks take them for are pointed out."""

import numpy as np
import pyarrow as pa
import pytest
from test_inference import case_of

import shoal
from shoal.errors import DataError
from shoal.model.table import Table
from shoal.privacy.attacks.control import doubts

TOWNS = ["Ulm", "Bonn", "Jena", "Kiel"]


def people(n, seed, *, towns=TOWNS, older=0, ages=60):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 20 + ages, n) + older,
            "pay": np.round(rng.lognormal(8, 0.4, n), 1),
            "town": rng.choice(towns, n),
            "ill": rng.choice(["x", "y"], n),
        }
    )


def doubts_about(table, control):
    return " / ".join(doubts(case_of(table, control=Table.of(control))))


def test_people_of_the_same_population_raise_no_doubt():
    for seed in range(40):
        both = people(240 + 10 * seed, seed)
        assert not doubts_about(both.slice(0, 120), both.slice(120))
        few = both.select(["town", "ill"])  # everybody has a twin
        assert not doubts_about(few.slice(0, 120), few.slice(120))


def test_without_a_control_there_is_no_doubt():
    assert doubts(case_of(people(50, 1))) == ()


def test_rows_of_the_table_among_them_are_found():
    table = people(300, 1)
    found = doubts_about(table, table.slice(0, 100))
    assert "100% of them equal a row of the table in all columns, 0% expected by chance: they may be in it" in found
    some = pa.concat_tables([people(300, 2), table.slice(0, 30)])
    assert "9% of them equal a row" in doubts_about(table, some)


def test_values_that_the_table_does_not_have_are_found():
    found = doubts_about(people(300, 1), people(300, 2, towns=["Rom", "Bari", "Ulm"]))
    assert found == "many have values of 'town' that the table does not have"
    text = people(300, 2)
    words = text.set_column(0, "age", text["age"].cast(pa.string()))
    assert not doubts_about(people(300, 1), words)  # the same values in another type
    strange = text.set_column(0, "age", pa.array(["young", "old"] * 150))
    assert doubts_about(people(300, 1), strange).startswith("many have values of 'age'")


@pytest.mark.parametrize(
    ("other", "name"), [({"older": 25}, "'age'"), ({"towns": ["Ulm", *["Bonn"] * 8, "Jena", "Kiel"]}, "'town'")]
)
def test_other_distributions_are_found(other, name):
    found = doubts_about(people(400, 1), people(400, 2, **other))
    assert found == f"{name}: distributed quite differently from the table"


def test_attacks_that_use_the_control_say_so_and_others_do_not():
    table = people(120, 1)
    release = shoal.anonymize(table, k=4, sensitive=["ill"], seed=1)
    tried = ["exact combination", "linkability", "record linkage"]
    found = {one.name: one.note for one in shoal.attack(table, release, only=tried, control=table)}
    assert "CONTROL ROWS ARE DOUBTFUL: 100% of them equal a row of the table" in found["exact combination"]
    assert "CONTROL ROWS ARE DOUBTFUL" in found["linkability"]
    assert "CONTROL" not in found["record linkage"]
    fine = shoal.attack(table, release, only=tried, control=people(200, 2))
    assert not [one for one in fine if "CONTROL" in one.note]
    with pytest.raises(DataError, match="the control rows have no column 'town'"):
        shoal.attack(table, release, only=["linkability"], control=table.drop_columns(["town"]))
