"""Draw the Pareto front of an exploration of the table of `shoal demo`: a minute or two on two cores."""

from pathlib import Path

import shoal
from shoal.exploration.run import explore
from shoal.reports.frontier import overview
from shoal.reports.interactive import standing_alone

METHODS = ["anneal", "cover", "gower", "hac", "k_tca", "kmeans", "mdav", "mondrian", "tfrp"]


def main() -> None:
    """Explore, and write the picture."""
    roles = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"]}
    found = explore(shoal.sample(), methods=METHODS, l=2, seed=0, budget=None, **roles)
    picture = standing_alone(overview(found.as_dict()).svg())
    (Path(__file__).parent / "explore.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
