"""The layout of the map next to UMAP and t-SNE: does what is near stay near, and what does it cost?

All lay out the same rows: the views of a collection, fused as the map does it. *Trustworthiness* counts who is near on
the plane and was not, *continuity* who was near and is not on the plane (scikit-learn's measure, 12 neighbours, and the
same with both sides exchanged); *same class* is the share of the 12 nearest on the plane that have the item's class,
which no layout sees. Seconds are CPU seconds of the second call; *first call* has compilation in it, or reads it from a
cache. Then what becomes of a map when a tenth of the items comes later, and what 100,000 items cost.

UMAP comes with the bench requirements; openTSNE is measured where it is installed.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from manyview.blocks import workers
from manyview.data.tags import TagTable
from manyview.describe import layout
from manyview.describe.layout import Known, lay_out
from manyview.describe.likeness import Likeness
from manyview.describe.profiles import cluster_profiles
from manyview.methods.plane import lay_out_points, principal_plane

from .collections import load
from .pictures import picture_collection
from .table import Table

FIGURES = ("trustworthiness", "continuity", "same class", "CPU s", "first call")
STAYS = ("moved", "moved by 9 of 10", "trustworthiness", "CPU s")
COSTS = ("CPU s",)
N_NEAR = 12
LATE = 1 / 11


def tables(quick: bool) -> Iterator[Table]:
    draws = 1 if quick else 3
    for name, views, y in _collections():
        likeness = _likeness(views)
        points, rows = _fused(likeness)
        made = Table(f"{name}: {rows.size} items, {points.shape[1]} numbers each", FIGURES)
        for method, lay in _methods().items():
            made.add(method, [_judge(points, lay, np.asarray(y)[rows], draw) for draw in range(draws)])
        yield made
        if name.startswith("emoji"):
            yield _growing(name, likeness, draws)
    if not quick:
        yield _large()


def _collections() -> Iterator[tuple[str, dict[str, Any], Any]]:
    emoji, photos = picture_collection("emoji"), picture_collection("flickr8k-captioned")
    if emoji is not None:
        tags = TagTable.from_lists(emoji.tags).yes.astype(np.float32)
        yield "emoji, looks and tags", {"embedding": emoji.embedding, "tags": tags}, emoji.labels["group"]
    if photos is not None:
        yield "flickr8k, looks", {"embedding": photos.embedding}, photos.labels["label"]
    for name in ("bbcsport", "newsgroups_ten"):
        if (known := load(name)) is not None:
            yield f"{name}, words", {view: known[0][view] for view in known[0].names}, known[1]


def _likeness(views: dict[str, Any]) -> Likeness:
    n_items = next(iter(views.values())).shape[0]
    found = cluster_profiles(views, np.zeros(n_items, dtype=int)).likeness
    assert found is not None
    return found


def _fused(likeness: Likeness) -> tuple[Any, Any]:
    """The rows that the map lays out, and whose they are."""
    fused = layout._Fused(likeness, 0, layout.MOST_FITTED)
    rows = fused.described()
    with workers(1) as threads:
        return fused.even(fused.rows(rows, threads)), rows


def _methods() -> dict[str, Callable[[Any, int], Any]]:
    found: dict[str, Callable[[Any, int], Any]] = {"manyview": _own, "principal plane": _flat}
    if importlib.util.find_spec("umap"):
        found["UMAP"] = _umap
    if importlib.util.find_spec("openTSNE"):
        found["openTSNE"] = _open_tsne
    return found | {"t-SNE of scikit-learn": _tsne}


def _own(points: Any, seed: int) -> Any:
    with workers(1) as threads:
        return lay_out_points(points, threads, seed=seed)


def _flat(points: Any, seed: int) -> Any:
    return principal_plane(points)


def _umap(points: Any, seed: int) -> Any:
    """As the map was made before."""
    from umap import UMAP

    start = principal_plane(points)
    start = 10.0 * start / np.abs(start).max() + np.random.default_rng(seed).normal(scale=1e-3, size=start.shape)
    return UMAP(n_neighbors=15, min_dist=0.5, init=start, random_state=seed, n_jobs=1).fit_transform(points)


def _open_tsne(points: Any, seed: int) -> Any:
    from openTSNE import TSNE

    return np.asarray(TSNE(random_state=seed, n_jobs=1).fit(points))


def _tsne(points: Any, seed: int) -> Any:
    from sklearn.manifold import TSNE

    return TSNE(init="pca", random_state=seed, n_jobs=1).fit_transform(points)


def _judge(points: Any, lay: Callable[[Any, int], Any], y: Any, seed: int) -> dict[str, float]:
    from sklearn.manifold import trustworthiness
    from sklearn.neighbors import NearestNeighbors

    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            started = time.process_time()
            places = lay(points, seed)
            seconds.append(time.process_time() - started)
    near = NearestNeighbors(n_neighbors=N_NEAR).fit(places).kneighbors(return_distance=False)
    known = y.astype(str) != ""
    return {
        "trustworthiness": trustworthiness(points, places, n_neighbors=N_NEAR),
        "continuity": trustworthiness(places, points, n_neighbors=N_NEAR),
        "same class": float((y[near][known] == y[known][:, None]).mean()),
        "CPU s": seconds[1],
        "first call": seconds[0],
    }


def _growing(name: str, likeness: Likeness, n_draws: int) -> Table:
    """A map of ten elevenths, then of all: how far items move, by the typical distance from the middle."""
    from sklearn.manifold import trustworthiness

    points, rows = _fused(likeness)
    made = Table(f"{name}: a tenth more items come, then a new layout", STAYS)
    runs: dict[str, list[dict[str, float]]] = {"goes on from the map": [], "anew, aligned": []}
    for draw in range(n_draws):
        late = np.random.default_rng(draw).choice(rows.size, round(LATE * rows.size), replace=False)
        early = np.setdiff1d(np.arange(rows.size), late)
        first = layout._scaled(_own(points[early], 0))
        for which, settled in (("goes on from the map", True), ("anew, aligned", False)):
            known = Known(rows[early], first) if settled else Known(rows[early[:2]], first[:2])
            started = time.process_time()
            _, places = lay_out(likeness, seed=draw + 1, known=known, n_jobs=1)
            seconds = time.process_time() - started
            places = layout.align(places, early, first)
            radius = np.median(np.linalg.norm(first - np.median(first, axis=0), axis=1))
            moved = np.linalg.norm(places[early] - first, axis=1) / radius
            trust = trustworthiness(points, places, n_neighbors=N_NEAR)
            figures = (float(np.median(moved)), float(np.quantile(moved, 0.9)), trust, seconds)
            runs[which].append(dict(zip(STAYS, figures, strict=True)))
    for which, found in runs.items():
        made.add(which, found)
    return made


def _large() -> Table:
    """Made rows of 1,280 numbers in 200 groups: a first layout, which is fitted on 20,000 of them at most."""
    made = Table("made up, one view of 1,280 numbers, 200 groups", COSTS)
    for n_items in (2_000, 20_000, 100_000):
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(200, 1_280)).astype(np.float32)[rng.integers(200, size=n_items)]
        rows += rng.normal(size=rows.shape, scale=1.5).astype(np.float32)
        likeness = _likeness({"embedding": rows})
        started = time.process_time()
        lay_out(likeness, n_jobs=1)
        made.add(f"{n_items:,} items", [{"CPU s": time.process_time() - started}])
    return made
