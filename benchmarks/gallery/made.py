"""A large collection for the gallery, made through the collection's own calls: nothing is decoded, nothing fitted."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np

from manyview import Collection
from manyview.collection.catalog import as_json
from manyview.collection.history import now
from manyview.collection.proposals import NewProposal

N_CLUSTERS, N_WORDS, PER_ITEM, PROPOSED = 100, 2000, 8, 5


def make_collection(path: Path, n_items: int = 100_000, seed: int = 0) -> Path:
    """``n_items`` items in 100 clusters, with thumbnails, 8 tags each of 2,000, 5 proposals each, texts and a map."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    labels = rng.integers(N_CLUSTERS, size=n_items)
    centres = rng.normal(size=(N_CLUSTERS, 32)).astype(np.float32)
    rows = centres[labels] + rng.normal(size=(n_items, 32)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "items.npz", looks=rows)
        made = Collection.create(path, Path(folder) / "items.npz")
    words = np.array([f"word {n:04d}" for n in range(N_WORDS)])
    with made:
        ids = made.items.ids
        own = (labels[:, None] * 20 + rng.integers(20, size=(n_items, PER_ITEM))) % N_WORDS
        chosen = np.where(rng.random(own.shape) < 0.7, own, rng.integers(N_WORDS, size=own.shape))
        with made.transaction():
            said = zip(ids.tolist(), chosen, strict=True)
            made.tagging.put({number: {"table": words[np.unique(row)].tolist()} for number, row in said})
            captions = zip(ids.tolist(), labels.tolist(), strict=True)
            told = ((f"a caption of item {number} in group {label}", number) for number, label in captions)
            made._catalog.run_many("UPDATE items SET text = ? WHERE id = ?", told)
            thumbs = []
            for colour in rng.integers(256, size=(N_CLUSTERS, 3)).tolist():
                out = io.BytesIO()
                Image.new("RGB", (160, 160), tuple(colour)).save(out, "JPEG")
                thumbs.append(out.getvalue())
            for start in range(0, n_items, 20_000):
                part = slice(start, start + 20_000)
                made.thumbs.add({int(i): thumbs[int(label)] for i, label in zip(ids[part], labels[part], strict=True)})
        run = made.save_run(
            "rmkmc",
            labels,
            settings={"seed": seed, "views": ["looks"]},
            views={"looks": made.segments.info("looks").version},
            figures={"n_clusters": N_CLUSTERS},
            confidence=rng.random(n_items),
        )
        from manyview.workflow.clusters.living import refresh_profiles
        from manyview.workflow.clusters.state import State

        refresh_profiles(State(made, run))
        numbers = made.tagging.numbers(words.tolist())
        likely = rng.random((n_items, PROPOSED))
        made.runs.save_proposals(
            "combined",
            (
                NewProposal(
                    int(number),
                    numbers[words[tag]],
                    float(p),
                    float(p),
                    [["view", "looks", 0.6, [int(ids[0])]], ["tag", "word 0001", 0.3, []]],
                )
                for number, tags, probability in zip(ids, rng.integers(N_WORDS, size=likely.shape), likely, strict=True)
                for tag, p in zip(np.unique(tags), probability, strict=False)
            ),
        )
        places = (centres[labels, :2] + rng.normal(size=(n_items, 2)) * 0.2).astype("<f4")
        made._catalog.run(
            "INSERT INTO maps (run_id, settings, items, places, made_at) VALUES (?, ?, ?, ?, ?)",
            (
                run.id,
                as_json({"seed": seed}),
                ids.astype("<i8").tobytes(),
                (places / np.abs(places).max()).tobytes(),
                now(),
            ),
        )
    return path
