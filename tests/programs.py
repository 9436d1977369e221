"""Tests that run as a program of their own: what they print is one JSON object, with everything that was wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def run_program(module: str, *arguments: object) -> dict[str, Any]:
    """Run ``tests.MODULE`` on one thread; what it found, where nothing was wrong."""
    shown = subprocess.run(
        [sys.executable, "-m", f"tests.{module}", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    found: dict[str, Any] = json.loads(shown.stdout)
    assert found["wrong"] == [], "\n".join(found["wrong"])
    return found
