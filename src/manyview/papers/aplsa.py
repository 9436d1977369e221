"""aPLSA, ACL 2009: Table 2 with Figure 4: the size of the data, the number of rounds, the tradeoff."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Places
from .measures import judged_by
from .sources import Sources, sparse_block, stored_tags
from .tables import Absent, Found, Paper, Row, Scale, Study, Table, Task

__all__ = ["PAPER"]

FIGURES = ("entropy",)
PER_CLASS = 50
SIZES = (10, 20, 30, 40, 50, 60, 70, 80)
TRADEOFFS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_LONG = 100  # words an item from which thinning makes sense
ROUNDS = (1, 2, 5, 10, 20, 50, 100, 150, 200)

_PROTOCOL = {
    "paper": "Five draws of 50 items of each class, without their tags; tradeoff 0.2, 200 rounds, one random start "
    "(k-means too). Separate: the items alone. Combined: with the auxiliary items, without their tags. STC sees the "
    "auxiliary items, aPLSA their tags. Entropy of the classes inside clusters, weighted by size, in nats, which is "
    "what the paper's figures fit.",
    "defaults": "The same draws; our defaults: the best of five starts (k-means ten) by the objective, up to 200 "
    "rounds to a tolerance of 1e-6. Rows with more topics than classes group the topics afterwards.",
}


@dataclass(frozen=True)
class Words:
    """Visual words of the items to cluster, and of the auxiliary ones with their tags.

    kinds : the classes to draw from; ``n_classes`` of them are drawn, all where there are no more
    same : whether the auxiliary items are the targets' own collection, less the drawn classes
    """

    targets: Any
    y: Places
    aux: Any
    tags: Any
    kinds: Sequence[int]
    n_classes: int
    same: bool

    def draw(self, seed: int, per_class: int) -> tuple[Places, Any, Any]:
        """Rows of the targets, the auxiliary items, and their annotation matrix."""
        from ..methods.topics.annotations import annotation_matrix

        rng = np.random.default_rng(seed)
        kinds = (
            rng.choice(self.kinds, self.n_classes, replace=False) if self.n_classes < len(self.kinds) else self.kinds
        )
        members = [np.flatnonzero(self.y == kind) for kind in kinds]
        rows = np.concatenate([rng.choice(one, min(per_class, one.size), replace=False) for one in members])
        others = ~np.isin(self.y, kinds) if self.same else slice(None)
        return rows, self.aux[others], annotation_matrix(self.tags[others], self.aux[others])


def _emoji(n_classes: int) -> Callable[[Sources, Scale], Task]:
    def load(sources: Sources, scale: Scale) -> Task:
        from ..data.tags import TagTable

        pictures = sources.pictures("emoji")
        if scale.quick:
            pictures = pictures.part(range(0, len(pictures), 4))
        counts = _visual_words(pictures, [pictures], scale.pick(300, 60), scale.pick(6, 12))[0]
        names, y = np.unique(pictures.labels["group"], return_inverse=True)
        tags = TagTable.from_lists(pictures.tags).yes
        words = (
            f"emoji, which ship with the package: {len(pictures):,} pictures of nine groups, {counts.shape[1]} visual "
            f"words; each draw clusters {n_classes} groups, and all others are the auxiliary data with their tags"
        )
        data = Words(counts, y.astype(np.intp), counts, tags, range(len(names)), n_classes, True)
        return Task(words, y, [*map(str, names)], pictures.picture, data)

    return load


def _corel(n_classes: int) -> Callable[[Sources, Scale], Task]:
    def load(sources: Sources, scale: Scale) -> Task:
        with sources.matrices("corel5k") as stored:
            blobs, tags = sparse_block(stored, "view_blobs"), stored_tags(stored)[0]
            y = stored["y"].astype(np.intp)
        words = (
            f"Corel, blobs of 5,000 photographs: each draw clusters {n_classes} of 50 topics, the others are auxiliary"
        )
        return Task(
            words, y, [str(k) for k in range(50)], data=Words(blobs, y, blobs, tags, range(50), n_classes, True)
        )

    return load


def _scenes(names: tuple[str, ...], points: str) -> Callable[[Sources, Scale], Task]:
    def load(sources: Sources, scale: Scale) -> Task:
        from ..data.tags import TagTable

        scenes, photos = sources.pictures("scene8"), sources.pictures("flickr8k-captioned")
        if scale.quick:
            scenes, photos = scenes.part(range(0, len(scenes), 4)), photos.part(range(0, len(photos), 8))
        n_words = scale.pick(2000 if points == "interest" else 500, 50)
        counts = _visual_words(scenes, [scenes, photos], n_words, scale.pick(8, 24), points)
        found, y = np.unique(scenes.labels["label"], return_inverse=True)
        kinds = [int(np.flatnonzero(found == name)[0]) for name in names] if names else list(range(found.size))
        where = "at interest points" if points == "interest" else "on a grid"
        words = (
            f"scenes from pixels, {len(kinds)} classes, {n_words} words of SIFT {where}; auxiliary: {len(photos)} "
            "photographs of flickr8k-captioned with their tags"
        )
        tags = TagTable.from_lists(photos.tags).yes
        data = Words(counts[0], y.astype(np.intp), counts[1], tags, kinds, len(kinds), False)
        return Task(words, y, [*map(str, found)], scenes.picture, data)

    return load


def _visual_words(own: Any, sets: list[Any], n_words: int, step: int, points: str = "dense") -> list[Any]:
    """Counts of the words of one code book, for each set of pictures; kept, because they take minutes."""
    from scipy.sparse import csr_matrix

    from ..features.coding import BagOfWords

    made: list[Any] = []

    def counts(place: int) -> Any:
        if not made:
            book = BagOfWords(n_words, points=points, step=step, random_state=0)
            made.append(book.fit(picture for pictures in sets for picture in pictures))
        return made[0].transform(sets[place]).toarray()

    names = " ".join(f"{one.name} {len(one)}" for one in sets)
    return [
        csr_matrix(pictures.kept(f"words {n_words} {step} {points} of {names}", lambda place=place: counts(place)))
        for place, pictures in enumerate(sets)
    ]


@dataclass(frozen=True)
class _Maker:
    task: Task
    scale: Scale

    @property
    def settings(self) -> dict[str, Any]:
        once = {"n_init": 1, "tol": 0.0} if self.scale.as_printed else {}
        return {"n_clusters": self.task.data.n_classes, **once}

    def row(self, cluster: Callable[..., Any], per_class: int = PER_CLASS) -> Callable[[int], Found]:
        """From ``cluster(A, B, aux, seed)`` to a run: the labels of the drawn items, and which those are."""

        def run(seed: int) -> Found:
            rows, aux, annotations = self.task.data.draw(seed, per_class)
            labels = np.full(self.task.y.size, -1, dtype=np.intp)
            labels[rows] = cluster(self.task.data.targets[rows], annotations, aux, seed)
            return Found(labels, judged=labels >= 0)

        return run

    def kmeans(self, combined: bool) -> Callable[..., Any]:
        from scipy.sparse import csr_matrix, vstack
        from sklearn.cluster import KMeans
        from sklearn.preprocessing import normalize

        def cluster(A: Any, B: Any, aux: Any, seed: int) -> Any:
            rows = normalize(csr_matrix(vstack([A, aux])) if combined else A, "l1")
            starts = 1 if self.scale.as_printed else 10
            return KMeans(self.task.data.n_classes, n_init=starts, random_state=seed).fit(rows).labels_[: A.shape[0]]

        return cluster

    def plsa(self, combined: bool = False, **more: Any) -> Callable[..., Any]:
        from scipy.sparse import csr_matrix, vstack

        from ..methods.topics.plsa import PLSA

        def cluster(A: Any, B: Any, aux: Any, seed: int) -> Any:
            rows = csr_matrix(vstack([A, aux])) if combined else A
            return PLSA(**{**self.settings, **more}, random_state=seed).fit(rows).labels_[: A.shape[0]]

        return cluster

    def aplsa(self, **more: Any) -> Callable[..., Any]:
        from ..methods.topics.annotated_plsa import AnnotatedPLSA

        def cluster(A: Any, B: Any, aux: Any, seed: int) -> Any:
            return AnnotatedPLSA(**{**self.settings, **more}, random_state=seed).fit(A, annotations=B).labels_

        return cluster

    def stc(self, A: Any, B: Any, aux: Any, seed: int) -> Any:
        from .rivals.self_taught import self_taught

        starts = 1 if self.scale.as_printed else 5
        return self_taught(A, aux, self.task.data.n_classes, n_starts=starts, random_state=seed).labels


def _rows(task: Task, scale: Scale) -> list[Row]:
    make = _Maker(task, scale)
    rows = [
        Row("k-means separate", make.row(make.kmeans(False)), "KMeans separate"),
        Row("k-means combined", make.row(make.kmeans(True)), "KMeans combined"),
        Row("PLSA separate", make.row(make.plsa()), "PLSA separate"),
        Row("PLSA combined", make.row(make.plsa(True)), "PLSA combined"),
        Row("self-taught clustering (STC)", make.row(make.stc), "STC"),
        Row("aPLSA, tradeoff 0.2", make.row(make.aplsa()), "aPLSA", shows=("samples",)),
        Row("aPLSA, tradeoff 0.8", make.row(make.aplsa(tradeoff=0.8))),
    ]
    if not scale.as_printed:
        topics = max(16, 2 * task.data.n_classes)
        rows += [
            Row(f"PLSA separate, {topics} topics", make.row(make.plsa(n_topics=topics))),
            Row(f"aPLSA, tradeoff 0.2, {topics} topics", make.row(make.aplsa(n_topics=topics))),
            Row("aPLSA, tradeoff 0.2, weighed by mass", make.row(make.aplsa(balance="mass"))),
            Row("aPLSA, tradeoff by held-out words", make.row(make.aplsa(tradeoff="auto"))),
        ]
    return rows + _curves(make, scale)


def _curves(make: _Maker, scale: Scale) -> list[Row]:
    rows = []
    most = int(np.bincount(make.task.data.y)[list(make.task.data.kinds)].min())
    for size in (10, 50) if scale.quick else [size for size in SIZES if size <= max(most, 10)]:
        for line, cluster in (("k-means", make.kmeans(False)), ("PLSA", make.plsa()), ("aPLSA", make.aplsa())):
            run = make.row(cluster, size)
            rows.append(Row(f"{line}, {size} of each class", run, study="size", line=line, x=float(size)))
    for tradeoff in (0.0, 0.2, 1.0) if scale.quick else TRADEOFFS:
        run = make.row(make.aplsa(tradeoff=tradeoff))
        rows.append(Row(f"tradeoff {tradeoff}", run, study="tradeoff", x=tradeoff))
    rows += _thinned(make, scale) if make.task.data.targets.sum() > _LONG * make.task.y.size else []
    for count in (1, 10, 50) if scale.quick else ROUNDS:
        run = make.row(make.aplsa(max_iter=count, tol=0.0, n_init=1))
        rows.append(Row(f"aPLSA, {count} rounds", run, study="rounds", x=float(count)))
    return rows


def _thinned(make: _Maker, scale: Scale) -> list[Row]:
    """Items reduced to a few of their words: whether others help depends on how much the items know themselves."""
    from scipy.sparse import csr_matrix

    def less(cluster: Callable[..., Any], tokens: int) -> Callable[..., Any]:
        def clustered(A: Any, B: Any, aux: Any, seed: int) -> Any:
            rng = np.random.default_rng(seed)
            thin = [rng.multinomial(tokens, row / max(row.sum(), 1)) for row in A.toarray()]
            return cluster(csr_matrix(np.array(thin, dtype=np.float64)), B, aux, seed)

        return clustered

    lines = {"PLSA": make.plsa(), "aPLSA 0.2": make.aplsa(), "aPLSA 0.8": make.aplsa(tradeoff=0.8)}
    return [
        Row(
            f"{line}, {tokens} words an item",
            make.row(less(cluster, tokens)),
            study="words",
            line=line,
            x=float(tokens),
        )
        for tokens in ((30, 100) if scale.quick else (30, 100, 300))
        for line, cluster in lines.items()
    ]


STUDIES = (
    Study("words", "Items thinned to a few words", "words an item (logarithmic)", FIGURES, log=True),
    Study("size", "Figure 4a: how many items of each class", "items of each class", FIGURES),
    Study("rounds", "Figure 4c: how many rounds", "rounds (logarithmic)", FIGURES, log=True),
    Study(
        "tradeoff",
        "Figure 4b: how much the items themselves count",
        "tradeoff (lambda)",
        FIGURES,
        level="PLSA separate",
    ),
)


def _table(on: str, title: str, load: Any, way: str, needs: tuple[str, ...], versus: str) -> Table:
    return Table(
        kind="table",
        number="2",
        on=on,
        title=title,
        figures=FIGURES,
        protocol=_PROTOCOL,
        load=load,
        rows=_rows,
        judge=judged_by(*FIGURES),
        seeds=(5, 5, 2),
        needs=needs,
        versus=versus,
        studies=STUDIES,
        published=f"table 2, {way}",
        lower_is_better=frozenset(FIGURES),
        also=("figure 4",),
    )


_BOTH = ("scene8", "flickr8k-captioned")
_SCENES = (
    "The same classes of the fifteen scenes, 60 photographs each; 800 auxiliary photographs for the paper's 19,959."
)
_NOT = "Other pictures: the paper's layout only (mean of its tasks of this size)."

PAPER = Paper(
    name="aplsa",
    title="Heterogeneous transfer learning for image clustering via the social web (aPLSA)",
    method="AnnotatedPLSA",
    tables=(
        _table("emoji", "aPLSA, Table 2 and Figure 4: two groups of emoji", _emoji(2), "2-way", (), _NOT),
        _table("corel5k-2", "aPLSA, Table 2: Corel, two topics", _corel(2), "2-way", ("corel5k",), _NOT),
        _table("corel5k-4", "aPLSA, Table 2: Corel, four topics", _corel(4), "4-way", ("corel5k",), _NOT),
        _table("corel5k-8", "aPLSA, Table 2: Corel, eight topics", _corel(8), "8-way", ("corel5k",), _NOT),
        _table(
            "scenes-2",
            "aPLSA, Table 2, bi7: highway and living room",
            _scenes(("highway", "livingroom"), "dense"),
            "2-way",
            _BOTH,
            _SCENES + " Which printed row is bi7 is not known: the mean of the seven 2-way tasks stands beside it.",
        ),
        _table("scenes-8", "aPLSA, Table 2, oct1: eight scenes", _scenes((), "dense"), "8-way", _BOTH, _SCENES),
        _table(
            "scenes-8-interest",
            "aPLSA, Table 2, oct1: eight scenes, 2,000 words at interest points",
            _scenes((), "interest"),
            "8-way",
            (*_BOTH, "opencv"),
            _SCENES,
        ),
        _table(
            "scenes-2-interest",
            "aPLSA, Table 2, bi7: highway and living room, 2,000 words at interest points",
            _scenes(("highway", "livingroom"), "interest"),
            "2-way",
            (*_BOTH, "opencv"),
            _SCENES,
        ),
    ),
    absent=(Absent("table", "2 (nine tasks of Caltech-256)", "objects", "the photographs are not here"),),
)
