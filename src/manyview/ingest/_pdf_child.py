"""Reads PDF files from standard input and writes their text and keywords as JSON: the child process of ``pdf``."""

from __future__ import annotations

import io
import json
import logging
import resource
import sys
import warnings
from typing import Any

from .containers import LIMIT
from .iptc import Damaged
from .xmp import read_packet

__all__ = ["main"]

_MEMORY = 1536 * 2**20


def main() -> None:
    """Set the limits, then read and answer until nobody asks any more."""
    longest, seconds = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    asked, said = sys.stdin.buffer, sys.stdout.buffer
    while length := int.from_bytes(asked.read(8), "big"):
        used = resource.getrusage(resource.RUSAGE_SELF)
        # counted from here; at the limit the system ends this process
        limit = int(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        words = json.dumps(_answer(asked.read(length), longest)).encode()
        said.write(len(words).to_bytes(8, "big") + words)
        said.flush()


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
