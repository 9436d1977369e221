"""A batch of files opened by children of this process, and what extractors make of what they hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...collection.items import Item
from ...collection.store import Store
from ...features.base import Extractor
from ...features.opening.decode import BadFile, Clip, DecodePool, Picture

__all__ = ["Looked", "Seen", "each_row", "given_up", "look_here", "looked_at"]


class Seen(NamedTuple):
    """What is kept of a picture or clip beside its rows."""

    thumbnail: bytes
    hash: int
    signature: bytes
    width: int
    height: int


@dataclass
class Looked:
    """What came of a batch of files, by the items' numbers."""

    rows: dict[str, tuple[list[int], Any]]
    """Per view: items, and their rows."""
    seen: dict[int, Seen]
    refused: list[tuple[int, BadFile]]


def looked_at(
    found: Mapping[int, Picture | Clip],
    refused: list[tuple[int, BadFile]],
    made: Sequence[Extractor],
    missing: Mapping[str, set[int]],
    n_jobs: int | None,
) -> Looked:
    """The rows of opened files in every view that lacks them, wherever they were opened."""
    rows = {}
    for one in made:
        ids = [number for number in sorted(found) if number in missing[one.name]]
        if ids:
            rows[one.name] = ids, each_row(one, [found[number] for number in ids], n_jobs)
    seen = {
        number: Seen(one.thumbnail, one.hash, one.signature, one.width, one.height) for number, one in found.items()
    }
    return Looked(rows, seen, refused)


def each_row(one: Extractor, found: Sequence[Picture | Clip], n_jobs: int | None) -> Any:
    """One row per picture, the mean of its frames for a clip; for motion, NaN where nothing can move."""
    if one.reads in ("motion", "bursts"):
        return one.extract([_moving(one, part) for part in found], n_jobs=n_jobs)
    pictures = [frame for part in found for frame in (part.frames if isinstance(part, Clip) else (part.pixels,))]
    rows = one.extract(pictures, n_jobs=n_jobs)
    counts = np.array([len(part.frames) if isinstance(part, Clip) else 1 for part in found])
    if (counts == 1).all():
        return rows
    from scipy.sparse import csr_matrix

    ends = np.concatenate([[0], np.cumsum(counts)])
    mean = csr_matrix((np.repeat(1.0 / counts, counts), np.arange(ends[-1]), ends))
    return (mean @ rows).astype(rows.dtype)


def _moving(one: Extractor, part: Picture | Clip) -> Any:
    """What an extractor of motion reads of a file; nothing of a photograph."""
    if isinstance(part, Picture):
        return np.empty((0, 0, 0, 0), dtype=np.uint8)
    return part.bursts if one.reads == "bursts" else part.pairs


def look_here(
    collection: Store,
    batch: Sequence[Item],
    made: Sequence[Extractor],
    missing: Mapping[str, set[int]],
    pool: DecodePool,
    n_jobs: int | None,
) -> Looked:
    """Open the files of a batch, each announced in the journal first, and describe them."""
    by_path = {str(item.path): item.id for item in batch}
    stamps = {str(item.path): _stamp(collection, item) for item in batch}
    refused, journal = given_up(collection, batch), collection.journal
    lost = {number for number, _ in refused}
    found: dict[int, Picture | Clip] = {}
    paths = [path for path, number in by_path.items() if number not in lost]
    suspects = [path for path in paths if (path, stamps[path]) in journal.deaths]
    for together in _apart(paths, suspects, pool):
        for path, outcome in pool.decode(together, journal=lambda path: journal.opening(path, stamps[path])):
            journal.done(path, stamps[path])
            if isinstance(outcome, BadFile):
                refused.append((by_path[path], outcome))
            else:
                found[by_path[path]] = outcome
    return looked_at(found, refused, made, missing, n_jobs)


def given_up(collection: Store, batch: Sequence[Item]) -> list[tuple[int, BadFile]]:
    """The items over whose files the program has died too often."""
    return [
        (item.id, BadFile("crash", "the program died over it three times."))
        for item in batch
        if collection.journal.given_up(str(item.path), _stamp(collection, item))
    ]


def _apart(paths: Sequence[str], suspects: Sequence[str], pool: DecodePool) -> Iterator[list[str]]:
    """All files together, but each of those the program may have died over alone, in a child that has started.

    Otherwise somebody who stops the program three times while it starts would have a whole batch given up.
    """
    yield [path for path in paths if path not in suspects]
    if suspects:
        list(pool.decode([os.devnull]))
    for path in suspects:
        yield [path]


def _stamp(collection: Store, item: Item) -> str:
    """Size and time of a file: one that changed is another file to the journal."""
    facts = collection.items.facts(item.id)
    return "" if facts is None else f"{facts.size} {facts.mtime_ns}"
