"""Files made by hand for the tests: pictures of a few pixels with metadata of every kind in them."""

import io
import struct
import zlib

from PIL import Image


def xmp(
    *words: str,
    paths: tuple[str, ...] = (),
    digikam: tuple[str, ...] = (),
    microsoft: tuple[str, ...] = (),
    more: str = "",
) -> bytes:
    """An XMP packet."""

    def bag(name: str, values: tuple[str, ...]) -> str:
        from xml.sax.saxutils import escape

        listed = "".join(f"<rdf:li>{escape(value)}</rdf:li>" for value in values)
        return f"<{name}><rdf:Bag>{listed}</rdf:Bag></{name}>" if values else ""

    text = (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:lr="http://ns.adobe.com/lightroom/1.0/" xmlns:digiKam="http://www.digikam.org/ns/1.0/" '
        'xmlns:MicrosoftPhoto="http://ns.microsoft.com/photo/1.0/" '
        'xmlns:mwg-kw="http://www.metadataworkinggroup.com/schemas/keywords/">'
        f"{bag('dc:subject', words)}{bag('lr:hierarchicalSubject', paths)}{bag('digiKam:TagsList', digikam)}"
        f"{bag('MicrosoftPhoto:LastKeywordXMP', microsoft)}{more}"
        '</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
    )
    return text.encode()


def mwg(*trees: tuple, as_attributes: bool = False) -> bytes:
    """A packet with keywords as the Metadata Working Group nests them: a word and the trees below it."""

    def entry(word: str, *below: tuple) -> str:
        children = f"<mwg-kw:Children>{bag(below)}</mwg-kw:Children>" if below else ""
        if as_attributes:
            return f'<rdf:li><rdf:Description mwg-kw:Keyword="{word}">{children}</rdf:Description></rdf:li>'
        return f"<rdf:li rdf:parseType='Resource'>{children}<mwg-kw:Keyword>{word}</mwg-kw:Keyword></rdf:li>"

    def bag(entries: tuple) -> str:
        return f"<rdf:Bag>{''.join(entry(*one) for one in entries)}</rdf:Bag>"

    hierarchy = f"<mwg-kw:Hierarchy>{bag(trees)}</mwg-kw:Hierarchy>"
    return xmp(more=f"<mwg-kw:Keywords rdf:parseType='Resource'>{hierarchy}</mwg-kw:Keywords>")


def iim(*words: bytes, utf8: bool = False) -> bytes:
    """IPTC records with keywords."""
    parts = [b"\x1c\x01\x5a\x00\x03\x1b%G"] if utf8 else []
    parts += [b"\x1c\x02\x19" + struct.pack(">H", len(word)) + word for word in words]
    return b"".join(parts)


def resources(records: bytes) -> bytes:
    """IPTC records inside Photoshop's image resources."""
    return b"8BIM\x04\x04\0\0" + struct.pack(">I", len(records)) + records + b"\0" * (len(records) % 2)


def app(number: int, content: bytes) -> bytes:
    return bytes([0xFF, 0xE0 + number]) + struct.pack(">H", len(content) + 2) + content


def app13(records: bytes) -> bytes:
    return app(13, b"Photoshop 3.0\0" + resources(records))


def app1_xmp(packet: bytes) -> bytes:
    return app(1, b"http://ns.adobe.com/xap/1.0/\0" + packet)


def exif(words: str = "", order: str = "<", **entries: int) -> bytes:
    """An EXIF block (TIFF) whose first directory holds XPKeywords."""
    content = words.encode("utf-16-le") + b"\0\0"
    mark = b"II*\0" if order == "<" else b"MM\0*"
    directory = struct.pack(order + "H", 1) + struct.pack(order + "HHII", 0x9C9E, 1, len(content), 26)
    return mark + struct.pack(order + "I", 8) + directory + struct.pack(order + "I", 0) + content


def encoded(kind: str, size: tuple[int, int] = (8, 6), mode: str = "RGB", **options) -> bytes:
    """A small picture, encoded by Pillow."""
    held = io.BytesIO()
    picture = Image.new(mode, size, 128 if mode in ("L", "1", "P", "I;16", "F") else None)
    picture.save(held, kind, **options)
    return held.getvalue()


def jpeg(*segments: bytes, **options) -> bytes:
    """A small JPEG with segments put in after its start."""
    plain = encoded("JPEG", **options)
    return plain[:2] + b"".join(segments) + plain[2:]


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(*chunks: bytes) -> bytes:
    plain = encoded("PNG")
    return plain[:33] + b"".join(chunks) + plain[33:]


def profile_text(name: str, profile: bytes) -> bytes:
    """A PNG text chunk with a profile in hexadecimal digits, as ImageMagick writes it."""
    text = f"\n{name}\n{len(profile):8}\n{profile.hex()}\n".encode()
    return chunk(b"zTXt", f"Raw profile type {name}".encode() + b"\0\0" + zlib.compress(text))


def webp(*chunks: tuple[bytes, bytes]) -> bytes:
    plain = encoded("WEBP")
    more = b"".join(name + struct.pack("<I", len(c)) + c + b"\0" * (len(c) % 2) for name, c in chunks)
    return b"RIFF" + struct.pack("<I", len(plain) - 8 + len(more)) + plain[8:] + more


def box(name: bytes, *content: bytes) -> bytes:
    joined = b"".join(content)
    return struct.pack(">I", len(joined) + 8) + name + joined


XMP_BOX = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")


def mp4(*boxes: bytes) -> bytes:
    return box(b"ftyp", b"isom\0\0\0\0isom") + b"".join(boxes) + box(b"mdat", b"\0" * 32)


IPTC_BOX = bytes.fromhex("33c7a4d2b81d4723a0baf1a3e097ad38")


def jxl(*boxes: bytes) -> bytes:
    """The frame of a JPEG XL file: its boxes, and pixels of which only the size can be read (40 x 30)."""
    start = box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl \0\0\0\0jxl ")
    return start + b"".join(boxes) + box(b"jxlc", bytes.fromhex("ff0ae8301009"))
