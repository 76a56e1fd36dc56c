"""Policies: read, checked, merged, and fit to be published."""

import json

import numpy as np
import pytest

from shoal.errors import PolicyError
from shoal.model.asking import on_command_line
from shoal.model.policy import Column, Policy

EXAMPLE = """
missing = "suppress-row"
seed = 42
label = "ill"

[constraints]
k = 10
l = 2
t = 0.3

[method]
name = "mdav"

[columns.name]
role = "identifier"

[columns.grade]
kind = "ordinal"
order = ["low", "mid", "high"]

[columns.ill]
role = "sensitive"
missing_codes = [-999, "unknown"]
"""


def test_a_policy_file_is_read(tmp_path):
    (tmp_path / "p.toml").write_text(EXAMPLE)
    policy = Policy.load(tmp_path / "p.toml")
    assert (policy.constraints.k, policy.constraints.l, policy.seed) == (10, 2, 42)
    assert policy.columns["grade"].order == ("low", "mid", "high")
    assert policy.columns["ill"].missing_codes == (-999, "unknown")
    assert policy.names("identifier") == ["name"]


def test_what_is_written_is_read_back():
    policy = Policy.from_toml(EXAMPLE)
    assert Policy.from_toml(policy.to_toml()) == policy


def test_keyword_arguments_replace_what_the_file_says():
    policy = Policy.of(Policy.from_toml(EXAMPLE), k=3, sensitive=["name"], missing="refuse", t=0.1)
    assert (policy.constraints.k, policy.constraints.l, policy.constraints.t) == (3, 2, 0.1)
    assert policy.columns["name"].role == "sensitive"
    assert policy.missing == "refuse"


def test_numpy_numbers_are_accepted():
    assert Policy.of(k=np.int64(7), t=np.float64(0.5)).as_dict() == {
        "constraints": {"k": 7, "t": 0.5},
        "method": {},
        "columns": {},
    }


def test_a_single_name_is_accepted_for_a_list():
    assert Policy.of(sensitive="ill").names("sensitive") == ["ill"]


def test_a_column_without_a_role_is_a_quasi_identifier():
    assert Column().role == "quasi"


def test_a_column_has_one_role():
    with pytest.raises(PolicyError, match="column 'a' is named as identifier and as keep"):
        Policy.of(identifiers=["a"], keep=["a"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k = 5", "there is no key 'k'. Did you mean 'constraints.k'?"),
        ("sensitive = ['a']", "there is no key 'sensitive'. The role of a column goes into 'columns.NAME.role'."),
        ("k = 5\nq = 1\nz = 1", "Did you mean 'constraints.k'? Also, there is no key 'q'; there is no key 'z'."),
        ("[constraints]\nkk = 5", "there is no key 'constraints.kk'. Did you mean 'k'?"),
        ("[columns.a]\nrol = 'keep'", "there is no key 'columns.a.rol'. Did you mean 'role'?"),
        ("[columns.a]\nl = 2", "no key 'columns.a.l'. Constraints apply to all columns: write 'constraints.l'."),
        ("[method]\nleftover = 'group'", "'method.leftover'. Parameters of the method go into 'method.parameters'."),
        ("[columns.a]\nrole = 'secret'", "columns.a.role"),
        ("[constraints]\nk = 1", "constraints.k must be at least 2; got 1"),
        ("[constraints]\nk = 2.5", "constraints.k"),
        ("[constraints]\nk = '5'", "constraints.k"),
        ("[constraints]\nk = true", "constraints.k"),
        ("[constraints]\nl = 1", "constraints.l"),
        ("[constraints]\nl = 2.5", "l counts distinct values and must be a whole number; got 2.5"),
        ("[constraints]\nl = inf", "constraints.l"),
        ("[constraints]\nt = 1.5", "constraints.t"),
        ("[constraints]\nt = nan", "constraints.t"),
        ("missing = 'drop'", "missing"),
        ("seed = -1", "seed"),
        ("[columns.a]\nkind = 'nominal'\nform = 'mean'", "form 'mean' does not suit a nominal column"),
        ("[columns.a]\nkind = 'ordinal'\norder = ['x', 'x']", "order has a duplicate level"),
        ("[columns.a]\nkind = 'nominal'\norder = ['x']", "order is for ordinal columns"),
        ("[columns]\na = 'keep'", "columns.a"),
        ("[constraints]\nk = 1" + "0" * 400, "constraints.k"),
        ("[method.parameters]\nk = 3", "k is a constraint, not a parameter"),
        ("[columns.a]\norder = ['x', 'x']", "order has a duplicate level"),
        ("[columns.a]\nimportance = 0", "columns.a.importance must be above 0; got 0"),
        ("[columns.a]\nimportance = 1e7", "columns.a.importance"),
        ("[columns.a]\nimportance = nan", "columns.a.importance"),
        ("[columns.a]\nimportance = true", "columns.a.importance"),
        (
            "[columns.a]\nrole = 'keep'\nimportance = 2",
            "columns.a: importance is for quasi-identifiers, and this column has the role keep",
        ),
        (
            "[method]\nrefine = 'fast'",
            "method.refine must be 'none', 'swift', 'quick', 'normal' or 'thorough'",
        ),
        ("k = ", "the text is not TOML"),
        ("[columns.Größe]", "in quotes"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence_with_its_key(text, expected):
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text)
    message = str(caught.value)
    assert message.startswith("policy: ")
    assert expected in message
    assert "\n" not in message


def test_a_policy_file_that_is_missing_or_not_text_is_refused(tmp_path):
    with pytest.raises(PolicyError, match="there is no file"):
        Policy.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="cannot be read as a text file"):
        Policy.load(tmp_path / "bad.toml")
    with pytest.raises(PolicyError, match="is not a policy file"):
        Policy.load(tmp_path)
    with pytest.raises(PolicyError, match="cannot be read as a text file"):
        Policy.load("a\0b")
    with pytest.raises(PolicyError, match="an int is not a policy"):
        Policy.of(5)
    with pytest.raises(PolicyError, match="nested too deeply"):
        Policy.from_toml("a = " + "[" * 5000 + "]" * 5000)


def test_the_published_policy_has_no_seed_codes_or_unreleased_levels():
    policy = Policy.from_toml(EXAMPLE).published({"ill": ["mild"]})
    text = policy.to_toml()
    for hidden in ("seed", "-999", "unknown", "low", "null_words"):
        assert hidden not in text
    assert policy.columns["ill"].order == ("mild",)
    assert policy.names("identifier") == ["name"]
    assert policy.constraints.k == 10


def test_importance_and_refine_are_published():
    policy = Policy.of({"columns": {"a": {"importance": 4}}}, refine="quick").published({})
    assert policy.columns["a"].importance == 4
    assert policy.method.refine == "quick"
    assert "importance" not in Policy.of({"columns": {"a": {}}}).published({}).to_toml()


def test_parameters_replace_those_of_the_same_name_and_another_method_starts_without_any():
    base = Policy.of(method="anneal", parameters={"effort": "quick", "rounds": 3})
    assert Policy.of(base, parameters={"rounds": 9}).method.parameters == {"effort": "quick", "rounds": 9}
    assert Policy.of(base, method="anneal", k=3).method.parameters == base.method.parameters
    assert Policy.of(base, method="mdav").method.parameters == {}
    assert Policy.of(base, method="blocks", parameters={"cell": 500}).method.parameters == {"cell": 500}
    nameless = Policy.of({"method": {"parameters": {"effort": "quick"}}}, method="anneal")
    assert nameless.method.parameters == {"effort": "quick"}
    with pytest.raises(PolicyError, match="parameters must be a mapping of names to values; got a list"):
        Policy.of(parameters=[1])


def test_a_column_that_loses_its_role_may_not_keep_its_importance():
    with pytest.raises(PolicyError, match="column 'a': importance is for quasi-identifiers"):
        Policy.of({"columns": {"a": {"importance": 4}}}, sensitive=["a"])


def test_the_schema_names_every_key():
    schema = json.dumps(Policy.model_json_schema())
    for key in ("constraints", "l_kind", "missing_codes", "null_words", "parameters", "importance", "refine"):
        assert f'"{key}"' in schema


@pytest.mark.parametrize(("name", "strict", "lax"), [("k", 10, 2), ("l", 3, 2), ("t", 0.2, 0.9), ("m", 3, 2)])
def test_a_constraint_given_twice_must_be_the_same(name, strict, lax):
    with pytest.raises(PolicyError, match=f"{name} is given twice, as {strict} and as {lax}"):
        Policy.of(**{name: strict}, constraints={name: lax})
    assert getattr(Policy.of(**{name: strict}, constraints={name: strict}).constraints, name) == strict


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "policy: k must be at least 2; got 1."),
        ({"k": 2.5}, "policy: k must be a whole number; got 2.5."),
        ({"l_kind": "x"}, "policy: l_kind must be 'distinct', 'entropy' or 'recursive'; got 'x'."),
        ({"constraints": {"alpha": 3}}, "policy: constraint alpha must be at most 1; got 3."),
        ({"constraints": {"alfa": 0.3}}, "policy: there is no constraint 'alfa'. Did you mean 'alpha'?"),
        ({"constraints": {"x": 0.3}}, "policy: there is no constraint 'x'. `shoal models` lists them."),
        ({"refine": "x"}, "policy: refine must be 'none', 'swift', 'quick', 'normal' or 'thorough'; got 'x'."),
        ({"method": 4}, "policy: method must be text; got 4."),
        (
            {"parameters": {"x": [4]}},
            "policy: the parameter 'x' must be a number or text or true or false; got",
        ),
        ({"accept": ["x"]}, "policy: accept must be 'unique-kept'; got 'x'."),
        ({"accept": 5}, "policy: accept must be one or more names; got an int."),
        ({"sensitive": 5}, "policy: sensitive must be one or more names; got an int."),
        ({"sensitive": [5]}, "policy: the names of columns must be text; got 5. Write '5'."),
        ({"hierarchies": {"a": "mask"}, "keep": "a"}, "policy: column 'a': hierarchy is for quasi-identifiers and"),
    ],
)
def test_a_wrong_option_is_named_as_an_argument(options, message):
    with pytest.raises(PolicyError) as caught:
        Policy.of(**options)
    assert str(caught.value).startswith(message)


def test_a_wrong_option_is_named_as_a_flag_on_the_command_line():
    with on_command_line(), pytest.raises(PolicyError, match="policy: --l-kind must be"):
        Policy.of(l_kind="x")


@pytest.mark.parametrize("given", [{"method": "mdav"}, {"refine": "quick"}])
def test_options_that_contradict_each_other_are_refused_in_the_same_words_everywhere(given):
    with pytest.raises(PolicyError, match=r"^policy: protect: 'minimality' .* got '\w+'\.$") as caught:
        Policy.of(protect="minimality", **given)
    with on_command_line(), pytest.raises(PolicyError) as again:
        Policy.of(protect="minimality", **given)
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("given", [{3: 4}, {"method": {3: 4}}, {"constraints": {3: 4}}, {"columns": {"a": {3: 4}}}])
def test_a_key_that_is_not_text_is_refused(given):
    with pytest.raises(PolicyError, match=r"^policy: every key must be text; got 3\.$"):
        Policy.of(given)


def test_a_key_of_the_class_itself_is_refused_without_the_text_of_pydantic():
    with pytest.raises(PolicyError) as caught:
        Policy(k=3)
    hint = "Did you mean 'constraints.k'? Policy.of takes the options of anonymize, such as Policy.of(k=5)."
    assert str(caught.value) == f"policy: there is no key 'k'. {hint}"
    with pytest.raises(PolicyError, match=r"^policy: constraints.k must be at least 2; got 1\.$"):
        Policy(constraints={"k": 1})


def test_a_wrong_level_or_code_is_not_quoted():
    given = [{"columns": {"a": {key: "SECRET"}}} for key in ("order", "missing_codes")]
    for policy in (*given, {"null_words": "SECRET"}, {"null_words": {"SECRET": 1}}, {"null_words": [["SECRET"]]}):
        with pytest.raises(PolicyError) as caught:
            Policy.of(policy)
        assert "SECRET" not in str(caught.value)
    with pytest.raises(PolicyError, match=r"^policy: null_words\.0 must be text; got an int\.$"):
        Policy.of({"null_words": [4711]})


@pytest.mark.parametrize("value", ["SECRET", 4711, 10**5000, ["SECRET"]], ids=lambda value: type(value).__name__)
def test_the_value_of_an_unknown_option_is_not_quoted(value):
    with pytest.raises(PolicyError) as caught:
        Policy.of(na_values=value)
    assert str(caught.value).startswith("policy: unknown option 'na_values'. Known: 'policy', 'k'")
    assert not any(word in str(caught.value) for word in ("SECRET", "4711", "0000"))
    with pytest.raises(PolicyError, match=r"Write constraints=\{'alpha': \.\.\.\}\.$"):
        Policy.of(alpha=value)


def test_a_label_of_a_hierarchy_is_not_quoted():
    with pytest.raises(PolicyError) as refused:
        Policy.of(k=2, hierarchies={"age": {1953: ["a"]}})
    assert str(refused.value) == "policy: the labels in the hierarchy of column 'age' must be text; got an int."


@pytest.mark.parametrize("options", [{"k": 10**5000}, {"seed": 10**5000}])
def test_a_number_too_long_to_be_written_is_refused(options):
    with pytest.raises(PolicyError, match="a number of very many digits"):
        Policy.of(**options)


def test_an_unknown_role_is_refused():
    with pytest.raises(PolicyError, match="unknown role 'quasi_'. Known: .* Did you mean 'quasi'?"):
        Policy.of(quasi=["a"]).names("quasi_")


@pytest.mark.parametrize("section", ["constraints", "method"])
def test_a_key_of_the_top_inside_a_section_is_refused_with_its_place(section):
    with pytest.raises(PolicyError, match=f"no key '{section}.label'. Write 'label' at the top of the policy"):
        Policy.of({section: {"label": "ill"}})
