"""What the commands open for writing: never an original. Watched by strace where that is allowed, and by a shim."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collection.small_disk import compiled
from tests.programs import ROOT

from .every_command import make_sources

CALLS = "open,openat,openat2,creat,truncate,rename,renameat,renameat2,unlink,unlinkat,chmod,fchmodat,utimensat"
STRACE = ["strace", "-f", "-qq", "-y", "--seccomp-bpf", "-s", "4096", "-e", f"trace={CALLS}"]
LINE = re.compile(r'(\w+)\((?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"(?:, (?:\w+<([^>]*)>, )?"([^"]*)")?(.*)')


def may_trace():
    return shutil.which("strace") is not None and not subprocess.run([*STRACE, "true"], capture_output=True).returncode


def traced(log):
    """Of what strace wrote: the paths that were opened for writing, renamed, removed or changed otherwise."""
    found = set()
    for line in log.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        call = LINE.search(line)
        if call is None or (call[1].startswith("open") and not re.search("O_WRONLY|O_RDWR|O_TRUNC|O_CREAT", call[6])):
            continue
        found.add(os.path.join(call[2] or "", call[3]))
        if call[5]:
            found.add(os.path.join(call[4] or "", call[5]))
    return found


def digest(path):
    status = path.stat()
    return hashlib.sha256(path.read_bytes()).hexdigest(), status.st_mode, status.st_mtime_ns, status.st_ino


def shimmed(log):
    return {line.partition(" ")[2] for line in log.read_text(encoding="utf-8").splitlines()}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["shim", *(["strace"] if may_trace() else [])])
def test_no_original_is_opened_for_writing(way, tmp_path, record_property):
    log, folder = tmp_path / "log", tmp_path / "work"
    folder.mkdir()
    make_sources(folder)
    originals = {str(path): digest(path) for path in folder.rglob("*") if path.is_file() and path.suffix != ".xmp"}
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.end_to_end.every_command", str(folder)]
    if way == "strace":
        command = [*STRACE, "-o", str(log), *command]
    else:
        shim = compiled(Path(__file__).with_name("watch_writes.c"), tmp_path)
        env |= {"LD_PRELOAD": str(shim), "WATCH_LOG": str(log), "WATCH_BELOW": str(folder)}
    shown = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    changed = traced(log) if way == "strace" else shimmed(log)
    sidecars = {str(path) for path in folder.rglob("*.xmp")}
    assert len(originals) == 15 and len(changed & sidecars) >= 6  # the watcher sees what is written beside them
    assert changed & set(originals) == set()
    assert {path: digest(Path(path)) for path in originals} == originals
    record_property("count", len(originals))
