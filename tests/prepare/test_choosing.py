"""Which output and which method, by the kinds of columns."""

import pyarrow as pa
import pytest

import shoal
from shoal.model.policy import Policy
from shoal.model.progress import listening
from shoal.model.table import Table
from shoal.prepare.choosing import truthful
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile

NUMBERS = {"age": [31, 40, 40], "dose": [0.5, 0.5, 1.5]}
NAMES = {**NUMBERS, "sex": ["F", "M", "M"]}
TREE = {"sex": {"all": ["F", "M"]}}


def completed(cells, **options):
    table = Table.of(pa.table(cells))
    return complete(Policy.of(k=2, **options), table, profile(table))


@pytest.mark.parametrize(
    ("cells", "options", "method", "form"),
    [
        (NUMBERS, {}, "auto", "mean"),
        (NAMES, {}, "gower", "representative"),
        (NAMES, {"identifiers": ["sex"]}, "auto", "mean"),
        (NAMES, {"output": "truthful"}, "grow", "range"),
        (NUMBERS, {"output": "truthful"}, "grow", "range"),
        (NAMES, {"hierarchies": TREE}, "cover", "range"),
        (NAMES, {"hierarchies": TREE, "output": "same-schema"}, "gower", "representative"),
        (NAMES, {"weight": "dose", "keep": ["dose"]}, "auto", "mean"),
        (NAMES, {"refine": "quick"}, "auto", "mean"),
        (NAMES, {"method": "anneal"}, "anneal", "mean"),
        (NAMES, {"method": "grow", "output": "same-schema"}, "grow", "representative"),
        (NAMES, {"method": "mdav", "output": "truthful"}, "mdav", "range"),
    ],
)
def test_kinds_and_output_choose_the_method_and_the_forms(cells, options, method, form):
    policy, notes = completed(cells, **options)
    assert (policy.method.name, policy.columns["age"].form) == (method, form)
    chosen = [note for note in notes if note.startswith("auto: ")]
    assert bool(chosen) == (options.get("method") is None and method != "auto")
    assert all(note.startswith(f"auto: chose {method}, effort quick, because ") for note in chosen)


def test_a_hierarchy_is_published_as_a_tree_only_where_output_is_truthful():
    assert completed(NAMES, hierarchies=TREE)[0].columns["sex"].form == "tree"
    assert completed(NAMES, hierarchies=TREE, output="same-schema")[0].columns["sex"].form == "representative"
    assert truthful(Policy.of(hierarchies=TREE))
    assert not truthful(Policy.of(hierarchies=TREE, output="same-schema"))


def test_a_form_that_is_not_truthful_is_noted_where_the_rest_is():
    columns = {"columns": {"age": {"form": "mean"}, "dose": {"form": "range"}}}
    _, notes = completed(NAMES, policy=columns, output="truthful")
    assert [note for note in notes if "its form is" in note] == [
        "column 'age': its form is mean, so its values need not be true of every row, although the output is truthful."
    ]


def test_the_choice_is_noted_with_its_reason():
    note = completed({"sex": ["F", "M"] * 300_000}, parameters={"effort": "normal"})[1][0]
    assert note == "auto: chose gower, effort normal, because the table has nominal columns."


def test_the_choice_is_announced_before_the_work_begins_if_there_is_one():
    messages = []
    with listening(lambda *_: None, messages.append):
        shoal.verify(pa.table(NAMES), k=2)
        assert messages == []
        shoal.anonymize(pa.table({"sex": ["F", "M"] * 4}), k=2)
    assert [message.split(",")[0].split(":")[0] for message in messages] == ["auto", "Expected for the whole run"]
