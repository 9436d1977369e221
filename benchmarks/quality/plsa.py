"""AnnotatedPLSA beside PLSA and k-means, on their own and on the combined data, as in Table 2 of the aPLSA paper.

Entropy of the classes inside clusters, weighted by size, in nats: lower is better, the logarithm of the number of
classes is "no information". Classes are used for judging only; settings are the defaults, never tuned to them.
"Separate" sees the targets only; "combined" sees the auxiliary photos too, without their tags.
"""

from __future__ import annotations

import csv
import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz, save_npz, vstack

from manyview import PLSA, AnnotatedPLSA, BagOfWords, annotation_matrix, metrics

from ..environments import BENCH
from .collections import data_folder, sparse_block
from .table import Table

FIGURES = ("entropy",)
N_WORDS = 500
PAPER = {  # Table 2 with its row labels put right: KMeans separate, combined, PLSA separate, combined, aPLSA
    2: ("0.639", "0.629", "0.520", "0.626", "0.474"),  # means of the seven 2-way tasks
    8: ("1.969", "1.852", "1.514", "1.709", "1.503"),
}
Draw = tuple[Any, np.ndarray, Any, Any]  # targets, their classes, annotations, auxiliary photos


def tables(quick: bool) -> Iterator[Table]:
    folder = data_folder()
    if folder is None or not (folder / "corel5k.npz").is_file():
        yield Table("corel5k: no such file in MANYVIEW_DATA", FIGURES)
    else:
        with np.load(folder / "corel5k.npz", allow_pickle=False) as stored:
            photos, tags = sparse_block(stored, "view_blobs"), sparse_block(stored, "tags")
            y = stored["y"].astype(np.int64)
        for k in (2,) if quick else (2, 4, 8):
            draws = [_corel_draw(photos, tags, y, k, seed) for seed in range(2 if quick else 20)]
            title = f"Corel5k blobs, {k} topics of 50 photos, auxiliary: photos and tags of all other topics"
            yield compare(title, draws, k)
    if folder is None or not (folder / "images" / "scene8.tar").is_file():
        yield Table("scene8, flickr8k-captioned: no such files in MANYVIEW_DATA/images", FIGURES)
        return
    words = _pixels(folder / "images", quick)
    y, names = words["y"], words["names"]
    bi7 = [names.index("highway"), names.index("livingroom")]
    n_draws = 1 if quick else 5
    for k, classes in ((8, range(8)), (2, bi7)):
        draws = [_scene_draw(words, classes, 50, seed) for seed in range(n_draws)]
        yield compare(
            f"scenes from pixels, {k} classes of 50 photos, auxiliary: flickr8k-captioned", draws, k, PAPER[k]
        )
    yield why(words, 1 if quick else 5)


def compare(title: str, draws: list[Draw], k: int, published: tuple[str, ...] = ()) -> Table:
    """Every method on the same draws, five starts each (k-means: ten)."""
    table = Table(f"{title} (ln {k} = {np.log(k):.3f})", FIGURES)
    runs: dict[str, list[float]] = {}
    for seed, (A, y, B, aux) in enumerate(draws):
        for name, labels in _methods(A, B, aux, k, seed):
            runs.setdefault(name, []).append(metrics.class_entropy(y, labels))
    printed = dict(zip(runs, published, strict=False))
    for name, values in runs.items():
        table.add(name, [{"entropy": value} for value in values], printed.get(name, ""))
    for other in ("PLSA separate", "k-means separate"):
        gain = np.subtract(runs[other], runs["aPLSA, tradeoff 0.2"])
        if gain.size > 1:
            error = gain.std(ddof=1) / np.sqrt(gain.size)
            table.notes.append(
                f"aPLSA 0.2 below {other}: {gain.mean():+.3f} ± {error:.3f} (standard error, paired draws)"
            )
    return table


def _methods(A: Any, B: Any, aux: Any, k: int, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    both, n = csr_matrix(vstack([A, aux])), A.shape[0]
    settings = {"n_clusters": k, "random_state": seed}
    kmeans = KMeans(k, n_init=10, random_state=seed)
    yield "k-means separate", kmeans.fit(normalize(A, "l1")).labels_
    yield "k-means combined", kmeans.fit(normalize(both, "l1")).labels_[:n]
    yield "PLSA separate", PLSA(**settings).fit(A).labels_
    yield "PLSA combined", PLSA(**settings, n_init=2).fit(both).labels_[:n]
    yield "aPLSA, tradeoff 0.2", AnnotatedPLSA(**settings).fit(A, annotations=B).labels_
    yield "aPLSA, tradeoff 0.8", AnnotatedPLSA(**settings, tradeoff=0.8).fit(A, annotations=B).labels_
    yield f"PLSA separate, {max(16, 2 * k)} topics", PLSA(**settings, n_topics=max(16, 2 * k), n_init=2).fit(A).labels_
    more = AnnotatedPLSA(**settings, n_topics=max(16, 2 * k), n_init=2)
    yield f"aPLSA, tradeoff 0.2, {max(16, 2 * k)} topics", more.fit(A, annotations=B).labels_


def why(words: dict[str, Any], n_draws: int) -> Table:
    """What decides whether the auxiliary photos help: how much the targets know already.

    Each scene photo is thinned to a few of its visual words, as if it had few interest points.
    """
    table = Table(
        "scenes from pixels, 8 classes, photos thinned to a few visual words: where does transfer help?", FIGURES
    )
    for per_class in (10, 50):
        for tokens in (30, 100, 300):
            runs: dict[str, list[dict[str, float]]] = {}
            for seed in range(n_draws):
                A, y, B, _ = _scene_draw(words, range(8), per_class, seed)
                A = _thinned(A, tokens, np.random.default_rng(seed))
                settings = {"n_clusters": 8, "n_init": 3, "tol": 1e-5, "random_state": seed}
                models: dict[str, Callable[[], Any]] = {
                    "PLSA": lambda A=A, s=settings: PLSA(**s).fit(A),
                    "aPLSA 0.2": lambda A=A, B=B, s=settings: AnnotatedPLSA(**s).fit(A, annotations=B),
                    "aPLSA 0.8": lambda A=A, B=B, s=settings: AnnotatedPLSA(**s, tradeoff=0.8).fit(A, annotations=B),
                }
                for name, fit in models.items():
                    value = metrics.class_entropy(y, fit().labels_)
                    runs.setdefault(name, []).append({"entropy": value})
            for name, values in runs.items():
                table.add(f"{per_class} photos per class, {tokens} words each: {name}", values)
    told = ", ".join(f"{name} {_told(matrix):.3f}" for name, matrix in _sources(words))
    table.notes.append(f"How far rows are from the mean row (mean Kullback-Leibler divergence, nats): {told}.")
    return table


def _sources(words: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "scene photos", words["targets"]
    yield "auxiliary photos", words["aux"]
    yield "tags (rows of the annotation matrix)", words["annotations"]


def _told(matrix: Any) -> float:
    rows = matrix.toarray()
    rows = rows[rows.sum(axis=1) > 0]
    rows = rows / rows.sum(axis=1, keepdims=True)
    mean = rows.mean(axis=0)
    ratio = np.divide(rows, mean, out=np.ones_like(rows), where=rows > 0)
    return float(np.sum(rows * np.log(ratio), axis=1).mean())


def _thinned(counts: Any, tokens: int, rng: np.random.Generator) -> Any:
    rows = [rng.multinomial(tokens, row / row.sum()) for row in counts.toarray()]
    return csr_matrix(np.array(rows, dtype=np.float64))


def _corel_draw(photos: Any, tags: Any, y: np.ndarray, k: int, seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    topics = rng.choice(50, k, replace=False)
    rows = np.concatenate([rng.choice(np.flatnonzero(y == topic), 50, replace=False) for topic in topics])
    others = ~np.isin(y, topics)
    return photos[rows], y[rows], annotation_matrix(tags[others], photos[others]), photos[others]


def _scene_draw(words: dict[str, Any], classes: Any, per_class: int, seed: int) -> Draw:
    rng, y = np.random.default_rng(seed), words["y"]
    rows = np.concatenate([rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in classes])
    return words["targets"][rows], y[rows], words["annotations"], words["aux"]


def _pixels(folder: Path, quick: bool) -> dict[str, Any]:
    """Visual words of both sets, one code book; kept under ``.bench`` because they take minutes."""
    from sklearn.preprocessing import MultiLabelBinarizer

    scenes, photos = _manifest(folder / "scene8.tar"), _manifest(folder / "flickr8k-captioned.tar")
    tags = MultiLabelBinarizer(sparse_output=True).fit_transform([row["tags"].split(";") for row in photos])
    names = sorted({row["label"] for row in scenes})
    counts = []
    n_words = 50 if quick else N_WORDS
    kept = [BENCH / f"words-{n_words}-{name}.npz" for name in ("scene8", "flickr8k")]
    if all(path.is_file() for path in kept):
        counts = [csr_matrix(load_npz(path)) for path in kept]
    else:
        sets = [_Pictures(folder / "scene8.tar", scenes), _Pictures(folder / "flickr8k-captioned.tar", photos)]
        book = BagOfWords(n_words, random_state=0, step=24 if quick else 8)
        book.fit(picture for pictures in sets for picture in pictures)
        counts = [book.transform(pictures) for pictures in sets]
        if not quick:
            BENCH.mkdir(exist_ok=True)
            for path, matrix in zip(kept, counts, strict=True):
                save_npz(path, matrix)
    y = np.array([names.index(row["label"]) for row in scenes])
    annotations = annotation_matrix(tags, counts[1])
    return {"targets": counts[0], "aux": counts[1], "annotations": annotations, "y": y, "names": names}


def _manifest(path: Path) -> list[dict[str, str]]:
    with tarfile.open(path) as tar:
        file = tar.extractfile(f"{path.stem}/manifest.csv")
        assert file is not None
        return list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")))


class _Pictures:
    """The pictures of a tar file, decoded one after another each time they are asked for."""

    def __init__(self, path: Path, rows: list[dict[str, str]]) -> None:
        self.path, self.rows = path, rows

    def __iter__(self) -> Iterator[Any]:
        from PIL import Image

        with tarfile.open(self.path) as tar:
            for row in self.rows:
                file = tar.extractfile(f"{self.path.stem}/{row['file']}")
                assert file is not None
                yield Image.open(io.BytesIO(file.read()))
