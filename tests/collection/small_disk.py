"""A small disk for programs that should meet a full one: a real one where mounting is allowed, and one that a shim
below libc pretends, which needs a C compiler and no rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
MEGABYTE = 2**20
_MOUNT = 'mount -t tmpfs -o size="$SIZE" tmpfs "$0" && exec "$@"'


def compiled(source: str | Path, folder: Path) -> Path:
    """A shim for LD_PRELOAD. A machine that tests manyview has a compiler: without one this fails."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None, "this test needs a C compiler: apt-get install gcc libc6-dev"
    path = folder / f"{Path(source).stem}.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", str(path), str(HERE / source), "-ldl"]
    subprocess.run(command, check=True)
    return path


def may_mount() -> bool:
    """May we make a disk of our own, in a namespace of our own?"""
    if shutil.which("unshare") is None:
        return False
    mounted = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]  # noqa: S108  seen by nobody else
    return subprocess.run(mounted, capture_output=True, check=False).returncode == 0


WAYS = ("pretended", *(["mounted"] if may_mount() else []))


def run_on_small_disk(way: str, folder: Path, module: str, *arguments: object, size: int = 16 * MEGABYTE) -> str:
    """Run ``python -m MODULE DISK ARGUMENTS`` with DISK on a small disk; what it printed, where it ended well."""
    disk = folder / "disk"
    disk.mkdir()
    command = [sys.executable, "-m", module, str(disk), *map(str, arguments)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if way == "mounted":
        command = ["unshare", "-rm", "sh", "-c", _MOUNT, str(disk), *command]
        env["SIZE"] = str(size)
    else:
        env |= {"LD_PRELOAD": str(compiled("small_disk.c", folder)), "SMALL_DISK": f"{size}:{disk}"}
    done = subprocess.run(command, cwd=HERE.parents[1], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
