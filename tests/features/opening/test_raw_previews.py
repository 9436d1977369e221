"""Raw photographs are shown by the JPEG that their camera put into them."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from manyview.features.opening.decode import DecodePool, Picture
from manyview.raw_previews import find_preview, held_how

from ...ingest.raw_makers import PREVIEW, RAWS, STAMP, orf

LOSSLESS = b"\xff\xd8\xff\xc3\0\x0b" + bytes(9) + b"\xff\xda" + bytes(9000)  # as raw data are written


def jpeg(size, colour):
    held = io.BytesIO()
    Image.new("RGB", size, colour).save(held, "JPEG", quality=95)
    return held.getvalue()


def raw(order="<", orientation=6, previews=True):
    """A DNG: a stamp of 8 x 6 pixels in front, below it the raw data and a preview, a smaller preview behind it."""
    made = bytearray(b"II*\0" if order == "<" else b"MM\0*") + bytes(4)
    big, small, stamp = jpeg((96, 64), "red"), jpeg((24, 16), "blue"), bytes([0, 255, 0]) * 48

    def put(content):
        place = len(made)
        made.extend(content + b"\0" * (len(content) % 2))
        return place

    def directory(following=0, **entries):
        rows = sorted((int(tag[1:], 16), kind, values) for tag, (kind, values) in entries.items())
        body = struct.pack(order + "H", len(rows))
        for tag, kind, values in rows:
            packed = b"".join(struct.pack(order + {3: "H", 4: "I"}[kind], value) for value in values)
            held = packed.ljust(4, b"\0") if len(packed) <= 4 else struct.pack(order + "I", put(packed))
            body += struct.pack(order + "HHI", tag, kind, len(values)) + held
        return put(body + struct.pack(order + "I", following))

    def picture(content, compression, **more):
        place = put(content)
        return directory(t0103=(3, [compression]), t0111=(4, [place]), t0117=(4, [len(content)]), **more)

    below = [picture(LOSSLESS, 7, t0106=(3, [32803]))]
    behind = 0
    if previews:
        below.append(picture(big, 7))
        behind = directory(t0201=(4, [put(small)]), t0202=(4, [len(small)]))
    first = directory(
        behind,
        t0100=(3, [8]),
        t0101=(3, [6]),
        t0102=(3, [8, 8, 8]),
        t0103=(3, [1]),
        t0106=(3, [2]),
        t0111=(4, [put(stamp)]),
        t0112=(3, [orientation]),
        t0115=(3, [3]),
        t0116=(3, [6]),
        t0117=(4, [len(stamp)]),
        t014a=(4, below),
    )
    made[4:8] = struct.pack(order + "I", first)
    return bytes(made), big


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_largest_preview_is_found_and_raw_data_are_not(order):
    content, big = raw(order)
    assert find_preview(io.BytesIO(content)) == big
    assert find_preview(io.BytesIO(raw(order, previews=False)[0])) is None


def test_a_raw_photograph_is_opened_by_its_preview(tmp_path):
    for name, options in (("a.dng", {}), ("b.NEF", {"orientation": 1}), ("c.dng", {"previews": False}), ("d.tif", {})):
        (tmp_path / name).write_bytes(raw(**options)[0])
    with DecodePool(1) as pool:
        found = {path.name: picture for path, picture in pool.decode(sorted(tmp_path.iterdir()))}
    assert all(isinstance(picture, Picture) for picture in found.values())
    sizes = {name: (picture.width, picture.height) for name, picture in found.items()}
    assert sizes == {"a.dng": (64, 96), "b.NEF": (96, 64), "c.dng": (6, 8), "d.tif": (6, 8)}  # a TIFF is what it says
    assert np.median(found["a.dng"].pixels, axis=(0, 1)).tolist() == pytest.approx([254, 0, 0], abs=3)


def test_directories_in_a_circle_end():
    content = bytearray(raw()[0])
    first = struct.unpack("<I", content[4:8])[0]
    n_entries = struct.unpack("<H", content[first : first + 2])[0]
    end = first + 2 + 12 * n_entries
    content[end : end + 4] = struct.pack("<I", first)
    assert find_preview(io.BytesIO(bytes(content))) is not None


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=8), st.floats(0, 1))
def test_damaged_raw_photographs_never_raise(changes, end):
    content = bytearray(raw()[0])
    for where, value in changes:
        content[int(where * (len(content) - 1))] = value
    find_preview(io.BytesIO(bytes(content[: int(end * 1.2 * len(content))])))


@pytest.mark.parametrize("kind", ["rw2", "orf", "cr3"])
@pytest.mark.parametrize("orientation", [1, 6, 8])
def test_each_maker_has_a_place_of_its_own(kind, orientation):
    content = io.BytesIO(RAWS[kind](orientation=orientation))
    assert find_preview(content, kind) == PREVIEW and held_how(content, kind) == orientation


@pytest.mark.parametrize("mark", [b"IIRO", b"IIRS", b"MMOR"])
@pytest.mark.parametrize("maker", ["OLYMPUS", "OLYMPUS inline", "OM SYSTEM", "OLYMP"])
def test_every_way_in_which_olympus_counts(mark, maker):
    name, inline = maker.removesuffix(" inline"), maker.endswith("inline")
    content = io.BytesIO(orf(mark=mark, maker=name, inline=inline, orientation=3))
    assert find_preview(content, "orf") == PREVIEW and held_how(content, "orf") == 3


def test_the_stamp_is_taken_where_the_preview_is_damaged():
    for kind in ("orf", "cr3"):
        assert find_preview(io.BytesIO(RAWS[kind](preview=b"x" * 3000)), kind) == STAMP
    for kind in ("raf", "rw2"):
        assert find_preview(io.BytesIO(RAWS[kind](preview=b"x" * 3000)), kind) is None


def test_all_of_them_are_opened_upright_and_bad_ones_named(tmp_path):
    for kind, make in RAWS.items():
        (tmp_path / f"a.{kind}").write_bytes(make())
        (tmp_path / f"b{kind}").write_bytes(make(orientation=1))  # the name does not matter
    (tmp_path / "c.rw2").write_bytes(RAWS["rw2"](preview=b"x" * 3000))
    (tmp_path / "d.cr3").write_bytes(RAWS["cr3"]()[:100])
    with DecodePool(1) as pool:
        found = {path.name: picture for path, picture in pool.decode(sorted(tmp_path.iterdir()))}
    for kind in RAWS:
        assert (found[f"a.{kind}"].width, found[f"a.{kind}"].height) == (64, 96)
        assert (found[f"b{kind}"].width, found[f"b{kind}"].height) == (96, 64)
    for name in ("c.rw2", "d.cr3"):
        assert found[name].reason == "unsupported" and "without a preview in it, or damaged" in found[name].sentence


@given(
    st.sampled_from(sorted(RAWS)),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=8),
    st.floats(0, 1),
)
def test_none_of_them_raises_when_damaged(kind, changes, end):
    content = bytearray(RAWS[kind]())
    for where, value in changes:
        content[int(where * (len(content) - 1))] = value
    file = io.BytesIO(bytes(content[: int(end * 1.2 * len(content))]))
    find_preview(file, kind)
    held_how(file, kind)
