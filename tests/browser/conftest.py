"""A person's browser on a real gallery: one collection for all, a copy of it and a server for each file of tests."""

import shutil
import time
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from .demo import Server, make_demo

SLOW_MACHINE = 40_000  # ms; many other things may run beside the tests


@pytest.fixture(scope="session")
def demo(tmp_path_factory, browser) -> Path:
    """The collection as it is at first. Several workers share one: the first makes it, the others wait."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if base.name.startswith("popen-") else base) / "gallery-demo"
    ready = shared / "ready"
    try:
        shared.mkdir()
    except FileExistsError:
        until = time.monotonic() + 300
        while not ready.exists():
            assert time.monotonic() < until, "the demo collection was not made"
            time.sleep(0.2)
    else:
        make_demo(shared)
        ready.touch()
    return shared / "emoji.manyview"


@pytest.fixture(scope="module")
def served(demo, tmp_path_factory):
    """A gallery that the tests of one file may change."""
    server = Server(shutil.copytree(demo, tmp_path_factory.mktemp("gallery") / "emoji.manyview"))
    yield server
    server.stop()


class Watch:
    """What a page must not do: err, break the content policy, open dialogs, ask other machines."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.seen: list[str] = []
        self.allowed: tuple[str, ...] = ()

    def context(self, context) -> None:
        context.set_default_timeout(SLOW_MACHINE)
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => console.error('policy: ' + e.violatedDirective));"
        )
        context.on("console", lambda message: message.type == "error" and self.seen.append(message.text))
        context.on("weberror", lambda problem: self.seen.append(str(problem.error)))
        context.on("dialog", self._dialog)
        context.on("request", self._request)

    def _dialog(self, dialog) -> None:
        self.seen.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request) -> None:
        if not request.url.startswith((self.base, "blob:", "data:")):
            self.seen.append(f"asked {request.url}")

    def check(self) -> None:
        wrong = [one for one in self.seen if not any(word in one for word in self.allowed)]
        assert not wrong, "\n".join(wrong)


@pytest.fixture
def watch(served):
    return Watch(served.base)


@pytest.fixture
def new_page(browser, served, watch):
    """A function that opens the gallery at an address; everything it sees is held against ``watch`` at the end."""
    from .steps import expect

    contexts = []

    def open_page(address="#/clusters", *, width=1440, height=900, **options):
        phone = {"has_touch": True, "is_mobile": True} if width < 720 else {}
        context = browser.new_context(
            viewport={"width": width, "height": height},
            permissions=["clipboard-read", "clipboard-write"],
            **phone,
            **options,
        )
        contexts.append(context)
        watch.context(context)
        # A page that is open already may still send a request past the first route of a test: there is one before it.
        context.route("**/nothing-that-is-asked-for", lambda route: route.continue_())
        page = context.new_page()
        page.goto(served.new_url())
        expect(page.locator("header .where")).not_to_have_text("")  # who may write is known: keys that change count
        if address != "#/clusters":
            page.goto(served.base + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    watch.check()


@pytest.fixture
def page(new_page):
    return new_page()
