"""Clips: frames, pairs and motion."""

import io
import sys

import numpy as np
import pytest

from manyview.errors import MissingExtra
from manyview.features.base import extractor
from manyview.features.clips.frames import read_clip
from manyview.files import BadFile

from ...moving import panned, texture


def moved(dx, dy, n_pairs=3):
    """Pairs of 64 x 64 frames of a texture that moves by (dx, dy) pixels, y upwards."""
    world = texture()
    return np.stack([np.stack([world[40:104, 40:104], world[40 + dy : 104 + dy, 40 - dx : 104 - dx]])] * n_pairs)


class TestMotion:
    made = extractor("motion")

    def row(self, pairs):
        return dict(zip(self.made.columns, self.made.extract([pairs])[0].tolist(), strict=True))

    @pytest.mark.parametrize(("dx", "dy", "degrees"), [(1, 0, 0), (-1, 0, 180), (0, 1, 90), (0, -1, 270), (1, 1, 45)])
    def test_direction(self, dx, dy, degrees):
        row = self.row(moved(dx, dy))
        shares = {d: sum(row[f"{d}° {speed}"] for speed in ("slow", "medium", "fast")) for d in range(0, 360, 45)}
        assert max(shares, key=shares.get) == degrees and shares[degrees] > 0.6
        assert row["speed mean"] == pytest.approx(np.hypot(dx, dy), rel=0.25)

    def test_rest(self):
        row = self.row(moved(0, 0))
        assert row["rest"] == 1 and row["change"] == row["speed mean"] == 0
        flat = self.row(np.full((2, 2, 64, 64), 80, np.uint8))
        assert flat["rest"] == 1

    def test_shares_sum_to_one_and_no_pairs_is_a_missing_row(self):
        row = self.row(moved(2, 1))
        moving = [value for name, value in row.items() if "°" in name]
        assert sum(moving) + row["rest"] == pytest.approx(1, abs=1e-6)
        rows = self.made.extract([moved(1, 0), np.empty((0, 2, 64, 64), np.uint8)])
        assert np.isfinite(rows[0]).all() and np.isnan(rows[1]).all() and rows.shape == (2, 28)


@pytest.fixture(scope="module")
def clip():
    av = pytest.importorskip("av", reason="the video extra is not installed: pip install 'manyview[video]'")
    made = io.BytesIO()
    with av.open(made, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        world = texture(side=256)
        for number in range(30):  # three seconds: the camera moves to the left, the light goes up
            window = world[100:164, 60 - number : 156 - number].astype(int) // 2 + 4 * number
            frame = av.VideoFrame.from_ndarray(np.repeat(np.uint8(window)[..., None], 3, axis=2), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return made.getvalue()


def test_bursts_are_frames_in_a_row(clip):
    found = read_clip(io.BytesIO(clip), with_bursts=True)
    plain = read_clip(io.BytesIO(clip))
    np.testing.assert_array_equal(found.pairs, plain.pairs)
    assert len(found.frames) == len(plain.frames) and plain.bursts.shape == (0, 6, 64, 64)
    assert found.bursts.shape == (12, 6, 64, 64) and found.bursts.dtype == np.uint8
    # brighter by four grey levels from frame to frame, and what the texture brings
    steps = np.diff(found.bursts.mean(axis=(2, 3)), axis=1)
    assert (steps > 0).all() and steps.mean() == pytest.approx(4, abs=1)
    np.testing.assert_array_equal(found.bursts[:8, :2], found.pairs[:8])
    # near the end bursts are the last six frames, and the moment is not their first
    np.testing.assert_array_equal(found.bursts[-1], found.bursts[-2])
    np.testing.assert_array_equal(found.bursts[-2, -3:-1], found.pairs[-1])


def test_a_clip_of_five_frames_has_pairs_but_no_burst():
    pytest.importorskip("av", reason="the video extra is not installed: pip install 'manyview[video]'")
    found = read_clip(io.BytesIO(panned(texture(), 2, n_frames=5)), with_bursts=True)
    assert len(found.pairs) and found.bursts.shape == (0, 6, 64, 64)


class TestVideo:
    def test_a_stream_nobody_can_decode_is_refused_in_a_sentence(self, clip):
        assert b"mp4v" in clip
        with pytest.raises(BadFile, match="cannot be decoded, or has no size"):
            read_clip(io.BytesIO(clip.replace(b"mp4v", b"CRAW").replace(b"esds", b"free")))

    def test_frames_are_spread_over_the_clip(self, clip):
        found = read_clip(io.BytesIO(clip), max_side=48)
        assert (found.width, found.height) == (96, 64) and found.seconds == pytest.approx(3, abs=0.2)
        assert len(found.frames) == 8 and found.frames[0].shape == (32, 48, 3)
        brightness = [frame.mean() for frame in found.frames]
        assert (np.diff(brightness) > 0).all() and brightness[-1] - brightness[0] > 60
        assert found.pairs.shape[1:] == (2, 64, 64) and len(found.pairs) > 8
        row = extractor("motion").extract([found.pairs])[0]
        assert row[:3].sum() > max(0.2, 5 * row[12:15].sum())  # to the right, not to the left

    def test_damage(self, clip):
        av = pytest.importorskip("av")
        for content in (b"no video at all", clip[:200]):
            with pytest.raises((av.FFmpegError, BadFile)):
                read_clip(io.BytesIO(content))
        with pytest.raises(BadFile, match="96 x 64 pixels"):
            read_clip(io.BytesIO(clip), max_pixels=1000)

    def test_sound_alone_is_refused(self):
        av = pytest.importorskip("av")
        made = io.BytesIO()
        with av.open(made, "w", format="wav") as container:
            stream = container.add_stream("pcm_s16le", rate=8000)
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
            frame.sample_rate = 8000
            container.mux(stream.encode(frame))
            container.mux(stream.encode())
        with pytest.raises(BadFile, match="no moving picture"):
            read_clip(io.BytesIO(made.getvalue()))

    def test_without_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "av", None)
        with pytest.raises(MissingExtra, match=r'pip install "manyview\[video\]"'):
            read_clip(io.BytesIO(b""))
