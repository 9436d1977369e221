"""Reads PDF files from standard input and writes their text as JSON: the child process of ``pdf``."""

from __future__ import annotations

import io
import json
import logging
import resource
import sys
import warnings

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


def _answer(content: bytes, longest: int) -> dict[str, str]:
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
        return {"text": "\n".join(parts)[:longest]}
    except MemoryError:
        return {"reason": "out of memory", "sentence": "reading it takes more than 1.5 GB of memory."}
    except Exception as error:  # strangers' files raise anything, and the parent wants a sentence
        return {"reason": "damaged", "sentence": f"it cannot be read as PDF ({type(error).__name__})."}


if __name__ == "__main__":
    main()
