"""Compute the views of a collection: every file is opened once, and every extractor looks at it then.

Work goes on in batches. A batch's rows, thumbnails and fingerprints are on disk, together, before the next one is
opened, so that stopping costs one batch and the same call again does the rest.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..collection.items import Fingerprint, Item, Problem
from ..collection.safety.heal import damaged_packs, damaged_views, set_aside_packs, set_aside_rows
from ..collection.segments import GIVEN
from ..collection.store import Store
from ..engines.choice import cluster_client
from ..errors import ParameterError, StoreError
from ..features.base import Extractor, Reads, extractor, extractor_names, register_extractor
from ..features.opening.decode import BadFile, Clip, DecodePool, Picture
from ..ingest.capture import FILE_TIME
from ..types import Progress
from .computed import Computed, Note, add_rows, restore_learned
from .looking.elsewhere import look_elsewhere
from .looking.here import Looked, look_here
from .own_model import embedding_extractor, read_pair
from .remember import fold_duplicates, recognise_moved, remember_contents

__all__ = [
    "Computed",
    "Note",
    "came_with_source",
    "compute_views",
    "default_views",
    "occasions",
    "without_source",
]


_FIRST, _BATCH = 16, 128
_SAMPLE = 1000
"""Pictures an extractor may learn from (a code book)."""
_CAPTION, _MOST_SHORT = 300, 0.9
"""Letters of a text that one sentence vector can hold, and the share of texts that have to be so short."""
_DAY = len("2019-06-14")
_MADE_OF = {
    "text": "texts",
    "motion": "clips",
    "bursts": "clips",
    "date": "days of capture",
    "place": "positions",
}
_PASSING = ("missing", "unreadable", "missing extra")
"""Reasons that are no fault of the file: a disk that was away, a part that is installed since."""


def _visual_words() -> Extractor:
    from ..features.coding import BagOfWords
    from ..features.transformed import Transformed

    return Transformed("visual_words", BagOfWords(random_state=0))


def _llc() -> Extractor:
    from ..features.locality_coding import LocalityCoding
    from ..features.transformed import Transformed

    return Transformed("llc", LocalityCoding(random_state=0))


register_extractor("visual_words", _visual_words)
register_extractor("llc", _llc)


def default_views(collection: Store) -> tuple[str, ...]:
    """The views to compute when nobody says which: a pretrained one for pictures, motion where all are clips, texts.

    Short English texts are compared by what they mean (``caption``), all others by their words; a collection that has
    one of these views stays with it.
    """
    kinds = set(collection.items.formats())
    names = ["embedding"] if kinds & {"picture", "video"} else []
    names += ["motion"] if "video" in kinds and "picture" not in kinds else []  # see run_views.only_clips_move
    texts = collection.items.written()
    if "document" in kinds or texts:
        there = [name for name in extractor_names("text") if name in collection.view_names]
        names += there or ["caption" if _are_captions(texts) else "words"]
    return tuple(names)


def without_source(collection: Store) -> dict[str, str]:
    """The views that cannot be computed here -> what they would be made of, of which the collection has none."""
    kinds = set(collection.items.formats())
    there: dict[Reads, bool] = {
        "picture": bool(kinds & {"picture", "video"}),
        "motion": "video" in kinds,
        "bursts": "video" in kinds,
        "text": bool(collection.items.written()),
        "date": bool(occasions(collection, "date")),
        "place": bool(occasions(collection, "place")),
    }
    lacking = [reads for reads, is_there in there.items() if not is_there]
    return {name: _MADE_OF.get(reads, "pictures or clips") for reads in lacking for name in extractor_names(reads)}


def _are_captions(texts: Sequence[str]) -> bool:
    """Are nearly all of these texts a line or two of English?"""
    from ..features.sentences import is_english

    short = sum(len(text) <= _CAPTION for text in texts)
    return bool(texts) and short >= _MOST_SHORT * len(texts) and is_english(texts)


def compute_views(
    collection: Store,
    names: Iterable[str] | None = None,
    *,
    model: str | None = None,
    again: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    cluster: Any = None,
) -> Computed:
    """Compute views of a collection that is open for writing; rows that are there already are kept.

    names : names of extractors (``features.base.extractor_names``); None takes ``default_views``
    model : an ONNX file in place of the one that ships, for the view "embedding", or a folder with a pair of models for
        pictures and texts (``features.towers``); later calls remember it
    again : compute the views anew, and forget a model that was named before
    cluster : a Dask client, or the address of a scheduler, whose workers open the pictures and clips and describe them;
        they must see the files under the same paths. What is learned first, and texts, are read here

    Files of the collection that cannot be read are set aside, and what they held is computed again: with names None in
    every view, else in those that are named. Views that came with the source are never replaced. Pictures that were
    refused because they were away, or for want of an optional part, get another chance.
    """
    started = time.perf_counter()
    done = Computed()
    damaged = [name for name in damaged_views(collection) if not came_with_source(collection, name)]
    chosen = tuple(dict.fromkeys((*default_views(collection), *damaged) if names is None else names))
    if model is not None and "embedding" not in chosen:
        raise ParameterError(
            "a model file is for the view 'embedding', which is not among those to compute. Add it, or name no model."
        )
    made = [one for name in chosen if (one := _make(collection, name, model, again, done)) is not None]
    looking = [one for one in made if one.looks]
    if again:
        _forget(collection, made)
    _set_aside(collection, [one for one in made if one.name in damaged], done)
    collection.items.retry(_PASSING)
    if looking or collection.thumbs.missing():
        with nullcontext() if cluster is None else cluster_client(cluster) as client:
            _look(collection, looking, done, n_jobs, progress, client)
        done.n_recognised = recognise_moved(collection)
        done.n_duplicates = fold_duplicates(collection)
    for one in made:
        if one.reads == "text":
            _read_texts(collection, one, done, n_jobs, progress)
        elif one.reads in ("date", "place"):
            _read_occasions(collection, one, done)
    for one in made:
        if one.name in collection.view_names:
            collection.merge_view(one.name)
            read_pair(collection, one, done, progress)
        elif one.name not in {note.view for note in done.notes if note.kind == "lacking"}:
            sort = _MADE_OF.get(one.reads, "pictures that can be opened")
            sentence = f"no view {one.name!r}: it is made of {sort}, and there are none."
            done.notes.append(Note("lacking", one.name, sentence))
    if names is None:
        for name in damaged_views(collection):
            collection.segments.matrix(name)  # it came with the source: the error says how to get it from there again
    remember_contents(collection, progress)
    done.seconds = time.perf_counter() - started
    return done


def _set_aside(collection: Store, damaged: Sequence[Extractor], done: Computed) -> None:
    """Files that cannot be read are made again, if what they were made of is there."""
    if any(one.looks for one in damaged) or damaged_packs(collection):
        _check_roots(collection, list(collection.items))
    for name, n_rows in set_aside_rows(collection, [one.name for one in damaged]).items():
        sentence = f"a file of view {name!r} was damaged; its {n_rows} rows are computed again."
        done.notes.append(Note("healed", name, sentence))
    if n_thumbs := set_aside_packs(collection):
        sentence = f"a pack of thumbnails was damaged; its {n_thumbs} pictures are looked at again."
        done.notes.append(Note("healed", "", sentence))


def _forget(collection: Store, made: Sequence[Extractor]) -> None:
    """Take views away that can be computed anew: nothing goes where a model or the pictures are not there."""
    if any(one.version and one.looks for one in made):
        _check_roots(collection, list(collection.items))
    for one in made:
        if one.name in collection.view_names:
            collection.remove_view(one.name)


def came_with_source(collection: Store, name: str) -> bool:
    """Is this a view that somebody else computed?"""
    return name in collection.view_names and collection.segments.info(name).version in GIVEN


def _make(collection: Store, name: str, model: str | None, again: bool, done: Computed) -> Extractor | None:
    """The extractor of a view, or None with a note where what is there has to stay."""
    if name == "tags":
        raise ParameterError("tags need no computing: a fit takes them as they are at that moment.")
    if came_with_source(collection, name):
        done.notes.append(Note("kept", name, f"view {name!r} came with the source and is kept as it is."))
        return None
    if name not in extractor_names():
        known = ", ".join(one for one in extractor_names() if one != "tags")
        raise ParameterError(f"there is no view {name!r} to compute; there are {known}.")
    if name != "embedding":
        return extractor(name)
    return embedding_extractor(collection, model, again, done)


# --- pictures and clips ---


def _look(
    collection: Store,
    made: Sequence[Extractor],
    done: Computed,
    n_jobs: int | None,
    progress: Progress | None,
    client: Any,
) -> None:
    """Open every picture and clip that some view, or its thumbnail, still lacks."""
    items = {item.id: item for item in collection.items if item.kind in ("picture", "video") and item.path}
    missing = {one.name: set(collection.missing_rows(one.name, one.version).tolist()) & items.keys() for one in made}
    unseen = set(collection.thumbs.missing()) & items.keys()
    wanted = sorted(unseen.union(*missing.values()))
    if not wanted:
        return
    _check_roots(collection, [items[number] for number in wanted])
    with DecodePool(n_jobs, bursts=any(one.reads == "bursts" for one in made)) as pool:
        made = [
            one
            for one in made
            if not (one.learns and missing[one.name])
            or _learn(collection, one, list(items.values()), pool, n_jobs, progress)
        ]
        batches = list(_in_batches([items[number] for number in wanted]))
        results: Iterator[Looked]
        if client is None:
            results = (look_here(collection, batch, made, missing, pool, n_jobs) for batch in batches)
        else:
            results = look_elsewhere(collection, batches, made, missing, client)
        n_seen = 0
        for batch in batches:
            if progress is not None:
                progress("looking at files", n_seen, len(wanted))
            _keep(collection, made, batch, next(results), done)
            collection.journal.progress()
            n_seen += len(batch)
    if progress is not None:
        progress("looking at files", len(wanted), len(wanted))


def _in_batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Small batches first, so that whoever waits soon knows how fast it goes; then twice as many each time."""
    start, size = 0, min(_FIRST, _BATCH)
    while start < len(items):
        yield items[start : start + size]
        start, size = start + size, min(2 * size, _BATCH)


def _check_roots(collection: Store, items: Sequence[Item]) -> None:
    """A disk that is not connected must not look like a thousand files that are gone."""
    for source in collection.items.sources():
        root = str(source["root"])
        if not os.path.isdir(root) and any(str(item.path).startswith(root.rstrip(os.sep) + os.sep) for item in items):
            raise StoreError(f"{root} does not exist. If it is on a disk that is not connected, connect that first.")


def _keep(collection: Store, made: Sequence[Extractor], batch: Sequence[Item], looked: Looked, done: Computed) -> None:
    """The rows of a batch in every view, its thumbnails and fingerprints, and what was refused: all of it, or none."""
    by_number = {item.id: item for item in batch}
    with collection.transaction():
        for number, bad in looked.refused:
            collection.items.refuse(number, bad.reason, bad.sentence)
        for one in made:
            if one.name in looked.rows:
                ids, matrix = looked.rows[one.name]
                add_rows(collection, one, matrix, np.array(ids, dtype=np.int64), done)
        collection.thumbs.add({number: one.thumbnail for number, one in looked.seen.items()})
        collection.items.describe(
            (Fingerprint(number, one.hash, one.signature), one.width, one.height) for number, one in looked.seen.items()
        )
    done.bad += [
        Problem(by_number[number].key, bad.reason, bad.sentence, stage="decode") for number, bad in looked.refused
    ]


def _learn(
    collection: Store,
    one: Extractor,
    items: Sequence[Item],
    pool: DecodePool,
    n_jobs: int | None,
    progress: Progress | None,
) -> bool:
    """Take back what was learned, or learn from files spread evenly over the collection; False: there are none."""
    if restore_learned(collection, one):
        return True
    items = [item for item in items if item.kind == "video" or one.reads != "bursts"]
    chosen = [items[place] for place in np.unique(np.linspace(0, len(items) - 1, min(_SAMPLE, len(items))).astype(int))]
    if progress is not None:
        progress(f"learning {one.name}", 0, len(chosen))
    opened = (part for _, part in pool.decode([str(item.path) for item in chosen]) if not isinstance(part, BadFile))
    examples = (example for part in opened if len(example := _example(one, part)))
    first = next(examples, None)
    if first is not None:
        one.learn(itertools.chain([first], examples), n_jobs=n_jobs)
    return first is not None


def _example(one: Extractor, part: Picture | Clip) -> Any:
    """What an extractor learns from a file: of a clip its first frame, or its bursts."""
    if isinstance(part, Picture):
        return part.pixels
    return part.bursts if one.reads == "bursts" else part.frames[0]


# --- texts, dates and places ---


def occasions(collection: Store, reads: str) -> dict[int, Any]:
    """Item -> when (a text) or where (latitude and longitude) it was taken; times of files do not count."""
    field, ids = collection.reading.field, collection.items.ids.tolist()
    if reads == "date":
        told = zip(ids, field("taken"), field("taken_from"), strict=True)
        return {
            n: when for n, when, source in told if isinstance(when, str) and source != FILE_TIME and len(when) >= _DAY
        }
    found = {}
    for number, *place in zip(ids, field("latitude"), field("longitude"), strict=True):
        try:
            found[number] = tuple(float(part) for part in place)
        except (TypeError, ValueError):  # it has none
            continue
    return found


def _read_occasions(collection: Store, one: Extractor, done: Computed) -> None:
    known = occasions(collection, one.reads)
    wanted = [number for number in collection.missing_rows(one.name, one.version).tolist() if number in known]
    if not wanted:
        return
    if not restore_learned(collection, one):
        one.learn(list(known.values()))
    matrix = one.extract([known[number] for number in wanted])
    add_rows(collection, one, matrix, np.array(wanted, dtype=np.int64), done)


def _read_texts(
    collection: Store, one: Extractor, done: Computed, n_jobs: int | None, progress: Progress | None
) -> None:
    ids, texts = collection.items.ids, collection.items.texts()
    has_text = {number: text for number, text in zip(ids.tolist(), texts, strict=True) if text}
    wanted = [number for number in collection.missing_rows(one.name, one.version).tolist() if number in has_text]
    if not wanted:
        return
    if progress is not None:
        progress("reading texts", 0, len(wanted))
    if not restore_learned(collection, one):
        one.learn(list(has_text.values()), n_jobs=n_jobs)
    if not one.columns:
        done.notes.append(Note("lacking", one.name, f"no view {one.name!r}: no word is in two texts."))
        return
    matrix = one.extract([has_text[number] for number in wanted], n_jobs=n_jobs)
    add_rows(collection, one, matrix, np.array(wanted, dtype=np.int64), done)
    if progress is not None:
        progress("reading texts", len(wanted), len(wanted))
