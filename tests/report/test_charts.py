"""Charts for notebooks: they move, several of them on one page, and nothing is fetched."""

import altair as alt
from browsing import opened

from shoal.report.charts import moving, rows


def chart():
    return alt.Chart(rows(a=[1, 2], b=[3, 4])).mark_point().encode(x="a:Q", y="b:Q").interactive()


def test_two_charts_on_one_page_are_drawn_and_ask_for_nothing(browser, tmp_path):
    path = tmp_path / "notebook.html"
    shown = [moving(chart())._repr_mimebundle_()["text/html"] for _ in range(2)]
    path.write_text(f"<!doctype html><title>notebook</title>{''.join(shown)}", encoding="utf-8")
    page, asked, said = opened(browser, path, 1280, "light")
    for number in range(2):
        frame = page.frame_locator("iframe").nth(number)
        frame.locator("canvas, svg").first.wait_for(state="visible")
    assert [url for url in asked if url != "about:srcdoc"] == [path.as_uri()]
    assert said == []
    page.context.close()


def test_it_is_still_a_chart_of_altair():
    made = moving(chart())
    assert isinstance(made, alt.Chart)
    assert "text/html" in made.properties(width=100)._repr_mimebundle_()
    assert made.to_dict()["config"]["background"] == "transparent"
