"""Rows for FusionART: mini-batch k-means, artlib's Fusion ART and the arithmetic floor.

Generated items have 426 content features in three blocks (normal, exponential, log-normal) with weak classes and
1,142 tags, 7 each: class words, topical words, Zipf noise. Tags are kept on disk as padded lists of numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .harness import Case, Contender, Data
from .worker import Fit

N_ITEMS, WIDTH, N_TAGS, N_KINDS, TOPICAL = 23_284, 426, 1_142, 9, 40
OURS = "manyview FusionART"
ARTLIB_ITEMS = 3_000
ARTLIB_VIGILANCE = 0.62
"""Vigilance of artlib's two channels at which it makes as many categories, within 10 %, as ours at 0.1 on this data."""


def cases(quick: bool, large: bool) -> list[Case]:
    n_items, n_small, repeats = (4_000, 300, 2) if quick else (N_ITEMS, ARTLIB_ITEMS, 5)
    ours = Contender(OURS, "fusion_art", ours=True)
    whole = Data("photos", "photos", {"n_items": n_items})
    return [
        Case(
            f"{n_items:,} items, {WIDTH} content features and {N_TAGS:,} tags (7 each), one pass",
            whole,
            (
                ours,
                Contender("scikit-learn MiniBatchKMeans, joined, 25 clusters, one epoch", "mini_batch_kmeans"),
                Contender("arithmetic floor (tag rows, 3.4 boxes, one update each)", "floor"),
            ),
            repeats=repeats,
        ),
        Case(
            f"{n_small:,} items of the same, all dense for artlib, as many categories within 10 %",
            Data("few", "photos", {"n_items": n_small}),
            (ours, Contender("artlib FusionART", "artlib_fusion", {}, "artlib")),
            repeats=2,
        ),
        Case(
            "growth: items into a field of a fixed number of clusters, all of them beside a quarter of them",
            whole,
            (
                Contender(f"{OURS}, {n_items:,} items", "fusion_art_fixed", ours=True),
                Contender(f"{OURS}, {n_items // 4:,} items", "fusion_art_fixed", {"part": 4}),
            ),
            repeats=repeats,
        ),
    ]


def photos(folder: Path, n_items: int, seed: int = 0) -> None:
    """view0: content; view1: the tags of each item, filled up with -1; y: classes."""
    content, lists, y = generate(n_items, seed)
    padded = np.full((n_items, max(map(len, lists))), -1, dtype=np.int32)
    for i, tags in enumerate(lists):
        padded[i, : len(tags)] = tags
    np.save(folder / "view0.npy", content)
    np.save(folder / "view1.npy", padded)
    np.save(folder / "y.npy", y)


def generate(n_items: int, seed: int = 0) -> tuple[np.ndarray, list[list[int]], np.ndarray]:
    rng = np.random.default_rng(seed)
    shares = np.r_[np.full(7, 0.127), 0.055, 0.056]
    y = rng.choice(N_KINDS, n_items, p=shares / shares.sum())
    content = rng.standard_normal((n_items, WIDTH)) + 0.48 * rng.standard_normal((N_KINDS, WIDTH))[y]
    content += rng.standard_normal((n_items, 12)) @ rng.standard_normal((12, WIDTH)) * 0.5
    content[:, 142:284] = np.exp(0.5 * content[:, 142:284])
    content[:, 284:] = np.exp(0.3 * content[:, 284:])
    n_noise = N_TAGS - N_KINDS * TOPICAL
    zipf = 1.0 / np.arange(1, n_noise + 1) ** 0.9
    edges = np.cumsum(zipf / zipf.sum())
    lists = []
    for kind in y:
        if rng.random() < 0.01:
            lists.append([])
            continue
        only_noise = rng.random() < 0.1
        n_drawn = rng.poisson(3.4) + 4 * only_noise
        tags = set((N_KINDS * TOPICAL + np.searchsorted(edges[:-1], rng.random(n_drawn))).tolist())
        if not only_noise:
            first = TOPICAL * int(kind)
            tags |= {first + q for q, p in enumerate((0.8, 0.35, 0.35, 0.35)) if rng.random() < p}
            tags |= set((first + rng.integers(4, TOPICAL, size=2)).tolist())
        lists.append(sorted(tags))
    return content.astype(np.float32), lists, y


def _csr(padded: np.ndarray) -> Any:
    from scipy.sparse import csr_matrix

    held = padded >= 0
    indptr = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
    return csr_matrix((np.ones(int(held.sum()), dtype=np.float32), padded[held], indptr), (len(padded), N_TAGS))


def fusion_art(views: list[np.ndarray], threads: int, **settings: Any) -> Fit:
    from manyview import FusionART

    data = {"content": views[0], "tags": _csr(views[1])}

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = FusionART(random_state=seed, n_jobs=threads, **settings).fit(data)
        return {"iterations": 0, "clusters": model.n_clusters_}

    return fit


def fusion_art_fixed(views: list[np.ndarray], threads: int, part: int = 1) -> Fit:
    """A field grown on the first 4,000 items takes the rest; no vigilance, so that no cluster is added."""
    from copy import deepcopy

    from manyview import FusionART

    tags = _csr(views[1])
    n_items = len(views[0]) // part
    data = {"content": views[0][:n_items], "tags": tags[:n_items]}
    bounds = (views[0].min(axis=0), views[0].max(axis=0))
    start = FusionART(bounds=bounds).partial_fit({"content": views[0][:4000], "tags": tags[:4000]})
    start.set_params(vigilance=0.0)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = deepcopy(start).partial_fit(data)
        return {"iterations": 0, "clusters": model.n_clusters_}

    return fit


def mini_batch_kmeans(views: list[np.ndarray], threads: int) -> Fit:
    from sklearn.cluster import MiniBatchKMeans

    joined = np.hstack([views[0], _csr(views[1]).toarray()])

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = MiniBatchKMeans(25, max_iter=1, n_init=1, random_state=seed).fit(joined)
        return {"iterations": 0, "clusters": model.n_clusters}

    return fit


def floor(views: list[np.ndarray], threads: int, n_clusters: int = 219, boxes: float = 3.4) -> Fit:
    """The sums, minima and updates that one pass cannot do without, on arrays that stay in cache, and nothing else."""
    import numba

    n_items, width = views[0].shape

    @numba.njit(fastmath=True, nogil=True)
    def passes(n_items, x, corner, ceiling, counts, overlap):
        total = 0.0
        for i in range(n_items):
            for q in range(7):
                row = counts[(i + 157 * q) % counts.shape[0]]
                for j in range(row.shape[0]):
                    overlap[j] += row[j]
            for b in range(int((i + 1) * boxes) - int(i * boxes)):
                w, c = corner[(i + b) % corner.shape[0]], ceiling[(i + b) % corner.shape[0]]
                for k in range(x.shape[0]):
                    total += min(x[k], w[k]) + min(np.float32(1.0) - x[k], c[k])
            w, c = corner[i % corner.shape[0]], ceiling[i % corner.shape[0]]
            for k in range(x.shape[0]):
                w[k] -= np.float32(0.6) * max(w[k] - x[k], np.float32(0.0))
                c[k] -= np.float32(0.6) * max(c[k] - np.float32(1.0) + x[k], np.float32(0.0))
        return total

    rng = np.random.default_rng(0)
    x = rng.random(width, dtype=np.float32)
    corner, ceiling = rng.random((2, n_clusters, width), dtype=np.float32)
    counts, overlap = np.ones((N_TAGS, n_clusters), np.int32), np.zeros(n_clusters, np.int64)
    passes(1, x, corner, ceiling, counts, overlap)  # compile

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        passes(n_items, x, corner, ceiling, counts, overlap)
        return {"iterations": 0}

    return fit


def artlib_fusion(views: list[np.ndarray], threads: int, vigilance: float = ARTLIB_VIGILANCE) -> Fit:
    from artlib import FusionART, FuzzyART

    tags = np.zeros((len(views[0]), N_TAGS))
    rows, columns = np.nonzero(views[1] >= 0)
    tags[rows, views[1][rows, columns]] = 1.0
    # Its own preparation scales by the range of the data; a tag that no item of a small set has would divide by 0.
    low, high = views[0].min(axis=0), views[0].max(axis=0)
    scaled = ((views[0] - low) / np.where(high > low, high - low, 1.0)).astype(np.float64)
    joined = np.hstack([scaled, 1.0 - scaled, tags, 1.0 - tags])

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        modules = [FuzzyART(vigilance, 0.01, 0.6), FuzzyART(vigilance, 0.01, 0.6)]
        model = FusionART(modules, np.array([0.5, 0.5]), [2 * WIDTH, 2 * N_TAGS])
        data = joined[:200] if iterations is not None else joined  # a number asks for no more than a warm-up
        model.fit(data[np.random.default_rng(seed).permutation(len(data))])
        return {"iterations": 0, "clusters": int(model.n_clusters)}

    return fit
