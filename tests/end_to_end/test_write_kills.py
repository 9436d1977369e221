"""kill -9 at random moments of accept, apply and undo: nothing acknowledged is lost, and the rest goes on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
N_KILLS = int(os.environ.get("MANYVIEW_KILLS", "20"))


@pytest.mark.slow
def test_kills_while_tags_are_accepted_written_and_taken_back(tmp_path):
    shown = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.write_kills", str(tmp_path), str(N_KILLS), "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["wrong"] == [] and found["killed"] >= N_KILLS
