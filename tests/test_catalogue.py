"""The catalogue: cards, parameter checks, and plug-ins treated like built-ins."""

import ast
import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.catalogue import Choice, Number, Whole, attacks, formats, measures, method, methods, models
from shoal.errors import MethodError


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(MethodError, match=r"unknown method 'mdaw'. Known: .*Did you mean 'mdav'\?"):
        methods.load("mdaw")


@pytest.mark.parametrize(("alias", "name"), sorted(methods.aliases.items()))
def test_a_method_is_found_by_its_other_name_in_the_literature(alias, name):
    assert methods.load(alias) is methods.load(name)
    table = shoal.sample(60, seed=2).select(["height_cm", "weight_kg", "days"])
    one, two = (shoal.anonymize(table, k=4, method=word, seed=1).table for word in (alias, name))
    assert one.equals(two)


@pytest.mark.parametrize("name", sorted(methods.built_in))
def test_mixed_methods_are_known_without_being_loaded(name):
    assert (methods.declared(name, "data") == "mixed") == (methods.load(name).data == "mixed")


def test_a_card_converts_to_plain_values():
    card = next(card for card in shoal.methods() if card["name"] == "mdav")
    assert card["ensures"] == ["k"]
    assert card["params"]["k"]["low"] == 2
    assert card["summary"].startswith("Partition the rows")


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        (Whole(2, 9), [2, 9, np.int64(5)], [1, 10, 2.0, True, "2", None]),
        (Number(0, 1), [0, 1, 0.5], [-0.1, 1.1, math.nan, math.inf, "0", True]),
        (Number(0), [0, 1e9], [-1, math.inf, math.nan]),
        (Choice(("a", "b")), ["a", "b"], ["c", 1, None]),
    ],
)
def test_parameters_say_what_they_expect(parameter, good, bad):
    assert all(parameter.wrong(value) is None for value in good)
    assert all(parameter.wrong(value) for value in bad)


@method("halves", data="numeric", ensures=set(), params={"k": Whole(2), "gap": Number(0, 1, default=0.5)})
def halves(X, k, gap):
    """Put the first and the second half of the rows into a group each."""
    return shoal.Partition.of(np.arange(len(X)) >= len(X) * gap)


def test_a_plug_in_method_is_found_by_its_entry_point_and_verified_like_any_other(install):
    install("methods", halves=halves)
    assert "halves" in methods.names()
    table = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]}
    release = shoal.anonymize(pa.table(table), method="halves", k=3)
    assert sorted(release._making.partition.sizes.tolist()) == [3, 4]
    bent = shoal.anonymize(pa.table(table), method="halves", k=3, parameters={"gap": 0.1})
    assert bent.verdicts[0].holds


def test_a_function_without_a_card_is_refused(install):
    install("methods", plain=math.sqrt)
    with pytest.raises(MethodError, match="'plain' has no card"):
        methods.load("plain")


def test_the_index_of_the_source_has_every_decorated_function():
    for section in (methods, models, measures, attacks, formats):
        found = set()
        for package in section.packages:
            for path in Path(find_spec(package).submodule_search_locations[0]).glob("*.py"):
                for node in ast.parse(path.read_text(encoding="utf-8")).body:
                    for call in getattr(node, "decorator_list", ()):
                        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in section.decorators:
                            found.add((ast.literal_eval(call.args[0]), node.name))
        assert {(name, one.function) for name, one in section.built_in.items()} == found
