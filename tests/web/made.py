"""A small collection with everything the gallery shows, made without computing anything."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from manyview import Collection
from manyview.collection.proposals import NewProposal

N = 12
HOST = "127.0.0.1:8765"
ORIGIN = f"http://{HOST}"
OURS = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}


def make_collection(folder: Path) -> Path:
    """Twelve pictures in two groups, half of them tagged, with a view, two runs, proposals and thumbnails."""
    pictures = folder / "pictures"
    (pictures / "deeper").mkdir(parents=True)
    for number in range(N):
        colour = (200, 20 * number, 0) if number < 6 else (0, 20 * number, 200)
        place = pictures if number % 2 else pictures / "deeper"
        Image.new("RGB", (40, 30), colour).save(place / f"{'red' if number < 6 else 'blue'} {number:02d}.png")
    (pictures / "note.txt").write_text("A walk along the beach, then home.", encoding="utf-8")
    path = folder / "small.manyview"
    with Collection.create(path, pictures) as made:
        ids = made.items.ids
        groups = np.array([0 if "red" in item.key else 1 if "blue" in item.key else -1 for item in made.items])
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(ids.size, 4)).astype(np.float32) * 0.1
        rows[:, 0] += groups
        made.add_view("looks", "1", rows)
        thumbs = {}
        for item in made.items:
            if item.kind == "picture":
                out = io.BytesIO()
                Image.open(item.path).save(out, "JPEG")
                thumbs[item.id] = out.getvalue()
        made.thumbs.add(thumbs)
        order = np.argsort(groups, kind="stable")[1:]  # the red ones, then the blue ones; the note is first and in none
        pictures_only = ids[order].tolist()
        made.decide([(number, "red" if n < 6 else "blue") for n, number in enumerate(pictures_only) if n % 2], True)
        for seed in range(2):
            labels = groups.copy()
            if seed:
                labels[np.flatnonzero(groups == 0)[0]] = 1
            made.save_run(
                "rmkmc",
                labels,
                settings={"seed": seed, "views": ["looks"]},
                views={"looks": "1"},
                confidence=np.linspace(0.1, 0.9, ids.size),
                figures={"n_clusters": 2},
                seconds=0.1,
                identities={} if not seed else {0: 1, 1: 2},
            )
        tags = {word: made.tagging.number(word) for word in ("red", "blue")}
        reason = [["view", "looks", 0.5, pictures_only[:1]]]
        made.runs.save_proposals(
            "combined",
            [
                NewProposal(number, tags["red" if n < 6 else "blue"], 0.5, 0.95 - n / 20, reason)
                for n, number in enumerate(pictures_only)
                if n % 2 == 0
            ],
            figures={"completeness_source": "estimated"},
        )
    return path
