"""kill -9 at random moments: nothing acknowledged is lost, and the same work again reaches the same end."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .samples import picture_folder

ROOT = Path(__file__).parents[2]


def run_kills(tmp_path, n_kills):
    source = picture_folder(tmp_path / "pictures", 40)
    before = _hashes(source)
    shown = subprocess.run(
        [sys.executable, "-m", "tests.collection.kills", str(tmp_path), str(source), str(n_kills), "0"],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["wrong"] == [] and found["killed"] >= n_kills
    assert _hashes(source) == before  # originals are untouched


def _hashes(folder):
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in folder.iterdir()
    }


def test_a_few_kills(tmp_path):
    run_kills(tmp_path, int(os.environ.get("MANYVIEW_KILLS", "5")))


@pytest.mark.slow
def test_many_kills(tmp_path):
    run_kills(tmp_path, 20)
