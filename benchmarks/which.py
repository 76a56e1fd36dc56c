"""The table and the picture of the page "Which method?": `python -m benchmarks.which [METHOD ...]`.

Every method with its defaults on four tables at k = 5. Loss and CPU seconds go to docs/methods/which.json, the table
to docs/methods/which.md between its two marks, the picture to docs/pictures/which.svg. If methods are named, the
figures of the others stay as they were.
"""

import json
import math
import sys
from pathlib import Path

from benchmarks.measuring import census, labelled, normal, timed
from shoal.catalogue import methods
from shoal.cluster.methods.exact import MOST_ROWS
from shoal.utility.loss import sse, sst

DOCS = Path(__file__).parent.parent / "docs"
K = 5
RUNS: list[tuple[str, str, dict[str, object]]] = [
    ("mondrian", "mondrian", {}),
    ("one_pass", "one_pass", {}),
    ("univariate", "univariate", {}),
    ("univariate, curve", "univariate", {"along": "curve"}),
    ("hac", "hac", {}),
    ("vmdav", "vmdav", {}),
    ("tfrp", "tfrp", {}),
    ("md", "md", {}),
    ("mdav", "mdav", {}),
    ("k_member", "k_member", {}),
    ("kmeans", "kmeans", {}),
    ("kde", "kde", {}),
    ("k_tca", "k_tca", {}),
    ("c_tca", "c_tca", {}),
    ("blocks", "blocks", {}),
    ("anneal, quick", "anneal", {"effort": "quick"}),
    ("anneal, normal", "anneal", {"effort": "normal"}),
    ("anneal, thorough", "anneal", {"effort": "thorough"}),
    ("exact, quick", "exact", {"effort": "quick"}),
]
TABLES = {
    "Census, 1,080 x 13": census,
    "waveform, 5,000 x 21": lambda: labelled("waveform")[0],
    "page blocks, 5,473 x 10": lambda: labelled("page_blocks")[0],
    "normal, 20,000 x 10": lambda: normal(20_000),
}


def measure(wanted: list[str]) -> dict[str, dict[str, tuple[float, float]]]:
    """Return loss in per cent and CPU seconds of runs on every table; of all methods, or of those that are named."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for table, make in TABLES.items():
        X = make()
        for shown, name, given in RUNS:
            if (name == "exact" and len(X) > MOST_ROWS) or (wanted and name not in wanted):
                continue
            methods.load(name).function(X[:300], k=K, **given, **({"rounds": 2} if name == "anneal" else {}))
            partition, cpu, _ = timed(lambda name=name, given=given, X=X: methods.load(name).function(X, k=K, **given))
            loss = 100 * sse(X, partition.labels) / sst(X)
            found.setdefault(shown, {})[table] = (round(loss, 3), round(cpu, 4))
            print(f"{table:<26} {shown:<18} {loss:8.3f}% {cpu:9.3f} CPU s", flush=True)
    return found


def as_table(found: dict[str, dict[str, tuple[float, float]]]) -> str:
    """Return the figures as a table in Markdown."""
    heads = "".join(f" {table} |" for table in TABLES)
    lines = [f"| method |{heads}", "| --- |" + " --- |" * len(TABLES)]
    for shown, figures in found.items():
        cells = "".join(_cell(figures.get(table)) for table in TABLES)
        lines.append(f"| {shown} |{cells}")
    return "\n".join(lines)


def _cell(figures: tuple[float, float] | None) -> str:
    """Return loss and seconds as a cell of the table, a dash where a method refuses the table."""
    return " – |" if figures is None else f" {figures[0]:.2f}% · {_seconds(figures[1])} |"


def _seconds(cpu: float) -> str:
    """Return seconds with as many digits as count."""
    return f"{cpu:.3f} s" if cpu < 0.1 else f"{cpu:.2f} s" if cpu < 10 else f"{cpu:.0f} s"


def as_picture(found: dict[str, dict[str, tuple[float, float]]], table: str) -> str:
    """Return loss against time on one table as a picture: seconds on a scale of tens, loss upwards."""
    points = {shown: figures[table] for shown, figures in found.items()}
    width, height, left, top, bottom = 760, 440, 60, 48, 52
    times = [math.log10(max(cpu, 1e-3)) for _, cpu in points.values()]
    low, high = math.floor(min(times)), math.ceil(max(times))
    losses = [loss for loss, _ in points.values()]
    roof = math.ceil(1.2 * points["mdav"][0])
    floor = math.floor(min(losses) * 0.95)

    def place(loss: float, cpu: float) -> tuple[float, float]:
        across = left + (math.log10(max(cpu, 1e-3)) - low) / (high - low) * (width - left - 120)
        up = height - bottom - (min(loss, roof) - floor) / (roof - floor) * (height - bottom - top)
        return across, up

    title = f"Loss against CPU seconds of each method on {table}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">',
        "<style>text { font: 12px sans-serif }</style>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for power in range(low, high + 1):
        x = place(floor, 10.0**power)[0]
        parts.append(f'<line x1="{x:.0f}" y1="{top}" x2="{x:.0f}" y2="{height - bottom}" stroke="#e3e3e3"/>')
        word = f"{10.0**power:g} s"
        parts.append(f'<text x="{x:.0f}" y="{height - bottom + 18}" text-anchor="middle" fill="#444">{word}</text>')
    for loss in range(floor, roof + 1, max(1, (roof - floor) // 6)):
        y = place(loss, 10.0**low)[1]
        parts.append(f'<line x1="{left}" y1="{y:.0f}" x2="{width - 120}" y2="{y:.0f}" stroke="#e3e3e3"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end" fill="#444">{loss}%</text>')
    boxes = [(x - 6, y - 6, x + 6, y + 6) for x, y in (place(*figures) for figures in points.values())]
    for shown, figures in sorted(points.items(), key=lambda item: place(*item[1])[0]):
        x, y = place(*figures)
        colour = "#0072b2" if shown.startswith(("anneal", "blocks")) else "#d55e00" if shown == "mdav" else "#555555"
        word = f"{shown} ({figures[0]:.0f}%)" if figures[0] > roof else shown
        across, up = _free_place(x, y, 6.8 * len(word), boxes)
        boxes.append((across, up - 11, across + 6.8 * len(word), up + 3))
        near = abs(up - y) < 12
        if not near:
            parts.append(f'<path d="M{x:.0f} {y:.0f}L{across - 2:.0f} {up - 4:.0f}" stroke="#bbbbbb"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>')
        parts.append(f'<text x="{across:.1f}" y="{up:.1f}" fill="{colour}">{word}</text>')
    parts.append(
        f'<text x="{(left + width - 120) / 2:.0f}" y="{height - 8}" text-anchor="middle" fill="#222">CPU seconds</text>'
    )
    parts.append(f'<text x="16" y="18" fill="#222">information loss, {table}, k = {K}</text></svg>')
    return "\n".join(parts) + "\n"


def _free_place(
    x: float, y: float, width: float, boxes: list[tuple[float, float, float, float]]
) -> tuple[float, float]:
    """Return where a word beside a point covers neither a point nor another word: as near as possible."""
    for away in range(0, 400, 7):
        for across, up in ((x + 9, y + 4 - away), (x + 9, y + 4 + away), (x - 9 - width, y + 4 - away)):
            box = (across, up - 11, across + width, up + 3)
            if across > 62 and not any(
                box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in boxes
            ):
                return across, up
    return x + 9, y + 4


def main() -> None:
    """Measure, and write figures, table and picture."""
    figures, wanted = DOCS / "methods" / "which.json", sys.argv[1:]
    known = json.loads(figures.read_text(encoding="utf-8")) if wanted else {}
    both = {**known, **measure(wanted)}
    found = {shown: both[shown] for shown, _, _ in RUNS if shown in both}
    figures.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    page = DOCS / "methods" / "which.md"
    before, _, rest = page.read_text(encoding="utf-8").partition("<!-- measured -->\n")
    _, _, after = rest.partition("<!-- end -->")
    page.write_text(f"{before}<!-- measured -->\n\n{as_table(found)}\n\n<!-- end -->{after}", encoding="utf-8")
    picture = as_picture(found, next(iter(TABLES)))
    (DOCS / "pictures" / "which.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
