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
_RAW = (
    (b"FUJIFILMCCD-RAW", "Fujifilm RAF"),
    (b"II\x1a\0\0\0HEAPCCDR", "Canon CRW"),
    (b"IIU\0", "Panasonic RW2"),
    (b"IIRO", "Olympus ORF"),
    (b"IIRS", "Olympus ORF"),
    (b"MMOR", "Olympus ORF"),
    (b"FOVb", "Sigma X3F"),
    (b"\0MRM", "Minolta MRW"),
)
_BMP_HEADERS = (12, 16, 40, 52, 56, 64, 108, 124)  # the sizes the header behind the first one ever had
_QUICKTIME = (b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")


def sniff(head: bytes) -> Kind | None:
    """Picture, video or PDF by the first bytes; None for everything else, ``BadFile`` for raw photographs."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF":
        return {b"WEBP": Kind("picture", "webp"), b"AVI ": Kind("video", "avi")}.get(head[8:12])
    raw = next((name for magic, name in _RAW if head.startswith(magic)), None)
    if raw or head[4:12] == b"ftypcrx ":
        raise BadFile(
            "unsupported",
            f"it is a raw photograph ({raw or 'Canon CR3'}), which is not read yet. Convert it to JPEG or TIFF, or "
            "keep the camera's JPEG beside it.",
        )
    if head[4:8] == b"ftyp":
        brand = _STILL_BRANDS.get(head[8:12])
        return Kind("picture", brand) if brand else Kind("video", "mov" if head[8:12] == b"qt  " else "mp4")
    if head[4:8] in _QUICKTIME and len(head) >= 16:
        return Kind("video", "mov")
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
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
