"""The answer: the three lines that come first wherever a release is shown.

1. What holds: every constraint in plain words, and who counted it.
2. What is exposed, the most serious first: attacks that succeeded, what repeating the run reveals, rows and values that
   stand out in unchanged columns, the highest re-identification risk, and what classes suggest of sensitive values.
3. What to do next: `cli` and the pages of a release say it in their own words, by the commands that apply there.

The terminal, the reports and the notebook display use these lines. They are made from verdicts, findings and counts;
of findings that are not public, only what the caller passes is used. Numbers of rows from 1 to k - 1 are withheld;
shares are not, since anyone can compute them from the release.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from shoal.catalogue import models
from shoal.errors import listed
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Attack, Finding, Verdict
from shoal.model.policy import MOST_KNOWN, Policy
from shoal.privacy.attacks.minimality import allowed
from shoal.privacy.attacks.unchanged import exposed_by
from shoal.privacy.measures.case import Case
from shoal.reports.wording import asked_for, few, promise, words

LIKELY = 0.505  # share of a sensitive value in a class above which it is said that it can be inferred
SHOWN = 5  # names of columns or attacks in a line


class Answer(NamedTuple):
    """Three lines, and the kinds of notes whose fact they state. Backticks in `next` mark commands."""

    holds: str
    exposed: str
    next: str
    stated: frozenset[str] = frozenset()

    def lines(self, place: str) -> tuple[tuple[str, str], ...]:
        """Return a heading and a text for each line; `place` is "short" for a terminal, or "long" for a page."""
        return tuple(zip(words()["headings"][place], self[:3], strict=True))


def table_answer(
    case: Case,
    verdicts: Sequence[Verdict],
    findings: Iterable[Finding],
    following: str,
    attacks: Sequence[Attack] = (),
) -> Answer:
    """Return the answer for a release of a table; `following` is its third line.

    Guarantee
    ---------
    With public findings and no attacks, everything in it can be computed from the release.
    """
    known = {finding.name: finding.value for finding in findings}
    loss = known.get("cell loss %")
    held = [_held(case, verdicts), "" if loss is None else _say("price", loss=f"{loss:.3g}")]
    facts = [  # the kind of the note that says the same, if there is one
        ("", _leaks(attacks)),
        ("minimality", _repeated(case, known)),
        *_unchanged(case, verdicts),
        ("", _risk(case, verdicts)),
        ("", _inferred(case)),
        ("", _say("rows")),
    ]
    said = [(kind, text) for kind, text in facts if text]
    return Answer(_joined(held), _joined(text for _, text in said), following, frozenset(kind for kind, _ in said))


def fewest_candidates(case: Case, verdicts: Sequence[Verdict]) -> int:
    """Return the fewest rows that an attacker is left with who knows all quasi-identifiers, and m items if any."""
    sets = [verdict.found for verdict in verdicts if verdict.column in case.policy.names("items")]
    return int(min([case.sizes.min(), *sets])) if case.sizes.size else 0


def items_known(policy: Policy) -> str:
    """Return how many items an attacker knows beside the quasi-identifiers, as part of a sentence; empty if none."""
    return f" and {policy.constraints.m or MOST_KNOWN} items" if policy.names("items") else ""


def _held(case: Case, verdicts: Sequence[Verdict]) -> str:
    """Return every constraint in words, one sentence for all columns that it concerns; or those that fail."""
    failing = [asked_for(verdict, case.policy) for verdict in verdicts if not verdict.holds]
    if failing:
        return _say("fails", constraints="; ".join(failing))
    columns: dict[tuple[str, float], list[Verdict]] = {}
    for verdict in verdicts:
        columns.setdefault((verdict.model, verdict.asked), []).append(verdict)
    each = [_promised(case, held) for held in columns.values()]
    own = all(verdict.model in models.built_in for verdict in verdicts)
    return _joined([*each, _say("counted" if own else "counted_but_plug_ins", n=f"{case.n:,}")])


def _promised(case: Case, held: Sequence[Verdict]) -> str:
    """Return what a model guarantees for one or more columns."""
    names = [verdict.column for verdict in held if verdict.column is not None]
    what = ("each of " if len(names) > 1 else "") + _named(names)
    if held[0].model not in models.built_in:
        return _say("other", model=held[0].model, asked=f"{held[0].asked:g}", columns=f" for {what}" if names else "")
    says, _ = promise(held[0], what)
    short = asked_for(held[0], case.policy, of_column=False)
    return f"{says.removesuffix('.')} ({short})."


def _named(names: Sequence[str]) -> str:
    """Return the names of columns as they are listed within a sentence."""
    if not 1 < len(names) <= SHOWN:
        return listed(names, SHOWN)
    return f"{listed(names[:-1])} and {names[-1]!r}"


def _leaks(attacks: Sequence[Attack]) -> str:
    """Return which attacks succeeded, if any were tried."""
    tried = [one for one in attacks if one.trials]
    leaks = [one.name for one in tried if one.outcome == "leak"]
    if not leaks:
        return ""
    return _say("attacks", leaks=len(leaks), tried=len(tried), names=listed(leaks, SHOWN))


def _repeated(case: Case, known: dict[str, float]) -> str:
    """Return what an attacker who repeats the run learns, if it was measured and is more than l allows."""
    posterior, excess = (known.get(f"minimality, {part}") for part in ("worst posterior", "excess"))
    if posterior is None or excess is None or posterior <= allowed(case.policy.constraints.l, posterior - excess):
        return ""
    return _say("repetition", posterior=f"{100 * posterior:.0f}", share=f"{100 * (posterior - excess):.0f}")


def _unchanged(case: Case, verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    """Return what the columns published unchanged reveal."""
    found, n, k = exposed_by(case), case.n, case.policy.constraints.k
    if not found.columns:
        return [("", _say("changed"))]
    alone = few(found.alone, n, k)
    sensitive = case.policy.names("sensitive")
    limited = any(verdict.column in sensitive and not _allows_everything(verdict) for verdict in verdicts)
    return [
        ("unique-rows", _say("alone", rows=alone[0].upper() + alone[1:], n=f"{n:,}") if found.alone else ""),
        ("", _say("unchanged", columns=listed(found.columns, SHOWN))),
        ("rare-values", _say("rare", columns=_named(found.rare), k=k) if found.rare else ""),
        (
            "no-limit-on-sensitive",
            _say("unlimited", columns=listed(sensitive, SHOWN)) if sensitive and not limited else "",
        ),
    ]


def _allows_everything(verdict: Verdict) -> bool:
    """Return whether any release meets the constraint: a distance or a share of at most 1."""
    return verdict.model in ("t-closeness", "(alpha,k)-anonymity") and verdict.asked >= 1


def _risk(case: Case, verdicts: Sequence[Verdict]) -> str:
    """Return the highest re-identification risk."""
    fewest = fewest_candidates(case, verdicts)
    return _say("risk", risk=f"{100 / max(fewest, 1):.3g}", items=items_known(case.policy))


def _inferred(case: Case) -> str:
    """Return how sure a class alone makes an attacker of a sensitive value, for columns in which it is likely."""
    shares = {name: _greatest_share(case, name) for name in case.counts}
    likely = {name: share for name, share in shares.items() if share > LIKELY}
    if not likely:
        return ""
    return _say("inferred", columns=_named(list(likely)), share=_percent(max(likely.values())))


def _greatest_share(case: Case, name: str) -> float:
    """Return the greatest share of a sensitive value in a class; that a value is missing is not one."""
    counts, codes = case.counts[name], case.sensitive[name].codes
    missing = np.unique(codes[case.released.column(name).is_null().to_numpy()])
    return float(counts.share[~np.isin(counts.value, missing)].max(initial=0.0))


def _percent(share: float) -> str:
    """Return a share above one half as a percentage that is never rounded up to certainty or down to one half."""
    if share == 1:
        return "100%"
    return "more than 99%" if share > 0.99 else f"{max(51, round(100 * share))}%"


def set_answer(
    published: Disassociated, verdicts: Sequence[Verdict], kind: str, following: str, kept: float | None = None
) -> Answer:
    """Return the answer for a release of sets; `kept` is the percentage of occurrences in chunks, for the holder."""
    given = {"k": published.k, "m": published.m, "n": f"{published.n:,}", "items": f"{len(published.labels):,}"}
    failing = [verdict.model for verdict in verdicts if not verdict.holds]
    price = "" if kept is None else _say("set_price", lost=f"{max(0.0, 100 - kept):.3g}")
    held = _say("fails", constraints="; ".join(failing)) if failing else _say("set_holds", **given)
    counted = "" if failing else _say("set_counted", conditions=len(verdicts))
    return Answer(
        _joined([held, counted, price]),
        _joined([_say("set_raw", **given) if kind == "raw" else "", _say("set_exposed", **given)]),
        following,
    )


def _say(key: str, **given: object) -> str:
    """Return a sentence of the answer, with figures filled in."""
    return str(words()["answer"][key]).format(**given)


def _joined(sentences: Iterable[str]) -> str:
    """Return sentences as one text, without empty ones."""
    return " ".join(one for one in sentences if one)
