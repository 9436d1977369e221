"""Any system call of the work fails, ours and SQLite's alike; and a disk that is really full."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .samples import picture_folder
from .small_disk import WAYS, compiled, run_on_small_disk

HERE = Path(__file__).parent
QUIET = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return compiled("fault_shim.c", tmp_path_factory.mktemp("shim"))


STRIDE = int(os.environ.get("MANYVIEW_FAULTS", "61"))
"""Every how manieth call fails; 1 takes ten minutes."""


@pytest.mark.slow
def test_calls_fail(shim, tmp_path, record_property):
    codes = (errno.ENOSPC, errno.EIO) if STRIDE == 1 else (errno.ENOSPC,)
    source = picture_folder(tmp_path / "pictures", 10)
    arguments = [str(shim), str(tmp_path), str(source), *map(str, (min(7, STRIDE), STRIDE, *codes))]
    shown = subprocess.run(
        [sys.executable, "-m", "tests.collection.fault_driver", *arguments],
        cwd=HERE.parents[1],
        env={**QUIET, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert found["wrong"] == []
    assert found["calls"] > 100  # the shim really stands below SQLite
    assert found["failed"] >= 2 * len(codes) * (found["calls"] // STRIDE - 1)
    record_property("count", found["failed"])


@pytest.mark.parametrize("way", WAYS)
def test_a_disk_that_is_really_full(way, tmp_path):
    assert run_on_small_disk(way, tmp_path, "tests.collection.full_disk", tmp_path) == "4 of 4 refused\n"
