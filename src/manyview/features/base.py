"""What every extractor is: a name, a version, a batch of items in, rows of numbers out.

``extractor("edges")`` makes one by name. Extractors that need to see the items first (a vocabulary, a code book) have
``learn``; what they learned comes out as ``state()``, arrays and words only, and goes back in with ``restore``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers, workers
from ..errors import ParameterError, ViewError
from .pictures import rgb_picture

__all__ = [
    "Extractor",
    "PictureExtractor",
    "Reads",
    "each_picture",
    "extractor",
    "extractor_names",
    "naming_picture",
    "register_extractor",
]

T = TypeVar("T")
_AT_ONCE = 32

Reads = Literal["picture", "motion", "bursts", "text", "tags", "date", "place"]

_WHERE = {
    "embedding": ("embedding", "Embedding"),
    "color_moments": ("color", "ColorMoments"),
    "color_histogram": ("color", "ColorHistogram"),
    "color_texture": ("texture", "ColorTexture"),
    "edges": ("edges", "EdgeDirections"),
    "wavelets": ("texture", "WaveletTexture"),
    "lbp": ("texture", "LocalBinaryPatterns"),
    "hog": ("edges", "OrientedGradients"),
    "gist": ("scene", "Gist"),
    "centrist": ("scene", "Centrist"),
    "motion": ("clips.frames", "Motion"),
    "motion_words": ("clips.motion_words", "MotionWords"),
    "words": ("words", "Words"),
    "caption": ("sentences", "Captions"),
    "text": ("sentences", "Documents"),
    "tags": ("words", "Tags"),
    "date": ("metadata.occasions", "Dates"),
    "place": ("metadata.occasions", "Places"),
}
_ANNOUNCED: dict[str, Callable[..., Extractor]] = {}


def extractor_names(reads: Reads | None = None) -> tuple[str, ...]:
    """The names that ``extractor`` knows, of all extractors or of those that read one kind of item."""
    known = (*_WHERE, *_ANNOUNCED)
    return tuple(name for name in known if reads is None or getattr(_find(name), "reads", "picture") == reads)


def register_extractor(name: str, make: Callable[..., Extractor]) -> None:
    """Let ``extractor`` and ``extractor_names`` know one more: a class or function that makes one of pictures."""
    if name in _WHERE:
        raise ParameterError(f"there is an extractor {name!r} already; choose another name.")
    _ANNOUNCED[name] = make


def extractor(name: str, **options: Any) -> Extractor:
    """Make an extractor by its name; options are its own.

    >>> extractor("edges").n_features
    73
    """
    kind = _find(name)
    known = list(inspect.signature(kind).parameters)
    if unknown := sorted(set(options) - set(known)):
        raise ParameterError(
            f"extractor {name!r} has no option {unknown[0]!r}; it has "
            + (", ".join(map(repr, known)) if known else "none")
            + "."
        )
    return kind(**options)


def _find(name: str) -> Callable[..., Extractor]:
    if name in _ANNOUNCED:
        return _ANNOUNCED[name]
    if name not in _WHERE:
        raise ParameterError(
            f"there is no extractor {name!r}; there are {', '.join(map(repr, (*_WHERE, *_ANNOUNCED)))}."
        )
    module, kind = _WHERE[name]
    found: type[Extractor] = getattr(import_module(f"{__package__}.{module}"), kind)
    return found


class Extractor:
    """Turns items of one kind into rows of numbers.

    Attributes
    ----------
    name : str, also the usual name of the view
    reads : "picture", "motion", "bursts", "text", "tags", "date" or "place"
        What ``extract`` takes: pictures (arrays, as ``rgb_picture`` takes them), pairs of frames, frames in a row,
        strings, lists of words, dates as texts, or pairs of latitude and longitude.
    version : str
        Changes whenever the numbers would: with the code, with an option, with a model file. Rows of equal version can
        be kept side by side.
    columns : tuple of str, what each number means
    """

    name: str
    reads: ClassVar[Reads]
    revision: ClassVar[int] = 1
    """Raised whenever the same item would give other numbers."""

    learns: ClassVar[bool] = False
    """Must ``learn`` see items before ``extract`` can work?"""

    def __init__(self) -> None: ...

    @property
    def version(self) -> str:
        """The revision of the code, and every option that is not at its default."""
        parts = [str(self.revision)]
        for key, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, key)
            if value != parameter.default:
                parts.append(f"{key}={value!r}")
        return " ".join(parts)

    @property
    def looks(self) -> bool:
        """Does it look at pictures or clips, whose files have to be opened?"""
        return self.reads in ("picture", "motion", "bursts")

    @property
    def columns(self) -> tuple[str, ...]:
        raise NotImplementedError

    @property
    def n_features(self) -> int:
        return len(self.columns)

    def extract(self, items: Iterable[Any], *, n_jobs: int | None = None) -> Any:
        """One row per item, float32 (n_items, n_features); words and tags give a CSR matrix."""
        raise NotImplementedError

    def learn(self, items: Iterable[Any], *, n_jobs: int | None = None) -> None:
        """See the items once, before ``extract``. Nothing to do for most."""

    def state(self) -> dict[str, Any]:
        """What ``learn`` found, as arrays, numbers and lists of words; empty where nothing is learned."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what ``state`` gave."""
        if state:
            raise ParameterError(f"extractor {self.name!r} keeps no state, got {sorted(state)}.")

    def __repr__(self) -> str:
        return f"<{self.name} {self.version}>"


class PictureExtractor(Extractor):
    """An extractor that looks at one picture at a time.

    Subclasses define ``_describe``. Larger pictures are reduced to ``max_side`` first, so that the same motif gives
    about the same numbers at any resolution. Memory: the rows, and a few pictures.
    """

    reads = "picture"
    max_side: ClassVar[int | None] = 256

    def extract(self, items: Iterable[Any], *, n_jobs: int | None = None) -> NDArray[np.float32]:
        """One row per picture, float32 (n_pictures, n_features); the same for any number of threads."""
        rows = [np.empty((0, self.n_features), dtype=np.float32)]
        with workers(n_jobs) as threads:
            for row in each_picture(
                items, lambda picture: self._describe(rgb_picture(picture, self.max_side)), threads
            ):
                rows.append(np.asarray(row, dtype=np.float32)[None])
        return np.concatenate(rows)

    def _describe(self, picture: NDArray[np.uint8]) -> Any:
        """The row of one picture, uint8 (height, width, 3)."""
        raise NotImplementedError


def each_picture(items: Iterable[Any], look: Callable[[Any], T], threads: Workers) -> Iterator[T]:
    """Apply a function to every picture, in order; a few pictures are in memory at a time. Errors name the picture."""
    pictures, number = iter(items), 0
    while batch := list(islice(pictures, _AT_ONCE)):

        def look_at(rows: slice, batch: list[Any] = batch, first: int = number) -> T:
            with naming_picture(first + rows.start):
                return look(batch[rows.start])

        yield from threads.map(look_at, [slice(i, i + 1) for i in range(len(batch))])
        number += len(batch)


@contextmanager
def naming_picture(number: int) -> Iterator[None]:
    """Say which picture an error is about."""
    try:
        yield
    except ViewError as error:
        raise ViewError(f"picture {number}: {error}") from error
