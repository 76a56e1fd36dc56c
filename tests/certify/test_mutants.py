"""No single fault in the counting of the methods gets past the verifier: handwritten and generated mutants."""

import csv
import inspect
from collections import Counter

import mutants
import numpy as np
import pyarrow as pa
import pytest

import shoal
from naive import privacy_models as naive
from shoal import enforce
from shoal.catalogue import ModelCard, model_card
from shoal.errors import GuaranteeError
from shoal.model.findings import Verdict
from shoal.pipeline import grouping, line
from shoal.privacy.verdict import classes, judge, models, spellings, values

N, SLACK = 36, 1e-9
ILL = ["Flu", "flu", "FLU ", "flu", "gout", "Gout", "gout", "gout", "asthma", "asthma", "ulcer", "ulcer"]
FAMILIES = [("flu", "asthma"), ("gout", "ulcer")]
TREE = {"a": ["Flu", "flu", "FLU ", "asthma"], "b": ["gout", "Gout", "ulcer"]}
TABLE = pa.table(
    {
        "age": [20 + i for i in range(N)],
        "height": [150 + i * 7 % 40 for i in range(N)],
        # Neighbours in age have the same illness and nearly the same pay, so that groups by age alone reveal both.
        "ill": [ILL[i // 3] for i in range(N)],
        "pay": [1000 + 10 * (i // 2) for i in range(N)],
    }
)
NAMES, NUMBERS = "ill", "pay"
# What is required, of which column, and whether rows meet it.
CASES = {
    "k": ({}, NAMES, lambda rows: naive.k(rows) >= 3),
    "distinct l": ({"l": 2}, NAMES, lambda rows: naive.distinct(rows) >= 2),
    "entropy l": ({"l": 1.8, "l_kind": "entropy"}, NAMES, lambda rows: naive.entropy(rows) >= 1.8 - SLACK),
    "recursive l": (
        {"l": 2, "l_kind": "recursive", "c": 2.5},
        NAMES,
        lambda rows: naive.recursive(rows, 2) < 2.5 - SLACK,
    ),
    "equal t": ({"t": 0.5}, NAMES, lambda rows: naive.equal_t(rows) <= 0.5 + SLACK),
    "ordered t": ({"t": 0.2}, NUMBERS, lambda rows: naive.ordered_t(rows) <= 0.2 + SLACK),
    "tree t": ({"t": 0.4}, "tree", lambda rows: naive.tree_t(rows, FAMILIES) <= 0.4 + SLACK),
    "alpha": ({"alpha": 0.6}, NAMES, lambda rows: naive.alpha(rows) <= 0.6 + SLACK),
    "beta": ({"beta": 1.5}, NAMES, lambda rows: naive.beta(rows) <= 1.5 + SLACK),
    "enhanced beta": (
        {"beta": 0.9, "beta_kind": "enhanced"},
        NAMES,
        lambda rows: naive.enhanced_beta(rows) <= 0.9 + SLACK,
    ),
    "bound of enhanced beta": (
        {"beta": 5.0, "beta_kind": "enhanced"},
        NAMES,
        lambda rows: naive.enhanced_beta(rows) <= 5.0 + SLACK,
    ),
    "delta": ({"delta": 0.9}, NAMES, lambda rows: naive.delta(rows) <= 0.9 + SLACK),
}


def made(case):
    """Make the release of a case by a method that ignores sensitive values, so that `enforce` decides."""
    asked, column, _ = CASES[case]
    given = {"hierarchy": TREE} if column == "tree" else {}
    name = NUMBERS if column == NUMBERS else NAMES
    policy = {"columns": {name: {"role": "sensitive", **given}}}
    data = TABLE.drop_columns([NAMES if name == NUMBERS else NUMBERS])
    return shoal.anonymize(
        data, policy=policy, k=3, constraints=asked, method="mdav", threads=1, quasi=["age", "height"]
    )


def met(case, folder):
    """Return whether the written rows meet what was required, by plain counting."""
    with (folder / "data.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    _, column, good = CASES[case]
    parsed = int if column == NUMBERS else lambda text: text.strip().lower()
    name = NUMBERS if column == NUMBERS else NAMES
    return good([((row["age"], row["height"]), parsed(row[name])) for row in lines])


@pytest.mark.parametrize("case", CASES)
def test_correct_counting_gives_releases_that_meet_every_constraint(case, tmp_path):
    assert met(case, made(case).save(tmp_path / "out", format="csv", report=False))


def zeros(counts, *_, **__):
    return np.zeros(counts.sizes.size)


def many(counts, *_, **__):
    return np.full(counts.sizes.size, 99.0)


def all_different(cls, labels, column, whole=None):
    """Count each row as a value of its own."""
    each = values.Values(np.arange(column.codes.size))
    size, every = np.ones(labels.size, np.int64), each.shares
    return cls(np.sort(labels), np.arange(labels.size), size, np.bincount(labels), every, each)


def first_rows(cls, labels, column, whole=None, sound=classes.Counts.of.__func__):
    """Drop the rows of a value that come after its first one of a class."""
    every = whole or column
    firsts = np.unique(labels * (every.distinct or 1) + column.codes, return_index=True)[1]
    return sound(cls, labels[firsts], column.some(firsts), every)


def as_the_whole(cls, labels, column, whole=None, sound=classes.Counts.of.__func__):
    """Count all rows for each class."""
    every = whole or column
    groups = int(labels.max()) + 1
    return sound(
        cls,
        np.repeat(np.arange(groups), every.codes.size),
        every.some(np.tile(np.arange(every.codes.size), groups)),
        every,
    )


def distinguished(column, kind=None, order=None, *, folded=False, sound=values._read):
    found = sound(column, kind, order, folded=folded)
    return found._replace(values=values.Values(np.arange(len(column)))) if folded else found


def all_alike(column, *_, **__):
    return values.Values(np.zeros(len(column), np.int64))


def always(verdicts):
    return tuple(Verdict(v.model, v.column, v.asked, v.asked, True) for v in verdicts)


FAULTS = {
    "closeness is 0, equal": ("equal t", models, "closeness", zeros),
    "closeness is 0, ordered": ("ordered t", models, "closeness", zeros),
    "closeness is 0, tree": ("tree t", models, "closeness", zeros),
    "ordered distance is 0": ("ordered t", models, "_ordered", zeros),
    "distance along the tree is 0": ("tree t", models, "_along_tree", zeros),
    "distinct is 99": ("distinct l", models, "distinct", many),
    "entropy is 99": ("entropy l", models, "entropy", many),
    "recursive is 0": ("recursive l", models, "recursive", zeros),
    "alpha is 0": ("alpha", models, "alpha", zeros),
    "likeness is 0": ("beta", models, "likeness", zeros),
    "nothing is beyond enhanced likeness": ("bound of enhanced beta", models, "unbounded", lambda c: zeros(c) > 0),
    "disclosure is 0": ("delta", models, "disclosure", zeros),
    "every row is another value": ("distinct l", classes.Counts, "of", classmethod(all_different)),
    "rows are dropped": ("recursive l", classes.Counts, "of", classmethod(first_rows)),
    "each class is counted as the whole": ("equal t", classes.Counts, "of", classmethod(as_the_whole)),
    "classes are merged": ("k", judge, "classes", lambda columns, n: np.zeros(n, np.int64)),
    "classes are split": ("k", judge, "classes", lambda columns, n: np.arange(n)),
    "cells are read as all alike": ("k", values, "read_column", all_alike),
    "sensitive cells are read as all different": ("distinct l", values, "_read", distinguished),
    "spellings are counted apart": ("distinct l", values, "meaning", lambda text: text),
    "sensitive columns are forgotten": ("distinct l", judge, "sensitive_columns", lambda *_: {}),
    "no model is asked for": ("distinct l", judge, "asked_of", lambda _: iter(())),
    "no class ever fails": ("distinct l", enforce, "failing", lambda labels, *_: np.zeros(int(labels.max()) + 1, bool)),
    "no figure ever fails": ("distinct l", ModelCard, "fails", lambda self, figures, _: np.zeros(figures.size, bool)),
    "rounding excuses everything": ("distinct l", model_card, "SLACK", 1e9),
    "nothing is enforced": ("distinct l", grouping, "enforce", lambda partition, *_: partition),
    "every verdict holds": ("ordered t", line, "judge", lambda *given: always(judge.judge(*given))),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_no_handwritten_fault_gets_past_the_verifier(fault, monkeypatch, tmp_path):
    case, owner, name, wrong = FAULTS[fault]
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(GuaranteeError):
        made(case).save(tmp_path / "out", format="csv", report=False)
    assert not (tmp_path / "out").exists()


VIOLATED = [fault for fault in FAULTS if FAULTS[fault][1] is models or "different" in fault or "ever fails" in fault]


@pytest.mark.parametrize("fault", [fault for fault in VIOLATED if fault != "no class ever fails"])
def test_a_release_made_with_a_fault_violates_its_constraint(fault, monkeypatch, tmp_path):
    case, owner, name, wrong = FAULTS[fault]
    monkeypatch.setattr(owner, name, wrong)
    release = made(case)  # the judge of the pipeline is satisfied
    monkeypatch.undo()
    monkeypatch.setattr("shoal.pipeline.write.check_folder", lambda *_: type("Blind", (), {"holds": True}))
    assert not met(case, release.save(tmp_path / "out", format="csv", report=False))


# Modules, and how many of their mutants only the verifier stops, which shows that the test has power.
MODULES = {models: 10, classes: 3, judge: 10, values: 5, spellings: 1}


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_generated_mutant_gets_past_the_verifier(module, monkeypatch, tmp_path):
    monkeypatch.setattr("os.fsync", lambda _: None)
    path, known = inspect.getsourcefile(module), mutants.functions(module)
    touched = {case: mutants.called(lambda case=case: made(case)) for case in CASES}
    outcomes, survivors = Counter(), []
    for name, mutated in mutants.mutants(module):
        changed = mutants.differences(known, path, mutated)
        sound = {one.__code__ for one, _ in changed}
        for case in (case for case in CASES if sound & touched[case]):
            place = tmp_path / str(outcomes.total())
            monkeypatch.setattr(enforce, "tick", Patience(200))
            with mutants.living(changed):
                outcome = attempt(case, place)
            outcomes[outcome] += 1
            if (outcome == "released") != place.exists() or (place.exists() and not met(case, place)):
                survivors.append((name, case))
    assert not survivors
    assert outcomes["refused by the verifier"] >= MODULES[module]


class Patience:
    """Ends a search that does not terminate."""

    def __init__(self, turns):
        self.turns = turns

    def __call__(self, *_):
        self.turns -= 1
        if self.turns < 0:
            raise TimeoutError


def attempt(case, place):
    """Make and save a release, and return how far it got."""
    try:
        with np.errstate(all="ignore"):
            release = made(case)
    except Exception:  # noqa: BLE001
        return "stopped before"
    try:
        release.save(place, format="csv", report=False)
    except GuaranteeError:
        return "refused by the verifier"
    return "released"
