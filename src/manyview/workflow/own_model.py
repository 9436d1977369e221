"""Models of your own: which one a collection's pictures are read with, and what is kept of a pair.

Of a pair (``features.towers``) the view keeps the photo words as its text network reads them, and the line between what
is there and what is not (``meaning.own_model``). Names and first tags need no more; other texts ask the network itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from ..collection.store import Store
from ..errors import ParameterError, StoreError
from ..features.base import Extractor, extractor
from ..features.towers import is_pair, missing_parts, text_digest, tower_vectors
from ..meaning.own_model import ABSENT, FEWEST_PICTURES, OwnModel, as_caption, calibrated
from ..meaning.words import english_words
from ..types import Progress
from .computed import Computed, Note

__all__ = ["VIEW", "embedding_extractor", "own_model", "own_texts", "read_pair", "texts_can_be_asked"]

VIEW = "embedding"
_PICTURES = 2000
"""Pictures that a line is drawn with, spread evenly."""
_MORE = 2
"""How many times as many pictures there have to be for a new line."""


def embedding_extractor(collection: Store, model: str | None, again: bool, done: Computed) -> Extractor | None:
    """The extractor of pictures: with the model that is named or remembered, else with the one that ships.

    None, with a note, where a remembered model is not there any more: what it made stays as it is.
    """
    if model is not None:
        path = os.path.abspath(model)
        if is_pair(path) and (lacking := missing_parts(path)):
            raise StoreError(
                f"{path} is no pair of models: {' and '.join(lacking)} not found there. A folder needs picture.onnx, "
                "text.onnx and tokenizer.json; a picture model alone is named by its file."
            )
        made = extractor(VIEW, model=path)
        if is_pair(path):  # a text model that cannot serve is better known now than after thousands of pictures
            tower_vectors(path, text_digest(path), made.n_features, [as_caption(ABSENT[0])])
        return made
    if again or VIEW not in collection.view_names:
        return extractor(VIEW)
    info = collection.segments.info(VIEW)
    remembered = _kept(collection).get("folder") or info.settings.get("model")
    if remembered is None:
        return extractor(VIEW)
    if not os.path.isfile(remembered) and (not is_pair(remembered) or missing_parts(remembered)):
        sentence = (
            f"view {VIEW!r} is kept as it is: its model {remembered} is not there any more. Name it again with "
            "--model, or compute the view anew with --again."
        )
        done.notes.append(Note("model gone", VIEW, sentence))
        return None
    one = extractor(VIEW, model=remembered)
    if one.version != info.version:
        sentence = (
            f"the model {remembered} has changed since view {VIEW!r} was made with it: all of its rows are made anew."
        )
        done.notes.append(Note("model changed", VIEW, sentence))
    return one


def read_pair(collection: Store, one: Extractor, done: Computed, progress: Progress | None = None) -> None:
    """Keep, with the view, what a pair's text network says of the photo words, and draw its line.

    Done once for a pair, and again when its text network has changed, or with twice as many pictures as before: so
    the scores of pictures stay what they are while a collection grows a little.
    """
    folder = getattr(one, "model", None)
    if one.name != VIEW or folder is None or not is_pair(folder):
        return
    before, digest = _kept(collection), text_digest(folder)
    X = collection.views([VIEW])
    there = np.flatnonzero(X.mask[:, 0])
    if there.size < FEWEST_PICTURES:
        sentence = (
            f"the pair of models in {folder} names, tags and finds from {FEWEST_PICTURES} pictures on; "
            f"there are {there.size}."
        )
        done.notes.append(Note("few pictures", VIEW, sentence))
        return
    is_known = (before.get("text"), before.get("words")) == (digest, _word_list())
    if is_known and before["folder"] == str(folder) and there.size < _MORE * before["n_pictures"]:
        return
    texts = [*english_words(), *ABSENT]
    if progress is not None:
        progress("reading words", 0, len(texts))
    rows = np.asarray(X[VIEW][there[np.unique(np.linspace(0, there.size - 1, _PICTURES).astype(np.int64))]])
    n_words = len(english_words())
    try:
        vectors = tower_vectors(folder, digest, rows.shape[1], map(as_caption, texts))
        made = calibrated(rows, vectors[n_words:], vectors[:n_words])
    except (StoreError, ParameterError) as error:
        done.notes.append(Note("pair fails", VIEW, f"no names, first tags or search by {folder}: {error}"))
        return
    if before and before["text"] != digest:
        sentence = f"the text model in {folder} has changed: the words were read, and its line was drawn, anew."
        done.notes.append(Note("model changed", VIEW, sentence))
    kept = {
        "folder": str(folder),
        "text": digest,
        "words": _word_list(),
        "n_pictures": int(there.size),
        "slope": made.slope,
        "start": made.start,
    }
    collection.segments.put_state(VIEW, {"pair": kept, "words": made.words})


def own_model(collection: Store) -> OwnModel | None:
    """What is kept of the pair whose rows a collection has; None where there is no pair, or nothing is kept yet."""
    kept = _kept(collection)
    if kept.get("words") != _word_list():
        return None
    return OwnModel(collection.segments.state(VIEW)["words"], kept["slope"], kept["start"])


def own_texts(collection: Store, own: OwnModel, texts: Sequence[str]) -> Any:
    """Texts as rows of the pair: the photo words from what is kept, others by its text network.

    Raises
    ------
    StoreError
        If that is needed, and is not there any more or has changed.
    """
    kept, numbers = _kept(collection), {word: number for number, word in enumerate(english_words())}
    others = [text for text in dict.fromkeys(texts) if text not in numbers]
    found = dict(zip(english_words(), own.words, strict=True))
    if others:
        try:
            rows = tower_vectors(kept["folder"], kept["text"], own.words.shape[1], map(as_caption, others))
        except (StoreError, ParameterError) as error:
            raise StoreError(
                f"{error} Name it again with `manyview features {collection.path} --model FOLDER`, or take the model "
                f"that ships: `manyview features {collection.path} --view {VIEW} --again`."
            ) from error
        found |= dict(zip(others, rows, strict=True))
    return np.stack([found[text] for text in texts])


def texts_can_be_asked(collection: Store) -> bool:
    """Is the text network there, and the one it was? That which ships always is."""
    kept = _kept(collection)
    return not kept or (not missing_parts(kept["folder"]) and text_digest(kept["folder"]) == kept["text"])


def _kept(collection: Store) -> dict[str, Any]:
    if VIEW not in collection.view_names:
        return {}
    found: dict[str, Any] = collection.segments.state(VIEW).get("pair", {})
    return found


def _word_list() -> str:
    """The list of words that vectors are kept for: another one has to be read anew."""
    return sha256("\n".join(english_words()).encode()).hexdigest()[:12]
