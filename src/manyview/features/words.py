"""Text as weighted words, and tags as they are; the vocabulary is learned and can be kept."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.checks import check_number
from ..data.tags import TagTable, match_key
from ..errors import ParameterError, ViewError
from .base import Extractor

__all__ = ["Tags", "Words", "split_words"]

# Scripts written without spaces between words: Thai, Lao, Burmese, Khmer, kana and Han.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)"
)


@cache
def _pattern() -> re.Pattern[str]:
    """A word: letters and digits, with the marks that belong to them, and apostrophes between."""
    marks = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    letters = rf"[^\W_](?:[^\W_]|[{re.escape(marks)}])*"
    return re.compile(rf"{letters}(?:['\u2019]{letters})*")


def split_words(text: str) -> list[str]:
    """The words of a text in any script, without case; pairs of letters where a script has no spaces.

    >>> split_words("Die Katze, l'été: 東京都")
    ['die', 'katze', "l'été", '東京', '京都']
    """
    found = []
    for word in _pattern().findall(unicodedata.normalize("NFKC", text).casefold()):
        if word.isascii():
            found.append(word)
            continue
        for number, part in enumerate(_UNSPACED.split(word)):  # every second part is of an unspaced script
            if number % 2 and len(part) > 1:
                found += [part[i : i + 2] for i in range(len(part) - 1)]
            elif part:
                found.append(part)
    return found


class _Vocabulary(Extractor):
    """What words and tags share: a learned list of columns, each with a weight."""

    learns = True
    _what: ClassVar[str]

    def __init__(self) -> None:
        self._names: list[str] | None = None
        self._weights = np.empty(0)
        self._column: dict[str, int] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The vocabulary."""
        return tuple(self._learned())

    def state(self) -> dict[str, Any]:
        """The vocabulary and the weight of each of its words."""
        return {"names": list(self._learned()), "weights": self._weights}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what ``state`` gave."""
        names, weights = state.get("names"), np.asarray(state.get("weights"), dtype=np.float64)
        if not isinstance(names, list) or weights.shape != (len(names),):
            raise ParameterError(f"the state of {self.name} must hold names and as many weights, got {sorted(state)}.")
        self._keep([str(name) for name in names], weights)

    def _keep(self, names: list[str], weights: NDArray[np.float64]) -> None:
        self._names, self._weights = names, weights
        self._column = {self._key(name): number for number, name in enumerate(names)}

    def _learned(self) -> list[str]:
        if self._names is None:
            raise ParameterError(
                f"{self.name} has learned no vocabulary yet: call learn with the {self._what}, or restore, first."
            )
        return self._names

    def _key(self, name: str) -> str:
        return name

    def _csr(self, rows: Iterable[dict[int, float]]) -> Any:
        """Rows given as column -> value, as a CSR matrix with sorted columns, float32."""
        from scipy.sparse import csr_matrix

        data, indices, ends = [], [], [0]
        for row in rows:
            chosen = sorted(row)
            indices += chosen
            data += [row[column] for column in chosen]
            ends.append(len(indices))
        parts = np.array(data, dtype=np.float32), np.array(indices, dtype=np.int32), np.array(ends, dtype=np.int32)
        return csr_matrix(parts, shape=(len(ends) - 1, self.n_features))


class Words(_Vocabulary):
    """Texts as weighted words (tf-idf): rare words count more, repeated ones little more, rows have length one.

    A word counts ``(1 + ln count) * (ln((1 + n) / (1 + n_with_it)) + 1)``, as scikit-learn's. Words of any script;
    where one is written without spaces, pairs of letters. An empty text is an empty row.

    Parameters
    ----------
    min_texts : int, default=2
        A word must be in so many texts.
    max_share : float, default=0.5
        And in at most this share of them; what is in nearly all tells nothing.
    max_words : int, default=20_000
        The words in most texts are kept.
    """

    name = "words"
    reads = "text"
    _what = "texts"

    def __init__(self, *, min_texts: int = 2, max_share: float = 0.5, max_words: int = 20_000) -> None:
        super().__init__()
        self.min_texts = check_number("min_texts", min_texts, integer=True, low=1)
        self.max_share = check_number("max_share", max_share, low=0, high=1, low_open=True)
        self.max_words = check_number("max_words", max_words, integer=True, low=1)

    def learn(self, items: Iterable[str], *, n_jobs: int | None = None) -> None:
        """Find the vocabulary and how common each word is; one pass over the texts."""
        found: Counter[str] = Counter()
        n_texts = 0
        for text in items:
            found.update(set(_split(text, n_texts)))
            n_texts += 1
        most = max(self.max_share * n_texts, self.min_texts)
        kept = [(word, count) for word, count in found.items() if self.min_texts <= count <= most]
        kept = sorted(kept, key=lambda pair: (-pair[1], pair[0]))[: self.max_words]
        counts = dict(kept)
        names = sorted(counts)
        shares = np.array([(1 + n_texts) / (1 + counts[name]) for name in names])
        self._keep(names, np.log(shares) + 1)

    def extract(self, items: Iterable[str], *, n_jobs: int | None = None) -> Any:
        """One row per text, CSR float32 (n_texts, n_words)."""
        self._learned()
        return self._csr(self._row(text, number) for number, text in enumerate(items))

    def _row(self, text: str, number: int) -> dict[int, float]:
        counts = Counter(self._column[word] for word in _split(text, number) if word in self._column)
        row = {column: (1 + float(np.log(count))) * self._weights[column] for column, count in counts.items()}
        length = float(np.sqrt(sum(value * value for value in row.values())))
        return {column: value / length for column, value in row.items()}


def _split(text: Any, number: int) -> list[str]:
    if not isinstance(text, str):
        raise ViewError(f"text {number} must be a string, got {type(text).__name__}.")
    return split_words(text)


class Tags(_Vocabulary):
    """Tags as a 0/1 matrix: one column per tag, whatever the case it is written in.

    ``min_items`` leaves out tags on fewer items; the default keeps all.
    """

    name = "tags"
    reads = "tags"
    _what = "lists of tags"

    def __init__(self, *, min_items: int = 1) -> None:
        super().__init__()
        self.min_items = check_number("min_items", min_items, integer=True, low=1)

    def learn(self, items: Iterable[Any], *, n_jobs: int | None = None) -> None:
        """Find the vocabulary: each tag in its most frequent spelling, sorted."""
        table = TagTable.from_lists(list(items))
        counts = np.asarray(table.yes.sum(axis=0)).ravel()
        names = [name for name, count in zip(table.names, counts, strict=True) if count >= self.min_items]
        self._keep(names, np.ones(len(names)))

    def extract(self, items: Iterable[Any], *, n_jobs: int | None = None) -> Any:
        """One row per item, CSR float32 (n_items, n_tags); tags outside the vocabulary are left out."""
        self._learned()
        rows = ([match_key(word) for word in words] for words in items)
        return self._csr({self._column[key]: 1.0 for key in row if key in self._column} for row in rows)

    def _key(self, name: str) -> str:
        return match_key(name)
