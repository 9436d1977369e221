"""Does a tree of tags help to complete tags, or to find clusters? The same tags with and without it.

Completion: 40 % of the tags are hidden. *Raised*: items also carry every tag above one of theirs
(``TagHierarchy.raised``), so that sources see children of one parent as alike. Judged are the same hidden tags in both,
ranked among the same tags: those of the collection, without what the item is known to carry or what a known tag of it
implies. Two collections have a tree: emoji, with the word of each picture's subgroup as one more tag below its
group's; and CAL500, whose names say what is the best genre or a solo of what. Of the others a tree is induced from the
tags that are left: a tag stands below another that four of five of its items carry.

Clusters: TagForest on tags as they are, with the layers it induces, with all tags in one, and with those of a tree,
raised or not. Emoji: a fifth of the pictures also carry the word of their subgroup; judged by the groups of the other
ones. On flickr8k the tree is induced.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from manyview import TagCompleter, TagForest, TagHierarchy, TagTable, Views, metrics
from manyview.evaluation import hide_tags

from .completion import HIDE, load
from .pictures import TOPIC_WORDS, picture_collection
from .table import Table

FEWEST, SHARE = 3, 0.8
"""A tag on so many items stands below another that so large a share of them carry."""
TREES, SHOWN = 60, 0.2
COMPLETION = ("P@1", "raised P@1", "gain P@1", "MAP", "raised MAP", "gain MAP")


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")
    draws = 1 if quick else 3
    table = Table(f"Completion, {HIDE:.0%} hidden, {draws} draw(s)", COMPLETION)
    for name, (X, tags, tree_of) in collections(quick).items():
        runs = [completed(X, tags, tree_of, seed) for seed in range(draws)]
        table.add(name, runs, f"{runs[0]['parents']:.0f} tags above others")
    table.notes.append("gain: raised less plain, draw by draw. published: how large the tree is, in the first draw.")
    yield table
    yield from clusters(quick)


def collections(quick: bool) -> dict[str, tuple[Any, TagTable, Callable[[TagTable], TagHierarchy]]]:
    """Views, tags, and the tree of what is left of them, by name."""
    found: dict[str, Any] = {}
    if (pictures := picture_collection("emoji")) is not None:
        words = [[*row, f"in {place}"] for row, place in zip(pictures.tags, pictures.labels["subgroup"], strict=True)]
        found["emoji, its groups"] = (
            Views({"embedding": pictures.embedding}),
            often(words),
            lambda _: groups(pictures),
        )
    if (songs := load("cal500")) is not None:
        tree = best_and_solo(songs[1].names)
        found["cal500, its names"] = (*songs, lambda _: tree)
    for name in () if quick else ("emoji", "flickr8k-captioned", "cal500", "corel5k", "bibtex"):
        if (loaded := load(name)) is not None:
            found[f"{name}, induced"] = (*loaded, lambda left: induced(left))
    return found


def often(words: list[list[str]]) -> TagTable:
    """The tags that are on three items or more."""
    table = TagTable.from_lists(words)
    kept = np.flatnonzero(np.asarray(table.yes.sum(axis=0)).ravel() >= FEWEST)
    return TagTable.from_matrix(table.yes[:, kept], [table.names[i] for i in kept])


def groups(pictures: Any) -> TagHierarchy:
    pairs = sorted(set(zip(pictures.labels["group"], pictures.labels["subgroup"], strict=True)))
    return TagHierarchy.from_paths([f"group {group}|in {place}" for group, place in pairs])


def best_and_solo(names: Any) -> TagHierarchy:
    """Genre-Best-X below Genre-X, Instrument-X-Solo below Instrument-X, where both are tags."""
    plain = {name.replace("_", "").replace("-", ""): name for name in names}
    paths = list(names)
    for name in names:
        general = name.replace("-Best", "").removesuffix("-Solo")
        parent = plain.get(general.replace("_", "").replace("-", ""))
        if parent is not None and parent != name:
            paths.append(f"{parent}|{name}")
    return TagHierarchy.from_paths(paths)


def induced(left: TagTable) -> TagHierarchy:
    """Each tag below the rarest other tag that most of its items carry and that is on more items."""
    count = np.asarray(left.yes.sum(axis=0)).ravel()
    together = (left.yes.T @ left.yes).tocsr()
    parents: list[Any] = []
    for tag in range(left.n_tags):
        row = together[tag].tocoo()
        above = [
            int(other)
            for other, both in zip(row.col, row.data, strict=True)
            if count[tag] >= FEWEST and count[other] > count[tag] and both >= SHARE * count[tag]
        ]
        parents.append(min(above, key=lambda other: (count[other], other)) if above else None)
    return TagHierarchy.from_parents(list(left.names), [-1 if one is None else one for one in parents])


def completed(X: Any, tags: TagTable, tree_of: Callable[[TagTable], TagHierarchy], seed: int) -> dict[str, float]:
    left, hidden = hide_tags(tags, HIDE, seed)
    tree = tree_of(left)
    raised = all_raised(tree, left)
    # What a known tag implies is no longer to be found.
    known = np.asarray(raised.yes[:, : tags.n_tags].toarray() > 0)
    sought = (hidden.toarray() > 0) & ~known
    figures = {"parents": float(len({word for name in tags.names if name in tree for word in tree.above(name)}))}
    for prefix, table in (("", left), ("raised ", raised)):
        model = TagCompleter(random_state=seed, n_jobs=1).fit(X, table)
        scores = np.where(known, -np.inf, model.tag_scores()[:, : tags.n_tags])
        figures[f"{prefix}P@1"], figures[f"{prefix}MAP"] = ranked(scores, sought)
    for figure in ("P@1", "MAP"):
        figures[f"gain {figure}"] = figures[f"raised {figure}"] - figures[figure]
    return figures


def all_raised(tree: TagHierarchy, table: TagTable) -> TagTable:
    """``raised``, and also where one child alone stands below a tag of the table."""
    above = {name: [word for word in tree.above(name) if word in table] for name in table.names if name in tree}
    pairs = [(table.index(name), table.index(word)) for name, words in above.items() for word in words]
    more = csr_matrix((np.ones(len(pairs)), tuple(zip(*pairs, strict=True)) or ((), ())), shape=(table.n_tags,) * 2)
    yes = ((table.yes + table.yes @ more) > 0).astype(np.float32)
    return tree.raised(TagTable.from_matrix(csr_matrix(yes), table.names))


def ranked(scores: np.ndarray, sought: np.ndarray) -> tuple[float, float]:
    """P@1 and mean average precision over items with a tag to be found."""
    asked = sought.any(axis=1)
    order = np.argsort(-scores[asked], axis=1, kind="stable")
    hits = np.take_along_axis(sought[asked], order, axis=1)
    precision = hits.cumsum(axis=1) / np.arange(1, hits.shape[1] + 1)
    return float(hits[:, 0].mean()), float(((precision * hits).sum(axis=1) / hits.sum(axis=1)).mean())


def clusters(quick: bool) -> Iterator[Table]:
    draws, trees = (1, 10) if quick else (3, TREES)
    for name, kind in (("emoji", "group"), ("emoji", "subgroup"), ("flickr8k-captioned", "label")):
        pictures = picture_collection(name)
        if pictures is None:
            continue
        runs: dict[str, list[dict[str, float]]] = {}
        for seed in range(draws):
            words, tree_of, judged = situation(pictures, kind, seed)
            for method, labels in forests(
                pictures.embedding, often(words), tree_of, pictures.labels[kind], trees, seed
            ):
                figure = metrics.normalized_mutual_info(pictures.labels[kind][judged], labels[judged])
                runs.setdefault(method, []).append({"NMI": figure})
        told = ", the other pictures" if name == "emoji" else ""
        table = Table(f"Clusters: {name}, {kind}{told}, {trees} trees, {draws} draw(s)", ("NMI",))
        for method, figures in runs.items():
            table.add(method, figures)
        yield table


def situation(pictures: Any, kind: str, seed: int) -> tuple[list[list[str]], Any, np.ndarray]:
    """Words of the items, the tree of a table of them, and which items are judged."""
    if pictures.name != "emoji":
        words = [[word for word in row if word.lower() not in TOPIC_WORDS] for row in pictures.tags]
        return words, induced, pictures.labels[kind] != ""
    told = np.random.default_rng(seed).random(len(pictures)) < SHOWN
    words = [
        [*row, f"in {place}"] if shown else list(row)
        for row, place, shown in zip(pictures.tags, pictures.labels["subgroup"], told, strict=True)
    ]
    return words, lambda _: groups(pictures), ~told


def forests(
    looks: np.ndarray, tags: TagTable, tree_of: Callable[[TagTable], TagHierarchy], truth: Any, trees: int, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    k, tree = np.unique(truth[truth != ""]).size, tree_of(tags)
    raised = all_raised(tree, tags)
    ways: dict[str, tuple[TagTable, dict[str, Any]]] = {
        "layers induced (default)": (tags, {}),
        "one layer": (tags, {"use_hierarchy": False}),
        "layers of the tree": (tags, {"hierarchy": tree}),
        "layers of the tree, raised": (raised, {"hierarchy": tree}),
        "layers induced, raised": (raised, {}),
        "one layer, raised": (raised, {"use_hierarchy": False}),
    }
    for name, (table, settings) in ways.items():
        yield name, TagForest(k, n_estimators=trees, random_state=seed, n_jobs=1, **settings).fit(looks, table).labels_
