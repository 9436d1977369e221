"""Raw photographs made by hand, as cameras put them together: a preview, a smaller one, metadata, and no raw data."""

import struct

from . import makers as m

PREVIEW = m.jpeg(size=(96, 64))
STAMP = m.jpeg(size=(16, 12))
MAKER, MODEL, TAKEN = b"Maker\0", b"Maker One\0", b"2019:06:14 12:03:04\0"
_KINDS = {2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 13: 4}


class Tiff:
    """A file of directories that grows as they are put in; offsets count from ``begin``."""

    def __init__(self, mark=b"II*\0", order="<"):
        self.order, self.made = order, bytearray(mark + bytes(4))

    def put(self, content):
        place = len(self.made)
        self.made += content + b"\0" * (len(content) % 2)
        return place

    def directory(self, entries, following=0):
        """``entries``: tag -> (kind, bytes or whole numbers)."""
        body = struct.pack(self.order + "H", len(entries))
        for tag, (kind, value) in sorted(entries.items()):
            packed = value
            if not isinstance(value, bytes):
                packed = b"".join(struct.pack(self.order + ("H" if kind == 3 else "I"), one) for one in value)
            held = packed.ljust(4, b"\0") if len(packed) <= 4 else struct.pack(self.order + "I", self.put(packed))
            body += struct.pack(self.order + "HHI", tag, kind, len(packed) // _KINDS[kind]) + held
        return self.put(body + struct.pack(self.order + "I", following))

    def finish(self, first):
        self.made[4:8] = struct.pack(self.order + "I", first)
        return bytes(self.made)


def _camera(orientation, **more):
    return {0x010F: (2, MAKER), 0x0110: (2, MODEL), 0x0112: (3, [orientation]), **more}


def rw2(packet=None, orientation=6, preview=PREVIEW):
    file = Tiff(b"IIU\0")
    exif = file.directory({0x9003: (2, TAKEN)})
    entries = _camera(orientation) | {0x002E: (7, preview), 0x8769: (4, [exif])}
    return file.finish(file.directory(entries | ({700: (7, packet)} if packet else {})))


def orf(packet=None, orientation=6, preview=PREVIEW, mark=b"IIRO", maker="OLYMPUS", inline=False):
    """``maker``: how the maker's own part begins; ``inline``: the table of settings is a value, as the first had it."""
    order = ">" if mark[:2] == b"MM" else "<"
    file, note = Tiff(mark, order), Tiff(b"", order)
    begin = 0 if maker == "OLYMP" else None
    named = {b"OLYMPUS": b"OLYMPUS\0" + mark[:2] + b"\3\0", b"OM SYSTEM": b"OM SYSTEM\0\0\0" + mark[:2] + b"\4\0"}
    head = named.get(maker.encode(), b"OLYMP\0\1\0")
    exif_place = len(file.made)  # the note comes first, so that its place is known
    shift = exif_place if begin == 0 else 0
    note.made = bytearray(head)
    first = bytes(2 + 12 + 4)
    settings_at = len(head) + len(first)
    settings = struct.pack(order + "H", 2)
    jpeg_at = settings_at + 2 + 24 + 4 + shift
    settings += struct.pack(order + "HHII", 0x0101, 4, 1, jpeg_at)
    settings += struct.pack(order + "HHII", 0x0102, 4, 1, len(preview)) + bytes(4)
    kind, count = (7, len(settings)) if inline else (13, 1)
    first = struct.pack(order + "H", 1) + struct.pack(order + "HHII", 0x2020, kind, count, settings_at + shift)
    note.made += first + bytes(4) + settings + preview
    place = file.put(bytes(note.made))
    assert place == exif_place
    exif = _exif_with_note(file, place, len(note.made))
    behind = file.directory({0x0201: (4, [file.put(STAMP)]), 0x0202: (4, [len(STAMP)])})
    entries = _camera(orientation) | {0x8769: (4, [exif])}
    return file.finish(file.directory(entries | ({700: (7, packet)} if packet else {}), behind))


def _exif_with_note(file, place, length):
    body = struct.pack(file.order + "H", 2)
    taken = file.put(TAKEN)
    body += struct.pack(file.order + "HHII", 0x9003, 2, len(TAKEN), taken)
    body += struct.pack(file.order + "HHII", 0x927C, 7, length, place)
    return file.put(body + bytes(4))


def raf(packet=None, orientation=6, preview=None):
    block = Tiff()
    exif = block.directory({0x9003: (2, TAKEN)})
    block = block.finish(block.directory(_camera(orientation) | {0x8769: (4, [exif])}))
    segments = [m.app(1, b"Exif\0\0" + block), *([m.app1_xmp(packet)] if packet else [])]
    held = m.jpeg(*segments, size=(96, 64)) if preview is None else preview
    head = b"FUJIFILMCCD-RAW 0201FF383501X-T3".ljust(84, b"\0")
    return head + struct.pack(">II", 160, len(held)) + bytes(160 - 92) + held + bytes(500)


def cr3(packet=None, orientation=6, preview=PREVIEW):
    camera, exif, place = Tiff(), Tiff(), Tiff()
    camera = camera.finish(camera.directory(_camera(orientation)))
    exif = exif.finish(exif.directory({0x9003: (2, TAKEN)}))
    angle = struct.pack("<6I", 48, 1, 15, 1, 0, 1)
    place = place.finish(
        place.directory({1: (2, b"N\0"), 2: (5, angle), 3: (2, b"E\0"), 4: (5, struct.pack("<6I", 11, 1, 30, 1, 0, 1))})
    )
    stamp = m.box(b"THMB", bytes(4), struct.pack(">HHIHH", 16, 12, len(STAMP), 1, 0), STAMP)
    blocks = [m.box(b"CMT1", camera), m.box(b"CMT2", exif), m.box(b"CMT4", place), stamp]
    moov = m.box(b"moov", m.box(b"uuid", bytes.fromhex("85c0b687820f11e08111f4ce462b6a48"), *blocks))
    shown = m.box(b"PRVW", struct.pack(">IHHHHI", 0, 1, 96, 64, 1, len(preview)), preview)
    screen = m.box(b"uuid", bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16"), bytes(7) + b"\1", shown)
    words = m.box(b"uuid", m.XMP_BOX, packet) if packet else b""
    start = m.box(b"ftyp", b"crx \0\0\0\1crx isom")
    return start + moov + words + screen + m.box(b"mdat", bytes(600))


RAWS = {"raf": raf, "rw2": rw2, "orf": orf, "cr3": cr3}
