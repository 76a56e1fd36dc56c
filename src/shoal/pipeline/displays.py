"""What a release in memory shows: its report and its pictures, by modules that are imported when they are needed."""

from typing import Any

from shoal.model.release import Release
from shoal.privacy.measures.case import Case


def report_of(release: Release, original: Any = None, **given: Any) -> str:
    """Return the report of a release."""
    from shoal.pipeline.reporting import report

    return report(original, release, **given)


def plot_of(release: Release, column: str | None) -> Any:
    """Return pictures of a release, beside the original if the release has it."""
    from shoal.reports.plots import plot_of as drawn

    return drawn(release._making.case or Case(release.table, release.policy), column)
