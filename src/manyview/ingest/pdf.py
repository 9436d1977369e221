"""The text and keywords of PDF files, read by a child process with limits: a PDF can make any reader run in circles."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import MissingExtra
from ..files import BadFile
from .keywords import Keywords, tidy

__all__ = ["Document", "PdfReader", "child_environment"]

_SECONDS = 20
_FILES_PER_CHILD = 200


def child_environment() -> dict[str, str]:
    """Our own environment, in which a child finds this package. An empty path would be the current folder."""
    package = str(Path(__file__).parents[2])
    paths = filter(None, (package, *os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class Document(NamedTuple):
    """What a document says, and the keywords that stand in it."""

    text: str
    words: Keywords


class PdfReader:
    """Reads one PDF after another; its child starts with the first and is replaced when one has hurt it."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._child: subprocess.Popen[bytes] | None = None
        self._n_files = 0

    def read(self, content: bytes) -> Document:
        """The text of a PDF, at most ``longest`` characters, and its keywords; ``BadFile`` where there is no text."""
        if self._child is None or self._n_files >= _FILES_PER_CHILD:
            self.close()
            self._child, self._n_files = self._start(), 0
        self._n_files += 1
        try:
            answer = _ask(self._child, content)
        except BadFile:
            self.close()
            raise
        if "reason" in answer:
            if answer["reason"] == "out of memory":
                self.close()  # it may not get it back
            raise BadFile(str(answer["reason"]), str(answer["sentence"]))
        notes = [("bad metadata", str(note)) for note in answer.get("notes", ())]
        return Document(str(answer["text"]), tidy(answer.get("words", ()), answer.get("paths", ()), notes))

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            import pypdf  # noqa: F401
        except ImportError as error:
            raise MissingExtra("reading PDF needs the 'pdf' extra:  pip install \"manyview[pdf]\"") from error
        return subprocess.Popen(  # noqa: S603  our own module
            # -P: what lies in the current folder, which may be the strangers' own, is never imported.
            [sys.executable, "-P", "-m", f"{__package__}._pdf_child", str(self._longest), str(_SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=child_environment(),
        )

    def close(self) -> None:
        """End the child, whatever it is doing."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for stream in (self._child.stdin, self._child.stdout):
                try:
                    if stream is not None:
                        stream.close()
                except OSError:
                    pass  # words to a child that is gone
            self._child = None

    def __enter__(self) -> PdfReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _ask(child: subprocess.Popen[bytes], content: bytes) -> dict[str, Any]:
    """Send a file, wait for the answer; the child is not trusted to give one."""
    assert child.stdin is not None and child.stdout is not None  # noqa: S101  made by Popen above
    try:
        child.stdin.write(len(content).to_bytes(8, "big") + content)
        child.stdin.flush()
        # its own limit counts processor time; ours is for a child that sleeps, or never started
        if not select.select([child.stdout], [], [], 3 * _SECONDS)[0]:
            raise BadFile("too slow", f"reading it took more than {3 * _SECONDS} seconds.")
        length = int.from_bytes(_exactly(child.stdout, 8), "big")
        answer = json.loads(_exactly(child.stdout, min(length, 2**26)))
    except (OSError, EOFError, ValueError) as error:
        child.kill()
        if -child.wait() in (24, 9):  # SIGXCPU: out of processor time
            raise BadFile("too slow", f"reading it took more than {_SECONDS} seconds of processor time.") from error
        raise BadFile("crash", "the program that reads PDF files fell over it.") from error
    if not isinstance(answer, dict) or not ("text" in answer or "sentence" in answer):
        raise BadFile("crash", "the program that reads PDF files fell over it.")
    return answer


def _exactly(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
