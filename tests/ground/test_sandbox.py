"""How a child that opens strangers' files is limited, and how the two talk."""

import io
import json
import os
import queue
import struct
import sys

import pytest

from manyview import sandbox

LIMITS = {"memory": 2**31, "cpu_seconds": 10, "wall_seconds": 20}
CHILD = """
import os, resource, sys
from manyview.sandbox import serve
def answer(request):
    print("a library that prints")
    if request == b"memory": return {"reason": "out of memory"}, []
    if request == b"write":
        try:
            with open(os.environ["PLACE"], "wb") as file: file.write(b"x")
        except OSError as error:
            return {"said": type(error).__name__}, []
    return {"said": request.decode(), "core": resource.getrlimit(resource.RLIMIT_CORE)[0]}, [request, b""]
serve(lambda limits: answer)
"""


class Echo(sandbox.Child):
    command = (sys.executable, "-P", "-c", CHILD)


@pytest.fixture
def child(monkeypatch, tmp_path):
    monkeypatch.setenv("PLACE", str(tmp_path / "written"))
    answers = queue.SimpleQueue()
    made = Echo(LIMITS, answers, lambda header, blobs: (header, blobs))
    made.answer = lambda: answers.get(timeout=60)[1]
    yield made
    made.end()


def test_a_child_answers_and_what_is_printed_does_not_garble_it(child):
    for word in (b"one", b"two"):
        child.ask(word)
        assert child.answer() == ({"said": word.decode(), "core": 0}, [word, b""])
    assert child.started


def test_a_child_writes_nothing_and_asks_to_be_replaced_when_memory_was_short(child, tmp_path):
    child.ask(b"write")
    assert child.answer() == ({"said": "OSError"}, [])
    assert not (tmp_path / "written").read_bytes()
    child.ask(b"memory")
    assert child.answer() == ({"reason": "out of memory"}, [])
    assert child.answer() is None and child.process.returncode == 0 and not child.ran_out_of_time
    child.ask(b"too late")  # says nothing: the listener has said that it is gone


def test_messages_come_back_and_the_end_is_none():
    held = io.BytesIO()
    sandbox.write_message(held, {"a": 1}, b"x" * 1000, b"", memoryview(b"yz"))
    held.seek(0)
    assert sandbox.read_message(held) == ({"a": 1}, [b"x" * 1000, b"", b"yz"])
    assert sandbox.read_message(held) is None


HEADERS = (b"[]", b"{}", b"3", b'"x"', b"nonsense", b"[" * 60_000)
BLOBS = ("x", 3, None, ["x"], [-1], [2**40], [2**27, 2**28], [5])


@pytest.mark.parametrize(
    "said",
    [
        b"x",
        struct.pack("<I", 2**31),
        struct.pack("<I", 5) + b"{}",
        *(struct.pack("<I", len(text)) + text for text in HEADERS),
        *(struct.pack("<I", len(text)) + text for text in (json.dumps({"blobs": sizes}).encode() for sizes in BLOBS)),
    ],
    ids=lambda said: said[4:24].decode("latin-1"),
)
def test_what_no_child_in_its_right_mind_would_say_is_a_fall(said, monkeypatch):
    monkeypatch.setattr(Echo, "command", (sys.executable, "-c", f"import os; os.write(1, {said!r})"))
    answers = queue.SimpleQueue()
    child = Echo(LIMITS, answers, lambda header, blobs: (header, blobs))
    assert answers.get(timeout=60) == (child, None)
    child.end()


def test_an_empty_path_is_not_the_current_folder(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep)
    assert "" not in sandbox.child_environment()["PYTHONPATH"].split(os.pathsep)
