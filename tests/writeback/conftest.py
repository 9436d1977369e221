"""A collection of four pictures, two of them with sidecars."""

import pytest

from manyview import Collection
from tests.collection.samples import picture_folder


@pytest.fixture
def four(tmp_path):
    """p000 ... p003 with sidecars p000.xmp (even, number 0) and p002.xmp (even, number 2)."""
    source = picture_folder(tmp_path / "pictures", 4)
    with Collection.create(tmp_path / "c.manyview", source) as collection:
        collection.source = source
        yield collection
