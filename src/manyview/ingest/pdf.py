"""The text and keywords of PDF files, read by a child process with limits: a PDF can make any reader run in circles."""

from __future__ import annotations

import json
import queue
from typing import Any, NamedTuple, cast

from ..errors import ManyviewError, MissingExtra
from ..files import BadFile
from ..sandbox import Child, child_command
from .keywords import Keywords, tidy

__all__ = ["Document", "PdfReader"]

_SECONDS = 20
_STARTING = 60
"""Seconds in which a child may come up; they do not count against its first file."""
_MEMORY = 1536 * 2**20
_FILES_PER_CHILD = 200


class Document(NamedTuple):
    """What a document says, and the keywords that stand in it."""

    text: str
    words: Keywords


class _Child(Child):
    command = child_command(f"{__package__}._pdf_child")


class PdfReader:
    """Reads one PDF after another; its child starts with the first and is replaced when one has hurt it."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._child: _Child | None = None
        self._n_files = 0

    def read(self, content: bytes) -> Document:
        """The text of a PDF, at most ``longest`` characters, and its keywords; ``BadFile`` where there is no text."""
        if self._child is None or self._n_files >= _FILES_PER_CHILD:
            self.close()
            self._child, self._n_files = self._start(), 0
        self._n_files += 1
        try:
            answer = self._ask(self._child, content)
        except (BadFile, ManyviewError):
            self.close()
            raise
        if "reason" in answer:
            if answer["reason"] == "out of memory":
                self.close()  # it has ended itself
            raise BadFile(str(answer["reason"]), str(answer["sentence"]))
        notes = [("bad metadata", str(note)) for note in answer.get("notes", ())]
        return Document(str(answer["text"]), tidy(answer.get("words", ()), answer.get("paths", ()), notes))

    def _start(self) -> _Child:
        try:
            import pypdf  # noqa: F401
        except ImportError as error:
            raise MissingExtra("reading PDF needs the 'pdf' extra:  pip install \"manyview[pdf]\"") from error
        limits = {"longest": self._longest, "memory": _MEMORY, "cpu_seconds": _SECONDS, "wall_seconds": 3 * _SECONDS}
        self._answers: queue.SimpleQueue[tuple[_Child, Any]] = queue.SimpleQueue()
        return _Child(limits, self._answers, _understood)

    def _ask(self, child: _Child, content: bytes) -> dict[str, Any]:
        """Send a file, wait for the answer; the child is not trusted to give one."""
        child.ask(content)
        try:
            # its own limit counts processor time; ours is for a child that sleeps, or never started
            _, answer = self._answers.get(timeout=3 * _SECONDS + (0 if child.started else _STARTING))
        except queue.Empty:
            raise BadFile("too slow", f"reading it took more than {3 * _SECONDS} seconds.") from None
        if answer is not None:
            return cast(dict[str, Any], answer)
        child.check_it_started()
        if child.ran_out_of_time:
            raise BadFile("too slow", f"reading it took more than {_SECONDS} seconds of processor time.")
        raise BadFile("crash", "the program that reads PDF files crashed on it.")

    def close(self) -> None:
        """End the child, whatever it is doing."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def __enter__(self) -> PdfReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _understood(_: dict[str, Any], blobs: list[bytes]) -> dict[str, Any]:
    answer = json.loads(blobs[0])
    if not isinstance(answer, dict) or not ("text" in answer or "sentence" in answer):
        raise ValueError("neither a text nor a reason")
    return answer
