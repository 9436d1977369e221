"""Names, tags and cluster names that try to become part of the page: every view shows them as text."""

import csv
import shutil

import numpy as np
import pytest
from playwright.sync_api import expect

from manyview.workflow import edits
from manyview.workflow.living import current_clusters
from manyview.workflow.start import start_collection

from .demo import Server
from .steps import go

pytestmark = pytest.mark.slow

OPENERS = ["", '"', "'", "`", "</title>", "</style>", "</script>", "-->", "]]>", "&quot;"]
BODIES = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<svg onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "{@html '<b onmouseover=alert(1)>'}",
    "${alert(1)}",
    "<a href=javascript:alert(1)>x</a>",
    "<style>*{background:url(//evil.example/x)}</style>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "\u202e<object data=//evil.example/>",
]
PAYLOADS = [f"{opener}{body}" for opener in OPENERS for body in BODIES]


@pytest.fixture(scope="module")
def served(demo, tmp_path_factory):
    """A hundred pictures, each with a payload for a name, for a tag and for a text; clusters named by them too."""
    folder = tmp_path_factory.mktemp("hostile")
    pictures = sorted((demo.parent / "emoji" / "images").iterdir())[: len(PAYLOADS)]
    for picture in pictures:
        shutil.copy(picture, folder / picture.name)
    table = folder / "items.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "file", "tags", "text", "<b onclick=alert(2)>column"])
        for n, (payload, picture) in enumerate(zip(PAYLOADS, pictures, strict=True)):
            shared = PAYLOADS[n % 10]
            writer.writerow([f"{n} {payload}", picture.name, f"{payload}|{shared}", payload, payload])
    path = folder / "hostile.manyview"
    columns = {"id": "name", "image": "file", "tags": "tags", "text": "text", "tag_sep": "|", "root": folder}
    with start_collection(path, table, **columns) as collection:
        rng = np.random.default_rng(0)
        collection.add_view("<i>looks</i>", "1", rng.normal(size=(len(PAYLOADS), 4)).astype(np.float32))
        for seed in range(2):
            collection.save_run(
                "rmkmc",
                (np.arange(len(PAYLOADS)) + seed) // 10 % 10,
                settings={"seed": seed, "views": ["<i>looks</i>"]},
                views={"<i>looks</i>": "1"},
                confidence=rng.random(len(PAYLOADS)),
                figures={"n_clusters": 10},
                seconds=0.1,
            )
        for number, cluster in enumerate(current_clusters(collection)):
            edits.rename(collection, cluster.id, PAYLOADS[number * 7 % 100])
    server = Server(path)
    yield server
    server.stop()


def test_no_payload_becomes_markup_in_any_view(page, watch):
    watch.allowed = ("404",)  # these pictures have no thumbnails
    cluster = page.get_by_role("link", name="All of").first
    expect(cluster).to_be_visible()
    address = cluster.get_attribute("href")
    plain = page.evaluate("() => document.querySelectorAll('script').length")
    places = ["#/clusters", address, f"{address}?tab=borderline", "#/search", "#/search?q=img", "#/review", "#/compare"]
    places += [
        "#/runs",
        "#/map",
        "#/items/1",
        "#/items/42",
        "#/items/77",
        f"#/search?q={'%3Cimg src=x onerror=alert(1)%3E'}",
    ]
    shown = 0
    for place in places:
        go(page, place)
        page.wait_for_timeout(400)
        shown += page.evaluate("() => document.body.innerText.includes('alert(1)')")
        odd = page.evaluate(
            """() => [...document.querySelectorAll('iframe, object, embed, math, mglyph, body style, b[onmouseover],'
               + ' [onerror], [onload], [onclick], a[href^="javascript"]')].map(e => e.outerHTML)"""
        )
        assert not odd, f"{place}: {odd[:3]}"
        assert page.evaluate("() => document.querySelectorAll('script').length") == plain
    assert shown >= 5
    page.keyboard.press("h")
    drawer = page.get_by_role("dialog", name="History")
    expect(drawer.get_by_text("alert(1)").first).to_be_visible()


def test_payloads_typed_by_a_person_stay_text(page, watch):
    watch.allowed = ("404",)
    payload = "<img src=x onerror=alert(3)>"
    go(page, "#/items/3")
    page.get_by_role("combobox", name="Add a tag").fill(payload)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("link", name=payload, exact=True)).to_be_visible()
    page.get_by_role("link", name=payload, exact=True).click()
    expect(page.get_by_role("main").get_by_role("status")).to_contain_text("1 item for")
