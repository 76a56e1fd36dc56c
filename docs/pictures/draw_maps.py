"""Draw the pictures of the pages on maps, densities and labels: `python docs/pictures/draw_maps.py`.

They are what the private folder of a release of the invented hospital table holds.
"""

from pathlib import Path

import shoal
from shoal.reports.figures import pictures

HERE = Path(__file__).parent
COLUMNS = ["birth_date", "height_cm", "weight_kg", "systolic", "days", "cost_eur", "smoker"]
DRAWN = {
    "map.svg": ("k_tca", "self-organising-map.svg"),
    "density.svg": ("kde", "densities.svg"),
    "labels.svg": ("k_tca_pp", "plane.svg"),
}


def main() -> None:
    table = shoal.sample(2000).select(COLUMNS)
    for file, (method, picture) in DRAWN.items():
        release = shoal.anonymize(
            table, k=5, l=2, method=method, sensitive=["smoker"], label="smoker", missing="suppress-row", seed=0
        )
        svg = pictures(release._making.sketches, release._making.sketched)[picture]
        (HERE / file).write_text(svg, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
