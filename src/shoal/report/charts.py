"""Charts: the look of every picture, and Altair's charts into SVG.

Text takes the colour of the page (`currentColor`), the ground is transparent, and marks have one of three colours that
the page knows how to turn for a dark screen: `ONE`, `TWO` and `PALE`. Blue and orange are told apart by everybody. Each
mark carries what it shows as an `aria-label`, which screen readers say and the page's script shows.
"""

from typing import Any

import numpy as np

__all__ = ["ONE", "PALE", "TWO", "rows", "svg", "themed"]

ONE, TWO, PALE = "#2a6f9e", "#c9671c", "#b9d2e3"
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # all of one width, so that labels fit wherever they are read


def rows(**columns: Any) -> Any:
    """Return columns as the data that Altair takes.

    Parameters
    ----------
    **columns
        Arrays or lists of one length, of numbers or words.
    """
    import altair as alt

    held = {name: np.asarray(values).tolist() for name, values in columns.items()}
    return alt.Data(values=[dict(zip(held, row, strict=True)) for row in zip(*held.values(), strict=True)])


def themed(chart: Any) -> Any:
    """Return a chart with the look of the report: for dark and light pages alike.

    Parameters
    ----------
    chart : altair.Chart
        Of any kind that stands at the top: single, layered or concatenated.
    """
    ink, soft = (
        "currentColor",
        {"domainColor": "currentColor", "tickColor": "currentColor", "gridColor": "currentColor"},
    )
    words = {
        "labelColor": ink,
        "titleColor": ink,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 11,
    }
    thin = {"gridOpacity": 0.12, "domainOpacity": 0.5, "tickOpacity": 0.5, "tickSize": 4, "labelOverlap": True}
    return (
        chart.configure(font=FONT, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(**soft, **words, **thin)
        .configure_legend(**words)
        .configure_header(**words)
        .configure_title(color=ink, fontSize=12, fontWeight="normal", anchor="start", subtitleColor=ink)
        .configure_text(color=ink)
    )


def svg(chart: Any) -> str:
    """Return a chart as SVG: no ground, text in the colour of its surroundings.

    Parameters
    ----------
    chart : altair.Chart
        As it was made; the look is added here.
    """
    import vl_convert

    return str(vl_convert.vegalite_to_svg(themed(chart).to_json(validate=False), show_warnings=False))
