"""The figures of an attack as a page may show them: no rate that stands for fewer than k people, or all but so few."""

from shoal.model.findings import Attack
from shoal.model.sentences import EDGE, few_of
from shoal.privacy.measures.case import Case


def without_few(one: Attack, case: Case) -> dict[str, str]:
    """Return what `Attack.shown` returns, without rates that reveal fewer than k people.

    The bound is withheld with the baseline or the control if it equals one that is. A baseline or control of which the
    attack does not say whom it counts is taken for a share of all rows, or of all control rows.
    """
    texts = one.shown()
    if one.interval is None:
        return texts
    k = case.policy.constraints.k
    stated = one.baseline_of is not None
    everyone = case.control.n if case.control is not None else case.n
    withheld = {
        "rate": _withheld(one.successes / one.trials, one.trials, k, whole=False),
        "baseline": _withheld(one.baseline, one.baseline_of if stated else case.n, k, whole=stated),
        "bound": _withheld(one.bound, one.trials, k, whole=stated),
        "control": "",
    }
    if one.control is not None:
        known = one.control_of is not None
        withheld["control"] = _withheld(one.control, one.control_of if known else everyone, k, whole=known)
    for name in ("baseline", "control"):
        if withheld[name] and getattr(one, name) == one.bound:
            withheld["bound"] = withheld[name]
    shown = {name: text for name, text in withheld.items() if text}
    return {**texts, **shown, **({"interval": ""} if withheld["rate"] else {})}


def _withheld(share: float, of: int | None, k: int, *, whole: bool) -> str:
    """Return what is shown instead of a share of so many people; empty if it may be shown.

    With `whole`, a share that no whole number of them has is a mean of probabilities, and may be shown.
    """
    people = share * (of or 0)
    if not of or (whole and abs(people - round(people)) > EDGE):
        return ""
    return few_of(share, of, k)
