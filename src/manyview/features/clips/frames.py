"""Videos: key frames as pictures, and how things move between neighbouring frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ...errors import MissingExtra
from ...files import BadFile
from ..base import Extractor
from ..pictures import RGB, rgb_picture

__all__ = ["IN_A_ROW", "SMALL", "Footage", "Motion", "read_clip"]

IN_A_ROW = 6
"""Frames of a burst."""
SMALL = 64
"""Grey pixels across, of pairs and bursts."""

_FRAMES = 8
_PAIRS = 12
_DIRECTIONS = 8
_SPEEDS = (0.25, 1.0, 2.0)
_CELLS = 8


@dataclass(frozen=True)
class Footage:
    """What is kept of a video."""

    frames: list[RGB]
    pairs: NDArray[np.uint8]
    bursts: NDArray[np.uint8]
    width: int
    height: int
    format: str
    seconds: float


def read_clip(
    file: BinaryIO, max_side: int = 512, max_pixels: int = 50_000_000, *, with_bursts: bool = False
) -> Footage:
    """Up to eight frames spread over a video and pairs of neighbouring ones, by PyAV; needs the ``video`` extra.

    Frames are those at (or just after) evenly spaced moments, found by seeking to the key frame before; pairs are
    reduced to 64 grey pixels across. Bursts, which take longer, are six frames in a row, as small, from the moment on;
    near the end the last six. A video without a usable picture is refused.
    """
    try:
        import av
    except ImportError as error:
        raise MissingExtra("reading video needs the 'video' extra:  pip install \"manyview[video]\"") from error
    with av.open(file, mode="r", metadata_errors="ignore") as container:
        if not container.streams.video:
            raise BadFile("empty", "it holds no moving picture.")
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        # A stream whose coding nobody knows has no such attributes at all.
        width, height = int(getattr(stream, "width", 0)), int(getattr(stream, "height", 0))
        if not width or not height:
            raise BadFile("damaged", "its moving picture is of a kind that cannot be decoded, or has no size.")
        if width * height > max_pixels:
            raise BadFile(
                "too large",
                f"its frames have {width} x {height} pixels; at most {max_pixels / 1e6:.0f} million are opened.",
            )
        seconds = _duration(container, stream)
        frames: list[RGB] = []
        pairs: list[NDArray[np.uint8]] = []
        bursts: list[NDArray[np.uint8]] = []
        for moment in _moments(seconds):
            found, row = _frames_at(container, stream, moment, av, IN_A_ROW if with_bursts else 2)
            if found:
                frames.append(rgb_picture(found[0].to_ndarray(format="rgb24"), max_side))
            if len(found) >= 2:
                pairs.append(np.stack([_small_grey(frame) for frame in found[:2]]))
            if with_bursts and len(row) == IN_A_ROW:
                bursts.append(np.stack([_small_grey(frame) for frame in row]))
        kind = container.format.name.split(",")[0]
    if not frames:
        raise BadFile("damaged", "no frame of it can be decoded.")
    step = max(1, len(frames) // _FRAMES)
    shown = frames[::step][:_FRAMES]
    return Footage(shown, _stacked(pairs, 2), _stacked(bursts, IN_A_ROW), width, height, kind, seconds)


def _stacked(rows: list[NDArray[np.uint8]], length: int) -> NDArray[np.uint8]:
    return np.array(rows, dtype=np.uint8).reshape(-1, length, SMALL, SMALL)


def _duration(container: Any, stream: Any) -> float:
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return float(container.duration / 1_000_000) if container.duration and container.duration > 0 else 0.0


def _moments(seconds: float) -> list[float]:
    """The middles of equal parts; a clip of unknown length is looked at from its start."""
    if not 0 < seconds < 1e6:
        return [0.0]
    count = max(1, min(_PAIRS, int(seconds * 4)))
    return [(number + 0.5) * seconds / count for number in range(count)]


def _frames_at(container: Any, stream: Any, moment: float, av: Any, count: int) -> tuple[list[Any], list[Any]]:
    """The frame at a moment and those after it, and as many in a row that end with the last of them."""
    found: list[Any] = []
    row: deque[Any] = deque(maxlen=count)
    try:
        container.seek(int(moment / stream.time_base) if stream.time_base else 0, stream=stream, backward=True)
        for number, frame in enumerate(container.decode(stream)):
            row.append(frame)
            late = frame.time is None or frame.time >= moment - 1e-3
            # A key frame may lie far back: then what is there is good enough.
            if late or number >= 250:
                found.append(frame)
            if len(found) == count:
                break
    except (av.FFmpegError, ValueError, OverflowError):
        pass  # damaged here; other moments may be whole
    return found, list(row)


def _small_grey(frame: Any) -> NDArray[np.uint8]:
    return np.asarray(frame.reformat(width=SMALL, height=SMALL, format="gray").to_ndarray(), dtype=np.uint8)


class Motion(Extractor):
    """How things move in a clip: directions and speeds between neighbouring frames (28 numbers).

    Frames are compared at 64 x 64 pixels in 8 x 8 cells (gradient method of B. Lucas and T. Kanade). Share of cells
    that move in each of eight directions at three speeds, share that rest, mean change of brightness, and mean and
    deviation of the speed. Takes the ``pairs`` of clips, uint8 (n_pairs, 2, 64, 64) each; a clip without pairs gives
    a row of NaN.
    """

    name = "motion"
    reads = "motion"

    @property
    def columns(self) -> tuple[str, ...]:
        """Degrees and speed, then the rest: "45° fast"."""
        moving = [
            f"{360 * d // _DIRECTIONS}° {speed}" for d in range(_DIRECTIONS) for speed in ("slow", "medium", "fast")
        ]
        return (*moving, "rest", "change", "speed mean", "speed std")

    def extract(self, items: Iterable[Any], *, n_jobs: int | None = None) -> NDArray[np.float32]:
        """One row per clip, float32 (n_clips, 28)."""
        rows = [np.full((0, self.n_features), np.nan, dtype=np.float32)]
        rows += [self._row(np.asarray(pairs))[None] for pairs in items]
        return np.concatenate(rows)

    def _row(self, pairs: NDArray[Any]) -> NDArray[np.float32]:
        if not len(pairs):
            return np.full(self.n_features, np.nan, dtype=np.float32)
        across, up = (part.ravel() for part in _flow(pairs.astype(np.float32) / 255))
        speed = np.hypot(across, up)
        turn = np.rint(np.arctan2(up, across) * _DIRECTIONS / (2 * np.pi)).astype(np.int64) % _DIRECTIONS
        level = np.searchsorted(_SPEEDS, speed, side="right")
        moving = level > 0
        bins = np.bincount((turn * 3 + level - 1)[moving], minlength=3 * _DIRECTIONS) / speed.size
        change = np.abs(pairs[:, 1].astype(np.float32) - pairs[:, 0]).mean() / 255
        row = [*bins, 1 - moving.mean(), change, speed.mean(), speed.std()]
        return np.array(row, dtype=np.float32)


def _flow(pairs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Pixels moved to the right and upwards, per cell: float32 (n_pairs, 8, 8) each."""
    before, after = pairs[:, 0], pairs[:, 1]
    middle = (before + after) / 2
    down, across = np.gradient(middle, axis=(1, 2))
    change = after - before
    change = change - change.mean(axis=(1, 2), keepdims=True)  # a light that comes on is no motion

    def cell_sum(values: Any) -> Any:
        step = values.shape[1] // _CELLS
        return values.reshape(len(values), _CELLS, step, _CELLS, step).sum(axis=(2, 4))

    xx, yy, xy = cell_sum(across**2), cell_sum(down**2), cell_sum(across * down)
    xt, yt = cell_sum(across * change), cell_sum(down * change)
    # A little weight on "at rest" keeps flat cells, where anything would fit, still.
    xx, yy = xx + np.float32(0.003), yy + np.float32(0.003)
    area = xx * yy - xy**2
    right = -(yy * xt - xy * yt) / area
    downwards = -(xx * yt - xy * xt) / area
    return np.clip(right, -8, 8), np.clip(-downwards, -8, 8)
