"""How strongly to hold back the tags and each view, found from the observed tags alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ..types import Floats
from .batch import Batch
from .ridge import Fit, Moments, fit_ridge

__all__ = ["MOST_DECIDING", "TAG_GRID", "VIEW_GRID", "Penalties", "choose_penalties", "choose_word_penalties", "press"]


TAG_GRID = (3.0, 10.0, 30.0, 100.0, 300.0)
VIEW_GRID = (0.3, 1.0, 3.0, 10.0, 30.0)
_START = 3.0  # of a view
MOST_DECIDING = 1_000
"""Only this many tags, the most frequent, decide: an inversion grows with the cube of their number."""


@dataclass(frozen=True)
class Penalties:
    """One penalty for all tags, and one per view, for the joint ridge and for the view ridge."""

    tags: float
    joint_views: tuple[float, ...]
    views: tuple[float, ...]
    with_words: tuple[float, float] | None = None
    """Of the tags and of the words, in the ridge on words; None where there is none."""


def press(
    moments: Moments, sample: Batch, tag_penalty: float | None, feature_penalties: Floats, *, on_words: bool = False
) -> float:
    """Sum of squared errors on a sample of items, each predicted by a fit without it."""
    return _error(fit_ridge(moments, tag_penalty, feature_penalties, rare=False, on_words=on_words), sample)


def _error(fit: Fit, sample: Batch) -> float:
    ridge = replace(fit.ridge, leverage=fit.leverage(np.float32)(sample))
    sample = replace(sample, rows=np.arange(sample.tags.shape[0]))
    errors = (ridge.scores(sample) - sample.tags.toarray())[:, ridge.frequent].astype(np.float64)
    return float(np.einsum("ij,ij->", errors, errors))


@dataclass
class _Tried:
    """Errors on a sample, and the fit of the smallest so far, if it knows all of ``n_tags``."""

    moments: Moments
    sample: Batch
    n_tags: int
    least: float = np.inf
    best: Fit | None = None

    def error(self, tag_penalty: float | None, feature_penalties: Floats) -> float:
        fit = fit_ridge(self.moments, tag_penalty, feature_penalties, rare=False)
        error = _error(fit, self.sample)
        if error < self.least and fit.ridge.frequent.size == self.n_tags:
            self.least, self.best = error, fit
        return error


def choose_penalties(
    moments: Moments,
    sample: Batch,
    of_tagged: Moments,
    tagged: Batch,
    widths: list[int],
    say: Callable[[str], None],
) -> tuple[Penalties, Fit | None, Fit | None]:
    """Walk the grids while the error of leaving items out falls: 10 to 20 inversions.

    The joint ridge learns from all items (``moments``, judged by ``sample``), that on the views alone from items with
    tags. Of many tags the most frequent decide. The fits at the ends of the walks, with the tags and on the views
    alone, come with the penalties; None where there are many tags, or no views.
    """
    n_tags = moments.tag_sums.size
    if n_tags > MOST_DECIDING:
        moments, sample = _of_frequent(moments, sample)
        of_tagged, tagged = _of_frequent(of_tagged, tagged)
    bare = replace(sample, features=sample.features[:, :0])
    without = moments.without_features()
    tags = _walk(TAG_GRID, 10.0, lambda value: press(without, bare, value, np.zeros(0)))
    if not widths:
        say(f"penalty of the tags {tags:g}")
        return Penalties(tags, (), ()), None, None
    with_tags, without_tags = _Tried(moments, sample, n_tags), _Tried(of_tagged, tagged, n_tags)

    @cache  # a walk begins where the one before it ended
    def joint(tag_penalty: float, *penalties: float) -> float:
        return with_tags.error(tag_penalty, np.repeat(penalties, widths))

    @cache
    def on_views(*penalties: float) -> float:
        return without_tags.error(None, np.repeat(penalties, widths))

    views = [_START] * len(widths)
    for v in range(len(widths)):
        views[v] = _walk(VIEW_GRID, _START, lambda value, v=v: joint(tags, *views[:v], value, *views[v + 1 :]))  # type: ignore[misc]
    tags = _walk(TAG_GRID, tags, lambda value: joint(value, *views))
    alone = list(views)
    for v in range(len(widths)):
        alone[v] = _walk(VIEW_GRID, alone[v], lambda value, v=v: on_views(*alone[:v], value, *alone[v + 1 :]))  # type: ignore[misc]
    say(f"penalties: tags {tags:g}, views {views} with the tags and {alone} without")
    return Penalties(tags, tuple(views), tuple(alone)), with_tags.best, without_tags.best


def choose_word_penalties(
    moments: Moments, sample: Batch, tags: float, say: Callable[[str], None]
) -> tuple[float, float]:
    """Of the tags and of the words, beginning with that of the tags in the joint ridge.

    The words are held back by one step less than is best alone: the other sources even out what that adds in noise.
    """
    width = moments.feature_sums.size
    if moments.tag_sums.size > MOST_DECIDING:
        moments, sample = _of_frequent(moments, sample)

    @cache
    def error(tag_penalty: float, penalty: float) -> float:
        return press(moments, sample, tag_penalty, np.full(width, penalty), on_words=True)

    words = _walk(VIEW_GRID, _START, lambda value: error(tags, value))
    tags = _walk(TAG_GRID, tags, lambda value: error(value, words))
    words = VIEW_GRID[max(0, VIEW_GRID.index(words) - 1)]
    say(f"penalties of the ridge on words: tags {tags:g}, words {words:g}")
    return tags, words


def _of_frequent(moments: Moments, sample: Batch) -> tuple[Moments, Batch]:
    deciding = np.sort(np.argsort(-moments.tag_sums, kind="stable")[:MOST_DECIDING])
    return moments.of_tags(deciding), replace(sample, tags=sample.tags[:, deciding])


def _walk(grid: tuple[float, ...], start: float, error: Callable[[float], float]) -> float:
    """From the start to the neighbouring value while the error falls."""
    place = grid.index(start)
    errors = {place: error(start)}

    def at(i: int) -> float:
        if i not in errors:
            errors[i] = error(grid[i])
        return errors[i]

    for step in (1, -1):
        moved = False
        while 0 <= place + step < len(grid) and at(place + step) < at(place):
            place, moved = place + step, True
        if moved:
            break
    return grid[place]
