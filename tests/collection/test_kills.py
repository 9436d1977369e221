"""kill -9 at random moments: nothing acknowledged is lost, and the same work again reaches the same end."""

import os

import pytest

from tests.programs import run_program

from .samples import hashes, picture_folder


def run_kills(tmp_path, n_kills):
    source = picture_folder(tmp_path / "pictures", 40)
    before = hashes(source)
    n_killed = run_program("collection.kills", tmp_path, source, n_kills, 0)["killed"]
    assert n_killed >= n_kills
    assert hashes(source) == before  # originals are untouched
    return n_killed


def test_a_few_kills(tmp_path):
    run_kills(tmp_path, 2)


@pytest.mark.slow
def test_many_kills(tmp_path, record_property):
    record_property("count", run_kills(tmp_path, int(os.environ.get("MANYVIEW_KILLS", "20"))))
