"""kill -9 at random moments of ``manyview add``: nothing is lost, and the same command again ends the job."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow  # forks a command for every kill; MANYVIEW_KILLS says how many
def test_killed_additions_are_finished_by_the_same_command(tmp_path):
    n_kills = int(os.environ.get("MANYVIEW_KILLS", "4"))
    shown = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.add_kills", str(tmp_path), str(n_kills), "0"],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["wrong"] == [] and found["killed"] >= n_kills
