"""Open strangers' files safely, and tell what they are by their first bytes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from ..collection.items import FileFacts

__all__ = ["HEAD", "BadFile", "Kind", "inside", "open_regular", "os_problem", "sniff"]

HEAD = 4096
"""How many first bytes ``sniff`` wants to see."""


class BadFile(Exception):
    """A file that cannot be used: a reason for machines and a sentence for people."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence


class Kind(NamedTuple):
    """What a file is."""

    kind: str
    """picture, video or document."""
    format: str


PICTURES = frozenset("jpg jpeg jpe jfif png gif webp tif tiff bmp avif heic heif jxl mpo".split())
VIDEOS = frozenset("mp4 m4v mov avi mkv webm mpg mpeg wmv 3gp".split())
DOCUMENTS = {
    "txt": "text",
    "text": "text",
    "md": "text",
    "markdown": "text",
    "htm": "html",
    "html": "html",
    "pdf": "pdf",
}

_MAGIC = (
    (b"\xff\xd8\xff", Kind("picture", "jpeg")),
    (b"\x89PNG\r\n\x1a\n", Kind("picture", "png")),
    (b"GIF87a", Kind("picture", "gif")),
    (b"GIF89a", Kind("picture", "gif")),
    (b"II*\0", Kind("picture", "tiff")),
    (b"MM\0*", Kind("picture", "tiff")),
    (b"II+\0", Kind("picture", "tiff")),
    (b"MM\0+", Kind("picture", "tiff")),
    (b"\0\0\0\x0cJXL ", Kind("picture", "jxl")),
    (b"\xff\x0a", Kind("picture", "jxl")),
    (b"\x1aE\xdf\xa3", Kind("video", "matroska")),
    (b"\0\0\x01\xba", Kind("video", "mpeg")),
    (b"0&\xb2u\x8ef\xcf\x11", Kind("video", "asf")),
    (b"%PDF-", Kind("document", "pdf")),
)
_STILL_BRANDS = {b"avif": "avif", b"avis": "avif", b"heic": "heif", b"heix": "heif", b"mif1": "heif", b"hevc": "heif"}
_QUICKTIME = (b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")


def sniff(head: bytes) -> Kind | None:
    """Picture, video or PDF by the first bytes; None for everything else."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF":
        return {b"WEBP": Kind("picture", "webp"), b"AVI ": Kind("video", "avi")}.get(head[8:12])
    if head[4:8] == b"ftyp":
        brand = _STILL_BRANDS.get(head[8:12])
        return Kind("picture", brand) if brand else Kind("video", "mov" if head[8:12] == b"qt  " else "mp4")
    if head[4:8] in _QUICKTIME and len(head) >= 16:
        return Kind("video", "mov")
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return Kind("picture", "bmp")
    return None


@contextmanager
def open_regular(path: str) -> Iterator[tuple[BinaryIO, FileFacts]]:
    """Open a regular file for reading, and nothing else: no link, FIFO, socket or device is ever opened to read."""
    try:
        # Without blocking, a FIFO that was put there since the scan does not hold us up.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        raise os_problem(error) from error
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise BadFile("not a file", "it is a pipe, socket, device or folder, not a file.")
    with os.fdopen(handle, "rb") as file:
        try:
            yield file, FileFacts.of(status)
        except OSError as error:
            raise os_problem(error) from error


_REASONS = {
    errno.ENOENT: ("missing", "it was there a moment ago and is gone now. Run the same command again."),
    errno.EACCES: ("unreadable", "you have no permission to read it."),
    errno.EPERM: ("unreadable", "you have no permission to read it."),
    errno.ELOOP: ("link", "it is a link that was not followed."),
    errno.ENAMETOOLONG: ("name too long", "its path is longer than this system allows."),
    errno.ENXIO: ("not a file", "it is a pipe, socket, device or folder, not a file."),
    errno.EIO: ("unreadable", "the disk reports an error while reading it."),
}


def os_problem(error: OSError) -> BadFile:
    """The system's error as a reason and a sentence."""
    reason, sentence = _REASONS.get(error.errno or 0, ("unreadable", f"it cannot be read: {error.strerror or error}."))
    return BadFile(reason, sentence)


def inside(root: str, path: str) -> str:
    """The real path of a file below ``root``, or ``BadFile`` where it leads elsewhere. ``root`` is a real path."""
    if "\0" in path:
        raise BadFile("outside", "its name holds a NUL character.")
    real = os.path.realpath(os.path.join(root, path))
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        raise BadFile("outside", f"it lies outside {root}, and nothing outside is read.")
    return real
