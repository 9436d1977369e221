"""Malformed matrices to every estimator and every file format, each in a process of its own.

``python -m tests.end_to_end.malformed_input COUNT [FIRST_SEED]`` prints one JSON object. A parent that has compiled and
fitted everything once forks a child per matrix; what the child was doing when it died is in the pipe.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import savemat
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import manyview
from manyview import Collection, TagTable, Views, errors, metrics
from manyview.ingest.ready import open_features
from tests.data.malformed import N_COLUMNS, N_ROWS, Case, make

SECONDS = 60
QUICK = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 - where syncing costs nothing
MEMORY = 12 * 2**30
LOOKS = np.random.default_rng(7).normal(size=(N_ROWS, 4))
WORDS = [["sea", "sand"], ["sea"], ["dog"], ["dog", "cat"]] * (N_ROWS // 4)
ESTIMATORS = {
    "robust": manyview.RobustMultiviewKMeans(2, n_init=1, max_iter=20, random_state=0),
    "exact": manyview.RobustMultiviewKMeans(2, n_init=1, max_iter=20, random_state=0, assign="exact", view_scale=None),
    "concatenated": manyview.ConcatenatedKMeans(2, n_init=1, random_state=0),
    "single": manyview.SingleViewKMeans(2, n_init=1, random_state=0),
    "consensus": manyview.ConsensusClustering(2, members=2, n_neighbors=3),
    "accelerated": manyview.AcceleratedKMeans(2, random_state=0),
    "hierarchical": manyview.HierarchicalKMeans(2, n_starts=2, random_state=0),
    "forest": manyview.TagForest(2, n_estimators=5, random_state=0),
    "cross-modal": manyview.CrossModalClustering(2, n_starts=2, random_state=0),
    "art": manyview.FusionART(random_state=0),
    "plsa": manyview.PLSA(2, n_init=1, max_iter=20, random_state=0),
    "annotated": manyview.AnnotatedPLSA(2, n_init=1, max_iter=20, random_state=0),
}
Door = Callable[[Any], Any]


class Wrong(Exception):
    """Neither an error of ours nor a right answer."""


def fits() -> dict[str, Door]:
    """Everything that learns from a view, alone and beside another."""
    doors: dict[str, Door] = {}
    for name, model in ESTIMATORS.items():
        doors[f"{name} alone"] = lambda x, model=model: clone(model).fit(x).labels_
        if name not in ("plsa", "annotated", "accelerated"):
            doors[f"{name} of two"] = lambda x, model=model: clone(model).fit({"looks": LOOKS, "odd": x}).labels_
    doors["canonical"] = lambda x: manyview.CanonicalFusion(2).fit_transform({"looks": LOOKS, "odd": x})
    doors["completer"] = lambda x: manyview.TagCompleter(method="neighbourhood").fit({"odd": x}, WORDS).tag_scores()
    return doors


def uses(fitted: dict[str, Any]) -> dict[str, Door]:
    """What takes matrices in other places: new items, tags, annotations, measures."""
    doors: dict[str, Door] = {f"{name} predict": model.predict for name, model in fitted.items()}
    return doors | {
        "views": lambda x: Views({"odd": x})["odd"],
        "annotations": lambda x: clone(ESTIMATORS["annotated"]).fit(np.ones((4, N_COLUMNS)), annotations=x).labels_,
        "forest tags": lambda x: clone(ESTIMATORS["forest"]).fit(LOOKS, x).labels_,
        "network": lambda x: manyview.AssociationNetwork().fit_transform(x),
        "tag table": lambda x: TagTable.from_matrix(x).yes,
        "tag table no": lambda x: TagTable.from_matrix(np.zeros((N_ROWS, N_COLUMNS)), no=x).no,
        "annotation tags": lambda x: manyview.annotation_matrix(x, np.ones((N_ROWS, 3))),
        "annotation words": lambda x: manyview.annotation_matrix(np.ones((N_ROWS, 3)), x),
        "hidden": lambda x: metrics.precision_at(x, np.ones((N_ROWS, N_COLUMNS)), 2),
        "scores": lambda x: metrics.precision_at(np.ones((N_ROWS, N_COLUMNS)), x, 2),
    }


def files(folder: Path) -> dict[str, Door]:
    """Every file format that holds matrices, and our own segments."""

    def npy(x: Any) -> Any:
        np.save(folder / "a.npy", _plain_array(x), allow_pickle=True)
        return np.array(_view(folder / "a.npy", "a"))  # not a map of what comes next

    def npz(x: Any) -> Any:
        np.savez(folder / "b.npz", allow_pickle=True, **_pieces("view_odd", x))
        return _view(folder / "b.npz", "odd")

    def tags(x: Any) -> Any:
        np.savez(folder / "c.npz", allow_pickle=True, view_looks=LOOKS, **_pieces("tags", x))
        return TagTable.from_lists(open_features(str(folder / "c.npz")).tags).yes.sum(axis=1)

    def matlab(x: Any) -> Any:
        try:
            savemat(folder / "d.mat", {"odd": _plain_array(x)})
        except (TypeError, ValueError) as error:
            raise errors.ViewError("not a form of this file") from error
        return _view(folder / "d.mat", "odd")

    def created(x: Any) -> Any:
        np.savez(folder / "e.npz", allow_pickle=True, **_pieces("view_odd", x))
        with Collection.create(Path(tempfile.mkdtemp(dir=folder)) / "e", folder / "e.npz") as collection:
            return np.array(_dense(collection.views()["odd"]))

    def segment(x: Any) -> Any:
        np.savez(folder / "f.npz", **_pieces("view_odd", sparse.csr_matrix(np.eye(N_ROWS, N_COLUMNS))))
        here = Path(tempfile.mkdtemp(dir=folder)) / "f"
        Collection.create(here, folder / "f.npz").close()
        for part, value in _pieces("", x).items():
            for path in (here / "views").glob(f"*/*.{part.strip('_')}.npy"):
                path.unlink()
                np.save(path, value, allow_pickle=True)
        with Collection.open(here) as collection:
            collection.views()
        return None

    return {"npy": npy, "npz": npz, "npz tags": tags, "mat": matlab, "created": created, "segment": segment}


def _view(path: Path, name: str) -> Any:
    views = open_features(str(path)).views
    if name not in views:
        raise errors.ViewError("it holds nothing that could be a view, and init says so")
    return views[name]


def _plain_array(x: Any) -> Any:
    if sparse.issparse(x) or isinstance(x, sparse.linalg.LinearOperator):
        raise errors.ViewError("not a form of this file")
    return _small(np.ma.getdata(x) if isinstance(x, np.ndarray) else np.asarray(x, dtype=object))


def _small(array: Any) -> Any:
    if getattr(array, "nbytes", 0) > 2**24:
        raise errors.ViewError("no file could hold it")
    return array


def _pieces(name: str, x: Any) -> dict[str, Any]:
    """The arrays of a sparse matrix as files hold them, whatever they are; else the array itself."""
    if getattr(x, "format", "") not in ("csr", "csc", "bsr"):
        return {name: _plain_array(x)}
    parts = {part: np.asarray(getattr(x, part)) for part in ("data", "indices", "indptr")}
    return {f"{name}_{part}": _small(value) for part, value in parts.items()} | {f"{name}_shape": np.array(x.shape)}


def _dense(value: Any) -> Any:
    return value.toarray() if sparse.issparse(value) else value


def same(found: Any, wanted: Any) -> bool:
    found, wanted = _dense(found), _dense(wanted)
    return bool(np.shape(found) == np.shape(wanted) and np.allclose(found, wanted, rtol=1e-9, atol=1e-12))


def judge(case: Case, door: Door, may_answer: bool) -> None:
    """An error of ours, or the answer that the plain form gets."""
    try:
        found = door(case.given)
    except errors.ManyviewError:
        return
    if case.meant is None:
        if not may_answer and np.shape(found)[:1] != (0,):
            raise Wrong("taken, although it means nothing")
    elif found is not None:
        wanted = door(case.meant)
        if not same(found, wanted):
            raise Wrong("another answer than for the plain form")


def made(seed: int) -> Case:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy and SciPy, about what is made here on purpose
        return make(seed)


def child(seed: int, fitted: dict[str, Any], pipe: int) -> None:
    """Try every door, and say in the pipe which one is being tried and what was wrong."""
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory(prefix="malformed-", dir=QUICK) as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", errors.ViewWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        for group, may_answer in ((fits(), False), (uses(fitted), True), (files(Path(folder)), True)):
            for name, door in group.items():
                os.write(pipe, f"at {name}\n".encode())
                try:  # a case anew: one that changed what it was given would spoil the next
                    judge(made(seed), door, may_answer)
                except Exception as error:
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    text = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
                    os.write(pipe, ("wrong " + " ".join(text.split())[:300] + "\n").encode())
    os.write(pipe, b"done\n")


def in_a_process(seed: int, fitted: dict[str, Any]) -> list[str]:
    """Everything wrong with one matrix."""
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        try:
            os.close(reading)
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 2)
            child(seed, fitted, writing)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    status = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    name, at, wrong = made(seed).name, "start", []
    for line in lines:
        if line.startswith("at "):
            at = line[3:]
        elif line.startswith("wrong "):
            wrong.append(f"seed {seed}, {name}, {at}: {line[6:]}")
    if status or lines[-1:] != ["done"]:
        wrong.append(f"seed {seed}, {name}, {at}: the process died ({status})")
    return wrong


def main(count: int, first: int = 0) -> dict[str, Any]:
    sound = np.random.default_rng(1).poisson(0.8, size=(N_ROWS, N_COLUMNS)).astype(np.float64)
    sound[:, 0] += 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = {name: clone(model).fit(sound) for name, model in ESTIMATORS.items()}
        with tempfile.TemporaryDirectory(prefix="malformed-", dir=QUICK) as folder:
            doors = fits() | uses(fitted) | files(Path(folder))
            for door in doors.values():  # compiled once, here, and not in every child
                for x in (sound, sparse.csr_matrix(sound), (sound > 0).astype(np.float32)):
                    try:
                        door(x)
                    except errors.ManyviewError:
                        continue
    wrong = [line for seed in range(first, first + count) for line in in_a_process(seed, fitted)]
    return {"matrices": count, "doors": len(doors), "wrong": wrong}


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
