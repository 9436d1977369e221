"""Tiny made-up data for every kind of table: three classes that looks and words both tell apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from manyview.data.tags import TagTable
from manyview.data.views import Views
from manyview.papers.aplsa import Words
from manyview.papers.cca_ahkmc import Pair
from manyview.papers.ghf_art_data import Channels
from manyview.papers.hml_rf_rows import Tagged
from manyview.papers.incomplete.labels import Labelled
from manyview.papers.incomplete.views import Incomplete
from manyview.papers.tables import Task

N, NAMES = 60, ("cats", "dogs", "ships")
Y = np.repeat(np.arange(3), N // 3)
VIEWS = {"rmkmc 5": ("fou", "fac", "kar", "mor", "pix", "zer")}
VIEWS["rmkmc 3"] = ("lbp", "hog", "gist", "color_texture", "sift", "centrist")


def looks(width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.abs(np.eye(3, width)[Y] * 2 + 0.3 * rng.random((N, width)))


def tags(seed: int = 0) -> csr_matrix:
    """Two words a class, one of them always, and one word that anybody may have."""
    rng = np.random.default_rng(seed)
    table = np.zeros((N, 7))
    table[np.arange(N), 2 * Y] = 1
    table[np.arange(N), 2 * Y + 1] = rng.random(N) < 0.7
    table[:, 6] = rng.random(N) < 0.4
    return csr_matrix(table)


def picture(item: int) -> np.ndarray:
    return np.full((6, 6), 40 * (item % 6), dtype=np.uint8)


def task(paper: str, table) -> Task:
    """Data as the table's own loader would give it, only smaller."""
    table_of_tags = TagTable.from_matrix(tags(), [f"word{i}" for i in range(7)])
    every = np.ones(N, dtype=bool)
    if paper == "rmkmc":
        names = VIEWS[f"rmkmc {table.number}"]
        data = Views({name: looks(4 + i, i) for i, name in enumerate(names)})
    elif paper == "ghf-art":
        data = Channels({"looks": looks(5), "tags": tags()}, ("tags",))
    elif paper == "aplsa":
        counts = csr_matrix(np.round(60 * looks(8)))
        data = Words(counts, Y, counts, tags(), range(3), 2, True)
    elif paper == "missing" and table.number == "labels":
        data = Labelled(Views({"looks": looks(5), "words": tags()}), tags(), list(table_of_tags.names))
    elif paper == "missing":
        of_words = table.on in ("bbcsport", "three_sources")
        data = Incomplete(Views({"a": tags(), "b": tags(1)} if of_words else {"a": looks(5), "b": looks(4, 1)}))
    elif paper == "hml-rf":
        data = Tagged(looks(8).astype(np.float32), table_of_tags, 3, every)
    else:
        data = Pair(looks(12), table_of_tags, 3, every)
    made = Task("made-up items", Y, NAMES, picture, data)
    by_class = paper == "ghf-art" and table.published == "none"
    return replace(made, figures=(*NAMES, "overall", "clusters")) if by_class else made
