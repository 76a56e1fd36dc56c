"""Run attacks on a case, one after the other."""

from collections.abc import Sequence
from dataclasses import replace

from shoal.catalogue import AttackCard, attacks
from shoal.errors import ShoalError
from shoal.model.findings import NOT_TRIED, Attack
from shoal.model.progress import tick
from shoal.model.sentences import Sentence
from shoal.privacy.attacks.attack import Clock
from shoal.privacy.attacks.attack import Profile as Known
from shoal.privacy.attacks.control import doubts
from shoal.privacy.attacks.singling import control_case
from shoal.privacy.measures.case import Case


def tried(
    case: Case, wanted: Sequence[AttackCard], known: Known, budget: float | None = None, *, strict: bool = False
) -> tuple[Attack, ...]:
    """Run attacks one after the other within `budget` seconds; note doubts about control rows where they are used.

    An attack of a plug-in that fails was not tried, or, if `strict`, raises an error.
    """
    if any(card.control for card in wanted):
        control_case(case)  # refuses control rows that lack a quasi-identifier
    reasons = Sentence.joined(list(doubts(case)))
    found, whole = {}, Clock(budget)
    wanted = list({card.name: card for card in wanted}.values())
    # Those that repeat the release come last, and get the time that the others leave.
    for number, card in enumerate(sorted(wanted, key=lambda card: card.repeats)):
        tick(number, len(wanted))
        clock = whole.part(len(wanted) - number)
        bare = strict or card.name in attacks.built_in
        one = _named(card, case, known, clock) if bare else _tried(card, case, known, clock)
        doubt = Sentence(
            "{between}CONTROL ROWS ARE DOUBTFUL: {reasons}", between="; " if one.note else "", reasons=reasons
        )
        doubtful = reasons and card.control
        found[card.name] = replace(one, note=one.note + doubt if one.note else doubt) if doubtful else one
    return tuple(found[card.name] for card in wanted)


def _named(card: AttackCard, case: Case, known: Known, clock: Clock) -> Attack:
    """Run an attack; that of a plug-in must return its own name and profile."""
    found = card.function(case, known, clock)
    card.refuse_unless_named(found, known)
    return found


def _tried(card: AttackCard, case: Case, known: Known, clock: Clock) -> Attack:
    """Run the attack of a plug-in; if it fails, it was not tried, and its note says why."""
    try:
        return _named(card, case, known, clock)
    except (ShoalError, OSError) as problem:
        return Attack(card.name, known.name, 0.0, 0, None, 0.0, None, None, NOT_TRIED, str(problem))
