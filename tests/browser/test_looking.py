"""Looking: the large view from every grid, zoom, slide show, clips and texts, the size of pictures."""

import io
import re

import numpy as np
import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import expect

from manyview import Collection

from .conftest import Watch
from .demo import Server
from .steps import comes_to, go, names, rows

pytestmark = pytest.mark.slow


MIDDLE = """img => {
    const draw = new OffscreenCanvas(30, 30).getContext('2d');
    draw.drawImage(img, 0, 0, 30, 30);
    const [r, g, b] = draw.getImageData(15, 15, 1, 1).data;
    return [img.naturalWidth === img.naturalHeight, r > 150 && b < 120];
}"""
"""Is the picture a square, with something red in the middle?"""


def view(page):
    return page.get_by_role("dialog", name="Large view")


def place(page):
    return view(page).get_by_role("status", name="Place in the list")


def cells(page, label):
    return page.get_by_role("list", name=label).get_by_role("listitem")


def cluster(page):
    """The page of a cluster with many items."""
    by_size(page)
    page.get_by_role("link", name="All of").first.click()
    found = cells(page, re.compile("Items of"))
    expect(found.nth(5)).to_be_visible()
    return found


def by_size(page):
    """The start page, largest first: until the list is told anew it is the one before, in another order."""
    go(page, "#/clusters?sort=size")
    comes_to(page, lambda: sizes(page) == sorted(sizes(page), reverse=True), True)


def sizes(page):
    expect(rows(page).first).to_be_visible()
    return [int(re.search(r"(\d+) items?", text)[1]) for text in rows(page).all_inner_texts()]


def scale(page):
    return float(
        page.evaluate("() => new DOMMatrix(getComputedStyle(document.querySelector('dialog img')).transform).a")
    )


class TestLargeView:
    def test_the_arrows_go_through_the_grid_and_the_focus_comes_back_with_them(self, page):
        found = cluster(page)
        total = int(found.first.get_attribute("aria-setsize"))
        found.nth(1).get_by_role("link").focus()
        page.keyboard.press("v")
        expect(place(page)).to_have_text(f"2 of {total}")
        expect(view(page).get_by_role("img")).to_be_visible()
        for key, at in (("ArrowRight", 3), ("ArrowLeft", 2), ("End", total), ("ArrowRight", total), ("Home", 1)):
            page.keyboard.press(key)
            expect(place(page)).to_have_text(f"{at} of {total}")
        view(page).get_by_role("button", name="Next").click()
        expect(view(page).get_by_role("button", name="Previous")).to_be_enabled()
        page.keyboard.press("ArrowRight")
        expect(place(page)).to_have_text(f"3 of {total}")
        page.keyboard.press("Escape")
        expect(view(page)).to_have_count(0)
        expect(found.nth(2).get_by_role("link")).to_be_focused()

    def test_it_shows_what_the_grid_shows_and_leads_to_all_about_it(self, page):
        found = cluster(page)
        name = found.nth(3).get_by_role("link").get_attribute("title")
        found.nth(3).hover()
        found.nth(3).get_by_role("button", name=re.compile("large")).click()
        expect(view(page).get_by_role("img", name=name.rsplit("/", 1)[-1])).to_be_visible()
        page.keyboard.press("i")
        expect(page.get_by_role("heading", level=1, name=name.rsplit("/", 1)[-1])).to_be_visible()
        expect(view(page)).to_have_count(0)
        page.keyboard.press("v")
        expect(view(page).get_by_role("img", name=name.rsplit("/", 1)[-1])).to_be_visible()
        expect(place(page)).to_have_text(re.compile(r"\d+ of \d+"))

    def test_back_closes_it_a_link_opens_it_and_what_was_picked_stays(self, page):
        found = cluster(page)
        below = page.url
        found.first.get_by_role("link").focus()
        page.keyboard.press("v")
        expect(place(page)).to_have_text(re.compile("^1 of"))
        page.keyboard.press("x")
        page.keyboard.press("ArrowRight")
        expect(place(page)).to_have_text(re.compile("^2 of"))
        view(page).get_by_role("button", name="Select").click()
        expect(page).to_have_url(re.compile(r"sel=\d+%2C\d+"))
        address = page.url
        page.go_back()
        expect(view(page)).to_have_count(0)
        expect(page.get_by_text("2 items selected")).to_be_visible()
        assert page.url.split("?")[0] == below.split("?")[0]
        page.goto("about:blank")
        page.goto(address)
        expect(view(page).get_by_role("img")).to_be_visible()
        expect(place(page)).to_have_text(re.compile(r"\d+ of \d+"))
        view(page).get_by_role("button", name="Close").click()
        expect(view(page)).to_have_count(0)
        expect(page.get_by_text("2 items selected")).to_be_visible()

    def test_zoom_by_key_wheel_and_double_click_and_drag_moves_what_is_enlarged(self, page):
        found = cluster(page)
        found.first.get_by_role("link").focus()
        page.keyboard.press("v")
        picture = view(page).get_by_role("img")
        expect(picture).to_be_visible()
        assert scale(page) == 1
        page.keyboard.press("+")
        comes_to(page, lambda: scale(page), 1.25)
        page.keyboard.press("-")
        comes_to(page, lambda: scale(page), 1.0)
        stage = page.viewport_size["width"] / 2, page.viewport_size["height"] / 2 + 20
        page.mouse.move(*stage)
        page.mouse.wheel(0, -800)
        comes_to(page, lambda: scale(page) > 4, True)
        before = picture.bounding_box()
        page.mouse.down()
        page.mouse.move(stage[0] - 60, stage[1] - 40, steps=4)
        page.mouse.up()
        after = picture.bounding_box()
        assert round(before["x"] - after["x"]) == 60 and round(before["y"] - after["y"]) == 40
        page.keyboard.press("0")
        comes_to(page, lambda: scale(page), 1.0)
        page.mouse.dblclick(*stage)
        comes_to(page, lambda: scale(page), 2.5)
        page.keyboard.press("ArrowRight")
        comes_to(page, lambda: scale(page), 1.0, "the next picture starts as it fits")

    def test_two_fingers_enlarge_and_one_goes_on(self, new_page):
        page = new_page("#/search", width=390, height=844)
        page.get_by_role("list", name="Results").get_by_role("link").nth(1).tap()
        expect(place(page)).to_have_text(re.compile("^2 of"))
        expect(view(page).get_by_role("img")).to_be_visible()
        touch = page.context.new_cdp_session(page)

        def fingers(kind, *points):
            touch.send(
                "Input.dispatchTouchEvent",
                {"type": kind, "touchPoints": [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]},
            )

        fingers("touchStart", (160, 400), (230, 400))
        for wide in (10, 20, 30, 40):
            fingers("touchMove", (160 - wide, 400), (230 + wide, 400))
        fingers("touchEnd")
        comes_to(page, lambda: scale(page) == pytest.approx(150 / 70, rel=0.02), True)
        page.keyboard.press("0")
        fingers("touchStart", (300, 400))
        for x in (260, 200, 140):
            fingers("touchMove", (x, 402))
        fingers("touchEnd")
        expect(place(page)).to_have_text(re.compile("^3 of"))

    def test_a_slide_show_goes_on_by_itself_round_the_end_until_stopped(self, page):
        found = cluster(page)
        total = int(found.first.get_attribute("aria-setsize"))
        found.first.get_by_role("link").focus()
        page.keyboard.press("v")
        page.keyboard.press("End")
        expect(place(page)).to_have_text(f"{total} of {total}")
        page.keyboard.press("s")
        expect(view(page).get_by_role("button", name="Slide show")).to_have_attribute("aria-pressed", "true")
        view(page).get_by_role("combobox", name="Seconds for each").select_option("2")
        expect(place(page)).to_have_text(f"1 of {total}")
        expect(place(page)).to_have_text(f"2 of {total}")
        view(page).get_by_role("button", name="Slide show").click()
        expect(view(page).get_by_role("button", name="Slide show")).to_have_attribute("aria-pressed", "false")
        stopped = place(page).inner_text()
        page.wait_for_timeout(2500)
        expect(place(page)).to_have_text(stopped)
        page.keyboard.press("Escape")
        cluster(page)
        page.get_by_role("button", name="Slide show").click()
        expect(view(page).get_by_role("button", name="Slide show")).to_have_attribute("aria-pressed", "true")

    def test_what_is_moved_by_another_order_keeps_the_focus(self, page):
        page.set_viewport_size({"width": 1280, "height": 3000})  # no cluster leaves the window
        for at in range(3):
            by_size(page)
            link = page.get_by_role("list", name=re.compile("Typical items")).nth(at).get_by_role("link").first
            name = link.get_attribute("title")
            link.focus()
            go(page, "#/clusters?sort=name")
            comes_to(page, lambda: names(page) == sorted(names(page), key=str.casefold), True)
            page.keyboard.press("v")
            expect(view(page).get_by_role("img", name=name.rsplit("/", 1)[-1])).to_be_visible()
            page.keyboard.press("Escape")

    def test_its_keys_are_listed_and_no_others_count_there(self, page):
        found = cluster(page)
        found.first.get_by_role("link").focus()
        page.keyboard.press("v")
        expect(view(page)).to_be_visible()
        page.keyboard.press("2")  # would lead to the map
        page.keyboard.press("?")
        listed = page.get_by_role("dialog", name="Keys")
        expect(listed).to_contain_text("slide show")
        expect(listed).not_to_contain_text("undo the last change")
        page.keyboard.press("Escape")
        expect(listed).to_have_count(0)
        expect(view(page)).to_be_visible()

    def test_from_the_review(self, page):
        go(page, "#/review?all=true")
        name = page.get_by_role("article").get_attribute("aria-label").split("? ")[1]
        page.keyboard.press("v")
        expect(view(page).get_by_role("img", name=name)).to_be_visible()
        page.keyboard.press("y")  # no answer while one looks
        page.keyboard.press("Escape")
        expect(view(page)).to_have_count(0)
        assert page.get_by_role("article").get_attribute("aria-label").endswith(name)
        go(page, "#/review?mode=sheet&all=true")
        cards = cells(page, re.compile("Proposals for"))
        expect(cards.nth(1)).to_be_visible()
        cards.nth(1).get_by_role("button", name=re.compile("large")).click()
        expect(place(page)).to_have_text(re.compile("^2 of"))
        page.keyboard.press("ArrowLeft")
        expect(place(page)).to_have_text(re.compile("^1 of"))
        page.keyboard.press("Escape")
        expect(cards.nth(0).get_by_role("group")).to_be_focused()


def test_the_size_of_pictures_is_chosen_once_and_kept(new_page):
    page = new_page("#/search")
    found = cells(page, "Results")
    expect(found.first).to_be_visible()
    usual = found.first.bounding_box()["width"]
    page.get_by_role("slider", name="Size of the pictures").focus()
    page.keyboard.press("End")
    comes_to(page, lambda: found.first.bounding_box()["width"] > 1.5 * usual, True)
    large = found.first.bounding_box()["width"]
    page.reload()
    expect(found.first).to_be_visible()
    comes_to(page, lambda: found.first.bounding_box()["width"], large)
    page.get_by_role("heading", level=1).click(force=True)
    for _ in range(4):
        page.keyboard.press("-")
    comes_to(page, lambda: found.first.bounding_box()["width"] < usual, True)
    assert page.locator("main img").count() <= 300
    go(page, "#/clusters")
    strip = page.get_by_role("list", name=re.compile("Typical items")).first.get_by_role("listitem")
    expect(strip.first).to_be_visible()
    small = strip.first.bounding_box()["width"]
    page.keyboard.press("+")
    comes_to(page, lambda: strip.first.bounding_box()["width"] > small, True)


@pytest.fixture(scope="class")
def album(tmp_path_factory):
    """A wide picture with its subject at the right, a clip that browsers play, one that they do not, and a text."""
    av = pytest.importorskip("av", reason="the video extra is not installed: pip install 'manyview[video]'")
    folder = tmp_path_factory.mktemp("album")
    (folder / "files").mkdir()
    wide = Image.new("RGB", (2400, 800), (90, 140, 210))
    ImageDraw.Draw(wide).ellipse((1900, 250, 2200, 550), fill=(210, 40, 30))
    wide.save(folder / "files" / "a wide one.jpg")
    for name, codec in (("b playable.webm", "libvpx"), ("c strange.avi", "mpeg4")):
        with av.open(str(folder / "files" / name), "w") as container:
            stream = container.add_stream(codec, rate=10)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            for n in range(30):
                frame = np.full((48, 64, 3), 8 * n, np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, "rgb24")))
            container.mux(stream.encode())
    (folder / "files" / "d letter.txt").write_text(
        "Dear all, " + "it rains and we stay inside. " * 200, encoding="utf-8"
    )
    path = folder / "album.manyview"
    with Collection.create(path, folder / "files") as made:
        thumbs = {}
        for item in made.items:
            if item.kind == "document":
                continue
            small = Image.open(item.path) if item.kind == "picture" else Image.new("RGB", (64, 48), (60, 60, 60))
            small.thumbnail((256, 256))
            content = io.BytesIO()
            small.save(content, "JPEG")
            thumbs[item.id] = content.getvalue()
        made.thumbs.add(thumbs)
    server = Server(path)
    yield server
    server.stop()


class TestAlbum:
    @pytest.fixture
    def served(self, album):
        return album

    @pytest.fixture
    def watch(self, album):
        return Watch(album.base)

    @pytest.fixture
    def page(self, new_page):
        page = new_page("#/search?sort=name")
        page.get_by_role("list", name="Results").get_by_role("link").first.focus()
        return page

    def test_the_square_is_cut_around_the_subject(self, page):
        picture = page.get_by_role("list", name="Results").locator("img").first
        expect(picture).to_be_visible()
        comes_to(page, lambda: picture.evaluate("img => img.complete && img.naturalWidth > 0"), True)
        assert picture.evaluate(MIDDLE) == [True, True]

    def test_what_is_enlarged_is_fetched_larger(self, page):
        page.keyboard.press("v")
        picture = view(page).get_by_role("img")
        expect(picture).to_be_visible()
        width = "img => img.naturalWidth"
        comes_to(page, lambda: picture.evaluate(width), 1600)
        for _ in range(3):
            page.keyboard.press("+")
        comes_to(page, lambda: picture.evaluate(width), 2400)

    def test_a_clip_plays_and_one_that_does_not_shows_its_frames(self, page, watch):
        watch.allowed = ("Failed to load resource",)  # the clip that cannot be played
        page.keyboard.press("v")
        page.keyboard.press("ArrowRight")
        view(page).get_by_role("button", name="Play").click()
        clip = view(page).locator("video")
        comes_to(page, lambda: clip.evaluate("video => video.currentTime > 0.2"), True)
        clip.evaluate("video => { video.pause(); video.currentTime = 2; }")
        comes_to(page, lambda: clip.evaluate("video => Math.round(video.currentTime)"), 2)
        page.keyboard.press("ArrowRight")
        expect(place(page)).to_have_text("3 of 4")
        page.keyboard.press(" ")
        expect(view(page).get_by_text("cannot play the clip")).to_be_visible()
        expect(view(page).get_by_role("link", name="Save the clip")).to_be_visible()

    def test_space_waits_until_it_is_known_whether_there_is_a_clip(self, page):
        held = []
        page.route(re.compile(r"/api/items/2\?"), lambda asked: held.append(asked))
        page.keyboard.press("v")
        page.keyboard.press("ArrowRight")
        expect(place(page)).to_have_text("2 of 4")
        comes_to(page, lambda: len(held) > 0, True)
        page.keyboard.press(" ")
        for one in held:
            one.continue_()
        expect(view(page).locator("video")).to_be_visible()
        expect(view(page).get_by_role("button", name="Slide show")).to_have_attribute("aria-pressed", "false")

    def test_a_text_is_read_and_scrolled_by_key(self, page):
        page.keyboard.press("v")
        page.keyboard.press("End")
        text = view(page).get_by_role("region", name="Text of d letter.txt")
        expect(text).to_contain_text("it rains and we stay inside")
        page.keyboard.press("ArrowDown")
        comes_to(page, lambda: text.evaluate("text => text.scrollTop > 0"), True)
        before = text.evaluate("text => parseFloat(getComputedStyle(text).fontSize)")
        page.keyboard.press("+")
        comes_to(page, lambda: text.evaluate("text => parseFloat(getComputedStyle(text).fontSize)") > before, True)
