"""kill -9 and Ctrl-C at random moments of the commands: nothing is lost, and the same command again ends the job."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collection.samples import sidecar

from .samples import make_pictures

ROOT = Path(__file__).parents[2]


def run_stops(tmp_path, way, n_stops):
    source = make_pictures(tmp_path / "shapes").parent
    whole = (source / "03.png").read_bytes()
    (source / "03.png").write_bytes(whole[: len(whole) // 2])
    (source / "04.xmp").write_text(sidecar("disc"), encoding="utf-8")
    (source / "notes.txt").write_text("a few words", encoding="utf-8")
    before = hashes(source)
    shown = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.kills", str(tmp_path), str(source), way, str(n_stops), "0"],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["wrong"] == [] and found["stopped"] >= n_stops
    assert hashes(source) == before  # originals are untouched
    return found


def hashes(folder):
    return {p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns) for p in folder.iterdir()}


def test_a_few_stops(tmp_path):
    found = run_stops(tmp_path, "interrupt", 2)
    assert found["slowest"] < 30


@pytest.mark.slow
@pytest.mark.parametrize("way", ["kill", "interrupt"])
def test_many_stops(tmp_path, way):
    n_stops = int(os.environ.get("MANYVIEW_KILLS", "20" if way == "kill" else "5"))
    assert run_stops(tmp_path, way, n_stops)["slowest"] < 5
