"""Cell loss and fidelity: the naive twin on random releases, and figures that can be seen."""

import datetime as dt
import random

import numpy as np
import pyarrow as pa
import pytest

from mixed import random_tree
from naive import evaluator as naive
from naive.columns import leaves_of
from shoal.model.partition import Partition
from shoal.model.policy import FORMS, Policy
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.prepare.hierarchy import Hierarchy, from_lines
from shoal.privacy.measures.pairs import Pair, pairs
from shoal.recode.table import recode
from shoal.utility import fidelity as evaluated
from shoal.utility.cell_loss import cell_losses
from shoal.utility.fidelity import MANY, PARTS, fidelity, pmse, rank_error, total_variation
from shoal.utility.honest_accuracy import honest_accuracy

LEVELS = ["low", "mid", "high", "top"]


def lines_of(tree, above=("*",)):
    """Return the lines of a nested tree, from a leaf to the root, filled up to ten names."""
    for place, below in enumerate(tree):
        if isinstance(below, list):
            yield from lines_of(below, (f"{above[0]}.{place}", *above))
        else:
            yield [str(below)] * (10 - len(above)) + list(above)


def random_column(rng, n):
    """Return a kind, a form, an order, a nested tree, and the cells."""
    kind = rng.choice(["numeric", "date", "ordinal", "nominal", "boolean"])
    form = rng.choice([form for form in FORMS[kind] if form != "mean"])
    size = rng.choice([1, 2, 3, 8])
    there = {
        "numeric": rng.sample(range(-50, 50), size),
        "date": [dt.date(1970, 1, 1) + dt.timedelta(rng.randrange(9000)) for _ in range(size)],
        "ordinal": LEVELS[: min(size, 4)],
        "nominal": [f"n{i}, {{–" for i in range(size)],
        "boolean": [True, False],
    }[kind]
    gaps = rng.random() < 0.4
    cells = [None if gaps and rng.random() < 0.3 else rng.choice(there) for _ in range(n)]
    if all(cell is None for cell in cells):
        cells[0] = there[0]
    tree = random_tree(rng, sorted(set(there), key=there.index))
    return kind, form, LEVELS, tree if isinstance(tree, list) else [tree], cells


def random_release(rng):
    """Return random columns after they were published in random groups, as pairs and as the twin takes them."""
    n, k = rng.randint(2, 14), 2
    drawn = [random_column(rng, n) for _ in range(rng.randint(1, 4))]
    labels = Partition.of([rng.randrange(max(1, n // 3)) for _ in range(n)])
    table = Table.of(pa.table({f"c{j}": cells for j, (*_, cells) in enumerate(drawn)}))
    columns, trees = {}, {}
    for j, (kind, form, _, tree, _) in enumerate(drawn):
        columns[f"c{j}"] = {"kind": kind, "form": form, **({"order": LEVELS} if kind == "ordinal" else {})}
        if form == "tree":
            texts = pa.array(leaves_of(tree)).cast(pa.string()).to_pylist()
            name = dict(zip(map(str, leaves_of(tree)), texts, strict=True))
            lines = [[name.get(cell, cell) for cell in line] for line in lines_of(tree)]
            trees[f"c{j}"] = from_lines(lines, "it")
    policy = Policy.of({"columns": columns}, k=k)
    encoded = Encoded(np.arange(2.0 * n).reshape(n, 2) % 7, trees=trees)
    made = recode(table, labels, policy, encoded).data
    after = [made.column(f"c{j}").to_pylist() for j in range(len(drawn))]
    return pairs(table, made, policy, trees), [(*one, cells) for one, cells in zip(drawn, after, strict=True)], n


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_figure_is_that_of_the_naive_twin(part):
    rng = random.Random(part)
    for _ in range(250):
        columns, plain, n = random_release(rng)
        found = {finding.name: finding.value / 100 for finding in (*cell_losses(columns), *fidelity(columns))}
        expected = dict(
            zip(("cell loss %", "cell loss % as in ARX", "class loss %"), naive.losses(plain, n), strict=True)
        )
        kept = [one for one in plain if one[1] not in ("range", "set", "tree")]
        if kept:
            expected["rank error %"] = naive.rank_error(kept)
            expected["1-way total variation %"] = naive.variation(kept, n, 1)
            expected["2-way total variation %"] = naive.variation(kept, n, 2)
            expected["invented combinations %"] = naive.invented(kept, n)
        expected = {name: float(value) for name, value in expected.items() if value is not None}
        assert found == pytest.approx(expected, abs=1e-9)


def column(before, after, kind="nominal", form="mode", **more):
    return Pair("a", kind, form, pa.chunked_array([before]), pa.chunked_array([after]), **more)


def test_an_unchanged_table_loses_nothing():
    same = [column(["a", "b", None], ["a", "b", None]), column([1, 2, 4], [1, 2, 4], "numeric", "medoid")]
    assert {finding.value for finding in (*cell_losses(same), *fidelity(same))} == {0.0}


def test_one_value_for_all_loses_everything():
    ages = column([0, 10, 20], ["0–20"] * 3, "numeric", "range")
    assert [finding.value for finding in cell_losses([ages])] == [100.0, 100.0, 100.0]
    towns = column(["a", "b", "c"], ["{a, b, c}"] * 3, form="set")
    assert [finding.value for finding in cell_losses([towns])] == [100.0, 100.0, 100.0]


def test_a_name_that_is_also_a_node_is_read_as_the_node():
    tree: Hierarchy = from_lines([["x", "x", "*"], ["y", "x", "*"], ["z", "z", "*"]], "it")
    towns = column(["x", "x", "y", "z"], ["x", "x", "x", "z"], form="tree", tree=tree)
    assert cell_losses([towns])[0].value == pytest.approx(100 * 3 * 0.5 / 4)


def test_ranks_are_those_of_the_original():
    assert rank_error(column([1, 2, 3, 4], [1, 2, 3, 4], "numeric")) == 0
    assert rank_error(column([1, 2, 3, 4], [4, 3, 2, 1], "numeric")) == pytest.approx((3 + 1 + 1 + 3) / 4 / 4)
    assert rank_error(column([1, 2, 3, 4], [1.4, 1.4, 3.6, 3.6], "numeric", "mean")) == pytest.approx(0.125)
    assert rank_error(column([None, 1], [2, None], "numeric")) == 0


def test_columns_of_very_many_values_are_cut_into_parts_of_equal_frequency():
    values = np.arange(20.0 * (MANY + 1))
    moved = values - 0.25
    same = [finding.value for finding in fidelity([column(values, moved, "numeric", "mean")])]
    assert same[1] == 0.0
    half = np.where(values < values.mean(), 0.0, values)
    found = {finding.name: finding.value for finding in fidelity([column(values, half, "numeric", "mean")])}
    assert found["1-way total variation %"] == pytest.approx(50 - 100 / PARTS)


def test_total_variation_is_half_the_sum_of_differences():
    pair = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    assert total_variation([pair]) == 0.25


def test_a_classifier_tells_rows_apart_that_are_nothing_alike_and_no_others():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 50, 2000)
    far = [column(values, values + 100, "numeric"), column(["a"] * 2000, ["b"] * 2000)]
    assert pmse(far).value > 0.9
    assert pmse([column(values, values, "numeric")]).value < 0.05


def test_a_classifier_that_sees_a_sample_of_the_rows_says_so(monkeypatch):
    values = column(np.arange(40), np.arange(40), "numeric")
    assert "random" not in pmse([values]).how
    monkeypatch.setattr(evaluated, "MOST_ROWS", 30)
    assert pmse([values]).how.endswith(", 30 random rows of 40")


def test_accuracy_is_asked_of_original_rows():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, 900)
    ill = pa.chunked_array([np.where(age > 50, "yes", "no")])
    kept, lied = column(age, age, "numeric"), column(age, 100 - age, "numeric")
    good, original, majority = honest_accuracy([kept], ill)
    assert good.value == original.value > 97 > majority.value > 40
    assert good.interval[0] < good.value <= good.interval[1] <= 100
    # A release that turns the column round is as easy to learn from, and wrong about everybody.
    assert honest_accuracy([lied], ill)[0].value < 5


@pytest.mark.parametrize("labels", [["x"] * 6, ["x"] * 5 + ["y"], [None] * 6])
def test_labels_that_cannot_be_learned_give_no_figure(labels):
    assert honest_accuracy([column([1, 2, 3, 4, 5, 6], [1] * 6, "numeric")], pa.chunked_array([pa.array(labels)])) == ()


def test_truthful_columns_alone_have_no_fidelity():
    towns = column(["a", "b"], ["{a, b}"] * 2, form="set")
    assert fidelity([towns]) == ()
    assert honest_accuracy([towns], pa.chunked_array([["x", "y"] * 1])) == ()


def test_means_of_integers_may_have_decimals():
    ints, reals = pa.chunked_array([[1, 2, 3, 4, None]]), pa.chunked_array([[1.0, 2.0, 3.0, 4.0, None]])
    means = pa.chunked_array([[1.5, 1.5, 3.0, 4.0, None]])
    found = [fidelity([Pair("a", "numeric", "mean", before, means)]) for before in (ints, reals)]
    assert found[0] == found[1]
    assert found[0][1].value == pytest.approx(40)
