"""Clips whose camera or subject moves in one of seven ways, over photographs of scenes: which view tells the ways?

Each clip has two seconds of one photograph: hands that shake, a pan (any direction), a zoom in or out, a turn (either
way), a thing that crosses, a light that flickers; speed, start and subject by chance. NMI of the clusters with the
movements and with the subjects, each with its number given, over three draws: the 28 numbers of ``motion``, the words
of ``motion_words`` with and without the map of histogram intersection, and each beside looks. Then the processor time
of a clip.
"""

from __future__ import annotations

import io
import math
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import ConsensusClustering, Views, metrics
from manyview.features.base import extractor
from manyview.features.clips.frames import read_clip

from .pictures import PictureCollection, picture_collection
from .table import Table

MOVEMENTS = ("shake", "pan", "zoom in", "zoom out", "turn", "crossing", "flicker")
OF_EACH = 24
FRAMES, RATE, SIDE = 24, 12, 128
WAYS = {
    "looks": ("embedding",),
    "motion": ("motion",),
    "motion words": ("words",),
    "motion words, without the map": ("shares",),
    "looks, motion": ("embedding", "motion"),
    "looks, motion words": ("embedding", "words"),
    "looks, motion, motion words": ("embedding", "motion", "words"),
}


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")
    found = picture_collection("scene8")
    if found is None:
        yield Table("scene8: no such file in MANYVIEW_DATA", ("movements", "subjects"))
        return
    judged = Table("scene8, seven movements over eight subjects; NMI", ("movements", "subjects"))
    costs = Table("milliseconds of one processor for a clip", ("ms",))
    runs: dict[str, list[dict[str, float]]] = {}
    spent: dict[str, list[dict[str, float]]] = {}
    for draw in range(1 if quick else 3):
        views, movements, subjects, seconds = drawn(found, draw, 4 if quick else OF_EACH)
        for way, names in WAYS.items():
            runs.setdefault(way, []).append(
                {
                    "movements": _nmi(views, names, movements, draw),
                    "subjects": _nmi(views, names, subjects, draw),
                }
            )
        for name, value in seconds.items():
            spent.setdefault(name, []).append({"ms": 1000 * value / len(movements)})
    for way, figures in runs.items():
        judged.add(way, figures)
    for name, figures in spent.items():
        costs.add(name, figures)
    yield judged
    yield costs


def _nmi(views: Views, names: tuple[str, ...], truth: Any, draw: int) -> float:
    labels = ConsensusClustering(len(np.unique(truth)), random_state=draw).fit(views[list(names)]).labels_
    return metrics.normalized_mutual_info(truth, labels)


def drawn(pictures: PictureCollection, draw: int, of_each: int) -> tuple[Views, Any, Any, dict[str, float]]:
    """The views of clips, their movements and subjects, and the seconds that each step took."""
    rng = np.random.default_rng(draw)
    labels = np.unique(pictures.labels["label"], return_inverse=True)[1]
    chosen = rng.choice(len(labels), of_each * len(MOVEMENTS), replace=False)
    movement = {int(item): place % len(MOVEMENTS) for place, item in enumerate(chosen)}
    files, kinds, subjects = [], [], []
    for item, picture in enumerate(pictures):
        if item in movement:
            files.append(filmed(picture.convert("RGB"), MOVEMENTS[movement[item]], rng))
            kinds.append(movement[item])
            subjects.append(labels[item])
    seconds: dict[str, float] = {}

    def timed(name: str, work: Any) -> Any:
        started = time.process_time()
        result = work()
        seconds[name] = time.process_time() - started
        return result

    timed("reading", lambda: [read_clip(io.BytesIO(one)) for one in files])
    clips = timed("reading, with bursts", lambda: [read_clip(io.BytesIO(one), with_bursts=True) for one in files])
    looks, moves, words = extractor("embedding"), extractor("motion"), extractor("motion_words")
    parts = {
        "embedding": timed("embedding", lambda: np.stack([looks.extract(c.frames).mean(axis=0) for c in clips])),
        "motion": timed("motion", lambda: moves.extract([c.pairs for c in clips])),
    }
    bursts = [c.bursts for c in clips]
    timed("motion words: learning", lambda: words.learn(bursts, n_jobs=1))
    parts["words"] = timed("motion words", lambda: words.extract(bursts, n_jobs=1))
    plain = extractor("motion_words", intersection=False)
    plain.restore(words.state())
    parts["shares"] = plain.extract(bursts)
    return Views(parts), np.array(kinds), np.array(subjects), seconds


def filmed(picture: Any, movement: str, rng: np.random.Generator) -> bytes:
    """An MP4 of a movement over a picture: every frame is a turned, zoomed window of it."""
    import av
    from PIL import ImageDraw, ImageEnhance

    whole = picture.resize((2 * SIDE, 2 * SIDE))
    angle, speed = rng.uniform(0, 2 * math.pi), rng.uniform(1.0, 2.5)
    way = np.array([math.cos(angle), math.sin(angle)])
    turn = rng.choice([-1, 1])
    colour = tuple(rng.integers(0, 256, 3).tolist())
    made = io.BytesIO()
    with av.open(made, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=RATE)
        stream.width = stream.height = SIDE
        stream.bit_rate = 1_000_000
        for number in range(FRAMES):
            at = number - FRAMES / 2
            centre, zoom, tilt = np.full(2, float(SIDE)), 1.2, 0.0
            if movement == "pan":
                centre = centre + way * speed * at
            elif movement == "shake":
                centre = centre + rng.normal(0, speed, 2)
            elif movement.startswith("zoom"):
                zoom *= math.exp((-1 if movement == "zoom in" else 1) * speed * at / 80)
            elif movement == "turn":
                tilt = float(turn * speed * at)
            frame = _window(whole, centre, zoom, tilt)
            if movement == "crossing":
                x, y = SIDE / 2 + way * 2 * speed * at
                ImageDraw.Draw(frame).ellipse((x - 16, y - 16, x + 16, y + 16), fill=colour)
            elif movement == "flicker":
                frame = ImageEnhance.Brightness(frame).enhance(rng.uniform(0.5, 1.3))
            container.mux(stream.encode(av.VideoFrame.from_image(frame)))
        container.mux(stream.encode())
    return made.getvalue()


def _window(whole: Any, centre: Any, zoom: float, tilt: float) -> Any:
    """A window of ``zoom`` times SIDE pixels, turned by ``tilt`` degrees, as SIDE x SIDE."""
    from PIL import Image

    cos, sin = zoom * math.cos(math.radians(tilt)), zoom * math.sin(math.radians(tilt))
    middle = SIDE / 2
    numbers = (cos, -sin, centre[0] - cos * middle + sin * middle, sin, cos, centre[1] - sin * middle - cos * middle)
    return whole.transform((SIDE, SIDE), Image.Transform.AFFINE, numbers, Image.Resampling.BILINEAR)
