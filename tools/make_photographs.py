"""Make the photographs that ship: ``python tools/make_photographs.py FOLDER src/manyview/datasets/photographs``.

FOLDER holds the unpacked pictures of GCompris (the ``.rcc`` files of Debian's package gcompris-qt-data 3.1, each
folder with a README that names author, licence and source of every picture). ``photographs.txt`` beside this file says
which are taken, what they are called here and which tags they get; those tags were written for manyview. Every picture
is reduced to 320 pixels and gets author, licence and source in its own metadata; half of them, by lot, get their tags.
"""

from __future__ import annotations

import csv
import io
import random
import re
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from PIL import Image

LIST = Path(__file__).with_name("photographs.txt")
SIDE, QUALITY = 320, 82
FIELDS = ("Copyright", "License", "Source", "Files")
FREE = {
    "Public Domain": "public domain",
    "CC0-1.0": "CC0 1.0",
    "CC-BY-2.0": "CC BY 2.0",
    "CC-BY-3.0": "CC BY 3.0",
    "CC-BY-SA-4.0": "CC BY-SA 4.0",
}
XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:creator><rdf:Seq><rdf:li>{author}</rdf:li></rdf:Seq></dc:creator>
<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">{licence}</rdf:li></rdf:Alt></dc:rights>
<dc:source>{source}</dc:source>{tags}
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""


class Photograph(NamedTuple):
    file: str
    tags: list[str]
    is_tagged: bool
    author: str
    licence: str
    source: str
    path: Path


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    chosen = photographs(source)
    target.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target / "photographs.zip", "w", zipfile.ZIP_STORED) as packed:
        for one in chosen:
            add(packed, f"photographs/{one.file}", picture(one))
        add(packed, "tags.csv", table(chosen))
    notice = Path(target / "NOTICE.md")
    head = notice.read_text(encoding="utf-8").partition("\n| photograph")[0] if notice.exists() else ""
    notice.write_text(f"{head}\n{listing(chosen)}", encoding="utf-8")
    tagged = sum(one.is_tagged for one in chosen)
    print(
        f"{len(chosen)} photographs, {tagged} of them with tags, {(target / 'photographs.zip').stat().st_size:,} bytes"
    )


def photographs(folder: Path) -> list[Photograph]:
    """Those of the list, in its order, with what the package says of each."""
    known = said(folder)
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    lots = [number < len(lines) / 2 for number in range(len(lines))]
    random.Random(1).shuffle(lots)  # noqa: S311  not a secret
    made = []
    for line, lot in zip(lines, lots, strict=True):
        place, name, tags = (part.strip() for part in line.split("|"))
        area, _, rest = place.partition("/")
        path = folder / area / "resource" / f"{rest}.webp"
        author, licence, source = known[path]
        file = re.sub(r"[^a-z]+", "-", name.lower()).strip("-") + ".jpg"
        made.append(Photograph(file, tags.split(", "), lot, author, licence, source, path))
    if len({one.file for one in made}) < len(made):
        raise SystemExit("two photographs have one name")
    return made


def said(folder: Path) -> dict[Path, tuple[str, str, str]]:
    """Author, licence and source of each picture, by the READMEs of the package."""
    known = {}
    for readme in folder.glob("**/README"):
        for entry in re.split(r"\n\s*\n", readme.read_text(encoding="utf-8")):
            fields: dict[str, list[str]] = {}
            here = None
            for line in entry.splitlines():
                found = re.match(r"([A-Z][a-z]+)\s*:\s*(.*)", line)
                if found:
                    here = fields.setdefault(found[1], [])
                    here += [found[2]] if found[2] else []
                elif here is not None:
                    here.append(line.strip())
            author, licence, source = (" ".join(fields.get(name, [])).strip() for name in FIELDS[:3])
            free = FREE.get("-".join(licence.split()) if licence.startswith("CC") else licence.title())
            if free and source.startswith("http"):
                known |= {readme.parent / name: (author, free, source) for name in fields.get("Files", [])}
    return known


def picture(one: Photograph) -> bytes:
    """A small JPEG with its metadata."""
    image = Image.open(one.path).convert("RGB")
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    written = io.BytesIO()
    image.save(written, "JPEG", quality=QUALITY, optimize=True, progressive=True)
    items = "".join(f"<rdf:li>{escape(tag)}</rdf:li>" for tag in one.tags)
    tags = f"\n<dc:subject><rdf:Bag>{items}</rdf:Bag></dc:subject>" if one.is_tagged else ""
    xmp = XMP.format(author=escape(one.author), licence=one.licence, source=escape(one.source), tags=tags)
    segment = b"http://ns.adobe.com/xap/1.0/\0" + xmp.encode()
    data = written.getvalue()
    return data[:2] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment + data[2:]


def add(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    entry.external_attr = 0o644 << 16
    packed.writestr(entry, content, zipfile.ZIP_DEFLATED if name.endswith(".csv") else zipfile.ZIP_STORED)


def table(chosen: list[Photograph]) -> bytes:
    """Every photograph with all of its tags, also of those whose file does not say them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("file", "tags", "is_tagged"))
    writer.writerows((one.file, "; ".join(one.tags), int(one.is_tagged)) for one in chosen)
    return text.getvalue().encode()


def listing(chosen: list[Photograph]) -> str:
    lines = ["| photograph | author | licence | source |", "| --- | --- | --- | --- |"]
    lines += [f"| {one.file} | {one.author.replace('|', '/')} | {one.licence} | {one.source} |" for one in chosen]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
