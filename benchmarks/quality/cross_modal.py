"""CrossModalClustering from pixels: looks, tags, both side by side, and fused, as in Table 1 of the CCA + AHKMC paper.

NMI against classes, which no method sees; ACA and ACE against the tags themselves, which the methods do see: both
favour clusterings by tags alone, as in the paper. Fused rows are the whole system at its defaults but for R. All rows
are grouped by ``HierarchicalKMeans``. Looks are the picture embedding that manyview ships, or the paper's LLC over a
spatial pyramid. The paper's figures are of another collection (Corel30k): its layout, not a match.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import (
    AssociationNetwork,
    CanonicalFusion,
    CrossModalClustering,
    HierarchicalKMeans,
    LocalityCoding,
    metrics,
)
from manyview.data.tags import TagTable

from ..environments import BENCH
from .pictures import TOPIC_WORDS, PictureCollection, picture_collection
from .table import Table

FIGURES = ("NMI", "ACA", "ACE", "ACA by size", "ACE by size")
SIZES = (8, 16, 32, 64, 128, 256)
PAPER = {  # Corel30k, NMI / ACA / ACE
    "looks": "0.3495 / 0.4219 / 4.4281",
    "tags": "0.5727 / 0.9259 / 2.5578",
    8: "0.5004 / 0.6809 / 3.1387",
    16: "0.5443 / 0.7447 / 2.9469",
    32: "0.5692 / 0.7992 / 2.7302",
    64: "0.5766 / 0.8468 / 2.6235",
    128: "0.5755 / 0.8855 / 2.5343",
    256: "0.5780 / 0.9106 / 2.5539",
}
N_WORDS = 1024


def tables(quick: bool) -> Iterator[Table]:
    seeds = range(2 if quick else 5)
    for name, classes in (("flickr8k-captioned", "label"), ("emoji", "group"), ("emoji", "subgroup")):
        pictures = picture_collection(name)
        if pictures is None:
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
            continue
        yield compare(pictures, classes, "embedding", pictures.embedding, seeds)
        if not quick and classes != "subgroup":
            yield compare(pictures, classes, f"LLC of {N_WORDS} words", _llc(pictures), seeds)


def compare(pictures: PictureCollection, classes: str, what: str, looks: np.ndarray, seeds: range) -> Table:
    y = pictures.labels[classes]
    judged = y != ""  # items without a class are clustered and not judged
    hidden = TOPIC_WORDS if pictures.name == "flickr8k-captioned" else frozenset()
    tags = TagTable.from_lists([[word for word in words if word not in hidden] for words in pictures.tags])
    k = int(np.unique(y[judged]).size)
    table = Table(
        f"{pictures.name} from pixels, looks: {what} ({looks.shape[1]}), {tags.n_tags} tags, {len(pictures)} items, "
        f"{k} classes ({classes})",
        FIGURES,
    )

    def add(method: str, labels: list[np.ndarray], published: str = "") -> None:
        table.add(
            method,
            [
                {
                    "NMI": metrics.normalized_mutual_info(y[judged], found[judged]),
                    "ACA": metrics.average_clustering_accuracy(tags.yes, found),
                    "ACE": metrics.average_clustering_entropy(tags.yes, found),
                    "ACA by size": metrics.average_clustering_accuracy(tags.yes, found, weighted=True),
                    "ACE by size": metrics.average_clustering_entropy(tags.yes, found, weighted=True),
                }
                for found in labels
            ],
            published,
        )

    def grouped(rows: Any) -> list[np.ndarray]:
        return [HierarchicalKMeans(k, random_state=seed).fit(rows).labels_ for seed in seeds]

    semantic = AssociationNetwork(max_neighbors=20, min_df=5).fit_transform(tags).toarray()
    add("looks only", grouped(looks), PAPER["looks"])
    add("tags only, smoothed", grouped(semantic), PAPER["tags"])
    add("side by side, unit variance", grouped(np.hstack([_scaled(looks), _scaled(semantic)])))
    views = {"looks": looks, "tags": tags}
    for size in SIZES:
        found = [CrossModalClustering(k, n_components=size, random_state=seed).fit(views) for seed in seeds]
        kept = found[0].fusion_.n_components_
        if kept < size:
            table.notes.append(f"the views have {kept} directions in common: R={size} is R={kept}")
        add(f"fused, R={size}", [model.labels_ for model in found], PAPER[size])
        if kept < size:
            break
    even = [CrossModalClustering(k, looks_share=0.5, random_state=seed).fit(views).labels_ for seed in seeds]
    add("fused, R=128, looks and tags alike (0.5)", even)
    literal = CanonicalFusion(128, weights=[0.3, 0.7], corr_power=0)
    table.notes.append("paper: Corel30k, 31,695 photographs, other looks")
    add("fused, R=128, as printed (no weighting by correlation)", grouped(_fused(literal, looks, semantic)))
    return table


def _fused(model: CanonicalFusion, looks: np.ndarray, semantic: np.ndarray) -> np.ndarray:
    model.n_components = min(model.n_components, *(X.shape[1] for X in (looks, semantic)))
    return model.fit([looks, semantic]).transform([looks, semantic])


def _scaled(rows: np.ndarray) -> np.ndarray:
    centred = rows - rows.mean(axis=0)
    return centred / np.sqrt((centred**2).sum(axis=1).mean())


def _llc(pictures: PictureCollection) -> np.ndarray:
    """LLC codes, kept under ``.bench`` because they take minutes."""
    kept = BENCH / "features" / f"{pictures.name}-llc-{N_WORDS}.npy"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        rows = LocalityCoding(N_WORDS, random_state=0).fit_transform(pictures)
        with kept.with_suffix(".new").open("wb") as file:
            np.save(file, rows)
        kept.with_suffix(".new").replace(kept)
    return np.load(kept, allow_pickle=False)
