"""Answers survive kills, and eight processes that give them at once lose none."""

import os

import pytest

from tests.programs import run_program


@pytest.mark.slow
def test_many_kills_while_answering(tmp_path, record_property):
    n_kills = int(os.environ.get("MANYVIEW_KILLS", "20"))
    found = run_program("end_to_end.decide_kills", tmp_path, n_kills, 1)
    record_property("count", found["killed"])
    assert found["killed"] >= n_kills


def test_a_moment_of_eight_writers(tmp_path):
    found = run_program("end_to_end.many_writers", tmp_path, 1.5)
    assert found["answers"] > 8


@pytest.mark.slow
def test_eight_writers(tmp_path, record_property):
    found = run_program("end_to_end.many_writers", tmp_path, float(os.environ.get("MANYVIEW_WRITERS_SECONDS", "10")))
    record_property("count", found["answers"])
    assert min(found["by"]) > 0 and found["answers"] > 50
