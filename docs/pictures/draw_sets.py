"""Draw the worked example of docs/sets.md: eight records, and the chunks that they are torn into."""

from pathlib import Path

import shoal.sets

RECORDS = [["flu", "cough"], ["flu", "cough"], ["flu", "cough", "gout"], ["flu", "asthma"]]
RECORDS += [["flu", "asthma"], ["flu", "asthma", "cough"], ["asthma"], ["gout"]]
COLOURS = {"asthma": "#0072b2", "cough": "#e69f00", "flu": "#009e73", "gout": "#cc79a7"}
SIDE, HIGH, LEFT = 74, 26, 20


def square(item: str, x: float, y: float) -> str:
    """Return an item as a coloured box with its name."""
    return (
        f'<rect x="{x}" y="{y}" width="{SIDE - 6}" height="{HIGH - 6}" rx="4" fill="{COLOURS[item]}"/>'
        f'<text x="{x + (SIDE - 6) / 2}" y="{y + 14.5}" text-anchor="middle" fill="white">{item}</text>'
    )


def main() -> None:
    """Make the release and write the picture."""
    published = shoal.sets.anonymize(RECORDS, k=2, m=2, delta=8, seed=0).published
    parts = ['<text x="20" y="20" font-weight="bold">eight records</text>']
    for row, record in enumerate(RECORDS):
        parts += [square(item, LEFT + place * SIDE, 34 + row * HIGH) for place, item in enumerate(record)]
    x = LEFT + 3 * SIDE + 90
    parts.append(
        f'<path d="M{x - 66} 130 h36 m-9 -7 l9 7 l-9 7" fill="none" stroke="#777" stroke-width="2.5"/>'
        f'<text x="{x}" y="20" font-weight="bold">published: three chunks</text>'
    )
    for chunk in range(published.chunks):
        y = 34
        wide = 1
        for sub in range(published.chunk_ptr[chunk], published.chunk_ptr[chunk + 1]):
            items = [published.labels[i] for i in published.items[published.sub_ptr[sub] : published.sub_ptr[sub + 1]]]
            wide = max(wide, len(items))
            for _ in range(int(published.counts[sub])):
                parts += [square(item, x + place * SIDE, y) for place, item in enumerate(items)]
                y += HIGH
        parts.append(
            f'<rect x="{x - 7}" y="28" width="{wide * SIDE + 8}" height="{8 * HIGH + 6}" rx="8" fill="none" '
            'stroke="#777" stroke-dasharray="4 3"/>'
        )
        x += wide * SIDE + 30
    body = "\n".join(parts)
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x} 256" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>{body}</svg>\n'
    )
    (Path(__file__).parent / "sets.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
