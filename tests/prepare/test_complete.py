"""A completed policy names every column, or is refused in one sentence."""

import pyarrow as pa
import pytest

from shoal.errors import PolicyError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile


def held(**columns: object) -> Table:
    return Table.of(pa.table(columns))


def completed(policy: Policy, table: Table) -> tuple[Policy, tuple[str, ...]]:
    return complete(policy, table, profile(table))


def refused(policy: Policy, table: Table) -> str:
    with pytest.raises(PolicyError) as caught:
        completed(policy, table)
    message = str(caught.value)
    assert message.startswith("policy: ")
    assert "\n" not in message
    return message


def with_columns(**columns: dict[str, object]) -> Policy:
    return Policy.of({"columns": columns})


LEVELS = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["low", "high"]), ordered=True)
SMALL = held(zip=["01067", "80331", "80331"], age=[31, 40, 40], sex=["F", "M", "M"])
LISTS = pa.array([["a"], ["a"], None])


def test_every_column_is_named_in_the_order_of_the_table():
    table = held(
        age=[31, 40, 40],
        dose=[0.5, 0.5, 1.5],
        sex=["F", "M", "M"],
        born=pa.array([1, 2, 2], pa.date32()),
        smoker=[True, False, None],
        stage=LEVELS,
        diagnosis=["a", "a", "b"],
        tags=LISTS,
    )
    policy, _ = completed(Policy.of(k=2, sensitive="diagnosis", identifiers="tags", method="mdav"), table)
    assert policy.as_dict() == {
        "constraints": {"k": 2},
        "method": {"name": "mdav"},
        "columns": {
            "age": {"role": "quasi", "kind": "numeric", "form": "mean"},
            "dose": {"role": "quasi", "kind": "numeric", "form": "mean"},
            "sex": {"role": "quasi", "kind": "nominal", "form": "mode"},
            "born": {"role": "quasi", "kind": "date", "form": "mean"},
            "smoker": {"role": "quasi", "kind": "boolean", "form": "mode"},
            "stage": {"role": "quasi", "kind": "ordinal", "form": "median", "order": ["low", "high"]},
            "diagnosis": {"role": "sensitive", "kind": "nominal"},
            "tags": {"role": "identifier", "kind": "set"},
        },
    }
    assert list(policy.columns) == table.names


def test_what_is_given_stays():
    given = with_columns(
        age={"form": "range", "missing_codes": [-1]},
        sex={"role": "keep"},
        zip={"order": ["01067", "80331"], "form": "set"},
    )
    policy, _ = completed(given, SMALL)
    assert policy.as_dict()["columns"] == {
        "zip": {"role": "quasi", "kind": "ordinal", "form": "set", "order": ["01067", "80331"]},
        "age": {"role": "quasi", "kind": "numeric", "form": "range", "missing_codes": [-1]},
        "sex": {"role": "keep", "kind": "nominal"},
    }


def test_a_completed_policy_completes_to_itself_and_can_be_written():
    policy, _ = completed(Policy.of(k=2, keep="sex"), SMALL)
    again, notes = completed(Policy.from_toml(policy.to_toml()), SMALL)
    assert again == policy
    assert notes == ()


def test_the_order_of_the_policy_takes_precedence_over_that_of_the_table():
    policy, _ = completed(with_columns(stage={"order": ["high", "low"]}), held(stage=LEVELS))
    assert policy.columns["stage"].order == ("high", "low")


def test_a_given_kind_takes_precedence_over_the_detected_one():
    policy, _ = completed(with_columns(stage={"kind": "nominal"}), held(stage=LEVELS))
    assert policy.columns["stage"].kind == "nominal"
    assert policy.columns["stage"].order is None


@pytest.mark.parametrize("ids", [[10, 20, 50], ["x10", "x20", "x50"]])
def test_an_unlisted_column_that_identifies_rows_is_dropped_with_a_note(ids):
    table = held(id=ids, sex=["F", "M", "M"])
    policy, notes = completed(Policy.of(k=2, method="mdav"), table)
    assert policy.columns["id"].role == "identifier"
    assert notes == (
        (
            "column 'id' IS DROPPED: its role is not given, and it looks like an identifier (all values differ). "
            "To publish it per class anyway: quasi=['id'] in Python, --quasi id on the command line. "
            "If it is an identifier, declare it: identifiers=['id'] in Python, --identifier id on the command line."
        ),
    )
    policy, notes = completed(Policy.of(k=2, quasi="id", method="mdav"), table)
    assert policy.columns["id"].role == "quasi"
    assert [note.split(",")[0] for note in notes] == (
        ["column 'id' looks like a direct identifier (all values differ)"] if isinstance(ids[0], str) else []
    )
    judged, notes = complete(Policy.of(k=2, method="mdav"), table, profile(table), drop_direct=False)
    assert judged.columns["id"].role == "quasi"
    [message] = notes
    assert message.startswith(
        "column 'id' looks like an identifier (all values differ) and is a quasi-identifier by default"
    )
    assert message.endswith("declare it: identifiers=['id'] in Python, --identifier id on the command line.")


def test_a_kept_column_of_names_is_pointed_out():
    table = held(name=["Ann Koch", "Bob Wolf", "Eva Berg"], sex=["F", "M", "M"])
    [message] = completed(Policy.of(k=2, keep="name", method="mdav"), table)[1]
    assert message == (
        "column 'name' looks like a direct identifier (the column name suggests a person's name), but has the role "
        "keep: every value is published unchanged. If it names people, drop it: identifiers=['name'] in Python, "
        "--identifier name on the command line."
    )
    assert completed(Policy.of(k=2, identifiers="name", method="mdav"), table)[1] == ()


def test_a_role_is_open_until_a_key_is_given_that_only_quasi_identifiers_have():
    people, codes = held(name=["Ann", "Bob", "Cid"], sex=["F", "M", "M"]), held(id=[10, 20, 50], sex=["F", "M", "M"])
    for given in ({"kind": "nominal"}, {"missing_codes": ["?"]}):
        assert completed(with_columns(name=given), people)[0].columns["name"].role == "identifier"
    assert completed(with_columns(name={"form": "mode"}), people)[0].columns["name"].role == "quasi"
    assert completed(with_columns(id={"kind": "numeric"}), codes)[0].columns["id"].role == "quasi"


def test_numbers_that_may_be_codes_or_amounts_are_averaged_and_noted():
    amounts = [int(1.37**place) + 17 * place for place in range(30)]
    policy, notes = completed(Policy.of(k=2), held(a=amounts, b=amounts[::-1], sex=["F", "M"] * 15))
    assert policy.columns["a"].role == "quasi"
    [message] = [note for note in notes if "nearly all differ" in note]
    assert message.startswith(
        "columns 'a', 'b': whole numbers of which nearly all differ. Their distribution suggests amounts"
    )
    assert not completed(Policy.of(k=2, quasi=["a", "b"], method="mdav"), held(a=amounts, b=amounts))[1]


def test_a_table_with_only_codes_is_refused_with_a_remedy():
    message = refused(Policy.of(k=2), held(x=list(range(40))))
    assert message.startswith(
        "policy: no column is a quasi-identifier: columns that look like identifiers ('x') are dropped"
    )
    assert "quasi=[COLUMN]" in message


def test_a_column_that_sounds_sensitive_is_noted():
    _, notes = completed(Policy.of(k=2, method="mdav"), held(**{"main diagnosis": ["a", "b"], "sex": ["F", "M"]}))
    message = (
        "column 'main diagnosis' looks sensitive (the column name suggests health information, which an attacker "
        "rarely knows) and is a quasi-identifier by default, as it is not listed. "
        "If it is sensitive, declare it: sensitive=['main diagnosis'] in Python, "
        "--sensitive 'main diagnosis' on the command line."
    )
    assert notes == (message,)


def test_suspected_codes_are_noted_until_the_policy_says_what_they_are():
    table = held(x=[20, 31, 42, 53, 64, -999, -999])
    message = (
        "2 cells share one extreme value that looks like a code for a missing value; "
        "if it is one, list it in missing_codes"
    )
    assert completed(Policy.of(k=2), table)[1] == (f"column 'x': {message} in a policy.",)
    assert completed(with_columns(x={"kind": "numeric"}), table)[1] == (f"column 'x': {message} in a policy.",)
    assert completed(with_columns(x={"missing_codes": [-999]}), table)[1] == ()
    assert completed(with_columns(x={"missing_codes": []}), table)[1] == ()


def test_an_unused_form_is_noted():
    policy, notes = completed(with_columns(age={"role": "keep", "form": "mean"}), SMALL)
    assert notes[1:] == ("column 'age' has the role keep, so its form 'mean' is not used.",)
    assert policy.columns["age"].form is None


def test_unknown_columns_are_refused_with_the_nearest_name():
    message = refused(Policy.of(k=2, quasi="zipcode"), SMALL)
    assert (
        message
        == "policy: column 'zipcode' is not in the table. The table has 'zip', 'age', 'sex'. Did you mean 'zip'?"
    )
    assert refused(Policy.of(label="Sex"), SMALL).startswith("policy: label 'Sex' is not in the table.")
    assert refused(Policy.of(weight="w"), SMALL).startswith("policy: weight 'w' is not in the table.")


def test_the_label_is_sensitive_or_kept():
    message = refused(Policy.of(label="sex"), SMALL)
    assert message.startswith("policy: label 'sex' has the role quasi; expected sensitive or keep.")
    assert completed(Policy.of(label="sex", keep="sex"), SMALL)[0].label == "sex"
    assert completed(Policy.of(label="sex", sensitive="sex"), SMALL)[0].label == "sex"


def test_the_weight_is_a_number_that_is_kept_or_an_identifier():
    assert "is numeric with the role quasi" in refused(Policy.of(weight="age"), SMALL)
    assert "is nominal with the role keep" in refused(Policy.of(weight="sex", keep="sex"), SMALL)
    for role in ("keep", "identifiers"):
        assert completed(Policy.of(weight="age", **{role: "age"}), SMALL)[0].weight == "age"


def test_l_and_t_need_a_sensitive_column():
    assert "constraint l needs a sensitive column" in refused(Policy.of(l=2), SMALL)
    assert "constraints l and t need a sensitive column" in refused(Policy.of(l=2, t=0.2), SMALL)
    assert completed(Policy.of(l=2, t=0.2, sensitive="sex"), SMALL)[0].constraints.l == 2


@pytest.mark.parametrize(
    "asked",
    [{"alpha": 0.3}, {"beta": 1.0}, {"delta": 2.0}, {"l": 2, "l_kind": "recursive", "c": 2.0}, {"others": {"x": 1.0}}],
)
def test_every_constraint_on_sensitive_values_needs_a_sensitive_column(asked):
    assert "need a sensitive column" in refused(Policy.of(constraints=asked), SMALL).replace("needs", "need")


@pytest.mark.parametrize(("kind", "word"), [("l_kind", "entropy"), ("l_kind", "distinct"), ("beta_kind", "enhanced")])
def test_a_kind_of_counting_needs_its_constraint(kind, word):
    message = refused(Policy.of(constraints={kind: word}, sensitive="sex"), SMALL)
    assert message.startswith(f"policy: constraint {kind} says how {kind.removesuffix('_kind')} is counted")


def test_a_policy_without_quasi_identifiers_is_refused():
    assert "no column is a quasi-identifier" in refused(Policy.of(keep=["zip", "age", "sex"]), SMALL)
    assert "no column is a quasi-identifier" in refused(Policy.of(), Table.of(pa.table({})))


def test_an_ordinal_column_needs_its_order():
    message = refused(with_columns(sex={"kind": "ordinal"}), SMALL)
    assert message.startswith("policy: column 'sex' is ordinal, and its order is not known. Give `order`")


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([True, False], "date"),
        ([1, 2], "date"),
        ([0.5, 1.5], "boolean"),
        (pa.array([1, 2], pa.date32()), "numeric"),
        ([1, 2], "set"),
        ([["a"], ["b"]], "numeric"),
        ([{"x": 1}, {"x": 2}], "set"),
    ],
)
def test_a_kind_that_the_type_cannot_have_is_refused(column, kind):
    message = refused(with_columns(x={"kind": kind, "role": "keep"}), held(x=column, age=[31, 40]))
    assert f"and cannot be {kind}; expected" in message


@pytest.mark.parametrize("kind", ["numeric", "date", "boolean", "nominal"])
def test_text_may_be_of_any_kind_until_its_cells_are_read(kind):
    assert completed(with_columns(zip={"kind": kind}), SMALL)[0].columns["zip"].kind == kind


def test_sets_cannot_be_quasi_identifiers():
    message = refused(with_columns(zip={"kind": "set"}), SMALL)
    assert message.startswith(
        "policy: column 'zip' is of kind set and cannot be a quasi-identifier: methods for tables do not"
    )
    policy, _ = completed(with_columns(zip={"kind": "set", "role": "sensitive"}), SMALL)
    assert policy.columns["zip"].kind == "set"


@pytest.mark.parametrize(
    ("column", "called"),
    [
        (LISTS, "lists"),
        (pa.array([[{"SECRET": 1}]] * 3), "lists"),
        (pa.array([{"SECRET": 1}] * 3), "structs"),
        (pa.array([b"a"] * 3), "binary"),
        (pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64())), "maps"),
        (pa.UnionArray.from_sparse(pa.array([0] * 3, pa.int8()), [pa.array([1] * 3)], ["SECRET"]), "nested values"),
        (
            pa.ExtensionArray.from_storage(
                pa.fixed_shape_tensor(pa.int64(), [1]), pa.array([[1]] * 3, pa.list_(pa.int64(), 1))
            ),
            "arrow.fixed_shape_tensor",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_nested_columns_cannot_be_quasi_identifiers_but_may_have_other_roles(column, called):
    table = held(tags=column, age=[31, 40, 40])
    message = refused(Policy.of(k=2, quasi="tags"), table)
    assert message.startswith(f"policy: column 'tags' contains {called} and cannot be a quasi-identifier")
    for role in ("identifiers", "sensitive", "keep"):
        completed(Policy.of(k=2, **{role: "tags"}), table)


def test_unlisted_list_columns_are_items_and_other_nested_ones_are_refused():
    named = completed(Policy.of(k=2), held(tags=LISTS, age=[31, 40, 40]))[0].columns["tags"]
    assert (named.role, named.kind, named.separator) == ("items", "set", "|")
    assert "cannot be a quasi-identifier" in refused(Policy.of(k=2), held(tags=pa.array([b"a"] * 3), age=[31, 40, 40]))


def test_a_form_that_does_not_suit_the_kind_found_is_refused():
    message = refused(with_columns(sex={"form": "mean"}), SMALL)
    assert message == (
        "policy: form 'mean' does not suit column 'sex', which is nominal (string); "
        "choose mode, representative, medoid, set, tree."
    )


def test_no_error_shows_a_cell():
    table = held(sex=["MARKER", "MARKER"], tags=[["MARKER"], ["MARKER"]], number=[918273645, 918273645])
    policies = [
        Policy.of(k=2, quasi="tags"),
        Policy.of(k=2, items=["sex"]),
        Policy.of(quasi="other"),
        Policy.of(label="sex", keep="tags"),
        Policy.of(weight="sex", keep="tags"),
        Policy.of(l=2, keep="tags"),
        Policy.of({"columns": {"sex": {"kind": "ordinal"}, "tags": {"role": "keep"}}}),
        Policy.of({"columns": {"number": {"kind": "date"}, "tags": {"role": "keep"}}}),
        Policy.of({"columns": {"sex": {"form": "mean"}, "tags": {"role": "keep"}}}),
    ]
    for policy in policies:
        message = refused(policy, table)
        assert "MARKER" not in message
        assert "918273645" not in message


def test_durations_cannot_be_quasi_identifiers():
    table = held(age=[1, 2, 2], stay=pa.array([1, 2, 2], pa.duration("s")))
    assert "'stay' contains durations, which cannot be quasi-identifiers. Convert them to numbers" in refused(
        Policy.of(), table
    )
    assert completed(Policy.of(k=2, keep="stay"), table)[0].columns["stay"].role == "keep"


def test_text_that_looks_like_dates_is_noted_unless_its_kind_is_given():
    table = held(born=["1950-01-31", "1961-02-28", "1961-02-28"])
    assert [note for note in completed(Policy.of(k=2), table)[1] if "dates" in note] == [
        "column 'born': text that looks like dates; if it is, set kind = \"date\" in a policy."
    ]
    for kind in ("date", "nominal"):
        assert not any("looks like dates" in note for note in completed(with_columns(born={"kind": kind}), table)[1])


def test_dates_with_slashes_are_noted_if_they_are_published_per_class():
    table = held(born=["31/01/1950", "28/02/1961", "28/02/1961"])
    [note] = [note for note in completed(Policy.of(k=2, method="mdav"), table)[1] if "date" in note]
    assert note.startswith("column 'born': text that looks like dates, but is not read as dates; ")
    assert not any("not read" in note for note in completed(with_columns(born={"kind": "nominal"}), table)[1])


def test_a_row_number_declared_as_a_quasi_identifier_is_noted():
    table = held(id=[1, 2, 3], age=[31, 40, 40])
    [message] = [note for note in completed(Policy.of(k=2, quasi=["id"]), table)[1] if "'id'" in note]
    assert message == "column 'id' contains row numbers, but is a quasi-identifier. Make it an identifier."
    for name in ("year", "age", "income"):  # consecutive by chance
        table = held(**{name: [1999, 2000, 2001], "height": [31, 40, 40]})
        assert not any("contains row numbers" in note for note in completed(Policy.of(k=2, quasi=[name]), table)[1])


def test_the_view_of_a_column_is_kept():
    table = held(age=[31, 40, 40], sex=["F", "M", "M"])
    assert completed(with_columns(age={"view": "vitals"}), table)[0].columns["age"].view == "vitals"
    with pytest.raises(PolicyError, match="view is for quasi-identifiers"):
        with_columns(age={"role": "keep", "view": "vitals"})
