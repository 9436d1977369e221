"""What a child does with one file: find out what it is, open it, and say what it holds or why not."""

from __future__ import annotations

import errno
import io
import os
import warnings
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np

from ...errors import MissingExtra
from ...files import HEAD, RAW, VIDEOS, BadFile, ending, open_regular, os_problem, sniff
from ...raw_previews import RAW_FORMATS, find_preview, held_how
from ...sandbox import Answer
from ..duplicates import perceptual_hash, picture_signature
from ..pictures import RGB, flatten_modes
from .jpeg_xl import open_jxl, size_of_jxl

__all__ = ["open_file"]

_READING = (errno.EIO, errno.EACCES, errno.EPERM, errno.ESTALE, errno.ENXIO)

# Decoders inside Pillow, by the formats of ``files``: none that starts a program (EPS). HEIF and JPEG XL are extras.
_PILLOW = {
    "jpeg": ("Jpeg", "JPEG"),
    "png": ("Png", "PNG"),
    "gif": ("Gif", "GIF"),
    "webp": ("WebP", "WEBP"),
    "avif": ("Avif", "AVIF"),
    "tiff": ("Tiff", "TIFF"),
    "bmp": ("Bmp", "BMP"),
    "jpeg2000": ("Jpeg2K", "JPEG2000"),
    "icon": ("Ico", "ICO"),  # opened here, though no folder is searched for these two
    "ppm": ("Ppm", "PPM"),
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
        with warnings.catch_warnings(), open_regular(path, follow=True) as (file, facts):
            warnings.simplefilter("ignore")
            if facts.size == 0:
                raise BadFile("empty", "it is empty.")
            return _answer_or_blame(file, os.fsdecode(path), limits)
    except BadFile as bad:
        return {"kind": "bad", "reason": bad.reason, "sentence": bad.sentence}, []


def _answer_or_blame(file: BinaryIO, name: str, limits: dict[str, Any]) -> Answer:
    try:
        return _answer(file, name, limits)
    except BadFile:
        raise
    except MissingExtra as error:
        raise BadFile("missing extra", str(error)) from error
    except MemoryError as error:
        sentence = f"opening it takes more than {limits['memory'] >> 20} MB of memory."
        raise BadFile("out of memory", sentence) from error
    except Exception as error:  # decoders raise whatever they like on bytes they did not expect
        raise _blame(error) from error


def _answer(file: BinaryIO, name: str, limits: dict[str, Any]) -> Answer:
    kind = sniff(file.read(HEAD))
    file.seek(0)
    if kind.kind == "video" if kind else ending(name) in VIDEOS:
        return _clip(file, limits)
    format = kind.format if kind else ""
    if format in RAW_FORMATS or (format == "tiff" and ending(name) in RAW):
        if (preview := find_preview(file, format)) is not None:
            return _picture(io.BytesIO(preview), limits, turned=held_how(file, format))
        if format != "tiff":  # of a TIFF, whatever it is called, there is a first picture
            raise BadFile(
                "unsupported",
                f"it is a raw photograph ({format.upper()}) without a preview in it, or damaged. Convert it to JPEG or "
                "TIFF, or keep the camera's JPEG beside it.",
            )
    file.seek(0)
    return _picture(file, limits, format)


def _picture(file: BinaryIO, limits: dict[str, Any], format: str = "", turned: int | None = None) -> Answer:
    """``format`` as ``files`` calls it; ``turned``: the orientation, where it is not in the picture itself."""
    from PIL import Image, PngImagePlugin, UnidentifiedImageError

    if format == "jxl":
        _check_size(*size_of_jxl(file), limits)
        image = open_jxl(file)
        rgb = _reduced(image, limits["max_side"])
        about = {"format": "JPEG XL", "animated": False}
        return _shown("picture", [rgb], image.width, image.height, about, limits)
    for plugin, _ in _PILLOW.values():
        import_module(f"PIL.{plugin}ImagePlugin")
    Image.MAX_IMAGE_PIXELS = None  # the limit is ours, below, before anything is decoded
    PngImagePlugin.MAX_TEXT_CHUNK = 16 * 2**20  # long metadata, as photo editors write, make no picture bad
    formats = tuple(name for _, name in _PILLOW.values())
    heif = format == "heif"
    if heif:
        _register_heif()
        formats = ("HEIF",)
    try:
        image = Image.open(file, formats=formats)
    except UnidentifiedImageError:
        raise _unidentified(file) from None
    width, height = image.size
    _check_size(width, height, limits)
    orientation, kind = turned or _orientation(image), image.format or "picture"
    animated = kind in ("GIF", "PNG", "WEBP", "AVIF") and bool(getattr(image, "is_animated", False))
    image.draft("RGB", (limits["max_side"], limits["max_side"]))  # JPEG: decoded at a fraction where that is enough
    rgb = _reduced(image, limits["max_side"])
    if kind == "TIFF":  # Pillow turns these while it loads them
        width, height = image.size
    else:
        rgb = upright(rgb, orientation)
        width, height = (height, width) if orientation >= 5 else (width, height)
    if kind == "PNG" and not _png_ends(file):
        raise BadFile("truncated", "it ends too early (its last part is missing).")
    about = {"format": "HEIC" if heif else kind, "animated": animated}
    return _shown("picture", [rgb], width, height, about, limits)


def _check_size(width: int, height: int, limits: dict[str, Any]) -> None:
    if width * height > limits["max_pixels"]:
        raise BadFile(
            "too large",
            f"it has {width} x {height} pixels, {width * height / 1e6:.0f} million; at most "
            f"{limits['max_pixels'] / 1e6:.0f} million are opened.",
        )


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
    from ..clips.frames import read_clip

    clip = read_clip(file, limits["max_side"], limits["max_pixels"], with_bursts=limits["bursts"])
    about = {
        "format": clip.format,
        "seconds": clip.seconds,
        "pairs": list(clip.pairs.shape),
        "bursts": list(clip.bursts.shape),
    }
    header, blobs = _shown("clip", clip.frames, clip.width, clip.height, about, limits)
    return header, [*blobs, clip.pairs.tobytes(), clip.bursts.tobytes()]


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


def _unidentified(file: BinaryIO) -> BadFile:
    file.seek(0)
    start = file.read(HEAD)
    kind = sniff(start)
    if kind is not None and kind.kind == "picture":
        return BadFile("damaged", f"it begins like {kind.format.upper()} but cannot be opened.")
    plain = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    what = next((what for word, what in _OTHERS.items() if plain.startswith(word)), None)
    return BadFile("unknown format", f"it is {what or 'nothing'} that can be opened as a picture or clip.")


def _blame(error: Exception) -> BadFile:
    said = " ".join(str(getattr(error, "strerror", None) or error).split())[:200].rstrip(".") or type(error).__name__
    if isinstance(error, OSError) and error.errno in _READING:
        return os_problem(error)
    if "too large" in said.lower():
        return BadFile("too large", f"it unpacks to far more than it should ({said}).")
    if isinstance(error, EOFError) or "truncated" in said.lower() or "premature" in said.lower():
        return BadFile("truncated", f"it ends too early ({said}).")
    return BadFile("damaged", f"it is damaged ({said}).")
