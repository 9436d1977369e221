"""The report: inert whatever the words in it, whole on disk or not there, and not too large."""

import base64
import io
import os
import re
import time
from dataclasses import replace
from datetime import datetime, timedelta
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from manyview import ClusterReport, Collection, cluster_profiles, explain_item, suggest_n_clusters, write_report
from manyview.errors import ParameterError, StoreError
from manyview.report import page as page_module
from manyview.report.markup import Markup, clipped, joined, tag
from manyview.report.run import report_of_run

WORDS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</bdi></a></section><iframe src=javascript:alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<a href=javascript:alert(1)>x</a>",
    "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<object data=javascript:alert(1)>",
    "<embed src=//example.invalid/x.swf>",
    "<base href=//example.invalid/>",
    "<link rel=stylesheet href=//example.invalid/x.css>",
    "<meta http-equiv=refresh content='0;url=//example.invalid'>",
    "<form action=//example.invalid><button>x</button></form>",
    "<style>*{background:url(//example.invalid)}</style>",
    "--><script>alert(1)</script><!--",
    "]]><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "<scr\x00ipt>alert(1)</scr\x00ipt>",
    "\u202egnp.exe",
    "\ud800broken",
    "\x1b[31mred\x07",
    "` onmouseover=alert(1) x=`",
    "' onmouseover='alert(1)",
    '" onmouseover="alert(1)" x="',
    '" style="position:fixed;inset:0',
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "<ScRiPt>alert(1)</sCrIpT>",
    "<math><mi xlink:href=javascript:alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea></textarea><script>alert(1)</script>",
    "<x onclick=alert(1)>click",
    "\n<script>\nalert(1)\n</script>\n",
    "שלום <b>",
    "\u2066\u2067hidden\u2069",
]
PAYLOADS = [*WORDS, *(f"x'\"> {word}" for word in WORDS)]
ELEMENTS = set(
    "html head meta title style body header main footer nav section div h1 h2 h3 p ul li dl dt dd table tbody tr th td "
    "a bdi i img span svg rect".split()
)
ATTRIBUTES = set(
    "charset http-equiv content name lang class id href src alt title width height loading scope role aria-label "
    "aria-hidden viewbox preserveaspectratio x y".split()
)


class Page(HTMLParser):
    """What a browser would make of a page: elements, attributes, text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.attributes, self.text, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attributes):
        self.elements.append(name)
        self.attributes += [(name, key, value) for key, value in attributes]
        if name not in ("meta", "img", "rect"):
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.handle_starttag(name, attributes)

    def handle_endtag(self, name):
        assert self.open and self.open.pop() == name, f"</{name}> closes nothing"

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def check_inert(self):
        assert not self.open
        assert set(self.elements) <= ELEMENTS
        for name, key, value in self.attributes:
            assert key in ATTRIBUTES, (name, key, value)
            assert key != "href" or re.fullmatch(r"#mv[0-9a-f]{8}--?\d+", value), value
            assert key != "src" or re.fullmatch(r"data:image/(webp|png|jpeg|gif);base64,[A-Za-z0-9+/=]+", value)


def hostile_profiles():
    """Every payload as a tag, a name, a view, a caption and a cluster's own name."""
    n = len(PAYLOADS)
    labels = np.arange(n) // 5
    rows = np.random.default_rng(0).normal(size=(n, 4)) + labels[:, None]
    tags = [[PAYLOADS[label], PAYLOADS[(i + 7) % n]] for i, label in enumerate(labels)]
    views = {PAYLOADS[v]: rows for v in range(3)}
    return cluster_profiles(views, labels, tags, item_names=PAYLOADS, names={0: PAYLOADS[3], 1: PAYLOADS[31]})


def test_strangers_words_stay_words():
    profiles = hostile_profiles()
    for captions in (None, PAYLOADS):
        settings = {payload: {payload: [payload, 1.5]} for payload in PAYLOADS}
        for title in (PAYLOADS[0], PAYLOADS[7], PAYLOADS[8]):
            report = ClusterReport(profiles, title=title, captions=captions, settings=settings)
            for text in (report.html(), report._repr_html_()):
                text.encode("utf-8")
                parsed = Page(text)
                parsed.check_inert()
                shown = "".join(parsed.text)
                assert "<img src=x onerror=alert(1)>" in shown  # shown as it is written, not dropped
                assert not re.search("[\x00-\x08\x1b\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    assert PAYLOADS[0] in str(explain_item(profiles, 0))  # data stay as they are; whoever shows them escapes


def test_pictures_that_are_none_are_left_out():
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
    odd = [svg, b"<html>", b"", b"\x89PNG\r\n\x1a\n" + b"x" * 20_000, b"\xff\xd8\xff" + b"<script>" * 4_000, None]
    profiles = cluster_profiles(np.eye(6), [0] * 6)
    text = ClusterReport(profiles, thumbnails=odd).html()
    Page(text).check_inert()
    assert "data:image" not in text.split("</style>")[1]


def encoded(kind, picture):
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def test_every_kind_of_picture_is_shown():
    red = Image.new("RGB", (300, 200), "red")
    clear = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    noise = np.random.default_rng(0).integers(0, 255, size=(200, 300, 3), dtype=np.uint8)
    pictures = {
        0: encoded("PNG", red),
        1: encoded("JPEG", red),
        2: encoded("WEBP", red),
        3: encoded("GIF", red),
        4: clear,
        5: np.zeros((16, 15), dtype=np.uint8),
        6: noise,
        7: encoded("PNG", Image.fromarray(noise)),  # too large to go in as it is
    }
    profiles = cluster_profiles(np.eye(16), [0] * 16, item_names=[f"n{i}" for i in range(16)])
    for thumbnails in (pictures, pictures.get, [pictures.get(i) for i in range(16)]):
        parsed = Page(ClusterReport(profiles, thumbnails=thumbnails).html())
        parsed.check_inert()
        sources = [value for name, key, value in parsed.attributes if (name, key) == ("img", "src")]
        assert len(sources) == 8 and max(map(len, sources)) < 30_000
        assert [value for name, key, value in parsed.attributes if (name, key) == ("img", "alt")][:2] == ["n0", "n1"]


@pytest.mark.parametrize(
    ("thumbnails", "words"),
    [
        ({0: "a.jpg"}, "thumbnail of item 0 must be the bytes of a PNG, .* got str"),
        ({0: np.zeros((4, 4))}, "thumbnail of item 0 must be uint8, .* got float64 of shape"),
        ("a.jpg", "thumbnails must be a function from item to picture, .* got str"),
    ],
)
def test_wrong_pictures_are_named(thumbnails, words):
    with pytest.raises(ParameterError, match=words):
        ClusterReport(cluster_profiles(np.eye(2), [0, 0]), thumbnails=thumbnails).html()


def test_the_page_forbids_what_it_does_not_need():
    parsed = Page(ClusterReport(cluster_profiles(np.eye(2), [0, 1])).html())
    (policy,) = [value for _, key, value in parsed.attributes if key == "content" and "default-src" in value]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "script" not in policy and "unsafe" not in policy and "base-uri 'none'; form-action 'none'" in policy
    css = page_module._style()
    assert not re.search(r"url\(|@import|expression|https?:", css)


def test_what_the_page_tells():
    labels = [0] * 6 + [1] * 4 + [-1]
    tags = [["dog"]] * 5 + [[]] + [["cat"]] * 4 + [["dog"]]
    X = {"looks": np.arange(11.0)[:, None], "shape": np.eye(11)}
    profiles = cluster_profiles(X, labels, tags, view_weights={"looks": 3, "shape": 1}, item_names=list("abcdefghijk"))
    report = ClusterReport(profiles, title="My dogs", settings={"method": "rmkmc", "seed": 3})
    shown = " ".join(Page(report.html()).text)
    for words in (
        "My dogs",
        "2 clusters · 11 items · 1 in no cluster",
        "75 %",
        "25 %",
        "rmkmc",
        "dog",
        "5 of 5",
        "cat",
    ):
        assert words in shown
    assert shown.index("6 items") < shown.index("4 items")
    assert "In no cluster" in shown and "1 item belongs to no cluster" in shown
    assert report.html() == ClusterReport(profiles, title="My dogs", settings={"method": "rmkmc", "seed": 3}).html()
    assert report._repr_html_().startswith('<div class="mvr"><style>')


@pytest.mark.parametrize(
    ("X", "labels", "tags"),
    [(None, [], None), (None, [0, 1], None), (np.eye(2), [-1, -1], None), (np.ones((3, 1)), [0, 0, 0], [[], [], []])],
)
def test_nothing_to_show_is_still_a_page(X, labels, tags):
    Page(ClusterReport(cluster_profiles(X, labels, tags), n_pictures=0).html()).check_inert()


def test_a_hundred_clusters_stay_below_ten_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(100), 30)
    picture = encoded("PNG", Image.fromarray(rng.integers(0, 255, size=(72, 72), dtype=np.uint8)))
    assert 5_000 < len(picture) < 6_000  # as large as a picture may be that goes in as it is
    tags = [[f"tag {label} {'x' * 40}", f"t{i % 50}"] for i, label in enumerate(labels)]
    profiles = cluster_profiles(rng.normal(size=(3000, 3)), labels, tags, item_names=["n" * 200] * 3000)
    path = write_report(tmp_path / "report.html", profiles, thumbnails=lambda item: picture)
    assert path.stat().st_size < 10_000_000
    cards = path.read_text(encoding="utf-8").split('<section class="cluster"')[1:]
    assert len(cards) == 100 and all(card.count("<img") >= 4 for card in cards)


def test_saving_is_all_or_nothing(tmp_path, monkeypatch):
    profiles = cluster_profiles(np.eye(2), [0, 1])
    path = tmp_path / "report.html"
    assert ClusterReport(profiles, title="old").save(path) == path

    def fail(*_):
        raise OSError(28, "No space left on device")

    for step in ("replace", "fsync"):
        with monkeypatch.context() as patched:
            patched.setattr(os, step, fail)
            with pytest.raises(StoreError, match=r"cannot write .*report\.html: the disk is full"):
                ClusterReport(profiles, title="new").save(path)
        assert os.listdir(tmp_path) == ["report.html"] and "<title>old</title>" in path.read_text(encoding="utf-8")
    with pytest.raises(StoreError, match=r"report\.html cannot be written.* its folder does not exist"):
        ClusterReport(profiles).save(tmp_path / "none" / "report.html")


def test_captions_and_counts_are_checked():
    profiles = cluster_profiles(np.eye(2), [0, 1])
    with pytest.raises(ParameterError, match="captions has 1 entries but there are 2 items"):
        ClusterReport(profiles, captions=["a"])
    with pytest.raises(ParameterError, match="n_pictures must be an integer"):
        ClusterReport(profiles, n_pictures=-1)


def test_markup_escapes_what_is_not_markup():
    assert tag("p", "<", Markup("<br>"), None, title='"<') == '<p title="&quot;&lt;">&lt;<br></p>'
    assert joined(["a", "b"], " & ") == "a &amp; b"
    assert tag("p", "\x00\ud800\u202e") == "<p>\ufffd\ufffd\ufffd</p>"
    for attribute in ("onclick", "on_load", "a b", "x>"):
        with pytest.raises(ValueError, match="is no attribute"):
            tag("p", **{attribute: "x"})
    assert clipped("a  b\nc", 10) == "a b c" and clipped("abcdef", 4) == "abc…"


def test_figures_kept_before_the_word_probability_are_still_shown():
    from manyview.report.evaluation import _promise_table

    row = {"n": 12, "promised": 0.75, "kept": 0.5}
    assert _promise_table([{"min_score": 0.7, **row}]) == _promise_table([{"min_probability": 0.7, **row}])
    assert "probability from" in str(_promise_table([{"min_score": 0.7, **row}]))


def test_how_the_number_was_found_is_shown_with_its_curve():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(5, 8)) * 4, 30, axis=0) + rng.normal(size=(150, 8))
    found = suggest_n_clusters(X, random_state=0)
    profiles = cluster_profiles(X, np.repeat(np.arange(5), 30))
    page = ClusterReport(profiles, number=found).html()
    assert found.reason in page and "How many clusters" in page
    address = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert base64.b64decode(address[1]).decode() == found.svg()
    assert "How many clusters" not in ClusterReport(profiles).html()
    assert "How many clusters" not in ClusterReport(profiles, number=replace(found, score=np.zeros(0))).html()


def test_a_run_as_a_page_says_all_of_its_notes_and_the_time_on_the_wall(tmp_path, monkeypatch):

    np.save(tmp_path / "given.npy", np.eye(4))
    said = ["a sentence " * 50 + "with an end."]
    with Collection.create(tmp_path / "four.manyview", tmp_path / "given.npy") as collection:
        run = collection.save_run("by hand", [0, 0, 1, 1], figures={"said": said})
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        try:
            page = report_of_run(collection).html()
        finally:
            monkeypatch.undo()
            time.tzset()
    assert "with an end." in page
    there = datetime.fromisoformat(run.made_at) + timedelta(hours=9)
    assert there.strftime("%Y-%m-%d %H:%M") in page
