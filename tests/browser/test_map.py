"""The map, drawn by WebGL and on a plain canvas: zoom, hover, legend, colours, lasso."""

import re

import pytest
from playwright.sync_api import expect

from .steps import comes_to, go, says, undo_in_toast

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def with_webgl(browser):
    """The same browser with WebGL by software, which the common one may lack."""
    flags = "--no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist"
    exe = browser.browser_type.executable_path
    opened = browser.browser_type.launch(args=flags.split(), **_where(browser, exe))
    yield opened
    opened.close()


def _where(browser, exe):
    import shutil
    from pathlib import Path

    return {} if Path(exe).exists() else {"executable_path": shutil.which("chromium") or shutil.which("google-chrome")}


def canvas(page):
    return page.get_by_role("application", name=re.compile("Map of 200 items"))


def opened(page, address="#/map"):
    go(page, address)
    expect(canvas(page)).to_have_attribute("data-drawn-by", re.compile("webgl|canvas"))
    page.wait_for_timeout(300)
    return canvas(page)


def colours(page):
    """How many different colours the canvas shows."""
    return page.evaluate(
        """() => { const from = document.querySelector('[role=application] canvas');
            const to = document.createElement('canvas'); to.width = from.width; to.height = from.height;
            const draw = to.getContext('2d'); draw.drawImage(from, 0, 0);
            const all = draw.getImageData(0, 0, to.width, to.height).data; const seen = new Set();
            for (let i = 0; i < all.length; i += 4) if (all[i + 3] > 200) seen.add(all.slice(i, i + 3).join());
            return seen.size; }"""
    )


def draw_lasso(page, box):
    x, y, w, h = box["x"], box["y"], box["width"], box["height"]
    page.mouse.move(x + 20, y + 20)
    page.mouse.down()
    for px, py in ((0.9, 0.03), (0.9, 0.97), (0.03, 0.97), (0.03, 0.1)):
        page.mouse.move(x + w * px, y + h * py, steps=4)
    page.mouse.up()


def find_point(page, box):
    """Move the pointer about until a picture shows that it is on a point."""
    frame = box.bounding_box()
    for step in range(400):
        x, y = 10 + (step * 37) % (frame["width"] - 80), 10 + (step * 53) % (frame["height"] - 20)
        page.mouse.move(frame["x"] + x, frame["y"] + y)
        if box.locator("img").count():
            return True
    return False


def test_without_webgl_the_points_are_on_a_canvas(page):
    page.context.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext ="
        " function (kind, ...rest) { return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest); };"
    )
    page.reload()
    box = opened(page)
    expect(box).to_have_attribute("data-drawn-by", "canvas")
    comes_to(page, lambda: colours(page) >= 5, True)


def test_with_webgl_three_js_draws_under_our_policy(with_webgl, served, watch):
    context = with_webgl.new_context(viewport={"width": 1440, "height": 900})
    watch.context(context)
    page = context.new_page()
    page.goto(served.new_url())
    box = opened(page)
    expect(box).to_have_attribute("data-drawn-by", "webgl")
    shot = box.screenshot()
    page.get_by_role("button", name="Closer").click()
    comes_to(page, lambda: box.screenshot() != shot, True)
    context.close()
    watch.check()


def test_zoom_by_key_wheel_and_button_is_kept_in_the_address(page):
    box = opened(page)
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile("at="))
    page.mouse.move(*_middle(box))
    page.mouse.wheel(0, -600)
    first = page.url
    expect(page).not_to_have_url(first)
    page.wait_for_timeout(300)
    kept = page.url
    page.reload()
    expect(canvas(page)).to_be_visible()
    page.wait_for_timeout(500)
    comes_to(page, lambda: page.url, kept)
    page.get_by_role("button", name="All of it").click()
    expect(page).not_to_have_url(re.compile("at="))


def _middle(box):
    frame = box.bounding_box()
    return frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2


def test_names_and_pictures_appear(page):
    box = opened(page)
    expect(box.locator("span", has_text=re.compile(r"\w")).first).to_be_visible()
    assert find_point(page, box)
    page.mouse.wheel(0, -900)  # towards the point
    expect(page).to_have_url(re.compile("at="))
    page.mouse.move(5, 5)  # what hung on the pointer goes; pictures that have room stay
    page.wait_for_function("() => document.querySelectorAll('[role=application] img').length > 0")


def test_the_legend_filters(page):
    opened(page)
    legend = page.get_by_role("complementary", name="Legend")
    first = legend.get_by_role("button", name=re.compile("^Show ")).first
    name = (
        legend.get_by_role("button", name=re.compile("^Only ")).first.get_attribute("aria-label").removeprefix("Only ")
    )
    first = legend.get_by_role("button", name=f"Show {name} ")
    first.click()
    expect(first).to_have_attribute("aria-pressed", "false")
    expect(page).to_have_url(re.compile("hide="))
    legend.get_by_role("button", name=f"Only {name}", exact=True).click()
    expect(first).to_have_attribute("aria-pressed", "true")
    expect(legend.get_by_role("button", name=re.compile("^Show "), pressed=True)).to_have_count(1)
    legend.get_by_role("button", name="Show all").click()
    expect(legend.get_by_role("button", name=re.compile("^Show "), pressed=False)).to_have_count(0)


def test_colours_by_tag_and_by_another_run(page):
    opened(page)
    legend = page.get_by_role("complementary", name="Legend")
    chooser = page.get_by_role("combobox", name="Colour by")
    chooser.select_option("tag:face")
    expect(legend.get_by_role("button", name="Show without face")).to_be_visible()
    chooser.select_option("run:1")
    expect(legend.get_by_role("button", name=re.compile("^Show "))).to_have_count(10)
    chooser.select_option("cluster")
    expect(page).not_to_have_url(re.compile("by="))


def test_a_lasso_tags_exports_and_makes_a_cluster(page):
    box = opened(page)
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="Lasso")).to_have_attribute("aria-pressed", "true")
    draw_lasso(page, box.bounding_box())
    bar = page.get_by_role("toolbar", name="Lasso")
    expect(bar.get_by_text(re.compile(r"[1-9]\d* items inside"))).to_be_visible()
    n = int(re.match(r"\d+", bar.get_by_role("status").inner_text()).group())
    assert n > 20
    page.reload()
    expect(bar.get_by_text(f"{n} items inside")).to_be_visible()
    bar.get_by_role("button", name="Tag these").click()
    page.get_by_role("combobox", name=f"Tag for {n} items").fill("inside the lasso")
    page.keyboard.press("Enter")
    says(page, "inside the lasso")
    undo_in_toast(page, "inside the lasso")
    with page.expect_download() as saved:
        bar.get_by_role("button", name="Export").click()
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == n + 1
    bar.get_by_role("button", name="New cluster").click()
    page.get_by_role("searchbox", name="Find a cluster").fill("lassoed")
    page.get_by_role("button", name="New cluster “lassoed”").click()
    expect(bar).to_have_count(0)
    legend = page.get_by_role("complementary", name="Legend")
    expect(legend.get_by_role("button", name="Show lassoed")).to_contain_text(str(n))
    page.keyboard.press("z")
    expect(legend.get_by_role("button", name="Show lassoed")).to_have_count(0)


def test_a_point_opens_its_item(page):
    box = opened(page)
    assert find_point(page, box)
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"#/items/\d+"))


def test_a_new_run_has_no_map_until_one_is_asked_for(page):
    go(page, "#/runs")
    page.get_by_role("region", name="New fit").get_by_role("combobox", name="Method").select_option("rmkmc")
    page.get_by_role("spinbutton", name="Clusters").fill("5")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("article", name=re.compile("fit")).get_by_text("done", exact=True)).to_be_visible(
        timeout=120_000
    )
    go(page, "#/map")
    expect(page.get_by_role("heading", name="No map yet")).to_be_visible()
    page.get_by_role("button", name="Make the map").click()
    job = page.get_by_role("article", name=re.compile("map"))
    expect(job.get_by_role("progressbar")).to_be_visible()
    job.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Make the map")).to_be_enabled()
    page.get_by_role("button", name="Make the map").click()
    expect(canvas(page)).to_be_visible(timeout=180_000)  # laid out by UMAP, which compiles first
    assert page.evaluate("fetch('./api/map').then((a) => a.json()).then((a) => [a.state, a.n])") == ["ready", 200]
