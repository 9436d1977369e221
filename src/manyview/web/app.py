"""The application: routes, the built pages, and errors as sentences; all of it behind the guard."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from .._version import __version__
from ..errors import Busy, Conflict, ManyviewError, ParameterError, StoreError
from . import models
from .api import (
    audit,
    clusters,
    doubtful,
    edits,
    export,
    files,
    first_tags,
    items,
    map,
    media,
    proposals,
    runs,
    search,
    vocabulary,
)
from .gallery import Gallery
from .refusals import Absent
from .security import Access, Guard

__all__ = ["STATIC", "build_app", "guarded"]

STATIC = Path(__file__).parent / "static"
_ROUTERS = (
    media.router,
    vocabulary.router,
    files.router,
    items.router,
    search.router,
    clusters.router,
    proposals.router,
    audit.router,
    doubtful.router,
    first_tags.router,
    edits.router,
    runs.router,
    map.router,
)
"""What is asked for most comes first."""
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": models.Problem, "description": words}
    for status, words in (
        (400, "What was asked for makes no sense here."),
        (401, "The request carries no secret of this start."),
        (403, "Another page asked for this."),
        (404, "There is no such thing."),
        (408, "A change took too long to arrive."),
        (409, "Somebody else is writing; the sentence says who."),
        (413, "A change is too long."),
        (415, "A change was not asked for in JSON."),
        (421, "This server does not answer to that name."),
        (422, "A value is out of range or of the wrong kind."),
        (431, "The headers are too long."),
        (503, "The collection cannot be used just now."),
    )
}


def build_app(gallery: Gallery | None = None) -> FastAPI:
    """The routes without the guard: what the OpenAPI description is made of."""
    app = FastAPI(
        title="manyview gallery",
        version=__version__,
        docs_url=None,  # they load from elsewhere
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        responses=_ERRORS,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.gallery = gallery
    for router in (*_ROUTERS, export.router):
        app.include_router(router)
    _add_pages(app)
    _add_errors(app)
    return app


def guarded(gallery: Gallery, access: Access) -> Guard:
    """The whole application, as it is served."""
    return Guard(build_app(gallery), access)


def _add_pages(app: FastAPI) -> None:
    """The built pages, read once: no address is ever turned into a path."""
    pages = {f"/{path.relative_to(STATIC).as_posix()}": path for path in STATIC.rglob("*") if path.is_file()}
    contents = {address: (path.read_bytes(), _type_of(path)) for address, path in pages.items()}
    tags = {address: f'"{sha256(content).hexdigest()[:32]}"' for address, (content, _) in contents.items()}
    nothing = b"The pages of the gallery are not built. Run `make frontend`."

    def answer(request: Request, address: str) -> Response:
        headers = {"Cache-Control": "no-cache", "ETag": tags[address]}  # kept, and asked about each time
        if request.headers.get("if-none-match") == tags[address]:
            return Response(status_code=304, headers=headers)
        content, kind = contents[address]
        return Response(content, media_type=kind, headers=headers)

    @app.get("/", include_in_schema=False)
    async def start(request: Request) -> Response:
        if "/index.html" not in contents:
            return Response(nothing, media_type="text/plain; charset=utf-8")
        return answer(request, "/index.html")

    @app.get("/{path:path}", include_in_schema=False)
    async def page(request: Request, path: str) -> Response:
        if f"/{path}" not in contents:
            raise HTTPException(404, "there is nothing at this address.")
        return answer(request, f"/{path}")


def _type_of(path: Path) -> str:
    return _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"


def _problem(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    clean = sentence.encode("utf-8", "replace").decode()
    return JSONResponse({"error": clean, "hint": None}, status_code=status, headers=headers)


def _add_errors(app: FastAPI) -> None:
    def told(_: Request, error: Exception) -> Response:
        if isinstance(error, Absent):
            return _problem(404, str(error))
        if isinstance(error, (Busy, Conflict)):
            return _problem(409, str(error))
        if isinstance(error, ParameterError):
            return _problem(400, str(error))
        if isinstance(error, StoreError):
            return _problem(503, str(error))
        if isinstance(error, HTTPException):
            return _problem(error.status_code, str(error.detail), error.headers)
        if isinstance(error, RequestValidationError):
            return _problem(422, _wrong_value(error))
        if isinstance(error, ManyviewError):
            return _problem(400, str(error))
        return _problem(500, f"something went wrong inside manyview: {type(error).__name__}.")

    for kind in (ManyviewError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, told)


def _wrong_value(error: RequestValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return f"{where or 'the request'}: {first['msg']}."
