"""What a policy requires gets a verdict, or the policy is refused: nothing is silently ignored."""

import pyarrow as pa
import pytest

import shoal
from shoal.catalogue import model
from shoal.errors import PolicyError
from shoal.model.constraints import ANSWERED_BY, Constraints
from shoal.model.policy import Policy

N = 24
PLAIN = pa.table({"age": [20 + place // 6 for place in range(N)], "sex": ["F", "M"] * (N // 2)})
ILL = PLAIN.append_column("ill", pa.array(["a", "b", "c"] * (N // 3)))
# Each field of the constraints: what is set, and the figure by which the verdict shows that it was counted.
ASKED = {
    "k": ({"k": 4}, 4),
    "l": ({"l": 2}, 2),
    "l_kind": ({"l": 1.5, "l_kind": "entropy"}, 1.5),
    "c": ({"l": 2, "l_kind": "recursive", "c": 3.0}, 3.0),
    "t": ({"t": 0.9}, 0.9),
    "alpha": ({"alpha": 0.8}, 0.8),
    "beta": ({"beta": 7.5}, 7.5),
    "beta_kind": ({"beta": 7.5, "beta_kind": "enhanced"}, 7.5),
    "delta": ({"delta": 6.5}, 6.5),
    "m": ({"m": 1}, 1),
    "others": ({"others": {"most shares": 0.75}}, 0.75),
}


@pytest.fixture
def installed(install):
    """A plug-in model, as from an entry point."""
    from shoal.privacy.verdict import models

    install("models", {"most shares": model("most shares")(lambda counts, _: models.alpha(counts))})


def test_every_constraint_has_a_case_here_and_a_model_that_checks_it():
    assert set(ASKED) == set(ANSWERED_BY) == set(Constraints.model_fields)


@pytest.mark.parametrize("name", [name for name in ASKED if name != "m"])
def test_every_constraint_gets_a_verdict(name, installed):
    asked, figure = ASKED[name]
    options = {"method": "mdav", "sensitive": ["ill"]}
    found, without = (
        {(one.model, one.asked) for one in shoal.anonymize(ILL, constraints=given, **options).verdicts}
        for given in ({"k": 3, **asked}, {"k": 3})
    )
    assert figure in {value for _, value in found - without}


def test_m_gets_the_verdict_on_sets():
    pairs = pa.table({"sex": ["F"] * 6, "tags": [["x"], ["x"], ["y"], ["y"], ["x", "y"], ["z"]]})
    common = pa.table({"sex": ["F"] * 5, "tags": [["x"], ["x"], ["y"], ["y"], ["x", "y"]]})
    assert [one.holds for one in shoal.verify(common, k=2, m=1).verdicts] == [True, True]
    assert [one.holds for one in shoal.verify(common, k=2, m=2).verdicts] == [True, False]
    assert [one.holds for one in shoal.verify(pairs, k=2, m=1).verdicts] == [True, False]


@pytest.mark.parametrize("name", [name for name in ASKED if name != "k"])
def test_every_constraint_without_a_verdict_is_refused(name, tmp_path, installed):
    asked, _ = ASKED[name]
    for call in (shoal.anonymize, shoal.verify, shoal.explore):
        with pytest.raises(PolicyError, match="^policy: constraint"):
            call(PLAIN, constraints=asked)
    with pytest.raises(PolicyError):
        shoal.anonymize(PLAIN, policy=Policy.of(constraints=asked))


def test_an_undeclared_constraint_is_refused(monkeypatch):
    monkeypatch.delitem(ANSWERED_BY, "alpha")
    with pytest.raises(PolicyError, match="constraint alpha is not answered by any verdict"):
        shoal.anonymize(ILL, k=3, constraints={"alpha": 0.9}, sensitive=["ill"])


def test_k_needs_a_column_to_count():
    for call in (shoal.anonymize, shoal.verify):
        with pytest.raises(PolicyError, match="nothing for k to count"):
            call(PLAIN, keep=["age", "sex"])


@pytest.mark.parametrize("asked", [{"alpha": 0.3}, {"l_kind": "entropy"}])
def test_a_folder_whose_policy_has_a_constraint_without_a_verdict_does_not_hold(asked, tmp_path, resigned):
    shoal.anonymize(PLAIN, k=3, method="mdav").save(tmp_path / "out", format="csv", report=False)
    assert shoal.verify(tmp_path / "out").holds
    policy = Policy.load(tmp_path / "out" / "policy.toml")
    resigned(tmp_path / "out", Policy.of(policy, constraints=asked))
    assert not shoal.verify(tmp_path / "out").holds
    assert any(line.what == "policy" and not line.holds for line in shoal.verify(tmp_path / "out").lines)


@pytest.fixture
def resigned():
    """Replace the policy of a release folder, with a matching certificate."""
    import hashlib
    import json

    def put(folder, policy):
        text = policy.to_toml()
        (folder / "policy.toml").write_text(text)
        certificate = folder / "certificate.json"
        statement = json.loads(certificate.read_text())
        statement["predicate"]["policy"] = policy.as_dict()
        for entry in statement["subject"]:
            if entry["name"] == "policy.toml":
                entry["digest"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        certificate.write_text(json.dumps(statement))

    return put
