"""The answer of a release in memory: three lines for the terminal and the notebook.

The measured pair that a release keeps is used if it is there, so that nothing is counted twice.
"""

from shoal.model.release import Release
from shoal.model.set_release import SetRelease
from shoal.privacy.measures.case import Case
from shoal.reports.answer import Answer, set_answer, table_answer
from shoal.reports.wording import words

KEPT = "occurrences in chunks %"


def answer_of(release: Release, following: str = "") -> Answer:
    """Return the answer of a release, for its holder; the third line is that of a notebook if not given."""
    case = release._making.case or Case(release.table, release.policy)
    return table_answer(case, release.verdicts, release.findings, following or words()["next"]["python"])


def answer_of_sets(release: SetRelease, following: str = "") -> Answer:
    """Return the answer of a release of sets, for its holder; the third line is that of a notebook if not given."""
    kept = next((one.value for one in release.findings if one.name == KEPT), None)
    then = following or words()["next"]["python_sets"]
    return set_answer(release.published, release.verdicts, release.kind, then, kept)
