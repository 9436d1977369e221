"""Everything that shows itself in a notebook, with strangers' words in every setting and view: text stays text."""

import inspect

import numpy as np
import pytest

import manyview
from manyview import FusionART, RobustMultiviewKMeans, Views

from .test_page import PAYLOADS, hostile_profiles

ELEMENTS = "() => [...document.body.querySelectorAll('*')].map(one => one.localName).join(' ')"
HANDLERS = """() => [...document.querySelectorAll('*')].reduce((n, one) =>
    n + [...one.attributes].filter(part => /^on/i.test(part.name)).length, 0)"""

pytestmark = pytest.mark.slow


def showing():
    """Every public class whose objects show themselves as HTML."""
    public = [getattr(manyview, name) for name in manyview.__all__]
    return [one for one in public if inspect.isclass(one) and hasattr(one, "_repr_html_")]


def made(kind, words):
    """An estimator with words for all its settings; a report of words."""
    if kind is manyview.ClusterReport:
        return kind(hostile_profiles(), title=words[0], settings=dict(zip(words, words, strict=True)))
    return kind(**{name: [*words, dict.fromkeys(words, words[0])] for name in inspect.signature(kind).parameters})


def fitted(kind, words):
    draw = np.random.default_rng(0)
    views = Views({word: draw.random((12, 3)) for word in words[:3]})
    found = kind(2) if kind is RobustMultiviewKMeans else kind()
    return found.fit(views)


@pytest.fixture
def look(browser, tmp_path):
    """Opens HTML as a cell of a notebook: what it is made of, what ran and what it asked for."""
    page = browser.new_page()
    said, asked = [], []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    path = tmp_path / "notebook.html"

    def opened(shown):
        path.write_text(f"<!doctype html><meta charset=utf-8><body>{shown}", encoding="utf-8", errors="replace")
        page.goto(path.as_uri(), wait_until="load")
        page.wait_for_timeout(50)
        assert said == [] and {url for url in asked if not url.startswith("data:")} == {path.as_uri()}
        return page.evaluate(ELEMENTS), page.evaluate(HANDLERS)

    yield opened
    page.close()


def test_the_list_is_whole():
    kinds = showing()
    assert manyview.ClusterReport in kinds and FusionART in kinds and len(kinds) >= 10


@pytest.mark.parametrize("kind", showing(), ids=lambda kind: kind.__name__)
def test_settings_stay_text(look, kind):
    harmless = [f"word {number}" for number in range(len(PAYLOADS))]
    shown = look(made(kind, PAYLOADS)._repr_html_())
    if kind is manyview.ClusterReport:
        assert "script" not in shown[0].split() and shown[1] == 0
    else:
        assert shown == look(made(kind, harmless)._repr_html_())


@pytest.mark.parametrize("kind", [RobustMultiviewKMeans, FusionART], ids=lambda kind: kind.__name__)
def test_names_of_views_stay_text_when_fitted(look, kind):
    harmless = look(fitted(kind, ["a", "b", "c"])._repr_html_())
    for start in range(0, 30, 3):
        assert look(fitted(kind, PAYLOADS[start : start + 3])._repr_html_()) == harmless
