"""The text and keywords of PDF files, with the extra."""

from __future__ import annotations

import io
import re
from typing import Any

from ...files import BadFile
from ..containers import LIMIT
from ..iptc import Damaged
from ..keywords import listed
from ..xmp import read_packet
from .said import Said

__all__ = ["read_pdf"]

_PARTED = re.compile(r"(?<=[^\W\d_])[-\u2010] ?\n([^\W\d_])")
_SCAN = (
    "its pages hold no words, only pictures or lines, as those of a scan; let a program for text recognition add them "
    "(for example ocrmypdf)."
)


def read_pdf(content: bytes, longest: int) -> Said:
    """The words of the pages, until there are enough."""
    import pypdf
    from pypdf.errors import DependencyError

    try:
        reader = pypdf.PdfReader(io.BytesIO(content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise BadFile("unreadable", "it is encrypted and needs a password.")
        text, trouble = _text(reader, longest)
        words, paths, notes = _keywords(reader)
        return Said(text, words, paths, [*trouble, *notes])
    except DependencyError as error:
        if "AES" not in str(error):
            raise
        sentence = 'it is encrypted with AES, which needs a further part:  pip install "manyview[pdf]"'
        raise BadFile("missing extra", sentence) from error


def _text(reader: Any, longest: int) -> tuple[str, list[tuple[str, str]]]:
    """The words of the pages that can be read, and a note where there are others."""
    from pypdf.errors import DependencyError

    parts: list[str] = []
    n_bad = length = 0
    for page in reader.pages:
        try:
            parts.append(page.extract_text())
        except (MemoryError, DependencyError):
            raise
        except Exception:
            n_bad += 1
            continue
        length += len(parts[-1])
        if length > longest:
            break
    if n_bad and not parts:
        raise BadFile("damaged", "none of its pages can be read.")
    text = _PARTED.sub(_whole, "\n".join(parts)[:longest])
    if not n_bad and not text.strip():
        raise BadFile("empty", _SCAN)
    return text, [("bad pages", f"the words of {n_bad} of its pages cannot be read.")] if n_bad else []


def _whole(parted: re.Match[str]) -> str:
    """A word that was parted at the end of a line; before a capital or a digit the hyphen is the word's own."""
    return parted[1] if parted[1].islower() else parted[0]


def _keywords(reader: Any) -> tuple[list[str], list[tuple[str, ...]], list[tuple[str, str]]]:
    """The words of the information dictionary and of the XMP packet; damage here costs keywords, never the text."""
    words: list[str] = []
    paths: list[tuple[str, ...]] = []
    notes: list[tuple[str, str]] = []
    try:
        words += listed(str((reader.metadata or {}).get("/Keywords") or ""))
        packet = reader.root_object.get("/Metadata")
        content = packet.get_object().get_data() if packet is not None else b""
        if content and len(content) <= LIMIT:
            found = read_packet(content)
            words += [*found.tags, *(word for line in found.listed for word in listed(line))]
            paths += found.paths
    except MemoryError:
        raise
    except Damaged as error:
        notes.append(("bad metadata", f"some keywords may be missing: {error}"))
    except Exception as error:
        sentence = f"some keywords may be missing: they cannot be read ({type(error).__name__})."
        notes.append(("bad metadata", sentence))
    return words, paths, notes
