"""Any system call of the work fails, ours and SQLite's alike; and a disk that is really full."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .samples import picture_folder

HERE = Path(__file__).parent
QUIET = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler and Linux")
    path = tmp_path_factory.mktemp("shim") / "shim.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(path), str(HERE / "fault_shim.c"), "-ldl"]
    subprocess.run(command, check=True)
    return path


STRIDE = int(os.environ.get("MANYVIEW_FAULTS", "61"))
"""Every how manieth call fails; 1 takes ten minutes."""


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


FULL = """
import os, sys
from pathlib import Path
import numpy as np
from manyview import Collection, errors
from manyview.collection import check
from tests.collection.samples import picture_folder
disk = Path(sys.argv[1])
source = picture_folder(Path(sys.argv[2]) / "pictures", 20)
path = disk / "c.manyview"
filler = disk / "filler"
def fill(leave):
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError:
            pass
        file.truncate(max(0, file.tell() - leave))
def refused(action):
    try:
        action()
    except errors.StoreError as error:
        assert str(path) in str(error) and ("full" in str(error) or "space" in str(error)), error
        return 1
    return 0
fill(0)
n = refused(lambda: Collection.create(path, source))
filler.unlink()
Collection.create(path, source).close()
with Collection.open(path, write=True) as c:
    c.add_view("looks", "1", np.ones((20, 8)))
    c.decide([(1, "kept")], True, who="me")
before = check.digest(path)
def grow(c, name):
    with c: c.add_view(name, "1", np.ones((20, 200_000)))
def run(c):
    with c: c.save_run("rmkmc", np.zeros(20, dtype=int))
def accept(c):
    with c:
        for number in range(400): c.decide([(i + 1, f"{number} {i}") for i in range(20)], True)
n += refused(lambda: grow(Collection.open(path, write=True), "big"))
fill(0)
n += refused(lambda: run(Collection.open(path, write=True)))
n += refused(lambda: accept(Collection.open(path, write=True)))
filler.unlink()
assert check.digest(path) == before
Collection.open(path, write=True).close()
assert check.problems(path) == []
with Collection.open(path, write=True) as c:
    c.save_run("rmkmc", np.zeros(20, dtype=int))
    assert c.tagging.words_of(1)[-1] == "kept"
print(n, "of 4 refused")
"""


def test_a_disk_that_is_really_full(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=16m tmpfs "$0" && shift 0 && exec "$@"'
    command = ["unshare", "-rm", "sh", "-c", mount, str(disk), sys.executable, "-c", FULL, str(disk), str(tmp_path)]
    root = str(HERE.parents[1])
    shown = subprocess.run(command, cwd=root, env=QUIET, capture_output=True, text=True, check=False)
    if "unshare" in shown.stderr or "mount:" in shown.stderr:
        pytest.skip("needs the right to mount a small disk")
    assert shown.stdout == "4 of 4 refused\n", shown.stderr
