"""The process that reads PDF files, packed documents and mails, and answers with JSON: the child of ``reader``."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...files import BadFile
from ...sandbox import Answer, serve
from .mail import read_mail
from .packed import read_book, read_office, read_open
from .pdf import read_pdf
from .rtf import read_rtf
from .said import Said

__all__ = ["main"]

_READERS: dict[str, Callable[[bytes, int], Said]] = {
    "pdf": read_pdf,
    "docx": read_office,
    "pptx": read_office,
    "odt": read_open,
    "odp": read_open,
    "epub": read_book,
    "eml": read_mail,
    "rtf": read_rtf,
}


def main() -> None:
    """Answer files until the parent is gone."""
    serve(_reader)


def _reader(limits: dict[str, Any]) -> Callable[[bytes], Answer]:
    import defusedxml.ElementTree  # noqa: F401  before the limits

    with suppress(ImportError):
        import pypdf  # noqa: F401
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")

    def answer(request: bytes) -> Answer:
        kind, _, content = request.partition(b"\n")
        found = _answer(kind.decode(), content, limits["longest"])
        return {"reason": found.get("reason")}, [json.dumps(found).encode()]

    return answer


def _answer(kind: str, content: bytes, longest: int) -> dict[str, Any]:
    try:
        return _READERS[kind](content, longest)._asdict()
    except MemoryError:
        return {"reason": "out of memory", "sentence": "reading it takes more than 1.5 GB of memory."}
    except BadFile as error:
        return {"reason": error.reason, "sentence": error.sentence}
    except Exception as error:  # strangers' files raise anything, and the parent wants a sentence
        return {"reason": "damaged", "sentence": _sentence(kind, error)}


def _sentence(kind: str, error: Exception) -> str:
    return f"it is damaged or was cut off: it cannot be read as {kind.upper()} ({type(error).__name__})."


if __name__ == "__main__":
    main()
