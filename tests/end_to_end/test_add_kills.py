"""kill -9 at random moments of ``manyview add``: nothing is lost, and the same command again ends the job."""

import os

import pytest

from tests.programs import run_program


@pytest.mark.slow  # forks a command for every kill; MANYVIEW_KILLS says how many
def test_killed_additions_are_finished_by_the_same_command(tmp_path, record_property):
    n_kills = int(os.environ.get("MANYVIEW_KILLS", "4"))
    found = run_program("end_to_end.add_kills", tmp_path, n_kills, 0)
    record_property("count", found["killed"])
    assert found["killed"] >= n_kills
