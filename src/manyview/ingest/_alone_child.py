"""Reads one file and its sidecars as ``folder`` does, and nothing else: whether this ends well is the whole answer."""

from __future__ import annotations

import sys

from .documents import DocumentReader
from .folder import Scan, read_one
from .sidecar import read_sidecar

__all__ = ["main"]


def main() -> None:
    """Arguments: the folder, the path below it, and the whole paths of sidecars."""
    root, path, *sidecars = sys.argv[1:]
    with DocumentReader() as documents:
        read_one(root, path, Scan(), None, documents)
    for name in sidecars:
        read_sidecar(name)


if __name__ == "__main__":
    main()
