"""What it costs FusionART to learn in shards that are merged (``shards=``), beside one pass over all items.

"with one": NMI with the labels of the pass over all in the same order; of that pass itself, with the labels of another
order, which is how much chance alone changes. Rows are mixed first; in the last row they lie class by class, so
that every shard sees other classes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from manyview import FusionART, Views, metrics

from ..environments import BENCH
from .collections import data_folder
from .table import Table
from .vigilance import Sources, tagged_collections

FIGURES = ("NMI", "with one", "clusters", "CPU s")
SHARDS = (2, 4, 8)
GROUPS, WIDTH, N_TAGS = 50, 64, 500


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")
    orders = 1 if quick else 3
    n_items = 4_000 if quick else 100_000
    yield _compare(f"generated: {n_items} items, {GROUPS} groups, looks and tags", *generate(n_items), orders)
    sources = Sources(data_folder(), BENCH / "features")
    if sources.missing(("corel5k", "newsgroups_ten", "flickr8k-captioned")):
        yield Table("no collections in MANYVIEW_DATA", FIGURES)
        return
    for title, channels, y in tagged_collections(sources, quick):
        yield _compare(title, Views(channels.views), y, orders)


def generate(n_items: int, seed: int = 5) -> tuple[Views, np.ndarray]:
    """Uneven groups with outliers; of its group's ten tags an item has three or four, and of all others a few."""
    rng = np.random.default_rng(seed)
    y = rng.choice(GROUPS, n_items, p=rng.dirichlet(np.full(GROUPS, 3.0)))
    spread = np.where(rng.random(n_items) < 0.05, 4.0, 1.0).astype(np.float32)[:, None]
    looks = rng.normal(size=(GROUPS, WIDTH)).astype(np.float32)[y]
    looks += spread * rng.standard_normal((n_items, WIDTH), dtype=np.float32)
    own = (10 * y[:, None] + rng.integers(10, size=(n_items, 3))).ravel()
    noise = rng.integers(N_TAGS, size=n_items)
    item = np.concatenate([np.repeat(np.arange(n_items), 3), np.arange(n_items)])
    tags = csr_matrix((np.ones(4 * n_items), (item, np.concatenate([own, noise]))), shape=(n_items, N_TAGS))
    tags.data[:] = 1
    return Views({"looks": looks, "tags": tags}), y


def _compare(title: str, views: Views, y: np.ndarray, orders: int) -> Table:
    table = Table(title, FIGURES)
    runs: dict[str, list[dict[str, float]]] = {}
    for min_size, look in ((None, "one pass"), (0.01, "second look")):
        for order in range(orders):
            mixed = np.random.default_rng(order).permutation(y.size)
            sorted_rows = np.argsort(y, kind="stable")
            whole, took = _fitted(views[mixed], order, None, min_size)
            other, _ = _fitted(views[mixed], orders + order, None, min_size)
            runs.setdefault(f"{look}, all together", []).append(_figures(whole, y[mixed], other.labels_, took))
            for n_shards in SHARDS:
                part, took = _fitted(views[mixed], order, n_shards, min_size)
                runs.setdefault(f"{look}, {n_shards} shards", []).append(_figures(part, y[mixed], whole.labels_, took))
            part, took = _fitted(views[sorted_rows], order, SHARDS[-1], min_size)
            one = np.empty_like(whole.labels_)
            one[mixed] = whole.labels_
            runs.setdefault(f"{look}, {SHARDS[-1]} shards, class by class", []).append(
                _figures(part, y[sorted_rows], one[sorted_rows], took)
            )
    for name, found in runs.items():
        table.add(name, found)
    return table


def _fitted(views: Views, order: int, n_shards: int | None, min_size: float | None) -> tuple[Any, float]:
    began = time.process_time()
    model = FusionART(shards=n_shards, min_size=min_size, random_state=order, n_jobs=1).fit(views)
    return model, time.process_time() - began


def _figures(model: Any, y: np.ndarray, others: np.ndarray, seconds: float) -> dict[str, float]:
    judged, measure = y >= 0, metrics.normalized_mutual_info
    return {
        "NMI": measure(y[judged], model.labels_[judged]),
        "with one": measure(others, model.labels_),
        "clusters": float(np.unique(model.labels_).size),
        "CPU s": seconds,
    }
