"""Declared methods: the signature, the documentation and the checks that follow from a card."""

from inspect import signature

import numpy as np
import pytest

from shoal.catalogue import Choice, Whole, methods
from shoal.cluster.declaring import Run, mixed_method, numeric_method
from shoal.cluster.search.limits import Limits
from shoal.errors import InfeasibleError, MethodError
from shoal.kernels.columns import Set, columns_of
from shoal.model.partition import Partition
from shoal.model.policy import Constraints
from shoal.privacy.verdict.values import Values

SEEN = []


@numeric_method(
    "halves",
    ensures={"k"},
    params={"side": Choice(("low", "high"), "low", "Which side is first."), "turns": Whole(1, 9, 3, "How often.")},
    uses={"seed", "threads", "weights"},
)
def halves(X, k, side, turns, *, run: Run):
    """Return one group.

    Guarantee
    ---------
    None.
    """
    SEEN.append((X, k, side, turns, run))
    return Partition.of(np.zeros(len(X), np.int64))


def test_the_public_signature_has_the_defaults_of_the_card_and_options_of_a_run_by_keyword():
    assert str(signature(halves)).startswith("(X, k, side='low', turns=3, *, seed=0, threads=None, weights=None)")
    assert halves.__name__ == "halves"
    assert halves.card.uses == {"seed", "threads", "weights"}
    assert list(halves.card.params) == ["k", "side", "turns"]


def test_the_docstring_describes_parameters_by_their_cards():
    text = halves.__doc__
    assert 'side : {"low", "high"}\n        Which side is first.' in text
    assert "turns : int\n        How often." in text
    assert text.index("Parameters\n") < text.index("Returns\n") < text.index("Guarantee\n")


def test_a_method_is_given_checked_numbers_defaults_and_the_run():
    halves([[1, 2], [3, 4]], 2, "high", weights=[1, 3], threads=2, seed=7)
    X, k, side, turns, run = SEEN.pop()
    assert (X.dtype, X.shape, k, side, turns) == (np.float64, (2, 2), 2, "high", 3)
    assert (run.who, run.seed, run.threads, run.weights.tolist()) == ("halves", 7, 2, [0.5, 1.5])
    assert run.given == {"X": [[1, 2], [3, 4]], "seed": 7, "threads": 2, "weights": [1, 3]}
    assert run.limits is run.binding is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"side": "left"}, "^halves: side must be one of"),
        ({"threads": 0}, "^halves: threads must be"),
        ({"weights": [1.0]}, "^halves: weights must be 2"),
    ],
)
def test_parameters_that_the_card_does_not_allow_are_refused(given, message):
    with pytest.raises(MethodError, match=message):
        halves([[1.0], [2.0]], 2, **given)


def test_limits_of_another_table_are_refused_by_every_method_that_uses_them():
    limits = Limits.of(Constraints(k=2, l=2), {"ill": Values(np.arange(8) % 2)})
    cards = [card for card in map(methods.load, methods.names()) if "limits" in card.uses]
    assert {card.data for card in cards} == {"numeric", "mixed"}
    for card in cards:
        table = np.zeros((9, 2)) if card.data == "numeric" else columns_of([np.zeros(9, int)], [Set(1)])
        with pytest.raises(MethodError, match=rf"^{card.name}: limits must hold the .* of 9 rows.*got 8\.$"):
            card.function(table, 3, limits=limits)


def test_options_that_a_method_does_not_use_are_refused():
    with pytest.raises(TypeError, match="limits"):
        halves([[1.0], [2.0]], 2, limits=None)


def test_mixed_methods_accept_columns_of_at_least_k_rows():
    @mixed_method("whole", ensures={"k"})
    def whole(columns, k):
        """Return one group."""
        return Partition.of(np.zeros(len(columns.codes), np.int64))

    assert whole.card.summary == "Return one group."
    columns = columns_of([np.zeros(3, int)], [Set(1)])
    assert whole(columns, 3).groups == 1
    with pytest.raises(InfeasibleError, match="whole: k is 4"):
        whole(columns, 4)
    with pytest.raises(MethodError, match="got a list"):
        whole([[1.0]], 2)
