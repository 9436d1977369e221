"""Why TagForest's layers of tags help here and hurt there: what the trunk says, and how much it decides.

A layer is induced as the paper does it, from the tags alone; the first layer whose tags still vary in a node decides
its split. Compared are the same forest with the layers the other way round, with as many tags drawn by chance for the
trunk, with either layer alone, and with all tags in one. *Tells* is the share of a tag's items that are of its most
frequent class, mean over what tags are given: it looks at classes, as NMI does, and nothing here chooses by it.

Two collections are generated: one tag names the class (four of five items carry it), two are of fifteen; these are the
class's own in the first, and anybody's in the second, which is the case the paper describes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import TagForest, TagTable, metrics
from manyview.methods.forest._soft_tags import soft_layers
from manyview.papers.hml_rf_rows import Tagged, emoji, flickr8k
from manyview.papers.sources import Sources
from manyview.papers.tables import Scale

from ..environments import BENCH
from .collections import data_folder
from .table import Table

FIGURES = ("NMI", "trunk tags", "trunk tells", "rest tells", "lack a trunk tag", "decided by the trunk")
TREES, WALKED = 100, 5
N_ITEMS, N_CLASSES, N_OWN = 600, 10, 15


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")
    for title, data, y in collections(quick):
        runs: dict[str, list[dict[str, float]]] = {}
        for seed in range(1 if quick else 3):
            for name, figures in ways(data, y, 10 if quick else TREES, seed):
                runs.setdefault(name, []).append(figures)
        table = Table(title, FIGURES)
        for name, found in runs.items():
            table.add(name, found)
        yield table


def collections(quick: bool) -> Iterator[tuple[str, Tagged, Any]]:
    yield ("generated, specific tags are the class's own", *generated(own=True))
    yield ("generated, specific tags are anybody's", *generated(own=False))
    sources, scale = Sources(data_folder(), BENCH / "features"), Scale("defaults", quick)
    places: dict[str, Any] = {"emoji": emoji}
    if not sources.missing(("flickr8k-captioned",)):
        places["photographs, words of the topics dropped"] = flickr8k(True)
        places["photographs, words of the topics kept"] = flickr8k(False)
    for title, load in places.items():
        task = load(sources, scale)
        yield title, task.data, task.y


def generated(*, own: bool, seed: int = 0) -> tuple[Tagged, Any]:
    """Looks that tell classes weakly, one tag of the class and two of fifteen."""
    rng = np.random.default_rng(seed)
    y = rng.integers(N_CLASSES, size=N_ITEMS)
    looks = rng.normal(size=(N_ITEMS, 128))
    looks[:, :16] += rng.normal(scale=0.8, size=(N_CLASSES, 16))[y]
    lists = []
    for place in y:
        group = f"of {place}" if own else "of all"
        words = [f"{which} {group}" for which in rng.choice(N_OWN, 2, replace=False)]
        lists.append([*words, f"class {place}"] if rng.random() < 0.8 else words)
    judged = np.ones(N_ITEMS, dtype=bool)
    return Tagged(looks.astype(np.float32), TagTable.from_lists(lists), N_CLASSES, judged), y


def ways(data: Tagged, y: Any, trees: int, seed: int) -> Iterator[tuple[str, dict[str, float]]]:
    tags = data.tags
    induced = _fit(data, tags, trees, seed)
    trunk, rest = [induced.layers_[0], induced.layers_[-1]]
    by_chance = np.random.default_rng(seed).permutation(tags.n_tags)
    chance = [by_chance[: trunk.size].tolist(), by_chance[trunk.size :].tolist()]
    yield "induced layers", _judged(data, y, induced)
    yield "all tags in one", _judged(data, y, _fit(data, tags, trees, seed, use_hierarchy=False))
    turned = _fit(data, tags, trees, seed, hierarchy=[rest.tolist(), trunk.tolist()])
    yield "the rest first", _judged(data, y, turned)
    yield "a trunk by chance", _judged(data, y, _fit(data, tags, trees, seed, hierarchy=chance))
    for name, columns in (("the trunk alone", trunk), ("the rest alone", rest)):
        some = TagTable.from_matrix(tags.yes[:, columns], [tags.names[i] for i in columns])
        yield name, _judged(data, y, _fit(data, some, trees, seed, use_hierarchy=False))


def _fit(data: Tagged, tags: TagTable, trees: int, seed: int, **settings: Any) -> TagForest:
    model = TagForest(data.n_clusters, n_estimators=trees, random_state=seed, n_jobs=1, **settings)
    return model.fit(data.looks, tags)


def _judged(data: Tagged, y: Any, model: TagForest) -> dict[str, float]:
    layers, judged = model.layers_, data.judged
    found = dict.fromkeys(FIGURES, np.nan)
    found["NMI"] = metrics.normalized_mutual_info(y[judged], model.labels_[judged])
    if len(layers) > 1:
        trunk, rest = layers[0], np.concatenate(layers[1:])
        found["trunk tags"] = float(trunk.size)
        found["trunk tells"], found["rest tells"] = (
            _tells(model.tags_[judged][:, one], y[judged]) for one in (trunk, rest)
        )
        found["lack a trunk tag"] = float((model.tags_[:, trunk].getnnz(axis=1) == 0).mean())
        found["decided by the trunk"] = decided_by_trunk(model)
    return found


def _tells(yes: Any, y: Any) -> float:
    """The share of all tags given that are on items of the tag's most frequent class."""
    classes = np.unique(y, return_inverse=True)[1]
    counts = np.stack([np.asarray(yes[classes == one].sum(axis=0)).ravel() for one in range(classes.max() + 1)])
    return float(counts.max(axis=0).sum() / counts.sum())


def decided_by_trunk(model: TagForest) -> float:
    """Of the splits of the first trees, the share that is made while tags of the first layer still vary."""
    table = TagTable.from_matrix(model.tags_, model.tag_names_)
    values = soft_layers(table, model.layers_, model.use_correlations)[0].toarray().astype(np.float64)
    forest, splits, first = model.forest_, 0, 0
    for tree in range(min(WALKED, model.leaves_.shape[1])):
        start, stop = forest["tree_start"][tree : tree + 2]
        feature, child = forest["feature"][start:stop], forest["child"][start:stop]
        members: list[Any] = [None] * (stop - start)
        for node in range(stop - start)[::-1]:  # children come behind their parent
            if feature[node] < 0:
                members[node] = np.flatnonzero(model.leaves_[:, tree] == child[node])
            else:
                members[node] = np.concatenate([members[child[node]], members[child[node] + 1]])
                splits += 1
                first += bool((values[members[node]].var(axis=0) > 1e-6 / members[node].size).any())
    return first / splits
