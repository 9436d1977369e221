"""How many items keep their cluster when a tenth more is added and the collection is fitted again.

Each collection is fitted on ten elevenths of its items, the rest is added, and it is fitted again with the same
settings. Views are given as files, so that draws differ in nothing but who comes late. Classes are
compared with the clusters afterwards; no method sees them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from manyview import metrics
from manyview.data.tags import TagTable
from manyview.workflow.add import add_items
from manyview.workflow.collection import Collection
from manyview.workflow.fit import fit_collection

from .collections import load
from .pictures import picture_collection
from .table import Table

FIGURES = ("same cluster", "moved", "explained", "NMI before", "NMI after")
LATE = 1 / 11
"""Of all items: a tenth of those that were there first."""


def tables(quick: bool) -> Iterator[Table]:
    draws = 1 if quick else 3
    emoji = picture_collection("emoji")
    tags = TagTable.from_lists(emoji.tags)
    yield _table(
        "emoji pictures and tags, 24 clusters", {"embedding": emoji.embedding}, tags, emoji.labels["group"], 24, draws
    )
    scenes = picture_collection("scene8")
    yield _table(
        "scene8 photographs, 8 clusters", {"embedding": scenes.embedding}, None, scenes.labels["label"], 8, draws
    )
    known = load("scene15")
    if known is not None:
        views = {name: np.asarray(known[0][name]) for name in known[0].names}
        yield _table("scene15, three descriptors, 15 clusters", views, None, known[1], 15, draws)


def _table(title: str, views: dict[str, Any], tags: Any, y: Any, k: int, n_draws: int) -> Table:
    made = Table(title, FIGURES)
    runs: dict[str, list[dict[str, float]]] = {"fit again": [], "fit again --fresh": []}
    for draw in range(n_draws):
        late = np.zeros(len(y), dtype=bool)
        late[np.random.default_rng(draw).choice(len(y), round(LATE * len(y)), replace=False)] = True
        for name, fresh in (("fit again", False), ("fit again --fresh", True)):
            runs[name].append(_story(views, tags, np.asarray(y), late, k, fresh))
    for name, figures in runs.items():
        made.add(name, figures)
    return made


def _story(views: dict[str, Any], tags: Any, y: np.ndarray, late: np.ndarray, k: int, fresh: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("early", ~late), ("late", late)):
            arrays = {f"view_{view}": rows[part] for view, rows in views.items()}
            if tags is not None:
                arrays |= {"tags": tags.yes[np.flatnonzero(part)].toarray().astype(np.uint8)}
                arrays |= {"tag_names": np.array(tags.names)}
            np.savez(Path(folder) / f"{name}.npz", **arrays)
        with Collection.create(Path(folder) / "c.manyview", Path(folder) / "early.npz") as collection:
            fit_collection(collection, n_clusters=k)
            first, before = collection.runs.assignment()
            add_items(collection, Path(folder) / "late.npz")
            changes = fit_collection(collection, n_clusters=k, fresh=fresh).changes
            ids, after = collection.runs.assignment()
        assert changes is not None and np.array_equal(ids[: first.size], first)
        truth = np.concatenate([y[~late], y[late]])
        return {
            "same cluster": float((after[: first.size] == before).mean()),
            "moved": float(changes.n_moved),
            "explained": float(sum(bool(one.sentence) for one in changes.movers)),
            "NMI before": metrics.normalized_mutual_info(y[~late], before),
            "NMI after": metrics.normalized_mutual_info(truth, after),
        }
