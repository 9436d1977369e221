"""Photographs and clips of the same subjects: do they come together, or fall apart by medium?

Of each class half of the photographs stay what they are, and over each of the others a camera pans, slowly or fast, in
a direction of its own: a clip of two seconds. NMI of the clusters with the classes (more is better) and with the medium
(less is better), the number of classes given, over three draws: by looks alone, with the motion of clips as a view that
photographs lack, and by the views that are taken when nobody says which.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from manyview import Collection, metrics
from manyview.workflow.compute import compute_views, default_views

from .pictures import PictureCollection, picture_collection
from .table import Table

FIGURES = ("classes", "medium")
OF_A_CLASS = 24
FRAMES, FASTEST = 20, 0.3
SIDE = 160


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")
    for name in ("scene8", "flickr8k-captioned"):
        found = picture_collection(name)
        if found is None:
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
        else:
            yield compare(found, 1 if quick else 3)


def compare(pictures: PictureCollection, draws: int) -> Table:
    table = Table(f"{pictures.name}, label: half of each class as clips; NMI", FIGURES)
    runs: dict[str, list[dict[str, float]]] = {}
    for draw in range(draws):
        with tempfile.TemporaryDirectory() as folder:
            for way, figures in judged(pictures, draw, Path(folder)).items():
                runs.setdefault(way, []).append(figures)
    for way, figures in runs.items():
        table.add(way, figures)
    return table


def judged(pictures: PictureCollection, draw: int, folder: Path) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(draw)
    labels = pictures.labels["label"]
    names = [name for name in np.unique(labels) if name]
    chosen = {
        int(item): place % 2 == 1
        for name in names
        for place, item in enumerate(rng.permutation(np.flatnonzero(labels == name))[:OF_A_CLASS])
    }
    (folder / "items").mkdir()
    for item, picture in enumerate(pictures):
        if chosen.get(item):
            pan(picture, folder / "items" / f"{item}.mp4", rng)
        elif item in chosen:
            picture.save(folder / "items" / f"{item}.jpg", quality=92)
    with Collection.create(folder / "c.manyview", folder / "items") as made:
        compute_views(made, ["embedding", "motion"])
        numbers = [int(Path(item.key).stem) for item in made.items]
        classes = np.unique(labels[numbers], return_inverse=True)[1]
        medium = np.array([chosen[number] for number in numbers], dtype=int)
        ways = {"looks": ["embedding"], "looks and motion": ["embedding", "motion"], "by default": default_views(made)}
        found = {}
        for way, views in ways.items():
            run = made.fit("consensus", len(names), views=views, seed=draw, fresh=True)
            where = made.living.standing(run.id).labels
            found[way] = {
                "classes": metrics.normalized_mutual_info(classes, where),
                "medium": metrics.normalized_mutual_info(medium, where),
            }
        return found


def pan(picture: Any, path: Path, rng: np.random.Generator) -> None:
    """A window of four fifths of a picture goes over it."""
    import av

    whole = picture.resize((SIDE, SIDE))
    side = SIDE * 4 // 5
    way = rng.uniform(0.05, FASTEST) * (SIDE - side) * rng.choice([-1, 1], 2)
    start = (SIDE - side) / 2 - way * FRAMES / 2
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = side
        for number in range(FRAMES):
            left, top = np.clip(start + way * number, 0, SIDE - side).astype(int).tolist()
            frame = av.VideoFrame.from_image(whole.crop((left, top, left + side, top + side)))
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
