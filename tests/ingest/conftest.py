"""An empty folder to fill."""

import pytest


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    return folder
