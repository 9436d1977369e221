"""Pictures: thumbnails and previews that were encoded anew, and originals, to be saved and, of clips, to be played."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from ..media import LARGE_SIDE, SIDE, TYPES, FileAnswer, open_original, thumbnail
from .common import Here, Number

router = APIRouter(tags=["media"])

_BINARY = {"schema": {"type": "string", "format": "binary"}}
_THUMB: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": _BINARY}}}
_PREVIEW: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": _BINARY, "image/webp": _BINARY}}}
_CONTENT = dict.fromkeys(sorted({*TYPES.values(), "application/octet-stream"}), _BINARY)
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": _CONTENT},
    206: {"content": _CONTENT, "description": "The part that was asked for."},
    416: {"description": "The file has no such part."},
}
_KEPT = "private, max-age=86400"


@router.get("/thumbs/{item}", response_class=Response, responses=_THUMB)
async def show_thumb(here: Here, item: Number, square: bool = False) -> Response:
    """The thumbnail of an item: whole, or cut to a square around what it shows."""
    found = await here.read(thumbnail, item, square)
    return Response(found, media_type="image/jpeg", headers={"Cache-Control": _KEPT})


@router.get("/media/{item}/preview", response_class=Response, responses=_PREVIEW)
async def show_preview(here: Here, item: Number, large: bool = False) -> Response:
    """The picture at the size of a screen, or large enough to look closer; of a clip, its key frames in turn."""
    content, kind = await here.previews.get(here, item, LARGE_SIDE if large else SIDE)
    return Response(content, media_type=kind, headers={"Cache-Control": _KEPT})


@router.get("/media/{item}/original", response_class=Response, responses=_FILE)
async def save_original(
    here: Here, item: Number, range_: Annotated[str | None, Header(alias="Range")] = None
) -> Response:
    """The file itself, to be saved; the player of a clip asks for parts of it."""
    return FileAnswer(await here.read(open_original, item), range_)
