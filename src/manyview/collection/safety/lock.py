"""One writer at a time, many readers, and an answer to "who holds it?".

The kernel keeps both locks, so a process that dies, in any way, holds nothing. The writer's is a POSIX record lock:
it is not inherited by the children that decode pictures, as ``flock`` would be. Such a lock is lost when the process
closes *any* handle on the file, hence the register of collections this process writes.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
import time
from pathlib import Path

from ...durable import PRIVATE_FILE, store_errors
from ...errors import Busy

__all__ = ["ReaderLock", "WriterLock", "no_readers"]

_PAUSE = 0.02
_held: set[tuple[int, int]] = set()
_register = threading.Lock()


class WriterLock:
    """The right to write a collection, from ``acquire`` to ``release``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None
        self._key = (0, 0)

    def acquire(self, wait: float) -> None:
        """Take the lock, waiting up to ``wait`` seconds; then say who holds it."""
        deadline = time.monotonic() + wait
        while not self._try():
            if time.monotonic() >= deadline:
                raise Busy(
                    f"{self.path.parent} is being written by {_holder(self.path)}. Wait until that has ended, or stop "
                    "it; nothing was changed."
                )
            time.sleep(_PAUSE)

    def _try(self) -> bool:
        with store_errors(self.path, "lock"), _register:
            if self._is_held_here():
                return False
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
            try:
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                return False
            except BaseException:
                os.close(handle)
                raise
            try:
                words = {"pid": os.getpid(), "command": _command(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
                os.ftruncate(handle, 0)
                os.pwrite(handle, json.dumps(words).encode(), 0)
            except OSError:  # on a full disk the lock still holds; it only cannot say whose it is
                pass
            status = os.fstat(handle)
            self._handle, self._key = handle, (status.st_dev, status.st_ino)
            _held.add(self._key)
            return True

    def _is_held_here(self) -> bool:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) in _held

    def release(self) -> None:
        with _register:
            if self._handle is not None:
                os.close(self._handle)
                _held.discard(self._key)
                self._handle = None


class ReaderLock:
    """Held as long as somebody may still open the files of an older state."""

    def __init__(self, path: Path) -> None:
        self._handle: int | None = None
        try:
            self._handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(self._handle, fcntl.LOCK_SH)
        except OSError:  # a read-only copy without the file, or a file system without locks: nobody writes there
            self.release()

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def no_readers(path: Path) -> bool:
    """Is nobody reading just now? Asked by the writer before old files are taken away."""
    with store_errors(path, "lock"):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(handle)
    return True


def _command() -> str:
    return " ".join([Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python", *sys.argv[1:]])[:200]


def _holder(path: Path) -> str:
    with _register:
        here = (lambda status: (status.st_dev, status.st_ino) in _held)(os.stat(path))
    if here:  # opening the file here and closing it again would give our own lock away
        return f"this process ({os.getpid()}), through another Collection that is still open"
    try:
        words = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        return f"process {int(words['pid'])} ({words['command']}) since {words['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
