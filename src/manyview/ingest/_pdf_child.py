"""The process that reads PDF files and answers with their text and keywords as JSON: the child of ``pdf``."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Callable
from typing import Any

from ..sandbox import Answer, serve
from .containers import LIMIT
from .iptc import Damaged
from .xmp import read_packet

__all__ = ["main"]


def main() -> None:
    """Answer files until the parent is gone."""
    serve(_reader)


def _reader(limits: dict[str, Any]) -> Callable[[bytes], Answer]:
    import pypdf  # noqa: F401  before the limits

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")

    def answer(content: bytes) -> Answer:
        found = _answer(content, limits["longest"])
        return {"reason": found.get("reason")}, [json.dumps(found).encode()]

    return answer


def _answer(content: bytes, longest: int) -> dict[str, Any]:
    try:
        import pypdf

        reader = pypdf.PdfReader(io.BytesIO(content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            return {"reason": "unreadable", "sentence": "it is encrypted and needs a password."}
        parts: list[str] = []
        length = 0
        for page in reader.pages:
            parts.append(page.extract_text())
            length += len(parts[-1])
            if length > longest:
                break
        return {"text": "\n".join(parts)[:longest], **_keywords(reader)}
    except MemoryError:
        return {"reason": "out of memory", "sentence": "reading it takes more than 1.5 GB of memory."}
    except Exception as error:  # strangers' files raise anything, and the parent wants a sentence
        if type(error).__name__ == "DependencyError" and "AES" in str(error):
            sentence = 'it is encrypted with AES, which needs a further part:  pip install "manyview[pdf]"'
            return {"reason": "missing extra", "sentence": sentence}
        return {"reason": "damaged", "sentence": f"it cannot be read as PDF ({type(error).__name__})."}


def _keywords(reader: Any) -> dict[str, Any]:
    """The words of the information dictionary and of the XMP packet; damage here costs keywords, never the text."""
    words: list[str] = []
    paths: list[tuple[str, ...]] = []
    notes: list[str] = []
    try:
        words += _parts(str((reader.metadata or {}).get("/Keywords") or ""))
        packet = reader.root_object.get("/Metadata")
        content = packet.get_object().get_data() if packet is not None else b""
        if content and len(content) <= LIMIT:
            found = read_packet(content)
            words += [*found.tags, *(word for line in found.listed for word in _parts(line))]
            paths += found.paths
    except MemoryError:
        raise
    except Damaged as error:
        notes.append(f"some keywords may be missing: {error}")
    except Exception as error:
        notes.append(f"some keywords may be missing: they cannot be read ({type(error).__name__}).")
    return {"words": words, "paths": paths, "notes": notes}


def _parts(line: str) -> list[str]:
    """Keywords in one line: between semicolons, or commas where there are none."""
    return line.split(";" if ";" in line else ",")


if __name__ == "__main__":
    main()
