"""The profile of a table under a policy shows and counts what `anonymize` would use."""

import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, PolicyError

PEOPLE = pa.table(
    {
        "name": ["Ann Lee", "Bob Ray", "Cy Orr", "Di Poe", "Ed Fox", "Flo Gay"],
        "age": [31, 31, 40, 40, -1, 50],
        "grade": [1, 2, 1, 2, 1, 2],
        "illness": ["flu", "cold", "flu", "none given", "flu", "cold"],
    }
)


def test_roles_of_the_policy_are_shown_with_what_would_be_proposed():
    found = shoal.profile(PEOPLE, policy={"columns": {"illness": {"role": "keep"}, "name": {"role": "identifier"}}})
    assert found.column("illness").shown_role == "keep (policy)"
    assert found.column("illness").reason.startswith("given in the policy; proposed: sensitive (")
    assert found.column("name").reason == "given in the policy"
    assert found.column("age").shown_role == "quasi (default)"
    assert found.column("age").reason.startswith("not in the policy; ")


def test_a_column_left_open_has_the_role_that_anonymize_gives_it():
    people = PEOPLE.rename_columns(["email", "age", "grade", "illness"])
    found = shoal.profile(people, policy=shoal.Policy.of(k=2, sensitive=["illness"]))
    release = shoal.anonymize(people, policy=shoal.Policy.of(k=2, sensitive=["illness"]))
    assert {one.name: one.role for one in found.columns} == {
        name: column.role for name, column in release.policy.columns.items()
    }
    assert found.column("email").shown_role == "identifier (default)"


def test_rows_are_compared_in_the_quasi_identifiers_of_the_policy():
    roles = {"columns": {"name": {"role": "identifier"}, "grade": {"role": "keep"}, "illness": {"role": "sensitive"}}}
    found = shoal.profile(PEOPLE, policy=roles)
    assert found.compared_columns == ("age",)
    assert (found.k, found.unique_rows) == (1, 2)
    assert "2 rows are unique in the 1 quasi-identifier of the policy" in str(found)
    assert shoal.profile(PEOPLE).unique_rows == 6


def test_codes_for_missing_values_words_and_kinds_of_the_policy_apply():
    columns = {
        "age": {"missing_codes": [-1]},
        "grade": {"kind": "ordinal", "order": ["1", "2"]},
        "illness": {"role": "sensitive", "missing_codes": ["none given"]},
    }
    found = shoal.profile(PEOPLE, policy={"columns": columns})
    assert (found.column("age").missing, found.column("illness").missing) == (1, 1)
    assert found.column("grade").kind == "ordinal"


def test_words_for_missing_values_apply_to_a_file(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n31,f\nunknown,m\n40,f\n")
    policy = {"null_words": ["unknown"], "columns": {"sex": {"role": "quasi"}}}
    found = shoal.profile(tmp_path / "t.csv", policy=policy)
    assert (found.column("age").kind, found.column("age").missing) == ("numeric", 1)


def test_a_policy_that_names_no_column_leaves_roles_to_proposals():
    assert shoal.profile(PEOPLE, policy={"null_words": ["x"]}) == shoal.profile(PEOPLE)
    assert shoal.profile(PEOPLE).column("illness").shown_role == "sensitive"


def test_a_policy_that_does_not_suit_the_table_is_refused():
    with pytest.raises(PolicyError, match="'agee' is not in the table"):
        shoal.profile(PEOPLE, policy={"columns": {"agee": {"role": "quasi"}}})
    with pytest.raises(DataError, match="column 'illness' .* cannot be read as numbers"):
        shoal.profile(PEOPLE, policy={"columns": {"illness": {"kind": "numeric"}}})


def test_the_profile_of_a_policy_quotes_no_cell():
    found = shoal.profile(PEOPLE, policy={"columns": {"age": {"missing_codes": [-1]}}})
    assert not any(cell in text for cell in ("Ann", "Bob", "none given") for text in (str(found), found._repr_html_()))
