"""The report in a real browser: nothing runs, nothing is asked for, and it fits a phone."""

import numpy as np
import pytest

from manyview import ClusterReport

from .test_page import PAYLOADS, hostile_profiles


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("form", ["page", "cell of a notebook"])
def test_a_hostile_report_is_inert(browser, tmp_path, form, width, scheme):
    pictures = np.random.default_rng(0).integers(0, 255, size=(len(PAYLOADS), 60, 60, 3), dtype=np.uint8)
    report = ClusterReport(hostile_profiles(), title=PAYLOADS[0], thumbnails=pictures)
    path = report.save(tmp_path / "report.html")
    if form != "page":
        path.write_text(f"<!doctype html><meta charset=utf-8><body>{report._repr_html_()}", encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    said, asked = [], []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri(), wait_until="networkidle")
    assert said == []
    assert [url for url in asked if not url.startswith("data:image/")] == [path.as_uri()]
    assert page.evaluate("document.scripts.length + document.querySelectorAll('iframe,object,embed,form').length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].filter(one => one.naturalWidth > 0).length") > 5
    shown = page.evaluate("getComputedStyle(document.querySelector('.mvr')).backgroundColor")
    assert shown == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    page.close()
