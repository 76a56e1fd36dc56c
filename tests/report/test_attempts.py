"""What the holder's report shows of attacks: no rate that stands for fewer than k people."""

import numpy as np
import pyarrow as pa
import pytest

import shoal
from plug_ins import put
from shoal.model.findings import Attack
from shoal.model.policy import Policy
from shoal.model.sentences import Sentence, Share, for_page
from shoal.model.table import Table
from shoal.privacy.measures.case import Case
from shoal.reports.attempts import without_few

CASE = Case(
    pa.table({"age": np.zeros(90)}), Policy.of(k=5, quasi=["age"]), control=Table.of(pa.table({"age": np.zeros(80)}))
)
GIVEN = {
    "name": "mine",
    "profile": "knows all quasi-identifiers",
    "successes": 45.0,
    "trials": 90,
    "interval": (0.4, 0.6),
    "baseline": 0.3,
    "control": 0.35,
    "power": None,
    "outcome": "leak",
    "bound": 0.35,
}


def shown(**given):
    return without_few(Attack(**{**GIVEN, **given}), CASE)


def test_rates_of_many_people_are_shown_as_they_are():
    assert shown() == {
        "rate": "0.500",
        "interval": "0.400 to 0.600",
        "baseline": "0.300",
        "control": "0.350",
        "bound": "0.350",
        "outcome": "leak",
    }


def test_a_control_of_fewer_than_k_people_is_withheld_and_so_is_the_bound_that_equals_it():
    found = shown(control=4 / 80, bound=4 / 80, control_of=80, baseline=0.0, baseline_of=0)
    assert (found["control"], found["bound"], found["rate"]) == ("below 0.062", "below 0.062", "0.500")
    assert shown(control=77 / 80, control_of=80)["control"] == "above 0.938"


def test_a_baseline_that_counts_fewer_than_k_people_is_withheld_unless_it_counts_no_one():
    assert shown(baseline=3 / 40, baseline_of=40)["baseline"] == "below 0.125"
    assert shown(baseline=1 / 90, baseline_of=0)["baseline"] == "0.011"


def test_what_an_attack_does_not_say_is_taken_for_a_share_of_all_rows():
    assert shown(baseline=1 / 90)["baseline"] == "below 0.056"
    assert shown(control=0.03)["control"] == "below 0.062"


def test_a_rate_of_fewer_than_k_successes_has_no_interval():
    found = shown(successes=3.0)
    assert (found["rate"], found["interval"]) == ("below 0.056", "")


def test_an_attack_without_trials_shows_no_figures():
    found = shown(trials=0, successes=0.0)
    assert (found["rate"], found["control"], found["outcome"]) == ("–", "–", "not tried")


def test_a_share_in_a_sentence_knows_of_how_many_people_it_is():
    sentence = Sentence("{share:.3f} of them", share=Share(3 / 60, 60))
    assert (str(sentence), for_page(sentence, 1000, 5)) == ("0.050 of them", "below 0.083 of them")
    assert for_page(Sentence("{share:.3f}", share=Share(0.5, 60)), 1000, 5) == "0.500"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"successes": float("nan")}, "successes must be from 0 to 90"),
        ({"successes": 93.0}, "successes must be from 0 to 90"),
        ({"successes": "x"}, "successes must be a number; got a str"),
        ({"trials": None}, "trials must be a whole number; got None"),
        ({"baseline": 1.5}, "baseline must be from 0 to 1"),
        ({"control": -0.5}, "control must be from 0 to 1"),
        ({"interval": (0.5,)}, "interval must be a pair of numbers"),
        ({"outcome": "3 rows"}, "outcome must be one of 'leak'"),
        ({"note": 3}, "note must be text; got an int"),
    ],
)
def test_an_attack_with_figures_or_texts_that_cannot_be_is_refused(given, message):
    with pytest.raises(shoal.MethodError, match=f"attack 'mine': {message}"):
        Attack(**{**GIVEN, **given})


def test_rates_of_numpy_become_numbers_of_python():
    found = Attack(**{**GIVEN, "successes": np.float32(45), "trials": np.int64(90), "interval": np.array([0.4, 0.6])})
    assert [type(one) for one in (found.successes, found.trials, found.interval[0])] == [float, int, float]


NAMED = """
from shoal.catalogue import attack
from shoal.model.findings import Attack


@attack("mine")
def mine(case, profile, clock):
    \"\"\"Quote a cell in a name.\"\"\"
    return Attack(NAME, PROFILE, 45.0, 90, (0.4, 0.6), 0.3, None, None, "leak")
"""


@pytest.mark.parametrize(
    ("name", "profile"), [("'3 rows are Anna'", "profile.name"), ("'mine'", "'3 rows have asthma'")]
)
def test_an_attack_of_a_plug_in_has_its_own_name_and_the_profile_given(tmp_path, monkeypatch, name, profile):
    source = NAMED.replace("NAME", name).replace("PROFILE", profile)
    put(tmp_path, monkeypatch, "naming", source, attacks={"mine": "mine"})
    people = shoal.sample(90, seed=4).select(["height_cm", "weight_kg", "days"])
    release = shoal.anonymize(people, k=5, method="mdav", seed=1)
    with pytest.raises(shoal.MethodError, match="must have the name of the card") as caught:
        shoal.attack(people, release, only=["mine"])
    assert "Anna" not in str(caught.value)
    assert "asthma" not in str(caught.value)
