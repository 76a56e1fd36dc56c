"""The commands that list the catalogue, and options that list their words."""

from typing import get_args

import pytest
from typer.main import get_command

from command_line import shoal_command
from shoal.catalogue import models
from shoal.cli.app import app
from shoal.cli.listing import requested
from shoal.model.constraints import LKind
from shoal.model.csv_style import NAMES
from shoal.model.disassociated import TermPolicy
from shoal.model.options import Known, Missing, Refine, ReportFormat
from shoal.model.policy import Constraints
from shoal.model.set_release import Neighbour


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


@pytest.mark.parametrize(
    ("command", "option", "words"),
    [
        ("anonymize", "l_kind", get_args(LKind)),
        ("anonymize", "missing", get_args(Missing)),
        ("anonymize", "refine", get_args(Refine)),
        ("anonymize", "csv_style", NAMES),
        ("attack", "profile", get_args(Known)),
        ("report", "format", get_args(ReportFormat)),
        ("sets anonymize", "neighbour", get_args(Neighbour)),
        ("sets anonymize", "terms", get_args(TermPolicy)),
    ],
)
def test_the_help_of_an_option_has_every_word_that_it_takes(command, option, words):
    found = get_command(app)
    for name in command.split():
        found = found.commands[name]
    [text] = [one.help for one in found.params if one.name == option]
    assert all(word in text for word in words)
