"""Long fits that go on where they were stopped, on every engine.

``with manyview.on(..., folder=F)`` keeps what a fit needs to go on in a folder of its own below F, named by the
estimator, its settings and its data. The same fit again finds it there, and ends with the same bits as one that nobody
stopped; a fit that ends takes its folder away. While it runs, nobody else may do the same fit there. A kept *point* of
a fit is some arrays and the states of all spans.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..arrays import is_dask, is_sparse
from ..data.source import RowSource, file_part
from ..durable import TEMPORARY, as_raw, clear_tree, forget, make_folder, only_one, sync_files, write_file
from .base import Engine, Kept, filed

__all__ = ["Checkpoint", "fingerprint", "fit_in"]

EVERY = 5.0
"""Seconds between two points that are kept, at least: a fit that is stopped loses so much, and its last round."""
_DEAR = 2.0  # a point that takes t seconds to be kept is kept every 5 + 10 t seconds: no more than a tenth of the time
_NOT_THE_FIT = ("n_jobs", "verbose")  # settings that change no result
_POINT = ".point"


class Checkpoint:
    """The kept points of one fit, by name; without a folder nothing is kept."""

    def __init__(self, home: Path | None, engine: Engine) -> None:
        self._home, self._engine = home, engine
        self._last = time.monotonic()
        self._took = 0.0  # to keep the last point
        self._held: dict[str, list[Kept]] = {}

    def is_due(self) -> bool:
        pause = EVERY * (1.0 + _DEAR * self._took)
        return self._home is not None and time.monotonic() - self._last >= pause

    def load(self, name: str) -> tuple[dict[str, NDArray[Any]], list[Any]] | None:
        """The arrays and states of a point; None where there is none."""
        path = None if self._home is None else self._path(name)
        if path is None or not path.exists():
            return None
        with np.load(path, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        self._held[name] = [Kept(str(path.parent / file)) for file in json.loads(str(arrays.pop("files")))]
        return arrays, self._engine.keep(self._held[name])

    def save(self, name: str, arrays: Mapping[str, Any], states: Sequence[Any]) -> None:
        """Keep a point in place of the last one of this name."""
        if self._home is None:
            return
        began = time.monotonic()
        kept = [one if isinstance(one, Kept) else filed(self._home, self._engine.read(one)) for one in states]
        files = [str(Path(one.path).relative_to(self._home)) for one in kept]
        content: dict[str, Any] = {**arrays, "files": json.dumps(files)}
        sync_files(Path(one.path) for one in kept)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for key, value in content.items():
                one = io.BytesIO()
                np.lib.format.write_array(one, np.asarray(value), allow_pickle=False)
                archive.writestr(f"{key}.npy", one.getbuffer())
        write_file(self._path(name), [packed.getbuffer()])
        before = self._held.get(name, [])
        self._held[name] = kept
        self._last = time.monotonic()
        self._took = self._last - began
        self.release(before)

    def release(self, states: Sequence[Any]) -> None:
        """These states are not needed any more, but for those that a point holds."""
        held = {state.path for kept in self._held.values() for state in kept}
        for state in states:
            if isinstance(state, Kept) and state.path not in held:
                forget(Path(state.path))

    def _path(self, name: str) -> Path:
        assert self._home is not None  # noqa: S101
        return self._home / f"{name.replace(' ', '-')}{_POINT}"


@contextmanager
def fit_in(engine: Engine, estimator: Any, *sources: RowSource) -> Iterator[tuple[Engine, Checkpoint]]:
    """The engine and the checkpoint for one fit; where no folder was given, nothing is kept."""
    settings = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _NOT_THE_FIT}
    seed = settings.get("random_state")
    if engine.checkpoints is None or not (seed is None or isinstance(seed, (int, np.integer))):
        yield engine, Checkpoint(None, engine)
        return
    make_folder(engine.checkpoints)
    name = type(estimator).__name__
    home = engine.checkpoints / f"fit-{fingerprint(name, settings, sources)}"
    with only_one(home.with_suffix(".lock"), f"the same fit of {name} in {engine.checkpoints}"):
        make_folder(home)
        _sweep(home)
        here = engine.within(home)
        yield here, Checkpoint(home, here)
        clear_tree(home)


def _sweep(home: Path) -> None:
    """Take away what a fit that was stopped left half done: all but the points and the states they name."""
    named = set()
    for path in home.glob(f"*{_POINT}"):
        with np.load(path, allow_pickle=False) as archive:
            named |= {str(home / file) for file in json.loads(str(archive["files"]))}
    for path in home.rglob("*"):
        if path.is_file() and (path.suffix == TEMPORARY or (path.suffix != _POINT and str(path) not in named)):
            forget(path)


def fingerprint(what: str, settings: Mapping[str, Any], sources: Sequence[RowSource]) -> str:
    """A name for a piece of work: the same only for the same settings and the same data."""
    digest = hashlib.sha256(f"{__version__} {what}".encode())
    for name in sorted(settings):
        digest.update(f"\n{name} ".encode())
        _digest_setting(digest, settings[name])
    for name, column in (one for source in sources for one in source.columns.items()):
        digest.update(f"\n{name} {column.shape} {column.dtype} ".encode())
        if is_dask(column):
            digest.update(column.name.encode())  # Dask names arrays by what they are made of
            continue
        for part in (column.data, column.indices, column.indptr) if is_sparse(column) else (column,):
            place = file_part(part)
            digest.update(as_raw(np.ascontiguousarray(part)) if place is None else repr(place).encode())
    return digest.hexdigest()[:24]


def _digest_setting(digest: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        for name, one in value.items():
            digest.update(f"{name}: ".encode())
            _digest_setting(digest, one)
    elif isinstance(value, np.ndarray):
        digest.update(as_raw(np.ascontiguousarray(value)))
    else:
        digest.update(repr(value).encode())
