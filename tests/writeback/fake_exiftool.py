#!/usr/bin/env python3
"""Stands in for exiftool where that is not installed: knows the options that manyview uses, and JPEG files.

FAKE_EXIFTOOL says how it misbehaves: "old", "fails", "spoils" (changes the picture), "forgets" (writes nothing).
"""

import os
import sys
from pathlib import Path

from manyview.writeback.editor import Edit, edit_document, new_document

HEAD = b"http://ns.adobe.com/xap/1.0/\0"


def put(folder: Path) -> None:
    """Make this the exiftool of this process and its children; ``find_exiftool`` may have looked before."""
    (folder / "bin").mkdir()
    script = folder / "bin" / "exiftool"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    os.environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2] / "src")


def main() -> int:
    way = os.environ.get("FAKE_EXIFTOOL", "")
    arguments = sys.argv[1:]
    assert arguments[:2] == ["-config", ""]
    if "-ver" in arguments:
        print("12.30" if way == "old" else "12.99")
        return 0
    if way == "fails":
        print("Error: cannot do that", file=sys.stderr)
        return 1
    name = arguments[-1]
    assert name.startswith("./.manyview-") and "\n" not in name and "|" not in name
    lists = ("-MWG:Keywords", "-XMP-lr:HierarchicalSubject", "-XMP-digiKam:TagsList")
    parts: dict[str, list[str]] = {f"{one}{sign}": [] for one in lists for sign in "+-"}
    for argument in arguments[2:-1]:
        option, _, value = argument.partition("=")
        parts.get(option.replace("-XMP-dc:Subject", lists[0]), []).append(value)
    with open(name, "rb") as file:
        content = file.read()
    sides = []
    for one in lists:
        add, remove = parts[f"{one}+"], parts[f"{one}-"]
        sides += [tuple(add), tuple(word for word in remove if word not in add)]
    edit = Edit(*sides)
    packet, rest = None, content[2:]
    start = content.find(HEAD)
    if start > 0:
        length = int.from_bytes(content[start - 2 : start], "big")
        packet = content[start + len(HEAD) : start - 2 + length]
        rest = content[2 : start - 4] + content[start - 2 + length :]
    new = new_document(edit) if packet is None else edit_document(packet, edit)[0]
    segment = HEAD + new
    if way == "spoils":
        rest = rest[:-20] + bytes([rest[-20] ^ 1]) + rest[-19:]
    if way != "forgets":
        with open(name, "wb") as file:
            file.write(content[:2] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment + rest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
