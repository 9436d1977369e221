"""Reads documents of every kind; those that can make a reader run in circles in a child process with limits."""

from __future__ import annotations

import json
import queue
import re
from typing import Any, BinaryIO, NamedTuple, cast

from ...errors import ManyviewError, MissingExtra
from ...files import BadFile
from ...sandbox import Child, child_command
from ..capture import xmp_time
from ..keywords import Keywords, tidy
from .pages import decode_page, html_to_text, page_keywords
from .plain import decode_text, front_matter

__all__ = ["LARGEST", "LONGEST_TEXT", "Document", "DocumentReader"]

LARGEST = 128 * 2**20
"""The most bytes a document may have: pictures and scanned pages are most of them."""
_LARGEST_TEXT = 32 * 2**20
"""The most bytes of one that is nothing but text."""
LONGEST_TEXT = 1_000_000
"""As many characters of a document are kept; a view of words does not need more."""
_NO_LETTERS = re.compile("[\x00-\x1f\x7f-\x9f\ue000-\uf8ff]")
"""Controls and signs that fonts keep for themselves: of a PDF that does not say what its shapes mean, nothing else."""
_SOFT_HYPHEN = "\u00ad"
"""Where a word may be parted at the end of a line; it is no part of the word."""
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
    command = child_command(f"{__package__}._child")


class DocumentReader:
    """Reads one document after another; its child starts with the first that needs one, and is replaced when hurt."""

    def __init__(self, longest: int = LONGEST_TEXT) -> None:
        self._longest = longest
        self._child: _Child | None = None
        self._n_files = 0

    def read(self, file: BinaryIO, kind: str, size: int) -> Document:
        """The text of an open document, at most ``longest`` characters of it, and the keywords that stand in it."""
        most = _LARGEST_TEXT if kind in ("html", "text") else LARGEST
        if size > most:
            raise BadFile(
                "too large", f"it has {size >> 20} MB; documents of this kind are read up to {most >> 20} MB."
            )
        file.seek(0)
        content = file.read(most)
        if kind == "html":
            page = decode_page(content)
            text, words = html_to_text(page), tidy(page_keywords(page), (), [])
        elif kind == "text":
            found, text = front_matter(decode_text(content))
            words = tidy(found, (), [])
        else:
            text, words = self._read_apart(content, kind)
        text = text[: 4 * self._longest].encode("utf-8", "replace").decode().replace(_SOFT_HYPHEN, "")
        text = " ".join(_NO_LETTERS.sub(" ", text).split())[: self._longest]
        if not text:
            raise BadFile("empty", "it holds no words that can be read.")
        return Document(text, words)

    def _read_apart(self, content: bytes, kind: str) -> Document:
        """What the child says of a document."""
        if kind == "pdf":
            _check_pdf()
        if self._child is None or self._n_files >= _FILES_PER_CHILD:
            self.close()
            self._child, self._n_files = self._start(), 0
        self._n_files += 1
        try:
            answer = self._ask(self._child, f"{kind}\n".encode() + content)
        except (BadFile, ManyviewError):
            self.close()
            raise
        if "reason" in answer:
            if answer["reason"] == "out of memory":
                self.close()  # it has ended itself
            raise BadFile(str(answer["reason"]), str(answer["sentence"]))
        notes = [(str(reason), str(sentence)) for reason, sentence in answer["notes"]]
        words = tidy(answer["words"], answer["paths"], notes)
        words.captures = [{"created": xmp_time(str(answer.get("written", "")))}]
        return Document(str(answer["text"]), words)

    def _start(self) -> _Child:
        limits = {"longest": self._longest, "memory": _MEMORY, "cpu_seconds": _SECONDS, "wall_seconds": 3 * _SECONDS}
        self._answers: queue.SimpleQueue[tuple[_Child, Any]] = queue.SimpleQueue()
        return _Child(limits, self._answers, _understood)

    def _ask(self, child: _Child, request: bytes) -> dict[str, Any]:
        """Send a file, wait for the answer; the child is not trusted to give one."""
        child.ask(request)
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
        raise BadFile("crash", "the program that reads such documents crashed on it.")

    def close(self) -> None:
        """End the child, whatever it is doing."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def __enter__(self) -> DocumentReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_pdf() -> None:
    try:
        import pypdf  # noqa: F401
    except ImportError as error:
        raise MissingExtra("reading PDF needs the 'pdf' extra:  pip install \"manyview[pdf]\"") from error


def _understood(_: dict[str, Any], blobs: list[bytes]) -> dict[str, Any]:
    answer = json.loads(blobs[0])
    if not isinstance(answer, dict) or not (
        answer.keys() >= {"text", "words", "paths", "notes"} or "sentence" in answer
    ):
        raise ValueError("neither a text nor a reason")
    return answer
