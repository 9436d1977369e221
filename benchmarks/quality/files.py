"""From files on disk to clusters, with no option but the number of clusters: what ``init`` and ``fit`` give.

Pictures are unpacked from their tars into a folder, ``Collection.create`` reads it, ``fit_collection`` does the rest,
as the command line does. Classes are compared with the labels afterwards; no method sees them.
"""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from manyview import metrics
from manyview.datasets import unpack_emoji
from manyview.workflow.collection import Collection
from manyview.workflow.fit import fit_collection

from .pictures import picture_collection
from .table import Table


def tables(quick: bool) -> Iterator[Table]:
    for name in ("scene8", "caltech101-7"):
        yield _photographs(name, 1 if quick else 3)
    yield _emoji(1 if quick else 3)


def _photographs(name: str, n_seeds: int) -> Table:
    known = picture_collection(name)
    made = Table(f"{name}: photographs from files, manyview init and fit", ("accuracy", "NMI", "clusters"))
    with tempfile.TemporaryDirectory() as folder:
        photos = Path(folder) / "photos"
        photos.mkdir()
        with tarfile.open(known.path) as tar:
            for number, file in enumerate(known.files):
                # numbered, so that neither names nor folders tell the class
                source = tar.extractfile(file)
                assert source is not None
                (photos / f"{number:05d}{Path(file).suffix}").write_bytes(source.read())
        labels = known.labels["label"]
        with Collection.create(Path(folder) / "c.manyview", photos) as collection:
            truth = np.array([labels[int(Path(item.key).stem)] for item in collection.items])
            n_classes = np.unique(labels).size
            for k, said in ((n_classes, f"-k {n_classes}"), (None, "without -k")):
                runs = []
                for seed in range(n_seeds):
                    run = fit_collection(collection, None, k, seed=seed).run
                    _, found = collection.runs.labels(run.id)
                    runs.append(_figures(truth, found))
                made.add(f"fit {said}", runs)
    return made


def _emoji(n_seeds: int) -> Table:
    made = Table("emoji: pictures and tags from files, 24 clusters", ("groups NMI", "subgroups NMI"))
    with tempfile.TemporaryDirectory() as folder:
        rows = unpack_emoji(Path(folder) / "emoji")
        options = {"id": "name", "image": "file", "tags": "tags", "root": Path(folder) / "emoji" / "images"}
        with Collection.create(Path(folder) / "c.manyview", Path(folder) / "emoji" / "items.csv", **options) as one:
            by_name = {row["name"]: row for row in rows}
            truth = {key: np.array([by_name[item.key][key] for item in one.items]) for key in ("group", "subgroup")}
            for k, against in ((9, "9 groups"), (24, "as the demo does"), (99, "99 subgroups")):
                runs = []
                for seed in range(n_seeds):
                    _, found = one.runs.labels(fit_collection(one, None, k, seed=seed).run.id)
                    runs.append({f"{key}s NMI": metrics.normalized_mutual_info(truth[key], found) for key in truth})
                made.add(f"fit -k {k} ({against})", runs)
    made.notes.append("Reference, k-means on picture embedding and tags: .45 (groups) and .68 (subgroups).")
    return made


def _figures(y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    return {
        "accuracy": metrics.clustering_accuracy(y, labels),
        "NMI": metrics.normalized_mutual_info(y, labels),
        "clusters": float(np.unique(labels).size),
    }
