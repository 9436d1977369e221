"""A child process that opens strangers' files: how it is started and limited, and how the two talk.

A child limits itself (memory, processor time, no file can be written), then answers one request after another and dies
with its parent. Messages both ways: four bytes length, JSON, then the blobs whose lengths the JSON names. The parent
trusts no answer: what is not understood counts as a fall.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from .errors import ManyviewError

__all__ = ["Answer", "Child", "child_command", "child_environment", "serve"]

Answer: TypeAlias = tuple[dict[str, Any], list[bytes]]
"""A header and blobs; the header of a file that cannot be used holds a ``reason``."""
LARGEST_MESSAGE = 256 * 2**20
_LARGEST_HEADER = 2**16
_OUT_OF_TIME = tuple(getattr(signal, name) for name in ("SIGXCPU", "SIGALRM") if hasattr(signal, name))


# --- both ---


def write_message(stream: BinaryIO, header: dict[str, Any], *blobs: bytes | memoryview) -> None:
    """Send a header and any number of blobs."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    stream.write(struct.pack("<I", len(text)) + text)
    for blob in blobs:
        stream.write(blob)
    stream.flush()


def read_message(stream: BinaryIO) -> Answer | None:
    """The next message, or None at the end of the stream."""
    start = stream.read(4)
    if not start:
        return None
    (length,) = struct.unpack("<I", start.ljust(4, b"\xff"))
    if length > _LARGEST_HEADER:
        raise ValueError(f"a header of {length} bytes")
    header = json.loads(_exactly(stream, length))
    lengths = [int(size) for size in header.pop("blobs")]
    if min(lengths, default=0) < 0 or sum(lengths) > LARGEST_MESSAGE:
        raise ValueError(f"blobs of {lengths} bytes")
    return header, [_exactly(stream, size) for size in lengths]


def _exactly(stream: BinaryIO, length: int) -> bytes:
    found = stream.read(length)
    if len(found) != length:
        raise EOFError
    return found


# --- the parent ---


def child_environment() -> dict[str, str]:
    """Our own environment, in which a child finds this package. An empty path would be the current folder."""
    package = str(Path(__file__).parents[1])
    paths = filter(None, (package, *os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def child_command(module: str) -> tuple[str, ...]:
    """Runs a module. -P: what lies in the current folder, which may be the strangers' own, is never imported."""
    return sys.executable, "-P", "-m", module


class Child:
    """One child process and the thread that listens to it.

    Every answer goes to the queue with the child, as ``understand`` has it, and None when the child is gone.
    """

    command: tuple[str, ...]

    def __init__(
        self,
        limits: dict[str, Any],
        answers: queue.SimpleQueue[tuple[Any, Any]],
        understand: Callable[[dict[str, Any], list[bytes]], Any],
    ) -> None:
        self.started = False
        self.since = time.monotonic()
        self._errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(  # noqa: S603  our own module
            [*self.command, json.dumps(limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**child_environment(), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        self._listener = threading.Thread(target=self._listen, args=(answers, understand), daemon=True)
        self._listener.start()

    def ask(self, content: bytes) -> None:
        """Send a request."""
        try:
            write_message(_pipe(self.process.stdin), {}, content)
        except OSError:
            pass  # it has just fallen over; the listener will say so

    def _listen(self, answers: queue.SimpleQueue[tuple[Any, Any]], understand: Callable[..., Any]) -> None:
        stream = _pipe(self.process.stdout)
        try:
            while (message := read_message(stream)) is not None:
                self.since = time.monotonic()
                if self.started:
                    answers.put((self, understand(*message)))
                self.started = True
            self.process.wait(5)
        except Exception:  # noqa: S110  cut off in the middle, or not what a child in its right mind would say
            pass
        self.process.kill()
        self.process.wait()
        answers.put((self, None))

    def check_it_started(self) -> None:
        """A child that never came up is our trouble, not a file's."""
        if not self.started:
            self._errors.seek(0)
            words = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise ManyviewError(f"the process that opens files did not start: {''.join(words) or 'no reason given'}.")

    @property
    def ran_out_of_time(self) -> bool:
        """Did a child that is gone use up its processor time?"""
        return -self.process.returncode in _OUT_OF_TIME

    def end(self) -> None:
        """Stop it, whatever it is doing."""
        self.process.kill()
        self._listener.join()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                pass  # words to a child that is gone


def _pipe(stream: Any) -> BinaryIO:
    assert stream is not None  # noqa: S101  made by Popen above
    return cast(BinaryIO, stream)


# --- the child ---


def serve(prepare: Callable[[dict[str, Any]], Callable[[bytes], Answer]]) -> None:
    """Answer requests until the parent is gone, each within its limits; ``prepare`` turns these into who answers."""
    limits = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends us
    answers = os.fdopen(os.dup(1), "wb", buffering=2**20)
    answer = prepare(limits)
    # Libraries that print must not garble the answers, nor meet the limit on files.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    _limit_process(limits["memory"])
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_take_requests, args=(sys.stdin.buffer, requests), daemon=True).start()
    write_message(answers, {"kind": "ready"})
    while True:
        request = requests.get()
        _limit_file(limits["cpu_seconds"], limits["wall_seconds"])
        header, blobs = answer(request)
        _limit_file(0, 0)
        write_message(answers, header, *blobs)
        if header.get("reason") == "out of memory":
            os._exit(0)  # a fresh process for the next file; an orderly end would wait for the thread below


def _take_requests(stream: BinaryIO, requests: queue.SimpleQueue[bytes]) -> None:
    """Queue what the parent asks; when it is gone, so are we, in the middle of whatever it was."""
    try:
        while (message := read_message(stream)) is not None:
            requests.put(message[1][0])
    finally:
        os._exit(0)


def _limit_process(memory: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows, where only the parent's clock watches
        return
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        _, hard = resource.getrlimit(kind)
        try:
            resource.setrlimit(kind, (limit, hard))
        except (ValueError, OSError):
            pass  # stricter already, or not supported here


def _limit_file(cpu_seconds: int, wall_seconds: float) -> None:
    """Die of a signal when one file takes too long. Zeros lift both limits while the answer is sent."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    until = int(time.process_time()) + 1 + cpu_seconds if cpu_seconds else hard
    if hard != resource.RLIM_INFINITY and (until == resource.RLIM_INFINITY or until > hard):
        until = hard
    resource.setrlimit(resource.RLIMIT_CPU, (until, hard))
    # The parent's clock comes first; this one is for a parent that is gone.
    signal.setitimer(signal.ITIMER_REAL, wall_seconds + 5 if wall_seconds else 0)
