"""Small sources for the tests of this room: a folder of tiny pictures, and features."""

import hashlib
import struct
import zlib
from pathlib import Path

import numpy as np


def png(colour: int) -> bytes:
    """A whole PNG of 4 x 4 pixels of one grey."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows = b"".join(b"\0" + bytes([colour]) * 4 for _ in range(4))
    head = struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def sidecar(*words: str) -> str:
    """An XMP sidecar with flat keywords."""
    listed = "".join(f"<rdf:li>{word}</rdf:li>" for word in words)
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:subject><rdf:Bag>'
        f"{listed}</rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>"
    )


def picture_folder(folder: Path, n_items: int) -> Path:
    """Pictures p000.png ..., every second one with a sidecar."""
    folder.mkdir()
    for number in range(n_items):
        (folder / f"p{number:03}.png").write_bytes(png(number % 256))
        if number % 2 == 0:
            (folder / f"p{number:03}.xmp").write_text(sidecar("even", f"number {number}"), encoding="utf-8")
    return folder


def looks(ids: np.ndarray) -> np.ndarray:
    """Rows that can be told from the item's number alone."""
    return np.stack([ids, ids**2 % 7, np.ones(ids.size)], axis=1).astype(np.float32)


def hashes(folder):
    """What every file of a folder holds, and when it was changed."""
    return {p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns) for p in folder.iterdir()}
