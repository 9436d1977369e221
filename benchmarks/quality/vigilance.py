"""FusionART's vigilance for tags by the paper's own criterion (``vigilance="auto"``), beside 0.1.

The rule was found on Corel and the newsgroups. It is looked at on all 32 readings of the paper's six Corel classes,
which share photographs with each other, on all 50 topics, on photographs with captions and on emoji. Classes judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from manyview import FusionART, metrics
from manyview.papers.ghf_art_data import Channels, emoji, newsgroups
from manyview.papers.hml_rf_rows import flickr8k
from manyview.papers.sources import Sources, sparse_block, stored_tags
from manyview.papers.tables import Scale

from ..environments import BENCH
from .collections import data_folder
from .table import Table

FIGURES = ("NMI", "purity", "clusters", "vigilance")
READINGS = tuple(product((0,), (1, 46), (30, 19), (2, 34), (47, 3), (26, 41)))
WAYS: tuple[tuple[str, Any], ...] = (("0.1", 0.1), ("auto", "auto"))


def tables(quick: bool) -> Iterator[Table]:
    sources = Sources(data_folder(), BENCH / "features")
    orders = 1 if quick else 3
    if sources.missing(("corel5k", "newsgroups_ten", "flickr8k-captioned")):
        yield Table("no collections in MANYVIEW_DATA", FIGURES)
        return
    yield _readings(sources, READINGS[::16] if quick else READINGS, orders)
    for title, channels, y in tagged_collections(sources, quick):
        yield _compare(title, channels, y, orders)


def tagged_collections(sources: Sources, quick: bool) -> Iterator[tuple[str, Channels, Any]]:
    """Collections with tags, each with the classes of its items, -1 where nobody says."""
    with sources.matrices("corel5k") as stored:
        yield "corel5k, 50 topics", *_corel(stored, range(50))
    for name, load in (("newsgroups, ten groups", newsgroups), ("emoji, nine groups", emoji)):
        task = load(sources, Scale(quick=quick))
        yield f"{name}: {task.words}", task.data, task.y
    task = flickr8k(True)(sources, Scale())
    tagged = task.data
    channels = Channels({"looks": tagged.looks, "tags": tagged.tags.yes.astype(np.float64)}, ("tags",))
    yield task.words, channels, np.where(tagged.judged, task.y, -1)


def _readings(sources: Sources, readings: tuple[tuple[int, ...], ...], orders: int) -> Table:
    table = Table(f"corel5k, {len(readings)} readings of the paper's six classes, {orders} orders each", FIGURES)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name, _ in WAYS}
    better = 0
    with sources.matrices("corel5k") as stored:
        for reading in readings:
            means = []
            channels, y = _corel(stored, reading)
            for name, vigilance in WAYS:
                found = [_score(channels, y, vigilance, order) for order in range(orders)]
                runs[name] += found
                means.append(np.mean([one["NMI"] for one in found]))
            better += means[1] > means[0]
    for name, found in runs.items():
        table.add(name, found)
    table.notes.append(f"auto has the higher NMI in {better} of {len(readings)} readings")
    return table


def _corel(stored: Any, topics: Any) -> tuple[Channels, Any]:
    rows = np.flatnonzero(np.isin(stored["y"], list(topics)))
    y = np.unique(stored["y"][rows], return_inverse=True)[1]
    views = {"blobs": sparse_block(stored, "view_blobs")[rows].toarray(), "keywords": stored_tags(stored)[0][rows]}
    return Channels(views, ("keywords",)), y


def _compare(title: str, channels: Channels, y: Any, orders: int) -> Table:
    table = Table(title, FIGURES)
    for name, vigilance in WAYS:
        table.add(name, [_score(channels, y, vigilance, order) for order in range(orders)])
    return table


def _score(channels: Channels, y: Any, vigilance: Any, order: int) -> dict[str, float]:
    model = FusionART(vigilance, random_state=order).fit(channels.views)
    judged = y >= 0
    labels = model.labels_[judged]
    return {
        "NMI": metrics.normalized_mutual_info(y[judged], labels),
        "purity": metrics.purity(y[judged], labels),
        "clusters": float(model.n_clusters_),
        "vigilance": float(getattr(model, "tag_vigilance_", vigilance)),
    }
