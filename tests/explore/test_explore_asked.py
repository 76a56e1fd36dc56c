"""Arguments of an exploration: whatever is wrong with them is reported in a sentence, before anything is run."""

import pytest

import shoal
from shoal.errors import MethodError, PolicyError, shortened
from shoal.exploration.run import explore
from shoal.io.data_file import write_data


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    write_data(shoal.sample(60, seed=3), folder, "csv")
    return folder / "data.csv"


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"folds": 1}, PolicyError, "folds must be a whole number of at least 2"),
        ({"seeds": 0}, PolicyError, "seeds must be"),
        ({"jobs": 0}, PolicyError, "jobs must be"),
        ({"budget": -1}, PolicyError, "budget must be a number of seconds above 0"),
        ({"longest": 0}, PolicyError, "longest must be"),
        ({"longest": float("nan")}, PolicyError, "longest must be a number of seconds above 0; got nan"),
        ({"budget": 10**400}, PolicyError, "budget must be a number of seconds above 0; got 1000.*\\.\\.\\."),
        ({"seeds": 10**9}, PolicyError, "seeds must be a whole number of at least 1 and at most 10,000"),
        ({"methods": None}, MethodError, "no method is named. Name at least one, or 'all'"),
        ({"methods": [5]}, MethodError, "the name of a method must be text; got an int"),
        ({"methods": {"mdav": 1}}, MethodError, "methods must be one or more names; got a dict"),
        ({"methods": []}, MethodError, "no method is named"),
        ({"utility": 5}, MethodError, "the utility must be the name of a measure or an attack; got 5"),
        ({"risk": ["marketer risk"]}, MethodError, "the risk must be the name"),
        ({"risk": "intersection"}, MethodError, "needs another release"),
        ({"output": 5}, PolicyError, "output must be the path of a folder; got 5"),
        (
            {"output": "truthful"},
            PolicyError,
            "write policy={'output': 'truthful'}; for a folder of this name, './truthful'",
        ),
        ({"output": "a\0b"}, PolicyError, "output must be the path of a folder"),
        ({"parameters": 5}, MethodError, "parameters must be a mapping of names to values; got 5"),
        ({"parameters": {5: 1}}, MethodError, "parameters must be a mapping of names to values"),
        ({"parameters": {"leftover": [[1]]}}, MethodError, "'leftover' must be text, numbers, true or false"),
        ({"k": 10**400}, PolicyError, "k must be whole numbers of at most 1,000,000,000,000,000; got 1000"),
        ({"k": 10**5000}, PolicyError, "got a number of very many digits"),
        ({"l": 10**400}, PolicyError, "l must be numbers of at most"),
        ({"k": range(2, 10**12)}, PolicyError, "at most 10,000 are possible"),
        ({"identifers": ["name"]}, PolicyError, "explore: unknown option 'identifers'. Did you mean 'identifiers'"),
        ({"random_state": 1}, PolicyError, "explore: unknown option 'random_state'. Did you mean 'seed'"),
        ({"method": "mdav"}, PolicyError, "explore: unknown option 'method'"),
        ({"utility": "beauty"}, MethodError, "unknown utility 'beauty'"),
        ({"identifiers": ["nobody"]}, PolicyError, "'nobody'"),
        ({"l": 2, "identifiers": ["diagnosis"]}, PolicyError, "."),
    ],
)
def test_wrong_arguments_are_reported_before_anything_is_run_or_written(file, tmp_path, options, kind, message):
    with pytest.raises(kind, match=message):
        explore(file, **{"methods": "mdav", "k": 3, "output": tmp_path / "explored", **options})
    assert list(tmp_path.iterdir()) == []


def test_long_values_are_shortened():
    assert shortened("x") == "'x'"
    assert shortened("x" * 900) == "'" + "x" * 59 + "..."
    assert shortened(10**9000) == "a number of very many digits"
