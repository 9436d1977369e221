"""The map, drawn by WebGL and on a plain canvas: zoom, hover, legend, colours, levels, lasso."""

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
    """Move the pointer about until it is on a point, and its picture is there."""
    frame = box.bounding_box()
    for step in range(800):
        right, down = (0.7549 * step) % 1, (0.5698 * step) % 1  # spread evenly, however few
        x, y = 10 + right * (frame["width"] - 80), 10 + down * (frame["height"] - 20)
        page.mouse.move(frame["x"] + x, frame["y"] + y)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if box.locator(".tip").count():
            expect(box.locator(".tip img")).to_be_visible()
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
    first = page.url
    page.mouse.wheel(0, -600)
    expect(page).not_to_have_url(first)
    page.wait_for_timeout(300)
    kept = page.url
    page.reload()
    expect(canvas(page)).to_be_visible()
    page.wait_for_timeout(500)
    comes_to(page, lambda: page.url, kept)
    page.get_by_role("button", name="All of it", exact=True).click()
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


def panel(page):
    return page.get_by_role("region", name="Inside the lasso")


def n_inside(page):
    expect(panel(page).get_by_role("status")).to_contain_text(re.compile(r"[1-9]\d* items? inside"))
    return int(re.match(r"\d+", panel(page).get_by_role("status").inner_text()).group())


def test_a_lasso_shows_its_pictures_tags_exports_and_makes_a_cluster(page):
    box = opened(page)
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="Lasso")).to_have_attribute("aria-pressed", "true")
    draw_lasso(page, box.bounding_box())
    n = n_inside(page)
    assert n > 20
    grid = panel(page).get_by_role("list", name="Items inside the lasso")
    expect(grid.get_by_role("link").first).to_be_visible()
    expect(grid.get_by_role("listitem").first).to_have_attribute("aria-setsize", str(n))
    assert box.bounding_box()["x"] + box.bounding_box()["width"] <= panel(page).bounding_box()["x"]
    page.reload()
    assert n_inside(page) == n
    panel(page).get_by_role("button", name="Tag…").click()
    page.get_by_role("combobox", name=f"Tag for {n} items").fill("inside the lasso")
    page.keyboard.press("Enter")
    says(page, "inside the lasso")
    undo_in_toast(page, "inside the lasso")
    with page.expect_download() as saved:
        panel(page).get_by_role("button", name="Export").click()
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == n + 1
    panel(page).get_by_role("button", name="New cluster").click()
    page.get_by_role("searchbox", name="Find a cluster").fill("lassoed")
    page.get_by_role("button", name="New cluster “lassoed”").click()
    expect(panel(page)).to_have_count(0)
    legend = page.get_by_role("complementary", name="Legend")
    expect(legend.get_by_role("button", name="Show lassoed")).to_contain_text(str(n))
    page.keyboard.press("z")
    expect(legend.get_by_role("button", name="Show lassoed")).to_have_count(0)


def test_who_looks_at_the_whole_map_still_does_beside_the_pictures_of_a_lasso(page):
    go(page, "#/map")
    expect(page.get_by_role("region", name="Legend").or_(page.get_by_text("Legend")).first).to_be_visible()
    page.wait_for_timeout(400)
    go(page, "#/map?lasso=-99_-99~99_-99~99_99~-99_99")
    expect(page.get_by_role("region", name="Inside the lasso").get_by_role("link").first).to_be_visible()
    page.wait_for_timeout(600)
    assert "at=" not in page.url, "the map was moved by what came beside it"


def test_while_the_pictures_scroll_the_map_stays(page):
    box = opened(page)
    page.keyboard.press("v")
    assert n_inside(page) == 200
    top = box.bounding_box()["y"]
    page.mouse.move(1300, 600)
    page.mouse.wheel(0, 900)
    expect(panel(page).get_by_role("list").locator("[aria-posinset='28']")).to_be_visible()
    assert 0 < box.bounding_box()["y"] <= top
    expect(panel(page).get_by_role("button", name="Tag…")).to_be_in_viewport()


def test_everything_without_a_pointer(page):
    """Zoom, pick what is in sight, look through it, pick two of it, tag, move, undo, let go."""
    opened(page)
    for _ in range(3):
        page.keyboard.press("+")
    page.wait_for_timeout(300)
    page.keyboard.press("v")
    n = n_inside(page)
    assert n < 200
    grid = panel(page).get_by_role("list", name="Items inside the lasso")
    grid.get_by_role("link").first.focus()
    page.keyboard.press("x")
    page.keyboard.press("ArrowRight")
    expect(grid.get_by_role("link").nth(1)).to_be_focused()
    page.keyboard.press("x")
    expect(panel(page).get_by_role("status")).to_contain_text("2 selected")
    page.keyboard.press("t")
    page.get_by_role("combobox", name="Tag for 2 items").fill("by key")
    page.keyboard.press("Enter")
    says(page, "by key")
    page.keyboard.press("z")
    says(page, "undid")
    page.keyboard.press("m")
    page.get_by_role("searchbox", name="Find a cluster").fill("two by key")
    page.keyboard.press("Enter")
    expect(panel(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Show two by key")).to_contain_text("2")
    page.keyboard.press("z")
    expect(page.get_by_role("button", name="Show two by key")).to_have_count(0)
    page.keyboard.press("v")
    n_inside(page)
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    expect(page).not_to_have_url(re.compile("lasso="))


def test_a_way_back_from_the_void(page):
    opened(page, "#/map?at=50_50_400")
    hint = page.get_by_text("Nothing is in sight here.")
    expect(hint).to_be_visible()
    page.get_by_role("button", name="Show all of it").click()
    expect(hint).to_have_count(0)
    expect(page).not_to_have_url(re.compile("at="))
    for _ in range(25):
        page.keyboard.press("ArrowLeft")
    expect(hint).to_be_visible()
    page.keyboard.press("0")
    expect(hint).to_have_count(0)


def overlaps(boxes):
    return [
        (a, b)
        for n, a in enumerate(boxes)
        for b in boxes[n + 1 :]
        if min(a["right"], b["right"]) - max(a["left"], b["left"]) > 0.5
        and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) > 0.5
    ]


@pytest.mark.parametrize("width", [1440, 390])
def test_names_neither_collide_nor_leave_the_map(new_page, width):
    page = new_page(width=width)
    box = opened(page)
    for key in ("", "+", "+", "ArrowLeft", "+", "ArrowDown", "-", "+"):
        if key:
            page.keyboard.press(key)
        page.wait_for_timeout(200)
        boxes = box.locator("[data-label]").evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
        cut = box.locator("[data-label]").evaluate_all("all => all.filter(o => o.scrollWidth > o.clientWidth).length")
        frame = box.bounding_box()
        assert (boxes or key) and not overlaps(boxes), key
        assert cut == 0 or any(one["width"] >= 179 for one in boxes)  # only the very long are cut
        for one in boxes:
            assert frame["x"] <= one["left"] and one["right"] <= frame["x"] + frame["width"], key
            assert frame["y"] <= one["top"] and one["bottom"] <= frame["y"] + frame["height"], key


def marks(page):
    """Colour and shape of each cluster, as the legend has them."""
    read = "all => all.map(one => [one.firstElementChild.getAttribute('fill'), one.firstElementChild.outerHTML])"
    return page.get_by_role("complementary", name="Legend").locator("svg").evaluate_all(read)


def test_every_cluster_has_its_own_look_and_keeps_it(page):
    opened(page)
    first = marks(page)
    assert len(first) == 10 and len({shape for _, shape in first}) == 10
    assert len({colour for colour, _ in first}) >= 6  # how many of the eight hangs on who borders on whom
    page.get_by_role("complementary", name="Legend").get_by_role("button", name=re.compile("^Show ")).first.click()
    assert marks(page) == first
    page.reload()
    expect(canvas(page)).to_be_visible()
    comes_to(page, lambda: marks(page), first)


def test_coarser_and_finer_on_the_map(page):
    box = opened(page)
    legend = page.get_by_role("complementary", name="Legend").get_by_role("button", name=re.compile("^Show "))
    levels = page.get_by_role("group", name="Number of clusters")
    wanted = int(re.search(r"\d+", levels.get_by_role("button", name="Coarser").get_attribute("title")).group())
    levels.get_by_role("button", name="Coarser").click()
    expect(legend).to_have_count(wanted)
    expect(box).to_be_visible()  # the same map, in other colours
    expect(levels.get_by_role("button", name="Finer")).to_be_enabled()
    page.keyboard.press(".")
    expect(legend).not_to_have_count(wanted)
    for _ in range(2):
        page.keyboard.press("z")
        page.wait_for_timeout(400)
    expect(legend).to_have_count(10)


def test_on_a_phone_no_button_covers_the_map_and_the_pictures_come_as_a_sheet(new_page):
    page = new_page(width=390, height=844)
    box = opened(page)
    frame = box.bounding_box()
    for button in page.get_by_role("group", name="Map").get_by_role("button").all():
        spot = button.bounding_box()
        assert spot["y"] + spot["height"] <= frame["y"] and spot["x"] + spot["width"] <= 390
    assert frame["y"] < 200  # two rows of controls, not more
    page.get_by_role("button", name="Pick what is in sight").click()
    assert n_inside(page) == 200
    sheet = panel(page).bounding_box()
    assert sheet["y"] >= box.bounding_box()["y"] + box.bounding_box()["height"] and sheet["width"] == 390
    expect(panel(page).get_by_role("link").first).to_be_in_viewport()
    page.evaluate("scrollTo(0, 700)")
    comes_to(page, lambda: panel(page).bounding_box()["y"] < box.bounding_box()["y"] + 40, True)
    expect(panel(page).get_by_role("button", name="Tag…")).to_be_in_viewport()


def test_a_point_opens_its_item(page):
    box = opened(page)
    assert find_point(page, box)
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"#/items/\d+"))


def test_a_new_run_has_its_map_at_once(page):
    go(page, "#/runs")
    page.get_by_role("region", name="New fit").get_by_role("combobox", name="Method").select_option("rmkmc")
    page.get_by_role("spinbutton", name="Clusters").fill("5")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("article", name=re.compile("fit")).get_by_text("done", exact=True)).to_be_visible(
        timeout=120_000
    )
    opened(page)
    legend = page.get_by_role("complementary", name="Legend")
    expect(legend.get_by_role("button", name=re.compile("^Show "))).to_have_count(5)
    assert page.evaluate("fetch('./api/map').then((a) => a.json()).then((a) => [a.state, a.n])") == ["ready", 200]
