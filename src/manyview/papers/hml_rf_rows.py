"""The rows of the HML-RF tables: the forest in its variants, and everything it is compared with, on looks and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..data.hiding import hide_tags
from ..data.tags import TagTable
from ..types import Mask, Places
from .rivals.affinities import aggregated_graph, averaged_graph, graph_labels, neighbour_graph
from .sources import Sources
from .tables import Found, Row, Scale, Task, Trace

__all__ = [
    "MEASURES",
    "REMOVED",
    "Tagged",
    "clusterings",
    "completion",
    "emoji",
    "flickr8k",
    "forest_sizes",
    "layers",
    "most_specific",
    "removed",
]

MEASURES = ("purity", "NMI", "RI", "F1", "ARI")
REMOVED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
HIDDEN = 0.4  # of the tags, where completion is judged
VARIANTS: dict[str, dict[str, Any]] = {
    "HML-RF": {},
    "HML-RF(FlatTags)": {"use_hierarchy": False},
    "HML-RF(NoCorr)": {"use_correlations": False},
}
_EXEMPLARS = 100  # rounds of affinity propagation


@dataclass(frozen=True)
class Tagged:
    """Items with looks and tags, and the graphs and rows that methods share; made once for each set of tags."""

    looks: Any
    tags: TagTable
    n_clusters: int
    judged: Mask

    def with_tags(self, tags: TagTable) -> Tagged:
        return Tagged(self.looks, tags, self.n_clusters, self.judged)

    @cached_property
    def unit_tags(self) -> Any:
        from scipy.sparse import csr_matrix
        from sklearn.feature_extraction.text import TfidfTransformer

        return csr_matrix(TfidfTransformer().fit_transform(self.tags.yes), dtype=np.float32)

    @cached_property
    def joined(self) -> Any:
        return np.hstack([self.looks, self.unit_tags.toarray()])

    def rows(self, what: str) -> Any:
        return {"looks": self.looks, "tags": self.unit_tags, "looks and tags joined": self.joined}[what]

    @cached_property
    def graphs(self) -> list[Any]:
        return [neighbour_graph(self.looks), neighbour_graph(self.unit_tags)]

    @cached_property
    def abstract(self) -> Any:
        """The tags of the first layer of the induced hierarchy: the third view of the three-view CCA."""
        return self.unit_tags[:, self.layers(2)[0]]

    def layers(self, n_layers: int) -> list[Any]:
        """The columns of an induced hierarchy, the most abstract first."""
        from ..methods.forest.tag_forest import TagForest

        model = TagForest(2, n_estimators=1, n_layers=n_layers, random_state=0)
        return list(model.fit(self.looks, self.tags).layers_)

    def forest(self, seed: int, n_trees: int, tags: Any = "all", looks: Any = None, **settings: Any) -> Places:
        from ..methods.forest.tag_forest import TagForest

        known = self.tags if isinstance(tags, str) else tags
        model = TagForest(self.n_clusters, n_estimators=n_trees, random_state=seed, **settings)
        return model.fit(self.looks if looks is None else looks, known).labels_

    def canonical(self, views: list[Any], seed: int) -> Places:
        from ..methods.canonical.canonical_fusion import CanonicalFusion

        size = min(128, *(view.shape[1] for view in views))
        rows = CanonicalFusion(size, random_state=seed).fit_transform(views)
        return graph_labels(neighbour_graph(rows), self.n_clusters, seed)


Cluster = Callable[[Tagged, int], Places]


def _tagged(words: list[list[str]], looks: Any, names: Any) -> tuple[Tagged, Any, list[str]]:
    """Tags on three or more items; classes as numbers."""
    whole = TagTable.from_lists(words)
    often = np.flatnonzero(whole.yes.getnnz(axis=0) >= 3)
    tags = TagTable.from_matrix(whole.yes[:, often], [whole.names[i] for i in often])
    found, y = np.unique(names, return_inverse=True)
    judged = np.asarray(names) != ""
    k = int(np.unique(y[judged]).size)
    return Tagged(np.asarray(looks, dtype=np.float32), tags, k, judged), y, [str(name) for name in found]


def emoji(sources: Sources, scale: Scale) -> Task:
    """Embedding and tags of the emoji, nine groups; every fourth in a quick run."""
    pictures = sources.pictures("emoji")
    if scale.quick:
        pictures = pictures.part(range(0, len(pictures), 4))
    data, y, names = _tagged(pictures.tags, pictures.embedding, pictures.labels["group"])
    words = (
        f"emoji, which ship with the package: {len(pictures):,} pictures (embedding, 1,280), {_told(data)}, nine groups"
    )
    return Task(words, y, names, pictures.picture, data)


def flickr8k(dropped: bool) -> Callable[[Sources, Scale], Task]:
    """Embedding and tags of captioned photographs, eight topics, the words of the topics kept or dropped."""

    def load(sources: Sources, scale: Scale) -> Task:
        from .pictures import TOPIC_WORDS

        pictures = sources.pictures("flickr8k-captioned")
        hidden = TOPIC_WORDS if dropped else frozenset()
        lists = [[word for word in row if word.lower() not in hidden] for row in pictures.tags]
        data, y, names = _tagged(lists, pictures.embedding, pictures.labels["label"])
        kept = "the words of the topics dropped" if dropped else "the words of the topics kept"
        words = (
            f"flickr8k-captioned: {len(pictures)} photographs (embedding, 1,280), {_told(data)}, {kept}, eight topics"
        )
        return Task(words, y, names, pictures.picture, data)

    return load


def _told(data: Tagged) -> str:
    return f"{data.tags.n_tags} tags on three or more, {data.tags.yes.nnz / data.tags.n_items:.1f} each"


def _trees(scale: Scale) -> int:
    return 20 if scale.quick else 1000 if scale.as_printed else 100


def _methods(scale: Scale) -> Iterator[tuple[str, str, Cluster]]:
    """Every clustering: its name, the printed row, and labels from data and a seed."""
    n_trees = _trees(scale)
    for what in ("looks", "tags", "looks and tags joined"):
        joined = "-cmb" if what.endswith("joined") else ""
        yield f"k-means, {what}", f"K-means, {what}", partial(_kmeans, what)
        yield f"spectral, {what}", f"SpClust{joined}, {what}", partial(_spectral, what)
        yield f"clustering forest, {what}", f"ClustRF, {what}", partial(_clustering_forest, what, n_trees)
        yield f"affinity propagation, {what}", f"AffProp, {what}", partial(_exemplars, what)
    balanced = "looks and tags balanced"
    yield "spectral, averaged graphs (bln)", f"SpClust-blm, {balanced}", _averaged
    yield "CCA, then spectral", f"CCA+SpClust, {balanced}", _two_views
    yield "three-view CCA, then spectral", f"3VCCA+SpClust, {balanced}", _three_views
    yield "aggregated graphs (AASC)", f"AASC, {balanced}", _aggregated
    yield "joint forest (CC-Forest-like)", f"CC-Forest, {balanced}", partial(_joint_forest, min(100, n_trees))
    for name, settings in VARIANTS.items():
        yield f"TagForest: {name}", "" if settings else name, partial(_forest, n_trees, settings)


def _kmeans(what: str, data: Tagged, seed: int) -> Places:
    from ..methods.spectral import cluster_rows

    return cluster_rows(data.rows(what), data.n_clusters, seed=seed)[0]


def _spectral(what: str, data: Tagged, seed: int) -> Places:
    return graph_labels(neighbour_graph(data.rows(what)), data.n_clusters, seed)


def _clustering_forest(what: str, n_trees: int, data: Tagged, seed: int) -> Places:
    """Without tags to learn from: real items told from made-up ones."""
    return data.forest(seed, n_trees, None, _dense(data.rows(what)))


def _exemplars(what: str, data: Tagged, seed: int) -> Places:
    from .rivals.exemplars import affinity_propagation, linear_kernel

    return affinity_propagation(linear_kernel(_dense(data.rows(what))), max_iter=_EXEMPLARS)


def _averaged(data: Tagged, seed: int) -> Places:
    return graph_labels(averaged_graph(data.graphs), data.n_clusters, seed)


def _aggregated(data: Tagged, seed: int) -> Places:
    return graph_labels(aggregated_graph(data.graphs, data.n_clusters, seed=seed).graph, data.n_clusters, seed)


def _joint_forest(n_trees: int, data: Tagged, seed: int) -> Places:
    from .rivals.joint_forest import joint_graph

    return graph_labels(joint_graph(data.looks, data.tags.yes, n_trees, seed), data.n_clusters, seed)


def _two_views(data: Tagged, seed: int) -> Places:
    return data.canonical([data.looks, data.unit_tags], seed)


def _three_views(data: Tagged, seed: int) -> Places:
    """The abstract tags as a third view, as the paper does; the generalisation to three is MAXVAR."""
    return data.canonical([data.looks, data.unit_tags, data.abstract], seed)


def _forest(n_trees: int, settings: Mapping[str, Any], data: Tagged, seed: int) -> Places:
    return data.forest(seed, n_trees, **settings)


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows


def clusterings(task: Task, scale: Scale) -> list[Row]:
    """Tables 1 and 2: every method by five measures."""
    rows = []
    for name, published, cluster in _methods(scale):
        chance = "affinity propagation" not in name
        shows = ("confusion", "samples") if name == "TagForest: HML-RF" else ()
        rows.append(Row(name, _labelled(task, cluster), published, None if chance else 1, shows=shows))
    return rows


def _labelled(task: Task, cluster: Cluster) -> Callable[[int], Found]:
    return lambda seed: Found(cluster(task.data, seed), judged=task.data.judged)


def removed(task: Task, scale: Scale) -> list[Row]:
    """Table 3, Figures 5 and 6: NMI with all tags, and how much of it is lost as tags go."""
    from .. import metrics

    wanted = {
        "spectral, looks and tags joined": "SpClust-cmb",
        "CCA, then spectral": "CCA+SpClust",
        "three-view CCA, then spectral": "3VCCA+SpClust",
        "TagForest: HML-RF": "HML-RF",
        **dict.fromkeys(("spectral, looks", "spectral, averaged graphs (bln)", "aggregated graphs (AASC)"), ""),
        **dict.fromkeys(("TagForest: HML-RF(FlatTags)", "TagForest: HML-RF(NoCorr)"), ""),
    }
    shares = REMOVED[::5] if scale.quick else REMOVED

    def lost(cluster: Cluster) -> Callable[[int], Found]:
        def run(seed: int) -> Found:
            found = []
            for share in shares:
                labels = cluster(_with_fewer(task.data, share, seed), seed)
                judged = task.data.judged
                found.append(metrics.normalized_mutual_info(task.y[judged], labels[judged]))
            whole = found[0] or np.inf  # of nothing, nothing is lost
            drops = {
                f"{share:.0%}": (found[0] - nmi) / whole for share, nmi in zip(shares, found, strict=True) if share
            }
            trace = Trace(found, [100 * share for share in shares], "% of the tags removed")
            return Found(figures={"NMI": found[0], **drops}, traces={"NMI": trace})

        return run

    return [Row(name, lost(cluster), wanted[name]) for name, _, cluster in _methods(scale) if name in wanted]


def _with_fewer(data: Tagged, share: float, seed: int) -> Tagged:
    return data.with_tags(hide_tags(data.tags, share, seed)[0]) if share else data


def layers(task: Task, scale: Scale) -> list[Row]:
    """Table 4: how many layers the induced hierarchy has."""
    found = []
    for number in (2, 5) if scale.quick else range(2, 8):
        run = _labelled(task, partial(_forest, _trees(scale), {"n_layers": number}))
        found.append(Row(f"{number} layers", run, str(number), study="layers", x=float(number), listed=True))
    return found


def most_specific(task: Task, scale: Scale) -> list[Row]:
    """Table 5: only the most specific layer of the hierarchy, flat, beside both layers."""

    def specific(data: Tagged, seed: int) -> Places:
        columns = data.layers(2)[-1]
        tags = TagTable.from_matrix(data.tags.yes[:, columns], [data.tags.names[i] for i in columns])
        return data.forest(seed, _trees(scale), tags, use_hierarchy=False)

    return [
        Row("one layer: the most specific tags", _labelled(task, specific), "NUS-WIDE, 1-Layer Most Specific Tags"),
        Row(
            "two layers",
            _labelled(task, partial(_forest, _trees(scale), {})),
            "NUS-WIDE, 2-Layers Hierarchy Tags",
        ),
    ]


def forest_sizes(task: Task, scale: Scale) -> list[Row]:
    """Figure 8: trees and the size of leaves, the latter also with two fifths of the tags hidden."""
    rows = [Row("TagForest: HML-RF, the settings above", _labelled(task, partial(_forest, _trees(scale), {})))]
    for count in (10, 40) if scale.quick else (10, 30, 100, 300, 1000):
        run = _labelled(task, partial(_forest, count, {}))
        rows.append(Row(f"{count} trees", run, study="trees", x=float(count)))
    n_trees = min(100, _trees(scale))
    for size in (1, 10) if scale.quick else (1, 2, 3, 5, 10, 20):
        for line, share in (("all tags", 0.0), ("40 % hidden", HIDDEN)):
            run = _labelled(task, partial(_leaves, n_trees, size, share))
            name, listed = f"leaves of {size}, {line}", size in (3, 10)
            rows.append(Row(name, run, study="leaf", line=line, x=float(size), listed=listed))
    for line, share in (("all tags", 0.0), ("40 % hidden", HIDDEN)):
        rows.append(Row(f"leaves found by hiding a fifth of the tags, {line}", _found_leaves(n_trees, share, task)))
    return rows


def _found_leaves(n_trees: int, share: float, task: Task) -> Callable[[int], Found]:
    """The size of leaves that finds a fifth of the tags again best, hidden for that; looks at no class."""

    def run(seed: int) -> Found:
        from ..methods.forest.tag_forest import TagForest

        data = _with_fewer(task.data, share, seed)
        model = TagForest(data.n_clusters, n_estimators=n_trees, min_samples_leaf="auto", random_state=seed)
        model.fit(data.looks, data.tags)
        return Found(model.labels_, {"leaf": float(model.min_samples_leaf_)}, task.data.judged)

    return run


def _leaves(n_trees: int, size: int, share: float, data: Tagged, seed: int) -> Places:
    return _with_fewer(data, share, seed).forest(seed, n_trees, min_samples_leaf=size)


COMPLETERS = {
    "matrix recovery (TCMR-like)": ("matrix_recovery", "TCMR"),
    "sparse reconstruction (LSR-like)": ("sparse_reconstruction", "LSR"),
    "TagForest, cluster (GC)": ("forest_cluster", "HML-RF(GC)"),
    "TagForest, neighbourhood (LN)": ("forest_neighbourhood", "HML-RF(LN)"),
    "TagForest, affinity (AM)": ("forest_affinity", "HML-RF(AM)"),
    "TagForest, leaf frequency": ("forest_leaf_frequency", ""),
    "20 nearest neighbours": ("plain_neighbours", ""),
    "co-occurrence": ("cooccurrence", ""),
    "frequency": ("frequency", ""),
    "TagCompleter, our default": ("combined", ""),
}
CLUSTERED = {
    "k-means, looks and tags joined": "",
    "spectral, averaged graphs (bln)": "SpClust-bln(GC)",
    "CCA, then spectral": "CCA+SpClust(GC)",
    "three-view CCA, then spectral": "3VCCA+SpClust(GC)",
    "aggregated graphs (AASC)": "AASC(GC)",
}


def completion(task: Task, scale: Scale) -> list[Row]:
    """Tables 6 to 8: two fifths of the tags hidden, and looked for again."""
    clusters = {name: cluster for name, _, cluster in _methods(scale) if name in CLUSTERED}
    rows = [Row(name, _completed(task, scale, [method]), published) for name, (method, published) in COMPLETERS.items()]
    for name, published in CLUSTERED.items():
        rows.append(Row(f"{name} (GC)", _completed(task, scale, clusters[name]), published))
    return rows


def _completed(task: Task, scale: Scale, method: Any) -> Callable[[int], Found]:
    def run(seed: int) -> Found:
        from ..evaluation.experiment import hidden_tags_experiment
        from .cluster_scores import ClusterScores

        methods = method if isinstance(method, list) else {"GC": ClusterScores(task.data, method, seed)}
        views, n_trees = {"looks": task.data.looks}, min(100, _trees(scale))
        found = hidden_tags_experiment(views, task.data.tags, HIDDEN, [seed], methods, n_trees=n_trees)
        return Found(figures={name: values[0] for name, values in next(iter(found.figures.values())).items()})

    return run
