"""Ctrl-C within a second, also over a calculation that does not listen."""

import json
import subprocess
import sys

import pytest

from manyview.cli.stopping import INTERRUPTED, STOPPED

DEAF = """
import hashlib, os, signal, sys, threading, time
from manyview.cli.stopping import stopped_at_once
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts work in the background deaf to it
sys.setswitchinterval(600)  # a thread goes on when the other waits or calculates outside Python: the work has begun
def soon():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
try:
    with stopped_at_once():
        threading.Thread(target=soon).start()
        {work}
except KeyboardInterrupt:
    print("by itself")
    sys.exit({code})
"""


def run(work):
    command = DEAF.format(work=work, code=INTERRUPTED)
    return subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=60)


def test_a_calculation_that_does_not_listen_is_ended():
    ended = run("hashlib.pbkdf2_hmac('sha256', b'a', b'b', 2_000_000_000)")  # one call of C, for many minutes
    assert ended.returncode == INTERRUPTED and STOPPED.strip() in ended.stderr and not ended.stdout


def test_work_that_listens_ends_by_itself():
    ended = run("time.sleep(30)")
    assert ended.returncode == INTERRUPTED and "by itself" in ended.stdout and STOPPED.strip() not in ended.stderr


SLOW_TO_TAKE_APART = """
import atexit, sys
from manyview.cli import main
atexit.register(print, "taken apart")
def app():
    print("said")
    sys.exit({code})
main.app = app
main.main()
"""


def test_who_was_stopped_is_not_taken_apart_first():
    def end(code):
        command = [sys.executable, "-c", SLOW_TO_TAKE_APART.format(code=code)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    stopped, ended = end(INTERRUPTED), end(2)
    assert stopped.returncode == INTERRUPTED and stopped.stdout.split() == ["said"]
    assert ended.returncode == 2 and ended.stdout.splitlines() == ["said", "taken apart"]


@pytest.mark.slow
def test_every_step_of_a_fit_is_stopped_within_a_second_and_keeps_nothing():
    command = [sys.executable, "-m", "tests.cli.stop_each_step", "200"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    found = json.loads(ended.stdout)
    named = {"number of clusters", "members", "neighbours", "eigenvectors", "last step", "names and profiles", "map"}
    assert named <= found.keys()
    assert not [sentence for one in found.values() for sentence in one["wrong"]]
    assert {step: one["cpu"] for step, one in found.items() if one["cpu"] > 1} == {}  # others may use the machine
