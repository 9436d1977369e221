"""Keywords inside picture files, written by exiftool to a copy, and the proof that the picture in it is the same."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import BinaryIO

from ..errors import MissingExtra
from ..ingest.xmp import Name
from .document import Refused
from .editor import Edit

__all__ = ["ENDINGS", "find_exiftool", "image_data", "write_keywords"]

ENDINGS = {
    "jpeg": ("jpg", "jpeg", "jpe", "jfif"),
    "png": ("png",),
    "tiff": ("tif", "tiff"),
}
"""Formats that are written, with the names such files have: a raw file may look like a TIFF inside."""
_OLDEST = (12, 38)
"""Older ones run commands that stand in file names (CVE-2022-23935)."""
_SECONDS = 120


@lru_cache
def find_exiftool() -> str:
    """The command of exiftool; says how to install it where it is missing or too old."""
    advice = (
        "Install it: `apt install libimage-exiftool-perl`, `brew install exiftool`, or from the pages of ExifTool by "
        "Phil Harvey. Or write sidecars: --to xmp."
    )
    found = shutil.which("exiftool")
    if found is None:
        raise MissingExtra(f"writing tags into files needs exiftool 12.38 or newer, and there is none. {advice}")
    try:
        shown = _run([found, "-config", "", "-ver"], os.sep).stdout
    except Refused:
        shown = b""
    version = re.match(rb"(\d+)\.(\d+)", shown)
    if version is None or tuple(map(int, version.groups())) < _OLDEST:
        said = shown.decode(errors="replace").strip()[:20] or "no version"
        raise MissingExtra(
            f"writing tags into files needs exiftool 12.38 or newer, and {found} says {said!r}. {advice}"
        )
    return found


_SUBJECT, _PATHS, _LISTED = "XMP-dc:Subject", "XMP-lr:HierarchicalSubject", "XMP-digiKam:TagsList"
_WRITTEN = (("MWG:Keywords",), (_PATHS,), (_LISTED,))
_READ = (("MWG:Keywords",), (_PATHS, "XMP-mediapro:CatalogSets"), (_LISTED, "XMP-microsoft:LastKeywordXMP"))
"""What exiftool calls the lists of words, of paths with bars, and of paths with strokes: those that are written, and
those from which a word has to go."""


def write_keywords(folder: str, name: str, edit: Edit, begin: Mapping[Name, Sequence[str]]) -> None:
    """Change the keywords of a file of ours; ``name`` is plain, so that nothing in it can be taken for an option.

    By the rules of the Metadata Working Group: XMP always, IPTC where the file has it. Lists of XMP that the file lacks
    begin with ``begin``.
    """
    arguments = []
    for (add, remove), written, read in zip(edit.parts().values(), _WRITTEN, _READ, strict=True):
        arguments += [f"-{tag}-={value}" for tag in read for value in remove]
        arguments += [f"-{tag}-={value}" for tag in written for value in add]  # one that is there is not doubled
    for tag, values in zip((_SUBJECT, _PATHS, _LISTED), map(begin.get, edit.parts()), strict=True):
        arguments += [f"-{tag}+={value}" for value in values or ()]
    for (add, _), written in zip(edit.parts().values(), _WRITTEN, strict=True):
        arguments += [f"-{tag}+={value}" for tag in written for value in add]
    # An empty -config keeps a file of the user's home, which may hold code, from being read.
    command = [
        find_exiftool(),
        "-config",
        "",
        "-use",
        "MWG",
        "-q",
        "-q",
        "-overwrite_original",
        *arguments,
        f"./{name}",
    ]
    shown = _run(command, folder)
    if shown.returncode:
        words = shown.stderr.decode(errors="replace").strip().splitlines()
        raise Refused(f"exiftool did not write it: {words[-1][:200] if words else 'no reason given'}.")


def _run(command: list[str], folder: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603  a fixed command; words and our own file name are its arguments
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Refused(f"exiftool took longer than {_SECONDS} s.") from error
    except (OSError, ValueError) as error:
        raise Refused(f"exiftool could not be started: {error}.") from error


def image_data(file: BinaryIO, kind: str) -> str | None:
    """A hash of everything in a JPEG or PNG that makes its pixels, None for a TIFF, whose parts may move."""
    parts = {"jpeg": _jpeg_parts, "png": _png_parts}.get(kind)
    if parts is None:
        return None
    file.seek(0)
    total = hashlib.sha256()
    try:
        for part in parts(file):
            total.update(part)
    except (struct.error, IndexError) as error:
        raise Refused("its inner structure is damaged.") from error
    return total.hexdigest()


def _jpeg_parts(file: BinaryIO) -> Iterator[bytes]:
    """Tables, frame headers and all from the first scan on; application segments and comments are metadata."""
    if file.read(2) != b"\xff\xd8":
        raise Refused("it does not begin like a JPEG.")
    while True:
        marker = file.read(2)
        while marker[1:] == b"\xff":  # fill bytes
            marker = b"\xff" + file.read(1)
        if len(marker) < 2 or marker[0] != 0xFF:
            raise Refused("its inner structure is damaged.")
        if marker[1] == 0xDA:
            yield marker
            while piece := file.read(2**20):
                yield piece
            return
        length = struct.unpack(">H", file.read(2))[0]
        content = file.read(length - 2)
        # Adobe's segment says how colours are stored.
        if marker[1] == 0xEE or not (0xE0 <= marker[1] <= 0xEF or marker[1] == 0xFE):
            yield marker + content


def _png_parts(file: BinaryIO) -> Iterator[bytes]:
    """Every chunk but those with text, time and EXIF."""
    yield file.read(8)
    while head := file.read(8):
        length, name = struct.unpack(">I4s", head)
        content = file.read(length + 4)
        if name not in (b"tEXt", b"zTXt", b"iTXt", b"tIME", b"eXIf"):
            yield name + content
