"""Clusters of a collection of which few items are tagged: should those tags have a say?

5 to 50 % of the items keep their tags, drawn at random or class by class (a person who tags one holiday after the
other). Without: the looks alone. Tagged: tags are a view that the others lack. Cross-modal: looks and tags in one space
(``CrossModalClustering``), with the ridge that it finds and with the paper's. NMI with classes that no method has seen,
their number given, defaults, over three draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from manyview import ConsensusClustering, CrossModalClustering, TagTable, Views, metrics

from .pictures import TOPIC_WORDS, PictureCollection, picture_collection
from .table import Table

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
FIGURES = tuple(f"{share:.0%}" for share in SHARES)
RIDGES: dict[str, float | str] = {"cross-modal": "auto", "cross-modal, ridge 1": 1.0}
WAYS = ("without", "tagged", *RIDGES)


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")
    for name, kind in (("flickr8k-captioned", "label"), ("emoji", "group")):
        found = picture_collection(name)
        if found is None:
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
            continue
        for order in ("at random",) if quick else ("at random", "class by class"):
            yield compare(found, kind, order, 1 if quick else 3)


def compare(pictures: PictureCollection, kind: str, order: str, draws: int) -> Table:
    known = np.flatnonzero(pictures.labels[kind] != "")
    looks = pictures.embedding[known]
    y = np.unique(pictures.labels[kind][known], return_inverse=True)[1]
    hidden = TOPIC_WORDS if pictures.name == "flickr8k-captioned" else frozenset()
    words = [[word for word in pictures.tags[item] if word not in hidden] for item in known]
    table = Table(f"{pictures.name}, {kind}: NMI by the share of items with tags, {order}", FIGURES)
    runs = [one_draw(looks, words, y, order, draw) for draw in range(draws)]
    for way in WAYS:
        table.add(way, [run[way] for run in runs])
    return table


def one_draw(
    looks: np.ndarray, words: list[list[str]], y: np.ndarray, order: str, draw: int
) -> dict[str, dict[str, float]]:
    """NMI by the share of tagged items, for each of ``WAYS``."""
    rng = np.random.default_rng(draw)
    turn = rng.permutation(y.size)
    if order == "class by class":
        turn = np.lexsort((turn, rng.permutation(y.max() + 1)[y]))
    alone = fitted({"looks": looks}, y, draw)
    found: dict[str, dict[str, float]] = {way: {} for way in WAYS} | {"without": dict.fromkeys(FIGURES, alone)}
    for share, figure in zip(SHARES, FIGURES, strict=True):
        has = np.zeros(y.size, dtype=bool)
        has[turn[: round(share * y.size)]] = True
        tags = TagTable.from_lists([row if one else [] for row, one in zip(words, has, strict=True)])
        twice = np.flatnonzero(np.asarray(tags.yes.sum(axis=0)).ravel() >= 2)
        both = {"looks": looks, "tags": tags.yes[:, twice]}
        found["tagged"][figure] = fitted(both, y, draw, np.diff(both["tags"].indptr) > 0)
        for way, ridge in RIDGES.items():
            model = CrossModalClustering(int(y.max()) + 1, regularization=ridge, random_state=draw)
            found[way][figure] = metrics.normalized_mutual_info(
                y, model.fit_predict({"looks": looks, "tags": tags.yes})
            )
    return found


def fitted(views: dict[str, object], y: np.ndarray, seed: int, tagged: np.ndarray | None = None) -> float:
    mask = None if tagged is None else np.column_stack([np.ones(y.size, dtype=bool), tagged])
    model = ConsensusClustering(int(y.max()) + 1, random_state=seed).fit(Views(views, mask=mask))
    return metrics.normalized_mutual_info(y, model.labels_)
