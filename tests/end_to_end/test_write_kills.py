"""kill -9 at random moments of accept, apply and undo: nothing acknowledged is lost, and the rest goes on."""

import os

import pytest

from tests.programs import run_program

N_KILLS = int(os.environ.get("MANYVIEW_KILLS", "20"))


@pytest.mark.slow
def test_kills_while_tags_are_accepted_written_and_taken_back(tmp_path, record_property):
    found = run_program("end_to_end.write_kills", tmp_path, N_KILLS, 0)
    record_property("count", found["killed"])
    assert found["killed"] >= N_KILLS


@pytest.mark.slow
def test_kills_while_tags_are_written_into_files_and_taken_back(tmp_path, record_property):
    n_kills = int(os.environ.get("MANYVIEW_EMBED_KILLS", "8"))
    found = run_program("end_to_end.embed_kills", tmp_path, n_kills)
    record_property("count", found["killed"])
    assert found["killed"] >= n_kills and found["unfinished"] > 0
