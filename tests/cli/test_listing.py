"""The commands that list the catalogue."""

import pytest

from command_line import shoal_command
from shoal.catalogue import models
from shoal.cli.listing import requested
from shoal.model.policy import Constraints


@pytest.mark.parametrize("name", sorted(models.built_in))
def test_a_model_is_listed_with_the_constraints_that_request_it(name):
    card = models.load(name)
    first, *others = card.set_by
    fixed = dict(key.split("=") for key in others if "=" in key)
    more = {key: 2 for key in others if "=" not in key}
    value = 0.3 if first in ("t", "alpha") else 3
    assert card.asks(Constraints(**{first: value, **more, **fixed})) == value


def test_models_are_listed_with_options_and_without_templates():
    ended = shoal_command("models")
    assert ended.code == 0
    assert "{" not in ended.out
    assert requested(models.load("recursive (c,l)-diversity")) == "--constraint c=C -l L --l-kind recursive"
    assert requested(models.load("k-anonymity")) == "-k K"


def test_a_plug_in_is_requested_by_its_name(install):
    from shoal.catalogue import model

    card = model("rows of a class", promise="At least {asked} rows.")(lambda counts, _: counts)
    install("models", {"rows of a class": card})
    assert requested(card.card) == "--constraint 'rows of a class=VALUE'"


def test_attacks_are_listed_with_what_they_require_in_words():
    lines = shoal_command("attacks").out.splitlines()
    [intersection] = [line for line in lines if line.lstrip().startswith("intersection")]
    assert intersection.rstrip().endswith("another release")
