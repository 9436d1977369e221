import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from manyview import Collection, errors

HOLD = """
import sys
from manyview import Collection
with Collection.open(sys.argv[1], write=True) as collection:
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def made(tmp_path):
    np.save(tmp_path / "given.npy", np.arange(8.0).reshape(4, 2))
    Collection.create(tmp_path / "four.manyview", tmp_path / "given.npy").close()
    return tmp_path / "four.manyview"


@pytest.fixture
def holder(made):
    command = [sys.executable, "-c", HOLD, str(made)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_writer_is_told_who_holds_it(made, holder):
    with pytest.raises(errors.StoreError) as refusal:
        Collection.open(made, write=True, wait=0)
    words = str(refusal.value)
    assert f"{made} is being written by process {holder.pid} (" in words and time.strftime("%Y-%m-%d") in words
    with Collection.open(made) as reader:  # readers come and go meanwhile
        assert len(reader.items) == 4


def test_a_writer_that_is_killed_holds_nothing(made, holder):
    threading.Timer(0.3, os.kill, (holder.pid, signal.SIGKILL)).start()
    with Collection.open(made, write=True, wait=60) as collection:  # waits for it
        assert len(collection.items) == 4


def test_one_process_does_not_lock_twice_and_does_not_lose_its_lock(made, holder):
    holder.stdin.close()
    holder.wait()
    with Collection.open(made, write=True):
        with pytest.raises(errors.StoreError, match=rf"this process \({os.getpid()}\), through another Collection"):
            Collection.open(made, write=True, wait=0)
        Collection.open(made).close()
        code = "import sys; from manyview import Collection; Collection.open(sys.argv[1], write=True, wait=0)"
        other = subprocess.run([sys.executable, "-c", code, str(made)], capture_output=True, text=True, check=False)
        assert f"is being written by process {os.getpid()}" in other.stderr
    Collection.open(made, write=True, wait=0).close()


def test_others_may_write_while_a_writer_computes(made):
    with Collection.open(made, write=True) as collection:
        with collection.unlocked():
            with pytest.raises(errors.StoreError, match="opened for reading"):
                collection.decide([(1, "too early")], True)
            with Collection.open(made, write=True, wait=0) as other:
                other.decide([(1, "red")], True)
        collection.decide([(1, "round")], True)
        assert collection.tagging.words_of(1) == ["red", "round"]
        with pytest.raises(errors.StoreError, match="this process"):
            Collection.open(made, write=True, wait=0)
        with pytest.raises(ZeroDivisionError), collection.unlocked():
            1 / 0  # noqa: B018
        collection.decide([(2, "red")], True)
    with Collection.open(made) as reader, reader.unlocked():
        assert reader.tagging.words_of(2) == ["red"]


COUNT = """
import sys
from manyview import Collection
for number in range(int(sys.argv[3])):
    with Collection.open(sys.argv[1], write=True, wait=60) as collection:
        collection.decide([(1, f"{sys.argv[2]} {number}")], True)
"""


def test_writers_wait_for_each_other_and_lose_nothing(made):
    each = 5
    writers = [
        subprocess.Popen([sys.executable, "-c", COUNT, str(made), f"w{n}", str(each)], stderr=subprocess.PIPE)
        for n in range(2)
    ]
    for writer in writers:
        _, words = writer.communicate(timeout=120)
        assert writer.returncode == 0, words.decode()
    with Collection.open(made) as collection:
        assert set(collection.tagging.words_of(1)) == {f"w{n} {number}" for n in range(2) for number in range(each)}
        assert len(collection.history) == 2 * each
