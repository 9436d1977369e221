"""Every command and the gallery work without a network, and ask for none: in a namespace that has none where that is
allowed, and above a shim that refuses every way out and writes it down."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collection.small_disk import compiled
from tests.programs import ROOT

# A new namespace has not even this machine: 127.0.0.1 has to be brought up (SIOCSIFFLAGS, up and running).
ALONE = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    fcntl.ioctl(one, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))
    try:
        one.connect(("192.0.2.1", 9))
        sys.exit("there is a network")
    except OSError:
        pass
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
WENT_OUT = "import socket; socket.socket().connect(('192.0.2.1', 9))"


def may_be_alone():
    command = ["unshare", "-rn", sys.executable, "-c", ALONE, "-c", ""]
    return shutil.which("unshare") is not None and not subprocess.run(command, capture_output=True).returncode


def run_without(way, tmp_path, *arguments):
    """Run Python without a network; how it ended, and what it asked for."""
    log = tmp_path / "asked"
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable]
    if way == "namespace":
        command = ["unshare", "-rn", sys.executable, "-c", ALONE]
    else:
        shim = compiled(Path(__file__).with_name("no_network.c"), tmp_path)
        env |= {"LD_PRELOAD": str(shim), "NETWORK_LOG": str(log)}
    done = subprocess.run(
        [*command, *map(str, arguments)], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    return done, log.read_text(encoding="utf-8") if log.exists() else ""


WAYS = ["shim", *(["namespace"] if may_be_alone() else [])]


@pytest.mark.parametrize("way", WAYS)
def test_there_is_no_way_out(way, tmp_path):
    done, asked = run_without(way, tmp_path, "-c", WENT_OUT)
    assert done.returncode == 1 and "unreachable" in done.stderr
    assert asked == "" if way == "namespace" else asked == "connect 192.0.2.1\n"


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_command(way, tmp_path):
    (tmp_path / "work").mkdir()
    done, asked = run_without(way, tmp_path, "-m", "tests.end_to_end.every_command", tmp_path / "work")
    assert done.returncode == 0, done.stderr
    assert asked == ""
