"""The process that opens strangers' files: limits itself, then answers one file after another.

Messages both ways: four bytes length, JSON, then the blobs whose lengths the JSON names.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import struct
import sys
import threading
import time
from typing import Any, BinaryIO

__all__ = ["LARGEST_MESSAGE", "main", "read_message", "write_message"]

LARGEST_MESSAGE = 256 * 2**20
_LARGEST_HEADER = 2**16


def write_message(stream: BinaryIO, header: dict[str, Any], *blobs: bytes | memoryview) -> None:
    """Send a header and any number of blobs."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    stream.write(struct.pack("<I", len(text)) + text)
    for blob in blobs:
        stream.write(blob)
    stream.flush()


def read_message(stream: BinaryIO) -> tuple[dict[str, Any], list[bytes]] | None:
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


def main() -> None:
    """Answer files until the parent is gone."""
    limits = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends us
    answers = os.fdopen(os.dup(1), "wb", buffering=2**20)
    from . import _opening as opening

    # Libraries that print must not garble the answers, nor meet the limit on files.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    _limit_process(limits["memory"])
    files: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_take_files, args=(sys.stdin.buffer, files), daemon=True).start()
    write_message(answers, {"kind": "ready"})
    while True:
        path = files.get()
        _limit_file(limits["cpu_seconds"], limits["wall_seconds"])
        header, blobs = opening.open_file(path, limits)
        _limit_file(0, 0)
        write_message(answers, header, *blobs)
        if header.get("reason") == "out of memory":
            os._exit(0)  # a fresh process for the next file; an orderly end would wait for the thread below


def _take_files(stream: BinaryIO, files: queue.SimpleQueue[bytes]) -> None:
    """Queue the files that the parent names; when it is gone, so are we, in the middle of whatever it was."""
    try:
        while (message := read_message(stream)) is not None:
            files.put(message[1][0])
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


if __name__ == "__main__":
    main()
