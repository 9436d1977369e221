"""Strangers' files: every good one comes through, every bad one is named with a reason, and nothing hurts the run."""

import io
import os
import struct
import sys
import time
import zlib

import numpy as np
import pytest
from PIL import Image

from manyview.features.opening._opening import open_file
from manyview.features.opening.decode import REASONS, DecodePool
from manyview.features.opening.jpeg_xl import size_of_jxl

from ...ingest.makers import box

PIXELS = np.uint8(np.kron(np.random.default_rng(0).integers(0, 256, (12, 16, 3)), np.ones((10, 10, 1))))
PHOTO = Image.fromarray(PIXELS)
LIMITS = {"max_side": 512, "thumbnail_side": 64, "max_pixels": 50_000_000, "memory": 1 << 30}
FORMATS = {
    "jpg": "JPEG",
    "png": "PNG",
    "gif": "GIF",
    "webp": "WEBP",
    "tif": "TIFF",
    "bmp": "BMP",
    "avif": "AVIF",
    "jp2": "JPEG2000",
}


def encoded(kind, picture=PHOTO, **options):
    made = io.BytesIO()
    picture.save(made, kind, **options)
    return made.getvalue()


def png(width, height, *chunks):
    """A PNG that claims a size, with extra chunks and hardly any pixels."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), *chunks]
    parts += [(b"IDAT", zlib.compress(b"\0" * 310)), (b"IEND", b"")]
    body = b"".join(struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in parts)
    return b"\x89PNG\r\n\x1a\n" + body


def opened(tmp_path, content, name="file.bin", **limits):
    path = tmp_path / name
    path.write_bytes(content)
    return open_file(os.fsencode(path), {**LIMITS, **limits})


def pixels_of(answer):
    header, blobs = answer
    assert header["kind"] == "picture", header
    return np.frombuffer(blobs[2], dtype=np.uint8).reshape(header["shapes"][0])


class TestGoodFiles:
    @pytest.mark.parametrize("ending", FORMATS)
    def test_formats_whatever_they_are_called(self, tmp_path, ending):
        answer = opened(tmp_path, encoded(FORMATS[ending], quality=95), "wrong.txt")
        assert answer[0]["format"] == FORMATS[ending] and (answer[0]["width"], answer[0]["height"]) == (160, 120)
        assert np.abs(pixels_of(answer).astype(int) - PIXELS).mean() < 12
        assert not answer[0]["animated"]

    @pytest.mark.parametrize(
        ("mode", "kind"), [("L", "PNG"), ("1", "PNG"), ("P", "PNG"), ("LA", "PNG"), ("RGBA", "PNG"), ("CMYK", "JPEG")]
    )
    def test_modes(self, tmp_path, mode, kind):
        answer = opened(tmp_path, encoded(kind, PHOTO.convert(mode)))
        assert pixels_of(answer).shape == (120, 160, 3)

    @pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32])
    def test_wide_numbers(self, tmp_path, dtype):
        ramp = np.linspace(0, 1000, 120 * 160).reshape(120, 160).astype(dtype)
        found = pixels_of(opened(tmp_path, encoded("TIFF", Image.fromarray(ramp))))
        assert found[-1, -1, 0] > found[0, 0, 0]

    @pytest.mark.parametrize("kind", ["GIF", "WEBP", "AVIF", "PNG"])
    def test_animated_ones_show_their_first_frame(self, tmp_path, kind):
        other = Image.fromarray(255 - PIXELS)
        answer = opened(tmp_path, encoded(kind, save_all=True, append_images=[other, PHOTO]))
        assert answer[0]["animated"]
        assert np.abs(pixels_of(answer).astype(int) - PIXELS).mean() < 20

    @pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF"])
    @pytest.mark.parametrize("orientation", range(1, 10))
    def test_turned_upright(self, tmp_path, orientation, kind):
        from PIL import ImageOps

        exif = Image.Exif()
        exif[0x0112] = orientation
        content = encoded(kind, exif=exif, **({"quality": 95} if kind == "JPEG" else {}))
        answer = opened(tmp_path, content)
        expected = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(content))))
        np.testing.assert_array_equal(pixels_of(answer), expected)
        assert (answer[0]["height"], answer[0]["width"]) == expected.shape[:2]

    def test_large_ones_are_reduced_and_thumbnails_carry_nothing(self, tmp_path):
        exif = Image.Exif()
        exif[0x010E] = "a secret"
        content = encoded("JPEG", PHOTO.resize((1600, 1200)), exif=exif, comment=b"a secret", icc_profile=b"a secret")
        assert b"a secret" in content
        header, blobs = opened(tmp_path, content, max_side=400)
        assert header["shapes"] == [(300, 400, 3)] and (header["width"], header["height"]) == (1600, 1200)
        thumbnail = Image.open(io.BytesIO(blobs[1]))
        assert thumbnail.size == (64, 48) and thumbnail.format == "JPEG"
        assert b"secret" not in blobs[1] and not thumbnail.getexif() and "icc_profile" not in thumbnail.info
        assert (header["hash"] ^ opened(tmp_path, encoded("PNG"))[0]["hash"]).bit_count() <= 4

    @pytest.mark.parametrize("size", [(1, 65535), (65500, 1), (1, 1)])
    def test_odd_shapes(self, tmp_path, size):
        found = pixels_of(opened(tmp_path, encoded("PNG", Image.new("RGB", size, (9, 8, 7)))))
        assert max(found.shape) <= 512 and (found == (9, 8, 7)).all()

    def test_something_appended_does_not_matter(self, tmp_path):
        for kind in ("JPEG", "PNG", "GIF"):
            pixels_of(opened(tmp_path, encoded(kind) + b"PK\3\4" + b"junk" * 5000))

    def test_damaged_metadata_do_not_make_a_picture_bad(self, tmp_path):
        pixels_of(opened(tmp_path, encoded("JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0" + b"\xff" * 90)))

    def test_two_pictures_in_one(self, tmp_path):
        assert opened(tmp_path, encoded("MPO", save_all=True, append_images=[PHOTO]))[0]["format"] == "MPO"

    def test_heic_with_the_extra(self, tmp_path):
        heif = pytest.importorskip(
            "pillow_heif", reason="the heic extra is not installed: pip install 'manyview[heic]'"
        )
        made = io.BytesIO()
        heif.from_pillow(PHOTO).save(made)
        answer = opened(tmp_path, made.getvalue())
        assert answer[0]["format"] == "HEIC" and np.abs(pixels_of(answer).astype(int) - PIXELS).mean() < 20
        assert opened(tmp_path, made.getvalue()[: len(made.getvalue()) // 2])[0]["kind"] == "bad"

    def test_heic_without_it(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pillow_heif", None)
        header, _ = opened(tmp_path, b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
        assert header["reason"] == "missing extra" and 'pip install "manyview[heic]"' in header["sentence"]

    @pytest.mark.parametrize("container", [False, True])
    def test_jpeg_xl_with_the_extra(self, tmp_path, container):
        codecs = pytest.importorskip("imagecodecs", reason="not installed: pip install 'manyview[jxl]'")
        made = codecs.jpegxl_encode(PIXELS, level=95, usecontainer=container)
        answer = opened(tmp_path, made)
        assert answer[0]["format"] == "JPEG XL" and np.abs(pixels_of(answer).astype(int) - PIXELS).mean() < 20
        assert (answer[0]["width"], answer[0]["height"]) == PHOTO.size
        for end in (3, 30, len(made) // 2):
            assert opened(tmp_path, made[:end])[0]["kind"] == "bad"

    def test_jpeg_xl_of_every_depth(self, tmp_path):
        codecs = pytest.importorskip("imagecodecs", reason="not installed: pip install 'manyview[jxl]'")
        grey = PIXELS.mean(axis=2).astype(np.uint8)
        clear = np.dstack([PIXELS, np.full_like(grey, 255)])
        for made in (PIXELS, grey, clear, PIXELS.astype(np.uint16) * 257, (PIXELS / 255).astype(np.float32)):
            found = pixels_of(opened(tmp_path, codecs.jpegxl_encode(made, lossless=True))).astype(int)
            expected = PIXELS if made is not grey else grey[:, :, None]
            assert np.abs(found - expected).max() <= 1

    def test_jpeg_xl_without_it(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "imagecodecs", None)
        header, _ = opened(tmp_path, bytes.fromhex("ff0ae8301009") + bytes(20))
        assert header["reason"] == "missing extra" and 'pip install "manyview[jxl]"' in header["sentence"]

    @pytest.mark.parametrize("size", ["1x1", "8x8", "40x30", "96x64", "513x7", "9000x3", "256x256", "64x48"])
    def test_the_size_of_a_jpeg_xl_is_known_before_it_is_decoded(self, size):
        width, height = map(int, size.split("x"))
        codecs = pytest.importorskip("imagecodecs", reason="not installed: pip install 'manyview[jxl]'")
        for container in (False, True):
            made = codecs.jpegxl_encode(np.zeros((height, width, 3), np.uint8), effort=1, usecontainer=container)
            assert size_of_jxl(io.BytesIO(made)) == (width, height)

    def test_a_jpeg_xl_that_claims_too_much_is_not_decoded(self, tmp_path):
        bits, at = 0, 0
        for value, length in ((0, 1), (3, 2), (2**30 - 1, 30), (1, 3)):  # not small, thirty bits, as wide as high
            bits |= value << at
            at += length
        for start in (b"", box(b"JXL ", b"\r\n\x87\n")):
            pixels = b"\xff\x0a" + bits.to_bytes(10, "little")
            header, _ = opened(tmp_path, start + (box(b"jxlp", bytes(4), pixels) if start else pixels))
            assert header["reason"] == "too large" and "1073741824 x 1073741824" in header["sentence"]


BAD = {
    "nothing": (b"", "empty"),
    "one byte": (b"\xff", "unknown format"),
    "text": (b"holiday " * 20, "unknown format"),
    "html": (b"<!DOCTYPE html><script>alert(1)</script>", "unknown format"),
    "svg": (b"<svg onload='alert(1)'><foreignObject/></svg>", "unknown format"),
    "pdf": (b"%PDF-1.7 ...", "unknown format"),
    "zip": (b"PK\3\4" + bytes(100), "unknown format"),
    "noise": (bytes(range(256)) * 3, "unknown format"),
    "header only": (encoded("JPEG")[:20], "damaged"),
    "no width": (png(0, 10), "damaged"),
    "bomb": (png(50_000, 50_000), "too large"),
    "text bomb": (png(10, 10, (b"zTXt", b"k\0\0" + zlib.compress(bytes(50_000_000)))), "too large"),
    "profile bomb": (png(10, 10, (b"iCCP", b"k\0\0" + zlib.compress(bytes(50_000_000)))), "too large"),
    "video": (b"\0\0\0\x18ftypmp42" + bytes(200), None),
}


class TestBadFiles:
    @pytest.mark.parametrize("name", BAD)
    def test_each_has_its_reason(self, tmp_path, name):
        content, reason = BAD[name]
        start = time.process_time()
        header, blobs = opened(tmp_path, content, "holiday.jpg")
        assert header["kind"] == "bad" and not blobs and header["reason"] in REASONS
        assert reason is None or header["reason"] == reason, header
        assert header["sentence"].endswith((".", ")", '"')) and "Traceback" not in header["sentence"]
        assert time.process_time() - start < 5

    @pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.99])
    @pytest.mark.parametrize("ending", FORMATS)
    def test_cut_off(self, tmp_path, ending, share):
        content = encoded(FORMATS[ending])
        header, _ = opened(tmp_path, content[: max(1, int(len(content) * share))], f"cut.{ending}")
        assert header["kind"] == "bad" and header["reason"] in ("truncated", "damaged", "unknown format")

    def test_things_that_are_no_files(self, tmp_path):
        (tmp_path / "a.jpg").mkdir()
        os.mkfifo(tmp_path / "pipe.jpg")
        for name in ("a.jpg", "pipe.jpg"):
            assert open_file(os.fsencode(tmp_path / name), LIMITS)[0]["reason"] == "not a file"
        assert open_file(b"/dev/null", LIMITS)[0]["reason"] == "not a file"
        assert open_file(os.fsencode(tmp_path / "gone.jpg"), LIMITS)[0]["reason"] == "missing"
        assert open_file(b"a\0b", LIMITS)[0]["reason"] == "unreadable"

    def test_limits_are_the_callers(self, tmp_path):
        header, _ = opened(tmp_path, encoded("PNG"), max_pixels=10_000)
        assert header["reason"] == "too large" and "160 x 120" in header["sentence"]

    def test_pictures_of_the_largest_cameras_are_opened(self, tmp_path):
        """A digital back has 151 million pixels, a telephone 200."""
        Image.new("L", (14204, 10652), 90).save(tmp_path / "back.jpg")
        (tmp_path / "bomb.png").write_bytes(png(20_000, 15_000))
        with DecodePool(n_jobs=1) as pool:
            (_, back), (_, bomb) = pool.decode([tmp_path / "back.jpg", tmp_path / "bomb.png"])
        assert (back.width, back.height) == (14204, 10652) and back.pixels.shape == (384, 512, 3)
        assert bomb.reason == "too large" and "300 million; at most 250 million" in bomb.sentence

    def test_changed_bytes_never_raise(self, tmp_path, seed):
        rng = np.random.default_rng(seed)
        originals = [encoded(kind) for kind in FORMATS.values()]
        for number in range(80):
            content = bytearray(originals[number % len(originals)])
            for place in rng.integers(0, len(content), rng.integers(1, 12)):
                content[place] = rng.integers(0, 256)
            header, _ = opened(tmp_path, bytes(content))
            assert header["kind"] == "picture" or header["reason"] in REASONS
