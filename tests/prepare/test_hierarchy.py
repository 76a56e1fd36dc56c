"""Hierarchies: reading, checks, and the node above two leaves."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import PolicyError
from shoal.prepare.hierarchy import from_lines, from_nested, read_csv

TOWNS = [["Paris", "France", "*"], ["Rome", "Italy", "*"], ["Lyon", "France", "*"]]


def names_above(tree, low, high):
    return tree.names[tree.above(low, high)]


@pytest.mark.parametrize(
    "text",
    [
        "Paris;France;*\nLyon;France;*\nRome;Italy;*\n",
        "Paris,France,*\nLyon,France,*\nRome,Italy,*",
        "level0;level1;level2\nParis;France;*\nLyon;France;*\nRome;Italy;*\n",
        "Level0, Level1, Level2\nParis,France,*\nLyon,France,*\nRome,Italy,*\n",
        "\ufeffParis;France;*\r\nLyon;France;*\r\nRome;Italy;*\r\n",
        "\ufefflevel0,level1,level2\n\nParis,France,*\n\nLyon,France,*\nRome,Italy,*\n\n",
        '\n"Paris";France;*\nLyon;"France";*\nRome;Italy;*\n',
    ],
)
def test_a_csv_file_has_one_line_per_value(text):
    tree = read_csv(text, "towns")
    assert tree.names == ("Paris", "Lyon", "Rome", "France", "*", "Italy")
    assert tree.parent.tolist() == [3, 3, 5, 4, -1, 4]
    assert tree.leaves == 3


def test_a_quoted_value_may_contain_the_separator():
    assert read_csv('"a, b",x,*\nc,x,*\n', "it").names == ("a, b", "c", "x", "*")


def test_values_that_belong_together_are_put_side_by_side():
    tree = from_lines(TOWNS, "towns")
    assert tree.names[:3] == ("Paris", "Lyon", "Rome")
    assert tree.paths()["Lyon"] == ("Lyon", "France", "*")


def test_nested_tables_are_read_from_the_root():
    tree = from_nested({"Europe": ["France", "Spain"], "Asia": ["Japan"], "old": [True, 7]}, "where")
    assert tree.names[:5] == ("France", "Spain", "Japan", "true", "7")
    assert tree.paths()["Spain"] == ("Spain", "Europe", "*")


def test_nested_tables_may_be_of_unequal_depth():
    tree = from_nested({"Europe": ["France"], "Asia": {"East": ["Japan", "Korea"], "West": ["Iran"]}}, "where")
    assert tree.paths() == {
        "France": ("France", "Europe", "*"),
        "Japan": ("Japan", "East", "Asia", "*"),
        "Korea": ("Korea", "East", "Asia", "*"),
        "Iran": ("Iran", "West", "Asia", "*"),
    }
    assert [[tree.names[node] for node in row] for row in tree.levels] == [
        ["France", "Japan", "Korea", "Iran"],
        ["France", "East", "East", "West"],
        ["Europe", "Asia", "Asia", "Asia"],
        ["*", "*", "*", "*"],
    ]


def test_a_list_may_hold_values_and_tables():
    tree = from_nested({"Europe": ["France", {"North": ["Norway"]}]}, "where")
    assert tree.paths()["Norway"] == ("Norway", "North", "Europe", "*")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "the hierarchy is empty"),
        ({"secret": []}, "the hierarchy is empty"),
        ({"secret": "secret"}, "must be in lists"),
        ({"x": [["secret"]]}, "is inside another list"),
        ({"x": ["a", "\ud800"]}, "the hierarchy has 1 label with unpaired surrogates"),
        ({"x": ["secret", "secret"]}, "the hierarchy repeats 1 value. "),
        ({"secret": {"x": ["secret"]}}, "the hierarchy has 1 label at two levels with another label in between"),
        (
            {"x": {"secret": ["a"]}, "y": {"secret": ["b"]}},
            "at level 1 of the hierarchy one label is below two different labels",
        ),
    ],
)
def test_nested_tables_that_are_not_a_tree_are_refused(given, why):
    with pytest.raises(PolicyError, match=why) as refused:
        from_nested(given, "column 'c'")
    assert str(refused.value).startswith("column 'c': ")
    assert "secret" not in str(refused.value)


def test_more_than_64_levels_are_refused():
    deep = ["a"]
    for _ in range(70):
        deep = {"x": deep}
    with pytest.raises(PolicyError, match="more than 64 levels"):
        from_nested(deep, "it")
    assert read_csv(f"a;{';'.join(f'x{level}' for level in range(64))};*\n", "it").leaves == 1
    with pytest.raises(PolicyError, match="it: the hierarchy has more than 64 levels"):
        read_csv(f"a;{';'.join(f'x{level}' for level in range(65))};*\n", "it")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the hierarchy is empty"),
        ("\n\n", "the hierarchy is empty"),
        ("level0;level1\n", "the hierarchy is empty"),
        ("a;x;*\nsecret;*\nb;x;*\nsecret\n", "line 2 .* 3 cells, as the first line does .2 such lines[)][.]"),
        ("level0;level1\n\na;*\nb;*\nsecret\n", "line 5 .* as the first line does .1 such line[)][.]"),
        ("secret;x;*\nsecret;x;*\na;x;*\n", "the hierarchy repeats 1 value. "),
        ("a;x;secret\nb;x;*\n", "end in 2 different labels"),
        ("a;secret;x;*\nb;secret;y;*\n", "at level 1 of the hierarchy one label is below two different labels"),
        ("secret;a;*\na;secret;*\n", "at level 0 of the hierarchy one label is below two different labels"),
        ("a;secret;x;*\nb;c;secret;*\n", "one label is below two different labels"),
        ("*;secret;*\na;*;*\n", "one label is below two different labels"),
        ("secret;x;secret;*\n", "the hierarchy has 1 label at two levels with another label in between"),
        (f"a;*\n{'secret' * 30_000};*\n", "line 2 of the hierarchy cannot be read"),
    ],
)
def test_lines_that_are_not_a_tree_are_refused_without_showing_names(text, why):
    with pytest.raises(PolicyError, match=why) as refused:
        read_csv(text, "column 'c'")
    assert str(refused.value).startswith("column 'c': ")
    assert "secret" not in str(refused.value)


def test_one_value_is_a_tree():
    for lines, names in (([["a"]], ("a",)), ([["a", "*"]], ("a", "*")), ([["*", "*"]], ("*",))):
        tree = from_lines(lines, "it")
        assert tree.names == names
        assert tree.steps.tolist() == []
        assert names_above(tree, 0, 0) == names[0]


@pytest.mark.parametrize("turned", [False, True])
def test_a_value_with_others_below_it_is_a_leaf_below_its_own_name(turned):
    lines = [["I21", "I21", "*"], ["I21.0", "I21", "*"], ["J", "J", "*"]]
    tree = from_lines(lines[::-1] if turned else lines, "codes")
    assert tree.paths()["I21.0"] == ("I21.0", "I21", "*")
    assert tree.paths()["I21"] == ("I21", "I21", "*")
    leaves = sorted(tree.names.index(name) for name in ("I21", "I21.0"))
    assert names_above(tree, *leaves) == "I21"
    assert sorted(tree.steps.tolist()) == [0.5, 1.0]


@pytest.mark.parametrize("lines", [[["a", "*"], ["*", "*"]], [["b", "x", "*"], ["a", "*", "*"]]])
def test_a_tree_has_one_root_even_if_others_share_its_name(lines):
    tree = from_lines(lines, "it")
    assert (tree.parent < 0).sum() == 1
    assert names_above(tree, 0, 1) == "*"


def test_steps_are_the_loss_of_the_node_above_two_neighbours():
    tree = from_lines(TOWNS, "towns")
    assert tree.steps.tolist() == [0.5, 1.0]
    assert (tree.first.tolist(), tree.last.tolist()) == ([0, 1, 2, 0, 0, 2], [0, 1, 2, 1, 2, 2])
    assert names_above(tree, 0, 1) == "France"
    assert names_above(tree, 1, 2) == "*"
    assert tree.levels.tolist() == [[0, 1, 2], [3, 3, 5], [4, 4, 4]]


def random_lines(rng, values, depth):
    """Return shuffled lines of a random tree; a name is now and then the same at the next level."""
    names = [f"v{value}" for value in range(values)]
    over = {name: [name] for name in names}
    level = list(names)
    for height in range(depth):
        parents = {}
        for name in dict.fromkeys(level):
            parents[name] = name if rng.random() < 0.2 else f"n{height}.{rng.randrange(values // 2 + 1)}"
        level = [parents[name] for name in level]
        for name, top in zip(names, level, strict=True):
            over[name].append(top)
    lines = [[*over[name], "*"] for name in names]
    rng.shuffle(lines)
    return lines


@given(st.randoms(use_true_random=False), st.integers(1, 12), st.integers(0, 4))
def test_a_random_tree_agrees_with_its_lines(rng, values, depth):
    lines = random_lines(rng, values, depth)
    tree = from_lines(lines, "it")
    paths = {line[0]: tuple(dict.fromkeys(line)) for line in lines}
    assert tree.paths() == paths
    below = {name: {leaf for leaf in paths if name in paths[leaf]} for path in paths.values() for name in path}
    for node, name in enumerate(tree.names):
        assert set(tree.names[tree.first[node] : tree.last[node] + 1]) == below[name]
    for low in range(tree.leaves):
        for high in range(low, tree.leaves):
            both = {tree.names[low], tree.names[high]}
            lowest = next(name for name in paths[tree.names[low]] if both <= below[name])
            assert names_above(tree, low, high) == lowest
    for leaf, step in enumerate(tree.steps):
        assert step == (len(below[names_above(tree, leaf, leaf + 1)]) - 1) / (values - 1)


def test_levels_only_ever_join():
    for seed in range(30):
        levels = from_lines(random_lines(random.Random(seed), 9, 3), "it").levels
        assert levels[0].tolist() == list(range(9))
        assert len(set(levels[-1].tolist())) == 1
        for fine, coarse in pairwise(levels):
            assert len(set(zip(fine.tolist(), coarse.tolist(), strict=True))) == len(set(fine.tolist()))


def test_commas_are_detected_where_a_quoted_cell_contains_a_semicolon():
    assert read_csv('"a;b",A,*\n"c,d",A,*\n', "it").names[:2] == ("a;b", "c,d")
    assert read_csv('"a\nb";A;*\nc;A;*\n', "it").names[:2] == ("a\nb", "c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('paris;"F;*\nlyon;F;*\n', "cannot be read as CSV. Check its quotes"),
        ("p;;*\nq;;*\n", "has an empty cell in 2 lines"),
    ],
)
def test_open_quotes_and_nodes_without_a_name_are_refused(text, message):
    with pytest.raises(PolicyError, match=message):
        read_csv(text, "it")
