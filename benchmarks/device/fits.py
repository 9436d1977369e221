"""Whole fits, by threads and with a graphics processor beside them: how long, and how far apart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import manyview
from manyview import ConsensusClustering, TagCompleter
from manyview.engines import jobs
from manyview.steps import at_work

from ..quality.completion_growth import generate


def made(kind: str, n: int) -> list[Any]:
    """Two views: groups with outliers, no structure at all, or a grid on which most distances are tied."""
    rng, K = np.random.default_rng(7), 50
    if kind == "uniform":
        return [rng.random((n, 64)), rng.random((n, 32))]
    if kind == "grid":
        return [np.round(2 * rng.normal(size=(n, 64))), np.round(rng.normal(size=(n, 32)))]
    y, spread = rng.integers(K, size=n), np.where(rng.random(n) < 0.05, 4, 2)[:, None]
    looks = rng.normal(size=(K, 64))[y] + spread * rng.normal(size=(n, 64))
    return [looks, 1.2 * rng.normal(size=(K, 32))[y % 25] + spread * rng.normal(size=(n, 32))]


def completer(n: int = 50_000, d: int = 1_280, n_tags: int = 500) -> dict[str, Any]:
    """A whole fit, whose neighbours are proposed there, beside one by threads; how far probabilities are apart."""
    looks, tags = generate(n, d, n_tags)
    views, spent, found = {"looks": looks}, {}, {}
    for where in ("threads", "cuda"):
        with manyview.on(where):
            TagCompleter().fit({"looks": looks[:4_000]}, tags[:4_000])  # compiles
            start = time.perf_counter()
            model = TagCompleter().fit(views, tags)
            spent[where] = 1e3 * (time.perf_counter() - start)
        found[where] = model.tag_probabilities(), np.sort(model._items().neighbours[0].items, axis=1)
    (there, near), (here, expected) = found["cuda"], found["threads"]
    apart, differ = np.abs(there - here), (near != expected).any(axis=1)
    print(f"TagCompleter, {n:,} x {d:,}, {n_tags} tags: {spent}, {differ.sum()} items, {apart.max():.1e}", flush=True)
    return {
        "what": f"TagCompleter.fit, {n:,} x {d:,}, {n_tags} tags",
        "fit_ms": spent["cuda"],
        "threads_ms": spent["threads"],
        "items_with_other_neighbours": int(differ.sum()),
        "largest_difference_of_probabilities": float(apart.max()),
    }


def consensus(n: int = 100_000, K: int = 50) -> dict[str, Any]:
    """A fit of 128 + 64 columns: its steps on threads, with the device where it is quicker, and wherever it can be."""
    rng = np.random.default_rng(7)
    y, spread = rng.integers(K, size=n), np.where(rng.random(n) < 0.05, 4, 2)[:, None]
    looks = rng.normal(size=(K, 128))[y] + spread * rng.normal(size=(n, 128))
    text = 1.2 * rng.normal(size=(K, 64))[y % 25] + spread * rng.normal(size=(n, 64))
    views = {"looks": looks.astype(np.float32), "text": text.astype(np.float32)}
    few = {name: view[:12_000] for name, view in views.items()}
    ways = {"threads": ("threads", jobs._WORTH), "cuda": ("cuda", jobs._WORTH), "all there": ("cuda", 0)}
    found, seconds = {}, {}
    for way, (where, worth) in ways.items():
        with manyview.on(where), _worth(worth):
            ConsensusClustering(K, random_state=0).fit(few)  # compiles
            start = time.perf_counter()
            with at_work("fit", None) as work:
                found[way] = ConsensusClustering(K, random_state=0).fit(views)
            seconds[way] = {"all": time.perf_counter() - start, **work._over}
        shown = ", ".join(f"{name} {took:.2f}" for name, took in seconds[way].items())
        print(f"ConsensusClustering, {n:,} x (128 + 64), K {K}, {way}: {shown} s", flush=True)
    here = found.pop("threads")
    return {
        "what": f"ConsensusClustering.fit, {n:,} x (128 + 64), K {K}",
        "seconds": seconds,
        "labels_that_differ": {way: int((there.labels_ != here.labels_).sum()) for way, there in found.items()},
        "members_that_differ": {
            way: int((there.member_labels_ != here.member_labels_).any(axis=0).sum()) for way, there in found.items()
        },
    }


def consensus_identity(n: int = 10_000) -> dict[str, Any]:
    """Labels and members that differ between threads and the device, which does all it can."""
    rows = []
    for kind in ("groups", "uniform", "grid"):
        for dtype in ("float32", "float64"):
            for case in ("dense", "missing", "sparse"):
                views: list[Any] = [view.astype(dtype) for view in made(kind, n)]
                if case == "missing":
                    lot = np.random.default_rng(1).random(n)
                    views[0][lot < 0.15], views[1][lot > 0.85] = np.nan, np.nan
                if case == "sparse":
                    views[1] = csr_matrix(np.where(np.abs(views[1]) > np.quantile(np.abs(views[1]), 0.9), 1, 0))
                models = []
                for where in ("threads", "cuda"):
                    with manyview.on(where), _worth(0):
                        models.append(ConsensusClustering(20, random_state=0).fit(views))
                here, there = models
                differ = int((here.labels_ != there.labels_).sum())
                members = int((here.member_labels_ != there.member_labels_).any(axis=0).sum())
                rows.append({"data": kind, "type": dtype, "case": case, "labels": differ, "members": members})
                print(f"  {kind}, {dtype}, {case}: {differ} of {n:,} labels differ, {members} members", flush=True)
    return {"what": f"labels of ConsensusClustering that differ between threads and the device, of {n:,}", "rows": rows}


@contextmanager
def _worth(products: float) -> Iterator[None]:
    """From so many multiplications a thread on, k-means of rows in memory is the device's work."""
    usual, jobs._WORTH = jobs._WORTH, products
    try:
        yield
    finally:
        jobs._WORTH = usual
