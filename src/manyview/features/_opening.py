"""What a child does with one file: find out what it is, open it, and say what it holds or why not."""

from __future__ import annotations

import errno
import io
import os
import stat
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import MissingExtra
from ._refused import Refused
from .duplicates import perceptual_hash, picture_signature
from .pictures import RGB, flatten_modes

__all__ = ["open_file"]

_READING = (errno.EIO, errno.EACCES, errno.EPERM, errno.ESTALE, errno.ENXIO)
Answer = tuple[dict[str, Any], list[bytes]]

# Formats that can be told by their first bytes, with decoders inside Pillow: none that starts a program (EPS).
_PLUGINS = ("Jpeg", "Png", "Gif", "WebP", "Avif", "Tiff", "Bmp", "Ico", "Jpeg2K", "Ppm")
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF", "BMP", "ICO", "JPEG2000", "PPM")
_HEIF = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_AVIF = (b"avif", b"avis")
_VIDEO_NAMES = tuple(".mp4 .m4v .mov .avi .mkv .webm .mpg .mpeg .wmv .3gp .ogv .flv .mts".split())
_VIDEO_STARTS = (b"\x1aE\xdf\xa3", b"\x00\x00\x01\xba", b"\x00\x00\x01\xb3", b"FLV\x01", b"OggS")
_STARTS = {
    b"\xff\xd8\xff": "JPEG",
    b"\x89PNG": "PNG",
    b"GIF8": "GIF",
    b"RIFF": "WEBP",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"BM": "BMP",
    b"\0\0\0\x0cjP": "JPEG 2000",
}
_OTHERS = {
    b"<svg": "SVG, nothing",
    b"<?xml": "XML or SVG, nothing",
    b"<!doctype": "HTML, nothing",
    b"<html": "HTML, nothing",
    b"%pdf": "PDF, nothing",
    b"pk\3\4": "a ZIP archive, nothing",
}


def open_file(path: bytes, limits: dict[str, Any]) -> Answer:
    """Header and blobs of the answer for one file; nothing that a file does leaves here as an exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with _opened(path) as file:
                return _answer(file, os.fsdecode(path), limits)
    except Refused as refused:
        reason, sentence = refused.reason, refused.sentence
    except MissingExtra as error:
        reason, sentence = "missing extra", str(error)
    except MemoryError:
        reason, sentence = "out of memory", f"opening it takes more than {limits['memory'] >> 20} MB of memory."
    except Exception as error:  # decoders raise whatever they like on bytes they did not expect
        reason, sentence = _blame(error)
    return {"kind": "bad", "reason": reason, "sentence": sentence}, []


def _opened(path: bytes) -> BinaryIO:
    """The file, if it is an ordinary one; a pipe or a device is neither waited for nor read."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise Refused("missing", "it is not there any more.") from None
    except (OSError, ValueError) as error:
        raise Refused("unreadable", f"it cannot be opened: {getattr(error, 'strerror', None) or error}.") from error
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise Refused("not a file", f"it is a {'folder' if stat.S_ISDIR(about.st_mode) else 'pipe or a device'}.")
    if about.st_size == 0:
        os.close(handle)
        raise Refused("empty", "it has no bytes.")
    return os.fdopen(handle, "rb")


def _answer(file: BinaryIO, name: str, limits: dict[str, Any]) -> Answer:
    start = file.read(64)
    file.seek(0)
    suffix = Path(name).suffix.lower()
    brand = start[8:12] if start[4:8] == b"ftyp" else b""
    if brand in _HEIF:
        return _picture(file, limits, heif=True)
    is_video = brand not in (b"", *_AVIF) or start.startswith(_VIDEO_STARTS) or start[8:12] == b"AVI "
    if is_video or (suffix in _VIDEO_NAMES and not _picture_start(start)):
        return _clip(file, limits)
    return _picture(file, limits)


def _picture_start(start: bytes) -> str | None:
    """The format that a file's first bytes promise, if it is one of pictures."""
    if start[4:12] in (b"ftypavif", b"ftypavis"):
        return "AVIF"
    return next((kind for begin, kind in _STARTS.items() if start.startswith(begin)), None)


def _picture(file: BinaryIO, limits: dict[str, Any], heif: bool = False) -> Answer:
    from PIL import Image, PngImagePlugin, UnidentifiedImageError

    for plugin in _PLUGINS:
        import_module(f"PIL.{plugin}ImagePlugin")
    Image.MAX_IMAGE_PIXELS = None  # the limit is ours, below, before anything is decoded
    PngImagePlugin.MAX_TEXT_CHUNK = 16 * 2**20  # long metadata, as photo editors write, make no picture bad
    formats: tuple[str, ...] = _FORMATS
    if heif:
        _register_heif()
        formats = ("HEIF",)
    try:
        image = Image.open(file, formats=formats)
    except UnidentifiedImageError:
        raise _unidentified(file) from None
    width, height = image.size
    if width * height > limits["max_pixels"]:
        raise Refused(
            "too large",
            f"it has {width} x {height} pixels, {width * height / 1e6:.0f} million; at most "
            f"{limits['max_pixels'] / 1e6:.0f} million are opened.",
        )
    orientation, kind = _orientation(image), image.format or "picture"
    animated = kind in ("GIF", "PNG", "WEBP", "AVIF") and bool(getattr(image, "is_animated", False))
    image.draft("RGB", (limits["max_side"], limits["max_side"]))  # JPEG: decoded at a fraction where that is enough
    rgb = upright(_reduced(image, limits["max_side"]), orientation)
    if orientation >= 5:
        width, height = height, width
    if kind == "PNG" and not _png_ends(file):
        raise Refused("truncated", "it ends too early (its last part is missing).")
    about = {"format": "HEIC" if heif else kind, "animated": animated}
    return _shown("picture", [rgb], width, height, about, limits)


def _reduced(image: Any, max_side: int) -> RGB:
    """RGB pixels with a longer side of at most ``max_side``; reduced before it is converted where that saves memory."""
    from PIL import Image

    if image.mode in ("P", "PA", "1"):
        image = image.convert("RGBA" if image.mode == "PA" or "transparency" in image.info else "RGB")
    elif image.mode.startswith("I;"):
        image = image.convert("I")
    scale = max_side / max(image.size)
    if scale < 1:
        size = tuple(max(1, round(length * scale)) for length in image.size)
        image = image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    else:
        image.load()
    return np.asarray(flatten_modes(image))


def upright(rgb: RGB, orientation: int) -> RGB:
    """The picture as it was seen, from the EXIF orientation, 1 to 8."""
    if orientation >= 5:
        rgb = rgb.transpose(1, 0, 2)
    if orientation in (2, 3, 6, 7):
        rgb = rgb[:, ::-1]
    if orientation in (3, 4, 7, 8):
        rgb = rgb[::-1]
    return np.ascontiguousarray(rgb)


def _orientation(image: Any) -> int:
    try:
        found = image.getexif().get(0x0112, 1)
        return found if isinstance(found, int) and 1 <= found <= 8 else 1
    except Exception:  # damaged metadata do not make a good picture bad
        return 1


def _png_ends(file: BinaryIO) -> bool:
    """Does the closing chunk of a PNG exist? Pillow is content with the pixels."""
    file.seek(8)
    while len(head := file.read(8)) == 8:
        if head[4:] == b"IEND":
            return True
        file.seek(int.from_bytes(head[:4], "big") + 4, os.SEEK_CUR)
    return False


def _register_heif() -> None:
    try:
        import pillow_heif
    except ImportError as error:
        raise MissingExtra("reading HEIC needs the 'heic' extra:  pip install \"manyview[heic]\"") from error
    pillow_heif.options.THUMBNAILS = False
    pillow_heif.options.DECODE_THREADS = 1
    pillow_heif.register_heif_opener()


def _clip(file: BinaryIO, limits: dict[str, Any]) -> Answer:
    from .frames import read_clip

    clip = read_clip(file, limits["max_side"], limits["max_pixels"])
    about = {"format": clip.format, "seconds": clip.seconds, "pairs": list(clip.pairs.shape)}
    header, blobs = _shown("clip", clip.frames, clip.width, clip.height, about, limits)
    return header, [*blobs, clip.pairs.tobytes()]


def _shown(
    kind: str, frames: list[RGB], width: int, height: int, about: dict[str, Any], limits: dict[str, Any]
) -> Answer:
    """The answer for pictures: the frames, and of the middle one the thumbnail, hash and signature."""
    middle = frames[len(frames) // 2]
    header = {
        "kind": kind,
        "shapes": [frame.shape for frame in frames],
        "width": width,
        "height": height,
        "hash": perceptual_hash(middle),
        **about,
    }
    blobs = [picture_signature(middle), _thumbnail(middle, limits["thumbnail_side"])]
    return header, [*blobs, *(frame.tobytes() for frame in frames)]


def _thumbnail(rgb: RGB, side: int) -> bytes:
    from PIL import Image

    image = Image.fromarray(rgb)
    image.thumbnail((side, side))
    made = io.BytesIO()
    image.save(made, "JPEG", quality=85)
    return made.getvalue()


def _unidentified(file: BinaryIO) -> Refused:
    file.seek(0)
    start = file.read(512)
    kind = _picture_start(start)
    if kind is not None:
        return Refused("damaged", f"it begins like {kind} but cannot be opened.")
    plain = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    what = next((what for word, what in _OTHERS.items() if plain.startswith(word)), None)
    return Refused("unknown format", f"it is {what or 'nothing'} that can be opened as a picture or clip.")


def _blame(error: Exception) -> tuple[str, str]:
    said = " ".join(str(getattr(error, "strerror", None) or error).split())[:200].rstrip(".") or type(error).__name__
    if isinstance(error, OSError) and error.errno in _READING:
        return "unreadable", f"it cannot be read: {error.strerror}."
    if "too large" in said.lower():
        return "too large", f"it unpacks to far more than it should ({said})."
    if isinstance(error, EOFError) or "truncated" in said.lower() or "premature" in said.lower():
        return "truncated", f"it ends too early ({said})."
    return "damaged", f"it is damaged ({said})."
