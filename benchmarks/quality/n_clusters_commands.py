"""The number of clusters as a person meets it: ``manyview init`` and ``manyview fit`` without ``-k``, as processes.

600 photographs of 20 subjects and 12 of 4, from files whose names tell nothing, and 177 rows of six newsgroups, their
counts in an ``.npz``; each drawn three times. Beside it the adjusted Rand index of ``fit -k`` with the true number.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from manyview import metrics

from .draws import PICTURE_SETS, pictures, stored
from .large_collection import measured
from .table import Table

N_DRAWS = 3
FIGURES = ("items", "true", "found", "ARI found", "ARI true")
PHOTOGRAPHS = {"600 photographs of 20 subjects": (20, 30), "12 photographs of 4 subjects": (4, 3)}
"""Subjects, and photographs of each."""
NEWSGROUPS, N_ROWS = 6, 177

Writer = Callable[[Path, int, int, int], np.ndarray]


def tables(quick: bool) -> Iterator[Table]:
    made = Table("from files to clusters without -k", FIGURES)
    cases: dict[str, tuple[Writer, int, int]] = {}
    if all(pictures(name) is not None for name in PICTURE_SETS):
        cases |= {name: (photographs, *sizes) for name, sizes in PHOTOGRAPHS.items()}
    if stored("newsgroups_ten") is not None:
        cases[f"{N_ROWS} rows of {NEWSGROUPS} newsgroups"] = newsgroups, NEWSGROUPS, N_ROWS
    for name, case in cases.items():
        runs = [through_commands(*case, seed) for seed in range(1 if quick else N_DRAWS)]
        made.add(name, runs)
        made.notes.append(f"{name}: {', '.join(str(int(run['found'])) for run in runs)} found")
    yield made


def through_commands(write: Writer, n_classes: int, size: int, seed: int) -> dict[str, float]:
    """One draw, written into a folder, through the commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "items.manyview"
        y = write(folder / "source", n_classes, size, seed)
        source = folder / "source" if (folder / "source").is_dir() else folder / "source.npz"
        measured(("init", source, "-o", path))
        measured(("fit", path))
        found = labels(path)
        measured(("fit", path, "-k", n_classes))
        return {
            "items": y.size,
            "true": n_classes,
            "found": np.unique(found).size,
            "ARI found": metrics.adjusted_rand_index(y, found),
            "ARI true": metrics.adjusted_rand_index(y, labels(path)),
        }


def labels(path: Path) -> np.ndarray:
    """The labels of the newest run, in the order of the items."""
    said = json.loads(measured(("show", path, "--items", "--json"))[1])
    return np.array([item["label"] for item in said["items"]])


def photographs(folder: Path, n_subjects: int, of_each: int, seed: int) -> np.ndarray:
    """Photographs of some subjects of the three sets, in a random order; their subjects."""
    rng = np.random.default_rng([seed, n_subjects])
    subjects = [(name, one) for name in PICTURE_SETS for one in np.unique(pictures(name)[2])]
    chosen = [subjects[number] for number in rng.choice(len(subjects), n_subjects, replace=False)]
    files: list[tuple[Path, str, int]] = []
    for number, (name, one) in enumerate(chosen):
        known, rows, y = pictures(name)
        for row in rng.choice(rows[y == one], of_each, replace=False):
            files.append((known.path, known.files[row], number))
    folder.mkdir()
    order = rng.permutation(len(files))
    for path in sorted({file[0] for file in files}):
        with tarfile.open(path) as tar:
            for place, (its_path, file, _) in enumerate(files[number] for number in order):
                if its_path == path:
                    (folder / f"{place:05d}{Path(file).suffix}").write_bytes(tar.extractfile(file).read())
    return np.array([files[number][2] for number in order])


def newsgroups(path: Path, n_groups: int, n_rows: int, seed: int) -> np.ndarray:
    """Counts of the words of some rows of some groups, as even as can be; their groups."""
    X, y = stored("newsgroups_ten")
    rng = np.random.default_rng([seed, n_groups])
    chosen = rng.choice(np.unique(y), n_groups, replace=False)
    sizes = [len(part) for part in np.array_split(np.arange(n_rows), n_groups)]
    pairs = zip(chosen, sizes, strict=True)
    rows = rng.permutation(
        np.concatenate([rng.choice(np.flatnonzero(y == one), size, replace=False) for one, size in pairs])
    )
    pieces = {}
    for name in X.names:
        part = X[name][rows]
        kept = {"data": part.data, "indices": part.indices, "indptr": part.indptr, "shape": part.shape}
        pieces |= {f"view_{name}_{piece}": value for piece, value in kept.items()}
    np.savez(path.with_suffix(".npz"), **pieces)
    return y[rows]
