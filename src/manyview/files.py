"""Strangers' files: what they are by their first bytes and names, which sidecars belong to them, how they are opened.

The tables here are the only ones: what is recognised when a folder is read is what a child opens to decode it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

__all__ = [
    "DOCUMENTS",
    "HEAD",
    "PACKED",
    "PICTURES",
    "RAW",
    "STARTS",
    "VIDEOS",
    "BadFile",
    "FileFacts",
    "Kind",
    "ending",
    "hash_of_file",
    "inside",
    "is_sidecar",
    "may_replace",
    "open_regular",
    "os_problem",
    "sidecars_by_owner",
    "sidecars_of",
    "sniff",
]

HEAD = 4096
"""How many first bytes ``sniff`` wants to see."""


class BadFile(Exception):
    """A file that cannot be used: a reason for machines and a sentence for people. Raised, or kept as an outcome."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(reason, sentence)
        self.reason = reason
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BadFile) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)


class FileFacts(NamedTuple):
    """What tells a file from another one at the same place."""

    size: int
    mtime_ns: int
    device: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileFacts:
        return cls(status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)


# --- what a file is ---


class Kind(NamedTuple):
    """What a file is."""

    kind: str
    """picture, video or document."""
    format: str


PICTURES = frozenset("jpg jpeg jpe jfif png gif webp tif tiff bmp avif heic heif hif jxl mpo jp2 j2k jpx jpf".split())
VIDEOS = frozenset("mp4 m4v mov avi mkv webm mpg mpeg wmv 3gp flv ogv mts m2ts".split())
RAW = frozenset(
    "3fr ari arw bay cap cr2 cr3 crw dcr dcs dng drf eip erf fff gpr iiq k25 kdc mdc mef mos mrw nef nrw orf pef ptx "
    "pxn r3d raf raw rw2 rwl rwz sr2 srf srw x3f".split()
)
DOCUMENTS = {
    "txt": "text",
    "text": "text",
    "md": "text",
    "markdown": "text",
    "htm": "html",
    "html": "html",
    "xhtml": "html",
    "pdf": "pdf",
    "docx": "docx",
    "docm": "docx",
    "pptx": "pptx",
    "pptm": "pptx",
    "ppsx": "pptx",
    "ppsm": "pptx",
    "odt": "odt",
    "odp": "odp",
    "epub": "epub",
    "eml": "eml",
    "rtf": "rtf",
}
PACKED = frozenset({"docx", "pptx", "odt", "odp", "epub"})
"""Formats of documents that are ZIP archives."""

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
    (b"\0\0\0\x0cjP  ", Kind("picture", "jpeg2000")),
    (b"\xff\x4f\xff\x51", Kind("picture", "jpeg2000")),
    (b"FUJIFILMCCD-RAW", Kind("picture", "raf")),
    (b"IIU\0", Kind("picture", "rw2")),
    *((start, Kind("picture", "orf")) for start in (b"IIRO", b"IIRS", b"MMOR")),
    (b"\x1aE\xdf\xa3", Kind("video", "matroska")),
    (b"\0\0\x01\xba", Kind("video", "mpeg")),
    (b"\0\0\x01\xb3", Kind("video", "mpeg")),
    (b"0&\xb2u\x8ef\xcf\x11", Kind("video", "asf")),
    (b"FLV\x01", Kind("video", "flv")),
    (b"%PDF-", Kind("document", "pdf")),
)
_RIFF = {b"WEBP": Kind("picture", "webp"), b"AVI ": Kind("video", "avi")}
_STILL_BRANDS = {
    **dict.fromkeys((b"avif", b"avis"), Kind("picture", "avif")),
    **dict.fromkeys(b"heic heix heim heis hevc hevx hevm hevs mif1 msf1".split(), Kind("picture", "heif")),
    b"crx ": Kind("picture", "cr3"),
}
_QUICKTIME = (b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
_OGG_VIDEO = (b"\x80theora", b"OVP80", b"BBCD\0", b"\x01video\0")  # without one of these it is sound alone
_PACKETS = ((188, 0), (192, 4))  # of an MPEG transport stream: bytes, and where in each the mark stands
STARTS = (
    *_MAGIC,
    *((b"RIFF\0\0\0\0" + name, kind) for name, kind in _RIFF.items()),
    *((b"\0\0\0\x18ftyp" + brand, kind) for brand, kind in _STILL_BRANDS.items()),
    (b"\0\0\0\x14ftypqt  ", Kind("video", "mov")),
    (b"\0\0\0\x18ftypmp42", Kind("video", "mp4")),
    *((b"\0\0\0\x08" + name + bytes(8), Kind("video", "mov")) for name in _QUICKTIME),
    (b"BM" + bytes(12) + b"\x28\0\0\0", Kind("picture", "bmp")),
    *((b"OggS" + bytes(24) + name, Kind("video", "ogg")) for name in _OGG_VIDEO),
    *(((bytes(mark) + b"G").ljust(size, b"\0") * 8, Kind("video", "mpegts")) for size, mark in _PACKETS),
)
"""The first bytes of every format that is known, one example each where they are more than a fixed start."""
_RAW_STARTS = (
    (b"II\x1a\0\0\0HEAPCCDR", "Canon CRW"),
    (b"FOVb", "Sigma X3F"),
    (b"\0MRM", "Minolta MRW"),
)
_BMP_HEADERS = (12, 16, 40, 52, 56, 64, 108, 124)  # the sizes the header behind the first one ever had


def sniff(head: bytes) -> Kind | None:
    """Picture, video or PDF by the first bytes; None for everything else, ``BadFile`` for raw photographs not read."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[:4] == b"OggS":
        return Kind("video", "ogg") if any(name in head for name in _OGG_VIDEO) else None
    raw = next((name for magic, name in _RAW_STARTS if head.startswith(magic)), None)
    if raw:
        raise BadFile(
            "unsupported",
            f"it is a raw photograph ({raw}), which is not read yet. Convert it to JPEG or TIFF, or keep the camera's "
            "JPEG beside it.",
        )
    if head[4:8] == b"ftyp":
        return _STILL_BRANDS.get(head[8:12]) or Kind("video", "mov" if head[8:12] == b"qt  " else "mp4")
    if head[4:8] in _QUICKTIME and len(head) >= 16:
        return Kind("video", "mov")
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return Kind("picture", "bmp")
    if any(head[mark::size][:5] == b"GGGGG" for size, mark in _PACKETS):
        return Kind("video", "mpegts")
    return None


def ending(name: str) -> str:
    """What stands behind the last dot of a name, in small letters."""
    return os.path.splitext(name)[1][1:].lower()


# --- which sidecar belongs to which file ---


def is_sidecar(name: str) -> bool:
    """Is this the name of a sidecar?"""
    return name[-4:].lower() == ".xmp"


def sidecars_of(name: str, by_stem: Mapping[str, Collection[str]], is_there: Callable[[str], bool]) -> list[str]:
    """The sidecars of a file, sorted, from those of its folder by what stands before ``.xmp``.

    ``a.jpg.xmp`` belongs to ``a.jpg``; ``a.xmp`` to every ``a.*``, unless there is a file that is called ``a``.
    """
    stem = os.path.splitext(name)[0]
    taken = is_there(stem) and not is_sidecar(stem)
    return sorted({*by_stem.get(name, ()), *(() if taken else by_stem.get(stem, ()))})


def sidecars_by_owner(names: Iterable[str]) -> dict[str, list[str]]:
    """The sidecars of every file of a folder that has some, sorted."""
    there = set(names)
    by_stem: dict[str, list[str]] = {}
    for name in filter(is_sidecar, there):
        by_stem.setdefault(name[:-4], []).append(name)
    files = sorted(name for name in there if not is_sidecar(name))
    return {name: beside for name in files if (beside := sidecars_of(name, by_stem, there.__contains__))}


# --- how a file is opened ---


_PLAIN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))


@contextmanager
def open_regular(path: str | bytes, follow: bool = False) -> Iterator[tuple[BinaryIO, FileFacts]]:
    """Open a regular file for reading, and nothing else: no FIFO, socket or device, and no link unless told."""
    try:
        # Without blocking, a FIFO that was put there since the scan does not hold us up.
        handle = os.open(path, _PLAIN | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    except OSError as error:
        raise os_problem(error) from error
    except ValueError as error:
        raise BadFile("unreadable", "its name holds a NUL character.") from error
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
    errno.ENOENT: ("missing", "it is not there any more."),
    errno.EACCES: ("unreadable", "you have no permission to read it."),
    errno.EPERM: ("unreadable", "you have no permission to read it."),
    errno.ELOOP: ("link", "it is a link that is not followed, or leads in a circle."),
    errno.ENAMETOOLONG: ("name too long", "its path is longer than this system allows."),
    errno.ENXIO: ("not a file", "it is a pipe, socket, device or folder, not a file."),
    errno.EIO: ("unreadable", "the disk reports an error while reading it."),
}


def hash_of_file(path: str | bytes | os.PathLike[str]) -> str | None:
    """The SHA-256 of a file of any size; None where there is none that can be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def os_problem(error: OSError) -> BadFile:
    """The system's error as a reason and a sentence."""
    reason, sentence = _REASONS.get(error.errno or 0, ("unreadable", f"it cannot be read: {error.strerror or error}."))
    return BadFile(reason, sentence)


def may_replace(path: str | os.PathLike[str], is_ours: Callable[[bytes], bool]) -> bool:
    """Is this place free, or its file empty or one of ours, by its first 64 KiB? What cannot be read is not ours."""
    try:
        with open_regular(os.fspath(path), follow=True) as (file, _):
            head = file.read(_OUR_HEAD)
    except BadFile as problem:
        return problem.reason == "missing"
    return not head or is_ours(head)


_OUR_HEAD = 2**16


def inside(root: str, path: str) -> str:
    """The real path of a file below ``root``, or ``BadFile`` where it leads elsewhere. ``root`` is a real path."""
    if "\0" in path:
        raise BadFile("outside", "its name holds a NUL character.")
    real = os.path.realpath(os.path.join(root, path))
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        raise BadFile("outside", f"it is outside {root}, and nothing outside is read.")
    return real
