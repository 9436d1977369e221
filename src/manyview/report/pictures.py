"""Small pictures that travel inside the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError
from .markup import Markup

__all__ = ["PictureSource", "data_addresses", "picture_source"]

PictureSource = Callable[[int], Any]

SIDE = 128
_SMALL = 48  # below this a picture is drawn with visible pixels, not blurred
_AS_IT_IS = 6_000  # bytes; small encoded pictures are not encoded again
_MOST_PIXELS = 50_000_000
_KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}


def picture_source(thumbnails: Any) -> PictureSource:
    """A function from item to picture, from whatever a caller has; None stands for no picture."""
    if thumbnails is None:
        return lambda item: None
    if callable(thumbnails):
        return thumbnails  # type: ignore[no-any-return]
    if isinstance(thumbnails, Mapping):
        return thumbnails.get
    if isinstance(thumbnails, (Sequence, np.ndarray)) and not isinstance(thumbnails, (str, bytes)):
        return lambda item: thumbnails[item]
    raise ParameterError(
        f"thumbnails must be a function from item to picture, a dict, or a list with one per item; got "
        f"{type(thumbnails).__name__}."
    )


def data_addresses(items: Sequence[int], source: PictureSource, budget: int) -> dict[int, Markup]:
    """Pictures of items as ``data:`` addresses, in the order given, while the budget of characters lasts."""
    found: dict[int, Markup] = {}
    for item in dict.fromkeys(items):
        encoded = _encoded(item, source(item))
        if encoded is None:
            continue
        kind, content = encoded
        address = Markup(f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}")
        if len(address) > budget:
            break
        budget -= len(address)
        found[item] = address
    return found


def _encoded(item: int, picture: Any) -> tuple[str, bytes] | None:
    """A picture as a small file of a kind that browsers draw and that cannot hold script; None where it is broken."""
    from PIL import Image

    if picture is None:
        return None
    if isinstance(picture, (bytes, bytearray, memoryview)):
        content = bytes(picture)
        kind = _kind_of(content)
        if kind is None:
            return None
        if len(content) <= _AS_IT_IS:
            return kind, content
        try:
            opened = Image.open(io.BytesIO(content), formats=[kind])
            if opened.width * opened.height > _MOST_PIXELS:
                return None
            opened.load()
        except Exception:  # a decoder may raise anything on a broken file; the page goes on without this picture
            return None
        return "webp", _shrunk(opened)
    if isinstance(picture, np.ndarray):
        if (
            picture.dtype != np.uint8
            or picture.ndim not in (2, 3)
            or (picture.ndim == 3 and picture.shape[2] not in (3, 4))
        ):
            raise ParameterError(
                f"the thumbnail of item {item} must be uint8, height x width or height x width x 3 or 4; got "
                f"{picture.dtype} of shape {picture.shape}."
            )
        return ("webp", _shrunk(Image.fromarray(picture))) if picture.size else None
    if isinstance(picture, Image.Image):
        return "webp", _shrunk(picture)
    raise ParameterError(
        f"the thumbnail of item {item} must be the bytes of a PNG, JPEG, WebP or GIF file, a Pillow image or a uint8 "
        f"array; got {type(picture).__name__}."
    )


def _kind_of(content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    return next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)


def _shrunk(picture: Any) -> bytes:
    from PIL import Image

    has_alpha = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
    picture = picture.convert("RGBA" if has_alpha else "RGB")
    longest = max(picture.size)
    if longest < _SMALL:
        times = SIDE // longest
        picture = picture.resize((picture.width * times, picture.height * times), Image.Resampling.NEAREST)
    else:
        picture.thumbnail((2 * SIDE, SIDE) if picture.width > picture.height else (SIDE, 2 * SIDE))
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=72, method=4)
    return out.getvalue()
