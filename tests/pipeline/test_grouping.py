"""What a method is given by the run, what happens to its notes and findings, and the search that may follow it."""

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.catalogue import Choice, Whole, method
from shoal.catalogue.method_card import USES
from shoal.errors import InfeasibleError, MethodError, PolicyError
from shoal.model.findings import Finding
from shoal.model.notes import Note
from shoal.model.partition import Partition
from shoal.model.progress import announce, listening, spent

HANDED = {}
BOUND = Finding("bound", 1.5, "proved", "groups")


def runs(X, k):
    order = np.argsort(X.sum(axis=1), kind="stable") if X.shape[1] else np.arange(len(X))
    labels = np.empty(len(X), np.int64)
    labels[order] = np.minimum(np.arange(len(X)) // k, max(len(X) // k - 1, 0))
    return labels


@method(
    "asks",
    data="numeric",
    ensures={"k"},
    params={"k": Whole(2), "mood": Choice(("calm", "loud"), "calm")},
    uses={*USES},
)
def asks(X, k, mood="calm", *, label=None, limits=None, seed=0, threads=None, view_of=None, weights=None):
    """Cut sorted rows into runs, and record the arguments."""
    HANDED.update(label=label, limits=limits, seed=seed, threads=threads, view_of=view_of, weights=weights)
    HANDED.update(mood=mood, spent=spent())
    announce("asks: about 1 s")
    return shoal.Partition.of(runs(X, k), ("asks: I cut runs.",), (BOUND,))


@method("plain", data="numeric", ensures=set(), params={"k": Whole(2)})
def plain(X, k):
    """Cut sorted rows into runs, without further arguments."""
    return shoal.Partition.of(runs(X, k))


@method("single", data="numeric", ensures=set(), params={"k": Whole(2)})
def single(X, k):
    """Put every row into its own group, with a note."""
    return shoal.Partition.of(np.arange(len(X)), ("single: everyone alone.",), (BOUND,))


@method("short", data="numeric", ensures=set(), params={"k": Whole(2)})
def short(X, k):
    """Forget the last row."""
    return shoal.Partition.of(np.zeros(len(X) - 1, np.int64))


@pytest.fixture(autouse=True)
def _plug_ins(install):
    install("methods", asks=asks, plain=plain, single=single, short=short)
    HANDED.clear()


def table(rows=24, seed=3):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "a": rng.normal(size=rows),
            "b": rng.normal(size=rows),
            "w": rng.integers(1, 9, rows),
            "ill": rng.choice(["x", "y", "z"], rows),
        }
    )


ROLES = {"keep": ["w"], "sensitive": ["ill"]}


def test_a_method_is_given_what_its_card_says_that_it_uses():
    overrides = {"k": 3, "l": 2, "seed": 41, "weight": "w", "label": "ill", "parameters": {"mood": "loud"}}
    overrides["policy"] = {"columns": {"b": {"view": "lab"}}}
    shoal.anonymize(table(), method="asks", threads=2, **overrides, **ROLES)
    assert (HANDED["seed"], HANDED["threads"], HANDED["mood"], HANDED["spent"]) == (41, 2, "loud", 0)
    assert HANDED["limits"].binding
    assert HANDED["limits"].codes.shape == (24, 1)
    assert sorted(HANDED["weights"]) == pytest.approx(sorted(np.array(table()["w"]) / 8))
    assert sorted(np.bincount(HANDED["label"])) == sorted(table()["ill"].value_counts().field("counts").to_pylist())
    assert HANDED["view_of"].tolist() == [0, 1]


def test_a_method_that_ignores_views_is_noted():
    views = {"columns": {"b": {"view": "lab"}}}
    notes = {method: shoal.anonymize(table(), k=3, method=method, policy=views).notes for method in ("mdav", "k_tca")}
    assert [any("names views" in note for note in notes[method]) for method in ("mdav", "k_tca")] == [True, False]


def test_inputs_that_the_policy_lacks_are_none_and_threads_are_all_cores():
    shoal.anonymize(table(), method="asks", k=3)
    assert HANDED["limits"] is None
    assert HANDED["weights"] is HANDED["label"] is HANDED["view_of"] is None
    assert HANDED["threads"] >= 1


def test_unknown_parameters_are_refused_with_the_known_ones():
    with pytest.raises(MethodError, match="asks: unknown parameter 'mod'. It has 'k', 'mood'. Did you mean 'mood'"):
        shoal.anonymize(table(), method="asks", k=3, parameters={"mod": "loud"})


def test_notes_and_findings_of_a_method_go_into_the_release():
    release = shoal.anonymize(table(), method="asks", k=3)
    assert "asks: I cut runs." in release.notes
    assert release.finding("bound") == 1.5


def test_a_plug_in_cannot_pass_its_findings_or_notes_off_as_those_of_shoal(monkeypatch):
    notes = (Note("unique-rows", "All is well.", "See 2 rows."), Note("rare-values", "Look again."))
    given = Partition.of(np.arange(24) // 3, notes, (Finding("cell loss %", 0.001, "of all cells", "pair"),))
    monkeypatch.setattr("shoal.pipeline.grouping.cluster", lambda *_: given)
    release = shoal.anonymize(table(), method="asks", k=3)
    assert [one.value for one in release.findings if one.name == "cell loss %"] != [0.001]
    assert sum(one.name == "cell loss %" for one in release.findings) == 1
    assert "All is well. See 2 rows." not in release.notes
    assert [note.kind for note in release.notes if note == "Look again."] == ["method"]


def test_findings_of_groups_that_were_merged_later_are_dropped_and_notes_kept():
    release = shoal.anonymize(table(), method="single", k=3)
    assert "single: everyone alone." in release.notes
    assert BOUND not in release.findings


def test_a_method_that_ignores_weights_is_noted():
    note = "row weights count in means and in SSE, but this method ignores them when it forms groups."
    assert f"plain: {note}" in shoal.anonymize(table(), method="plain", k=3, weight="w", **ROLES).notes
    assert note not in " ".join(shoal.anonymize(table(), method="plain", k=3, **ROLES).notes)
    assert note not in " ".join(shoal.anonymize(table(), method="asks", k=3, weight="w", **ROLES).notes)
    zero = table().set_column(2, "w", pa.array([0] * 24))
    assert note not in " ".join(shoal.anonymize(zero, method="plain", k=3, weight="w", **ROLES).notes)


def test_weights_count_in_the_findings():
    plainly, weighed = (
        shoal.anonymize(table(), method="plain", k=3, seed=1, **ROLES, **w) for w in ({}, {"weight": "w"})
    )
    assert weighed.finding("partition SSE") != plainly.finding("partition SSE")
    assert "weights" in {f.name: f.how for f in weighed.findings}["partition SSE"]


def test_a_method_that_loses_a_row_is_refused():
    with pytest.raises(MethodError, match="'short' failed .it returned groups for 23 of 24 rows"):
        shoal.anonymize(table(), method="short", k=3)


def test_infeasible_constraints_are_refused_before_the_method_runs():
    with pytest.raises(InfeasibleError, match="Lower l to 3"):
        shoal.anonymize(table(), method="asks", k=3, l=9, **ROLES)
    assert not HANDED


def test_sentences_of_a_method_are_sent_to_the_recipient():
    messages = []
    with listening(lambda *_: None, messages.append):
        shoal.anonymize(table(), method="asks", k=3)
    assert messages[-1] == "asks: about 1 s"


def test_a_budget_that_ended_a_search_is_noted_and_not_published(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("shoal.pipeline.allowance.MARGIN", 1e9)  # the steps after the search get the whole budget
        release = shoal.anonymize(table(), method="asks", k=3, budget=625, threads=3)
    assert any(note.startswith("a budget of 625 s ended the search early") for note in release.notes)
    release.save(tmp_path / "out", report=False)
    for path in (tmp_path / "out").iterdir():
        assert b"budget" not in path.read_bytes()
        assert b"threads" not in path.read_bytes()
    enough = shoal.anonymize(table(), method="asks", k=3, budget=3600)
    assert "budget" not in " ".join(enough.notes)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "60", True])
def test_a_budget_other_than_a_positive_number_is_refused(bad):
    with pytest.raises(PolicyError, match="^anonymize: budget must be a number of seconds above 0; got"):
        shoal.anonymize(table(), method="mdav", k=3, budget=bad)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True])
def test_an_invalid_number_of_threads_is_refused(bad):
    with pytest.raises(MethodError, match="^anonymize: threads must be a whole number of at least 1; got"):
        shoal.anonymize(table(), method="mdav", k=3, threads=bad)


@pytest.mark.compiled
def test_refining_lowers_the_loss_and_keeps_every_guarantee():
    some = table(150)
    for overrides in ({}, {"l": 2, "t": 0.4}, {"weight": "w"}):
        asked = {"k": 4, "method": "asks", "seed": 1, **overrides, **ROLES}
        before, after = shoal.anonymize(some, **asked), shoal.anonymize(some, **asked, refine="quick")
        assert after.finding("partition SSE") < before.finding("partition SSE")
        assert all(verdict.holds for verdict in after.verdicts)
        assert "asks: I cut runs." in after.notes
        assert BOUND not in after.findings
        assert after._making.partition.sizes.min() >= 4
        assert "t" in overrides or "l" in overrides or after._making.partition.sizes.max() <= 7


@pytest.mark.compiled
def test_refining_gives_the_same_groups_with_any_number_of_threads():
    one, two = (shoal.anonymize(table(100), k=3, method="plain", refine="quick", threads=n, seed=1) for n in (1, 3))
    assert one.table.equals(two.table)


@pytest.mark.compiled
def test_groups_that_cannot_be_improved_keep_their_findings():
    best = pa.table({"a": [1.0, 1.0, 9.0, 9.0]})
    assert shoal.anonymize(best, k=2, method="asks", refine="quick").finding("bound") == 1.5
    equal = pa.table({"a": [1.0] * 5})
    assert shoal.anonymize(equal, k=2, method="mdav", refine="quick").finding("classes") == 1


def squares(release, name):
    made, given = (np.array(frame[name], float) for frame in (release.aligned(), table(60)))
    return float(((made - given) ** 2).sum())


def test_an_important_column_is_distorted_less_and_the_others_more():
    for name in ("mdav", "plain"):
        asked = {"k": 5, "method": name, "seed": 1, **ROLES}
        plainly = shoal.anonymize(table(60), **asked)
        weighed = shoal.anonymize(table(60), policy={"columns": {"b": {"importance": 100}}}, **asked)
        assert squares(weighed, "b") < squares(plainly, "b") / 2
        assert squares(weighed, "a") > squares(plainly, "a")


def test_importance_of_one_changes_nothing():
    asked = {"k": 5, "method": "mdav", "seed": 1, **ROLES}
    plainly = shoal.anonymize(table(60), **asked)
    one = shoal.anonymize(table(60), policy={"columns": {"b": {"importance": 1}}}, **asked)
    assert one.table.equals(plainly.table)
