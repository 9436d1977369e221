"""A gallery on a small collection, called in process."""

import shutil

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from manyview.web.app import guarded
from manyview.web.gallery import Gallery
from manyview.web.security import Access

from .made import HOST, ORIGIN, make_collection


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """The collection as it is at first; copied for every test that changes it."""
    return make_collection(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="session")
def seen(template):
    """A gallery that is only looked at."""
    yield from _serve(template)


@pytest.fixture
def collection(template, tmp_path):
    """The path of a collection that may be changed; the pictures are shared."""
    return shutil.copytree(template, tmp_path / "small.manyview")


@pytest.fixture
def client(collection):
    """A person's browser on a gallery that may be changed."""
    yield from _serve(collection)


def _serve(path):
    gallery = Gallery(path, wait=0.5)
    host, _, port = HOST.partition(":")
    access = Access([host, "localhost"], int(port))
    app = guarded(gallery, access)
    with TestClient(app, base_url=ORIGIN, raise_server_exceptions=False, follow_redirects=False) as browser:
        browser.access, browser.gallery, browser.app_ = access, gallery, app
        browser.cookies.set(access.cookie_name, access.cookie)
        yield browser
    gallery.close()
