"""kill -9 and Ctrl-C at random moments of the commands: nothing is lost, and the same command again ends the job."""

import os

import pytest

from tests.collection.samples import hashes, sidecar
from tests.programs import run_program

from .samples import make_pictures


def run_stops(tmp_path, way, n_stops):
    source = make_pictures(tmp_path / "shapes").parent
    whole = (source / "03.png").read_bytes()
    (source / "03.png").write_bytes(whole[: len(whole) // 2])
    (source / "04.xmp").write_text(sidecar("disc"), encoding="utf-8")
    (source / "notes.txt").write_text("a few words", encoding="utf-8")
    before = hashes(source)
    found = run_program("end_to_end.kills", tmp_path, source, way, n_stops, 0)
    assert found["stopped"] >= n_stops
    assert hashes(source) == before  # originals are untouched
    return found


@pytest.mark.slow
def test_many_kills(tmp_path, record_property):
    found = run_stops(tmp_path, "kill", int(os.environ.get("MANYVIEW_KILLS", "20")))
    record_property("count", found["stopped"])


@pytest.mark.slow
def test_many_interrupts(tmp_path, record_property):
    found = run_stops(tmp_path, "interrupt", int(os.environ.get("MANYVIEW_STOPS", "5")))
    record_property("count", found["stopped"])
    assert found["slowest"] < 5
