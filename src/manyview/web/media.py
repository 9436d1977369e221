"""The way from an item's number to bytes that may leave: never by a path, never through a link, never shown as it is.

The catalogue says where the file is; its real path has to lie below the folder that was ingested; it is opened part by
part without following links; what was opened has to be the file that was read at the time; and that very handle is
what is decoded or sent.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import shutil
import stat
import tempfile
from collections import OrderedDict
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

from starlette.responses import Response

from ..collection.items import as_text
from ..features.attention import square_thumbnail
from ..features.opening.decode import BadFile, Clip, DecodePool
from ..files import RAW, ending
from ..workflow.reading.index import Index
from .refusals import Absent

if TYPE_CHECKING:
    from .gallery import Gallery

__all__ = [
    "LARGE_SIDE",
    "SIDE",
    "TYPES",
    "FileAnswer",
    "Original",
    "Previews",
    "name_of",
    "open_beneath",
    "open_original",
    "thumbnail",
]

TYPES = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "AVIF": "image/avif",
    "TIFF": "image/tiff",
    "BMP": "image/bmp",
    "HEIC": "image/heic",
    **dict.fromkeys(("MP4", "MOV"), "video/mp4"),
    **dict.fromkeys(("MATROSKA", "WEBM"), "video/webm"),
    "OGG": "video/ogg",
}
"""Of the decoder's verdict; everything else is plain bytes. A clip is played by the browser, if it can."""
_PIECE = 256 * 1024
SIDE = 1600
LARGE_SIDE = 4096
_FRAME_SIDE = 480
_KEPT_BYTES = 64 * 2**20
_LARGEST_COPY = 2**29


def thumbnail(index: Index, item: int, square: bool = False) -> bytes:
    """The thumbnail of an item, whole or cut to a square: our own encoding, without metadata."""
    found = index.collection.thumbs.get(item)
    if found is None:
        raise Absent(f"item {item} has no thumbnail.")
    return square_thumbnail(found) if square else found


class Original:
    """An item's file, open, and known to be the one that was ingested."""

    def __init__(self, item: int, handle: int, size: int, name: str, kind: str, format: str | None) -> None:
        self.item, self.size, self.name, self.kind = item, size, name, kind
        self.file: BinaryIO = os.fdopen(handle, "rb")
        self.media_type = TYPES.get((format or "").upper(), "application/octet-stream")

    def part(self, asked: str | None) -> tuple[int, int, int]:
        """First byte, end and status for a Range header. One range is understood; anything else gets the whole."""
        found = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", (asked or "").strip())
        if found is None or found.groups() == ("", ""):
            return 0, self.size, 200
        first, last = found.groups()
        if not first:
            start, stop = max(0, self.size - int(last)), self.size
        else:
            start, stop = int(first), min(self.size, int(last) + 1) if last else self.size
        return (start, stop, 206) if start < stop else (0, 0, 416)

    def headers(self, start: int, stop: int, status: int) -> dict[str, str]:
        name = quote(self.name.encode("utf-8", "surrogateescape"), safe="")
        found = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "Content-Type": self.media_type,
            "Content-Length": str(stop - start),
            "Accept-Ranges": "bytes",
        }
        if status == 206:
            found["Content-Range"] = f"bytes {start}-{stop - 1}/{self.size}"
        elif status == 416:
            found["Content-Range"] = f"bytes */{self.size}"
        return found


def open_original(index: Index, item: int) -> Original:
    """Open the file of an item, or say why not."""
    file = index.collection.reading.file(item)
    if file is None:
        raise Absent(f"item {item} has no file.")
    path, root, size, device, inode, kind, format = file
    try:
        handle = open_beneath(root, path)
    except OSError as error:
        raise Absent(f"the file of item {item} cannot be opened: {error.strerror or 'it is elsewhere'}.") from error
    about = os.fstat(handle)
    # A device number may change when a disk is mounted anew; the folder's own then changes with it.
    same_device = about.st_dev in (device, os.stat(root).st_dev)
    if not stat.S_ISREG(about.st_mode) or about.st_size != size or about.st_ino != inode or not same_device:
        os.close(handle)
        raise Absent(f"the file of item {item} is not the one that was read. Run `manyview add` to read it again.")
    return Original(item, handle, size, as_text(os.path.basename(path)), kind, format)


def open_beneath(root: bytes, path: bytes) -> int:
    """Open a file below a folder; an OSError where its real place is outside, or where a link appears on the way."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    if os.path.commonpath([top, real]) != top or real == top:
        raise OSError(0, "it is outside the folder that was read")
    *folders, name = os.path.relpath(real, top).split(os.sep.encode())
    keep = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    here = os.open(top, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        for folder in folders:
            below = os.open(folder, keep | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        return os.open(name, keep | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)


class FileAnswer(Response):
    """Sends part of an open file and closes it, whatever becomes of the other side."""

    def __init__(self, original: Original, asked: str | None) -> None:
        self.original = original
        self.start, self.stop, status = original.part(asked)
        super().__init__(status_code=status)
        self.raw_headers = [
            (name.lower().encode(), value.encode())
            for name, value in original.headers(self.start, self.stop, status).items()
        ]

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        gone = asyncio.ensure_future(_disconnect(receive))
        file, left = self.original.file, self.stop - self.start
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            file.seek(self.start)
            while left and not gone.done():
                piece = await asyncio.to_thread(file.read, min(left, _PIECE))
                left -= len(piece)
                if not piece:  # it was cut short under our eyes; the length that was promised ends the connection
                    break
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()
            file.close()


async def _disconnect(receive: Any) -> None:
    """Wait until the other side has gone; the request itself comes first, its body empty."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Previews:
    """Pictures at the size of a screen, or larger, decoded in a child process with limits and encoded anew."""

    def __init__(self) -> None:
        self._pools = {side: DecodePool(n_jobs=1, max_side=side, thumbnail_side=side) for side in (SIDE, LARGE_SIDE)}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gallery-preview")
        self._kept: OrderedDict[tuple[int, int, int, int], tuple[bytes, str]] = OrderedDict()

    async def get(self, gallery: Gallery, item: int, side: int = SIDE) -> tuple[bytes, str]:
        """The preview of an item and its media type; its long side has at most so many pixels."""
        original = await gallery.read(open_original, item)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._make, original, side)

    def _make(self, original: Original, side: int) -> tuple[bytes, str]:
        with original.file as file:
            status = os.fstat(file.fileno())
            key = (original.item, status.st_ino, status.st_mtime_ns, side)
            if key not in self._kept:
                self._kept[key] = self._decoded(original, side)
                while sum(len(content) for content, _ in self._kept.values()) > _KEPT_BYTES:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _decoded(self, original: Original, side: int) -> tuple[bytes, str]:
        if original.kind not in ("picture", "video"):
            raise Absent(f"item {original.item} is no picture.")
        with tempfile.TemporaryDirectory(prefix="manyview-") as folder:
            _, found = next(self._pools[side].decode([name_of(original, folder)]))
        if isinstance(found, BadFile):
            raise Absent(f"item {original.item} cannot be shown: {found.sentence}")
        if isinstance(found, Clip) and len(found.frames) > 1:
            return _moving(found), "image/webp"
        return found.thumbnail, "image/jpeg"

    def close(self) -> None:
        self._close_pools()  # what is being decoded ends with its child
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._close_pools()

    def _close_pools(self) -> None:
        for pool in self._pools.values():
            pool.close()


def name_of(original: Original, folder: str) -> str:
    """A name under which a child can open this very file: a link to the handle where the system has such, or a copy.

    It ends like the file's own where that tells a raw photograph from another TIFF.
    """
    kind = ending(original.name)
    name = os.path.join(folder, f"{original.item}.{kind}" if kind in RAW else str(original.item))
    handle = f"/proc/{os.getpid()}/fd/{original.file.fileno()}"
    if os.path.exists(handle):
        os.symlink(handle, name)
        return name
    if original.size > _LARGEST_COPY:
        raise Absent("the file is too large to be shown on this system.")
    with open(name, "wb") as target:
        shutil.copyfileobj(original.file, target)
    return name


def _moving(clip: Clip) -> bytes:
    """The key frames of a clip, one after another."""
    from PIL import Image

    frames = [Image.fromarray(frame) for frame in clip.frames]
    for frame in frames:
        frame.thumbnail((_FRAME_SIDE, _FRAME_SIDE))
    made = io.BytesIO()
    frames[0].save(made, "WEBP", save_all=True, append_images=frames[1:], duration=600, loop=0, quality=75)
    return made.getvalue()
