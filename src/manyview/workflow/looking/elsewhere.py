"""Batches of files looked at by the workers of a Dask cluster, who see them under the same paths.

A worker opens the files in a child of its own and makes the rows by the function that this process would use; nothing
but rows, thumbnails and fingerprints comes back. A batch whose worker dies is looked at by another.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...collection.items import Item
from ...collection.store import Store
from ...errors import ParameterError, WorkerError
from ...features.base import Extractor
from ...features.opening.decode import BadFile, Clip, DecodePool, Picture
from .here import Looked, given_up, looked_at

__all__ = ["look_elsewhere"]

_AHEAD = 2
"""Batches for every thread of the cluster that are under way at a time."""
_OUT_OF_SIGHT = ("missing", "unreadable")


def look_elsewhere(
    collection: Store,
    batches: Iterable[Sequence[Item]],
    made: Sequence[Extractor],
    missing: Mapping[str, set[int]],
    client: Any,
) -> Iterator[Looked]:
    """What came of each batch, in order."""
    told = pickle.dumps([(one, one.version) for one in made], protocol=pickle.HIGHEST_PROTOCOL)
    source, under_way = iter(batches), deque[tuple[Any, dict[int, str], list[tuple[int, BadFile]]]]()
    try:
        while True:
            most = _AHEAD * max(1, sum(client.nthreads().values()))
            while len(under_way) < most and (batch := next(source, None)) is not None:
                lost = given_up(collection, batch)
                paths = {item.id: str(item.path) for item in batch if item.id not in {number for number, _ in lost}}
                wanted = {name: numbers & paths.keys() for name, numbers in missing.items()}
                under_way.append((client.submit(_look, told, paths, wanted, pure=False), paths, lost))
            if not under_way:
                return
            future, paths, lost = under_way.popleft()
            looked, worker = _result(future, paths)
            _refuse_blindness(looked, paths, worker)
            looked.refused += lost
            yield looked
    finally:
        for future, *_ in under_way:
            future.cancel()


def _result(future: Any, paths: Mapping[int, str]) -> tuple[Looked, str]:
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        looked, worker = future.result()
    except KilledWorker as error:
        first, *_, last = [*paths.values()] * 2
        raise WorkerError(
            f"the files from {first} to {last} killed {error.args[2] + 1} workers, the last {error.args[1].address}. "
            "Look at its log, most often for want of memory; the same command again goes on from there."
        ) from error
    except CommClosedError as error:
        raise WorkerError(
            f"the Dask scheduler was lost ({error}). Start it again; the same command again goes on from there."
        ) from error
    return looked, worker


def _refuse_blindness(looked: Looked, paths: Mapping[int, str], worker: str) -> None:
    """A file that only the worker does not see is no fault of the file."""
    for number, bad in looked.refused:
        if bad.reason in _OUT_OF_SIGHT and os.access(paths[number], os.R_OK):
            raise WorkerError(
                f"the worker at {worker} cannot open {paths[number]} ({bad.reason}), though this process can. Put the "
                "files on storage that all workers see under the same path, or compute the views without --cluster."
            )


def _look(told: bytes, paths: dict[int, str], missing: Mapping[str, set[int]]) -> tuple[Looked, str]:
    """What a worker does with a batch."""
    from distributed import get_worker

    made = _extractors(told)
    found: dict[int, Picture | Clip] = {}
    refused: list[tuple[int, BadFile]] = []
    with DecodePool(1, bursts=any(one.reads == "bursts" for one in made)) as pool:
        for number, (_, outcome) in zip(paths, pool.decode(list(paths.values())), strict=True):
            if isinstance(outcome, BadFile):
                refused.append((number, outcome))
            else:
                found[number] = outcome
    return looked_at(found, refused, made, missing, 1), get_worker().address


@lru_cache(maxsize=2)  # a network is loaded once, not for every batch
def _extractors(told: bytes) -> list[Extractor]:
    made = []
    for one, version in pickle.loads(told):  # noqa: S301  Dask has already brought it as code to run
        if one.version != version:
            raise ParameterError(
                f"a worker would make the view {one.name!r} as version {one.version!r}, and here it is {version!r}. "
                "Install the same manyview, and the same model file, on all workers."
            )
        made.append(one)
    return made
