"""The models that a policy requests in `constraints.others`: each leads to a verdict, or is refused."""

import json

import numpy as np
import pytest

import shoal
from shoal.catalogue import model, models, requested_model
from shoal.catalogue.model_card import one_each
from shoal.certify.recount import recount

ASKED = {"t-closeness": "constraints.t", "k-anonymity": "constraints.k", "(k,k^m)-anonymity": "constraints.k"}


@pytest.fixture
def people():
    return shoal.sample(90, seed=4).select(["height_cm", "weight_kg", "days", "diagnosis"])


@pytest.fixture
def plugged(monkeypatch):
    """A way to install the function of a model as a plug-in."""

    def install(figures, **more):
        @model("mine", **more)
        def mine(counts, _):
            return figures(counts)

        load = type(models).load
        monkeypatch.setattr(type(models), "load", lambda own, name: mine.card if name == "mine" else load(own, name))

    return install


@pytest.mark.parametrize("name", ASKED)
def test_a_built_in_model_is_not_requested_as_that_of_a_plug_in(people, name):
    asked = {"k": 5, "sensitive": ["diagnosis"], "constraints": {"others": {name: 0.5}}}
    with pytest.raises(shoal.PolicyError, match="is built in. Use .constraints") as caught:
        shoal.anonymize(people, method="mdav", **asked)
    assert ASKED[name] in str(caught.value)
    with pytest.raises(shoal.PolicyError, match="is built in"):
        shoal.verify(people, k=5, quasi=["days"], sensitive=["diagnosis"], constraints={"others": {name: 0.5}})


@pytest.mark.parametrize("name", ASKED)
def test_a_folder_that_requests_a_built_in_model_as_another_fails(people, tmp_path, name):
    folder = shoal.anonymize(people, k=5, method="mdav", sensitive=["diagnosis"]).save(tmp_path / "out", report=False)
    policy = folder / "policy.toml"
    policy.write_text(policy.read_text().replace("[constraints.others]\n", f'[constraints.others]\n"{name}" = 2.0\n'))
    certificate = folder / "certificate.json"
    stated = json.loads(certificate.read_text())
    stated["predicate"]["policy"]["constraints"]["others"] = {name: 2.0}
    certificate.write_text(json.dumps(stated, indent=2))
    checked = shoal.verify(folder)
    assert not checked.holds
    assert any("which is not the model of an installed plug-in" in line.found for line in checked.lines)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_the_value_of_another_model_is_finite(people, value):
    with pytest.raises(shoal.PolicyError, match="must be a finite number"):
        shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints={"others": {"mine": value}})


@pytest.mark.parametrize(
    "figures",
    [
        lambda counts: np.full(counts.sizes.size, np.nan),
        lambda _: np.ones(1 << 10),
        lambda counts: np.ones((counts.sizes.size, 1)),
        lambda counts: [1.0] * counts.sizes.size,
        lambda counts: np.ones(counts.sizes.size, complex),
        lambda counts: np.array(["1"] * counts.sizes.size),
        lambda _: None,
        lambda _: 1.0,
        lambda _: np.float64(1.0),
    ],
)
def test_figures_that_are_not_a_number_for_each_class_are_refused(people, plugged, figures):
    plugged(figures)
    asked = {"k": 5, "sensitive": ["diagnosis"], "constraints": {"others": {"mine": 9.0}}}
    with pytest.raises(shoal.MethodError, match="'mine' failed .a model must give"):
        shoal.anonymize(people, method="mdav", **asked)
    with pytest.raises(shoal.MethodError, match="'mine' failed .a model must give"):
        recount(people, shoal.Policy.of(quasi=["days"], keep=["height_cm", "weight_kg"], **asked))


def test_one_figure_is_not_spread_over_several_classes():
    with pytest.raises(shoal.MethodError, match="'mine'"):
        one_each("mine", np.ones(1), 18)
    assert one_each("mine", np.array([1, 2]), 2).tolist() == [1.0, 2.0]


def test_infinite_figures_are_compared_but_not_certified_and_nan_never_holds(people, plugged):
    asked = {"k": 5, "sensitive": ["diagnosis"], "constraints": {"others": {"mine": 9.0}}}
    plugged(lambda counts: np.append(np.full(counts.sizes.size - 1, np.inf), 9.0), high=True)
    assert shoal.anonymize(people, method="mdav", **asked).verdicts[-1].found == 9.0
    plugged(lambda counts: np.full(counts.sizes.size, np.inf), high=True)
    with pytest.raises(shoal.MethodError, match="the model 'mine' gave an infinite figure for every class"):
        shoal.anonymize(people, method="mdav", **asked)
    for how in ({"high": True}, {"strict": True}, {}):
        plugged(lambda _: None, **how)
        assert models.load("mine").fails(np.array([np.nan]), 1.0).all()


@pytest.mark.parametrize("about", ["classes", "items", "records"])
def test_a_model_that_no_verdict_answers_is_refused(people, plugged, about):
    plugged(lambda counts: np.ones(counts.sizes.size), about=about)
    with pytest.raises(shoal.PolicyError, match=f"'mine' of a plug-in is about {about}"):
        shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints={"others": {"mine": 9.0}})


def test_a_model_whose_card_asks_for_nothing_is_judged_by_the_value_of_the_policy(people, plugged):
    plugged(lambda counts: np.ones(counts.sizes.size), asks=lambda _: None)
    release = shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints={"others": {"mine": 9.0}})
    assert [(one.model, one.asked) for one in release.verdicts][1:] == [("mine", 9.0)]
    assert requested_model("mine").name == "mine"


@pytest.mark.parametrize("asked", [{"rarest value": 3}, {"others": {"rarest value": 3}}])
def test_the_model_of_a_plug_in_is_requested_by_its_name(install, asked):
    install("models", {"rarest value": model("rarest value", high=True)(lambda counts, _: counts.sizes * 1.0)})
    policy = shoal.Policy.of(k=5, constraints={**asked, "alpha": 0.5})
    assert policy == shoal.Policy.of({"constraints": {"k": 5, "alpha": 0.5, "others": {"rarest value": 3}}})
    twice = {"rarest value": 4, "others": {"rarest value": 3}}
    with pytest.raises(shoal.PolicyError, match="rarest value is given twice, with different values"):
        shoal.Policy.of(constraints=twice)
    with pytest.raises(shoal.PolicyError, match="there is no constraint 'rarest values'"):
        shoal.Policy.of(constraints={"rarest values": 3})


def test_recursive_l_diversity_without_c_says_how_to_give_it():
    with pytest.raises(shoal.PolicyError, match=r"needs both l and c.*constraints=\{\"c\": \.\.\.\}"):
        shoal.Policy.of(k=5, l=3, l_kind="recursive", sensitive=["ill"])
