"""Pictures of reports of real data, for docs/reports.md; where such reports are (python3 -m bench.reports.make --folder FOLDER)."""

import base64
import os
import pathlib

import pytest

from conftest import check_accessibility

FOLDER = os.environ.get("ESPALIER_REPORTS")
PICTURES = pathlib.Path(__file__).parents[2] / "docs/pictures"
CHART = "figure.chart:has(svg[aria-label='{}'])".format
# Of each page a part that has no text of its data, from one element to another.
PARTS = {"mnist": (CHART("Confusion matrix"), "#quality > .grid"), "conll2003": ("#quality > .lead", "#quality > .grid"),
         "ewt": (CHART("Confusion matrix"), "#quality > .grid"), "ptb": ("#quality > .lead", "#quality > .grid"),
         "snakes": (CHART("Confusion matrix"), "#quality .examples > li:first-child"), "race": ("h1", CHART("Distance from the optimum by passes"))}


WIDTHS = {"race": 620}  # times of a busy machine, beside or below, stay out of it


@pytest.mark.skipif(not FOLDER, reason="no reports: ESPALIER_REPORTS is not set")
@pytest.mark.parametrize("name", PARTS)
def test_real_data(page, name):
    """Written anew with ESPALIER_WRITE_DOCS=1."""
    wide = WIDTHS.get(name, 1000)
    for width, dark in ((390, True), (wide, False)):
        page.open(pathlib.Path(FOLDER) / f"{name}.html", width=width, dark=dark)
        page.wait(lambda: page.all("figure.chart"))
        assert page.overflow() <= 0
        assert page.requests() == [] and page.complaints() == []
    check_accessibility(page)
    paths = page.driver.page_source.count(str(pathlib.Path(FOLDER).resolve()))
    assert paths == 0
    top, bottom = page.script("""
        const [first, last] = [...arguments].map((selector) => [...document.querySelectorAll(selector)].pop().getBoundingClientRect());
        return [first.top + scrollY, last.bottom + scrollY];""", *PARTS[name])
    clip = {"x": 0, "y": max(0, top - 8), "width": wide, "height": round(bottom - top + 16), "scale": 0.8}
    picture = base64.b64decode(page.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})["data"])
    size = len(picture)
    assert size < 150_000
    if os.environ.get("ESPALIER_WRITE_DOCS"):
        (PICTURES / f"report-{name}.png").write_bytes(picture)
