"""Draw report.png: the public report of `shoal demo`'s table, wide and light, narrow and dark.

Needs playwright and Debian's chromium. Run: python docs/pictures/draw_report.py
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import shoal
from shoal.pipeline.reporting import report

HERE = Path(__file__).parent
PAGE = """<body style="margin:0;background:#e9ecee;display:flex;gap:24px;padding:24px;align-items:flex-start">
<img src="wide.png" style="width:800px;border-radius:8px">
<img src="narrow.png" style="width:258px;border-radius:8px">"""

release = shoal.anonymize(
    shoal.sample(5000), k=5, l=2, identifiers=["patient_id", "name"], sensitive=["diagnosis"], seed=0
)
with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
    place = Path(folder)
    (place / "report.html").write_text(report(None, release), encoding="utf-8")
    (place / "both.html").write_text(PAGE, encoding="utf-8")
    browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    for name, width, height, scheme, part in (
        ("wide", 1240, 1000, "light", "#columns"),
        ("narrow", 400, 1000, "dark", "body"),
    ):
        page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        page.goto((place / "report.html").as_uri())
        page.locator(part).evaluate("part => part.scrollIntoView()")
        page.screenshot(path=place / f"{name}.png")
    page = browser.new_page(viewport={"width": 1130, "height": 693})
    page.goto((place / "both.html").as_uri())
    page.screenshot(path=HERE / "report.png")
    browser.close()
