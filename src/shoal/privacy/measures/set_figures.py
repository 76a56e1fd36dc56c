"""Sets in a table, as a measure: how many rows share what an attacker may know of a person's set."""

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.model.policy import MOST_KNOWN, SEPARATOR
from shoal.model.sentences import Sentence
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.items import item_verdict


@measure(
    "(k,k^m)-anonymity",
    formula="min over classes E and sets S of at most m items of a row of E of the number of rows of E that contain S",
    better="high",
    need="release",
    cost="number of combinations of at most m items in rows",
    requires=("items",),
)
def k_km_anonymity(case: Case) -> tuple[Finding, ...]:
    """Count the rows of a class that share its rarest combination of at most m items, in a column of sets.

    No finding without a column of sets.
    """
    m = case.policy.constraints.m or MOST_KNOWN
    found = []
    for name in case.policy.names("items") if case.n else ():
        separator = case.policy.columns[name].separator or SEPARATOR
        least = item_verdict(name, case.released.column(name), separator, case.labels, 0, m).found
        how = Sentence(
            "rows of a class that share the rarest combination of at most {m} items of {name!r}", m=m, name=name
        )
        found.append(Finding("(k,k^m)-anonymity", least, how, "release", counts_rows=False))
    return tuple(found)
