"""What the judge reports: a verdict is yes or no, a finding is a measured number."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from shoal.errors import UseError, listed, near, shortened
from shoal.model.figures import Checked

Need = Literal["release", "pair", "groups"]
Outcome = Literal["leak", "no evidence", "too weak to tell", "not tried"]
NOT_TRIED: Final = "not tried"  # the outcome of an attack without trials


@dataclass(frozen=True)
class Verdict:
    """Whether a release meets one constraint.

    Parameters
    ----------
    model : str
        The privacy model, such as "k-anonymity", "distinct l-diversity", "entropy l-diversity", "t-closeness".
    column : str or None
        The sensitive column concerned, if any.
    asked, found : float
        The figure that the policy asks for and the one counted in the release.
    holds : bool
        Whether the figure found is good enough.
    note : str
        Details, such as how many classes fail.
    """

    model: str
    column: str | None
    asked: float
    found: float
    holds: bool
    note: str = ""

    def __str__(self) -> str:
        """Give the verdict in one line."""
        of = f" of {self.column!r}" if self.column else ""
        word = "holds" if self.holds else "FAILS"
        tail = f" ({self.note})" if self.note else ""
        return f"{self.model}{of}: required {self.asked:g}, found {self.found:.6g}: {word}{tail}"

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Finding:
    """A measured number, together with what it counts.

    Parameters
    ----------
    measure : str
        What was measured.
    value : float
        The figure.
    how : Sentence or str
        How it was measured, in a few words. Text with numbers must be a `Sentence`: reports leave it out otherwise.
    need : {"release", "pair", "groups"}
        What it was measured from. Only those of "release" may be published.
    interval : pair of float or None
        A 95% confidence interval, where randomness is involved.
    part, column : str, optional
        Which figure of the measure it is, and the column concerned. In plug-ins a part must not contain a number.
    unit : {"", "%"}
        Whether the figure is a percentage.
    counts_rows : bool, optional
        Whether it is a number or a share of rows, cells or people; reports omit it if it reveals fewer than k. If not
        given, a share is assumed to count rows if it could be that of a whole number of them.
    whole : int, optional
        The total number of rows or cells; the rows of the release if not given. Used only with
        `counts_rows`.
    share : bool
        Whether the figure is a share rather than a number. Used only with `counts_rows`; a percentage always is.
    """

    measure: str
    value: float
    how: str
    need: Need
    interval: tuple[float, float] | None = None
    part: str = ""
    column: str | None = None
    unit: Literal["", "%"] = ""
    counts_rows: bool | None = None
    whole: int | None = None
    share: bool = False

    def __post_init__(self) -> None:
        """Turn figures into plain numbers, and refuse what is not of its type: what a page may show depends on it."""
        check = Checked(self, f"measure {shortened(self.measure)}")
        check.texts("measure", "how", "part")
        check.texts("column", optional=True)
        check.words("need", get_args(Need))
        check.words("unit", ("", "%"))
        check.numbers("value")
        check.interval()
        check.whole_numbers("whole", least=0, optional=True)
        check.flags("counts_rows", optional=True)
        check.flags("share")

    @property
    def name(self) -> str:
        """The name under which the figure is listed: measure, part and column."""
        return ", ".join(word for word in (self.measure, self.part, self.column) if word)

    def __str__(self) -> str:
        """Give the finding in one line."""
        return f"{self.name}: {self.value:.6g} ({self.how})"

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain values, for JSON."""
        held = {key: getattr(self, key) for key in ("name", "value", "need", "interval", "column", "unit")}
        return {**held, "how": str(self.how)}


def value_of(findings: Iterable[Finding], name: str) -> float:
    """Return the value of the finding of this name, or refuse the name with a suggestion."""
    found = {finding.name: finding.value for finding in reversed(tuple(findings))}  # the first one of a name counts
    if not isinstance(name, str) or name not in found:
        raise UseError(f"release: unknown finding {shortened(name)}. Known: {listed(found, 30)}.{near(name, found)}")
    return found[name]


@dataclass(frozen=True)
class Attack:
    """How successful an attack on a release was.

    Parameters
    ----------
    name, profile : str
        What was tried, and what the attacker knows.
    successes : float
        A guess among several equally good ones counts as a fraction.
    trials : int
    interval : pair of float or None
        Wilson's 95% interval of the rate; None without trials.
    baseline : float
        The rate of the best guess without the release.
    control : float or None
        The rate of the same attack on people who are not in the release, where that makes sense.
    power : float or None
        The rate of the same attack on an unprotected copy: an attack that fails there proves nothing by failing here.
    outcome : {"leak", "no evidence", "too weak to tell", "not tried"}
        A leak if the whole interval lies above `bound`; always "not tried" without trials.
    note : str
        Details, such as that time ran out before all targets were tried. Without trials, why there are none.
    bound : float
        The highest rate that is not evidence of a leak: the largest of the baseline, the control and what the policy
        allows.
    baseline_of, control_of : int, optional
        The number of people or rows of which the baseline and the control are shares; 0 if a rate counts no one, like
        the probability 1/n of a random row. Reports omit a rate that would reveal fewer than k of them. If not given,
        it is taken for a share of all rows, or of all control rows.
    """

    name: str
    profile: str
    successes: float
    trials: int
    interval: tuple[float, float] | None
    baseline: float
    control: float | None
    power: float | None
    outcome: Outcome
    note: str = ""
    bound: float = 0.0
    baseline_of: int | None = None
    control_of: int | None = None

    def __post_init__(self) -> None:
        """Turn rates into plain numbers, refuse what cannot be, and ensure that without trials no result is claimed."""
        check = Checked(self, f"attack {shortened(self.name)}")
        check.texts("name", "profile", "note")
        check.words("outcome", get_args(Outcome))
        check.whole_numbers("trials", least=0)
        check.whole_numbers("baseline_of", "control_of", least=0, optional=True)
        check.numbers("successes", low=0.0, high=self.trials)
        check.numbers("baseline", low=0.0, high=1.0)
        check.numbers("bound", low=0.0)
        check.numbers("control", "power", low=0.0, high=1.0, optional=True)
        if not self.trials:
            object.__setattr__(self, "interval", None)
            object.__setattr__(self, "outcome", NOT_TRIED)
        check.interval(low=0.0, high=1.0)

    @property
    def rate(self) -> float | None:
        """The share of trials that were successes; None without trials."""
        return self.successes / self.trials if self.trials else None

    def shown(self) -> dict[str, str]:
        """Return rate, interval, baseline, control, bound and outcome as text; dashes without trials."""
        names = ("rate", "interval", "baseline", "control", "bound")
        if self.interval is None:
            return {**dict.fromkeys(names, "–"), "outcome": self.outcome}
        low, high = self.interval
        control = "" if self.control is None else f"{self.control:.3f}"
        texts = (f"{self.rate:.3f}", f"{low:.3f} to {high:.3f}", f"{self.baseline:.3f}", control, f"{self.bound:.3f}")
        return {**dict(zip(names, texts, strict=True)), "outcome": self.outcome}

    def __str__(self) -> str:
        """Give the attack in one line."""
        beside = f"baseline {self.baseline:.3f}" + ("" if self.control is None else f", control {self.control:.3f}")
        tail = f" ({self.note})" if self.note else ""
        if self.interval is None:
            return f"{self.name}, {self.profile}: {self.outcome}{tail}"
        low, high = self.interval
        return f"{self.name}, {self.profile}: {self.rate:.3f} [{low:.3f}, {high:.3f}], {beside}: {self.outcome}{tail}"

    def as_dict(self) -> dict[str, Any]:
        """Return the attack as plain values, for JSON; rate and interval are null without trials."""
        held = {name: value for name, value in asdict(self).items() if name not in ("baseline_of", "control_of")}
        return {**held, "rate": self.rate}
