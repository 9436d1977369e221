"""Answers survive kills, and eight processes that give them at once lose none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_program(name, *arguments):
    shown = subprocess.run(
        [sys.executable, "-m", f"tests.end_to_end.{name}", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["wrong"] == []
    return found


def test_a_few_kills_while_answering(tmp_path):
    assert run_program("decide_kills", tmp_path, 3, 0)["killed"] >= 3


@pytest.mark.slow
def test_many_kills_while_answering(tmp_path):
    n_kills = int(os.environ.get("MANYVIEW_KILLS", "20"))
    assert run_program("decide_kills", tmp_path, n_kills, 1)["killed"] >= n_kills


def test_a_moment_of_eight_writers(tmp_path):
    found = run_program("many_writers", tmp_path, 1.5)
    assert found["answers"] > 8


@pytest.mark.slow
def test_eight_writers(tmp_path):
    found = run_program("many_writers", tmp_path, float(os.environ.get("MANYVIEW_WRITERS_SECONDS", "10")))
    assert min(found["by"]) > 0 and found["answers"] > 50
