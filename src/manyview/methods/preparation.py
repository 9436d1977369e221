"""Views as methods compare them: which scaling each gets, and the points that come of it.

A sparse view, and a dense table that is really one of counts or tf-idf, becomes tf-idf along its 100 strongest
directions; of any other dense one columns with long tails become normal quantiles of their ranks, and the others keep
their spacing. That is the default; the laws are in ``data.spaces``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from ..arrays import Matrix, is_sparse
from ..blocks import Workers, workers
from ..data.read_back import are_weighted_counts
from ..data.spaces import DENSE_SCALINGS, cut_words, learn_points, learn_words, to_points
from ..data.views import Views
from ..data.weighting import are_counts, unit_rows
from ..errors import ViewError
from ..figures import percent
from ..steps import reach
from ..types import Floats, Mask, Places, Singles
from .agreement import agreement_of, clearly_agrees, draw_samples, neighbours_in, witnesses

__all__ = ["Prepared", "as_views", "key_of", "place_in", "prepare", "prepared_views", "told", "words_again"]

_WIDTHS = ("15", "30", "60", "100")
_CLEARLY = 1.10  # another scaling has to agree so much better than the default,
_ERRORS = 3.0  # and by so many standard errors
_WAYS = {
    "minmax": "scaled to ranges instead of the usual way",
    "raw": "left in its own units",
    "sqrt": "scaled by roots instead of the usual way",
    "cos": "compared by directions instead of the usual way",
}


@dataclass(frozen=True)
class Prepared:
    """Every view as points, and the spaces they lie in."""

    points: dict[str, Singles]
    """Per view (n_items, d): rows of mean length 1, zeros where an item has nothing to say; d is 0 where the view is
    the same for every item."""
    speaking: dict[str, Mask]
    """Per view: which items have it, with at least one word where it is one of words."""
    spaces: dict[str, dict[str, Any]]
    """Per view what was learned of it; new items are put there by ``place_in``."""
    chosen: dict[str, str]
    """Per view the scaling that was chosen, or the number of dimensions of words; empty where none was sought."""
    agreement: dict[str, dict[str, float]]
    """Per view and scaling that was tried: how well its neighbours agree with the other views, 1 at best, 0 blindly."""

    @cached_property
    def acting(self) -> list[tuple[str, int]]:
        """The views that vary, each with its key, in the order of keys: names and places change nothing."""
        found = [
            (key_of(rows), name)
            for name, rows in self.points.items()
            if rows.shape[1] and np.count_nonzero(self.speaking[name]) > 1
        ]
        return [(name, key) for key, name in sorted(found, key=lambda one: one[0])]


def prepare(views: Views, scale: str | None, threads: Workers, n_clusters: int = 1) -> Prepared:
    """Scale every view: "rank", "minmax" or None (as it is) for dense views that are no counts, or "auto".

    "auto" takes the default of every view, then, with two views or more and ``n_clusters`` above 1, another scaling
    where the view's neighbours in it agree a tenth better with what the other views say.
    """
    points, speaking, spaces = {}, {}, {}
    words = {name: has_words(views[name], views.present(name)) for name in views.names}
    for name in views.names:
        scaling = "words" if words[name] else "rank" if scale == "auto" else scale or "raw"
        learned = learn_points(name, views[name], views.present(name), scaling, threads)
        points[name], speaking[name], spaces[name] = learned
    found = Prepared(points, speaking, spaces, {}, {})
    if scale != "auto" or n_clusters < 2:
        return found
    acting = [name for name, _ in found.acting]
    return _choose(views, found, acting, words, n_clusters, threads) if len(acting) > 1 else found


def _choose(
    views: Views,
    default: Prepared,
    names: list[str],
    words: Mapping[str, bool],
    n_clusters: int,
    threads: Workers,
) -> Prepared:
    """Another scaling for the views whose neighbours then agree clearly better with the other views."""
    told = _agreement(views, default, names, words, n_clusters, threads)
    chosen = {name: _best(told[name], "rank") for name in names if not words[name]}
    texts = [name for name in names if words[name]]
    speak = [name for name in texts if clearly_agrees(told[name][_WIDTHS[-1]])]  # noise must not hold back the others
    if speak:  # all of them together: one is too few to tell
        usual = {name: _mean(told[name][_WIDTHS[-1]]) for name in speak}
        gains = {q: _mean_over([told[name][q] / usual[name] for name in speak]) for q in _WIDTHS}
        chosen |= dict.fromkeys(texts, _best(gains, _WIDTHS[-1]))
    points, speaking, spaces = dict(default.points), dict(default.speaking), dict(default.spaces)
    for name, scaling in chosen.items():
        if words[name] and int(scaling) < points[name].shape[1]:
            spaces[name] = cut_words(spaces[name], int(scaling))
            points[name], speaking[name] = to_points(spaces[name], views[name], views.present(name), threads)
        elif not words[name] and scaling != "rank":
            points[name], speaking[name], spaces[name] = learn_points(
                name, views[name], views.present(name), scaling, threads
            )
    table = {name: {one: _mean(found) for one, found in told[name].items()} for name in names}
    return Prepared(points, speaking, spaces, chosen, table)


def _best(agreement: Mapping[str, Floats], default: str) -> str:
    """The scaling of the best agreement, where it is better than the default by a tenth, and not by chance."""
    means = {one: _mean(found) for one, found in agreement.items()}
    best = max((one for one in means if np.isfinite(means[one])), key=lambda one: means[one], default=default)
    if best == default or not means[default] > 0 or means[best] < _CLEARLY * means[default]:
        return default
    gain = agreement[best] - agreement[default]
    gain = gain[np.isfinite(gain)]
    return best if gain.mean() > _ERRORS * gain.std() / np.sqrt(gain.size) else default


def _agreement(
    views: Views,
    default: Prepared,
    names: list[str],
    words: Mapping[str, bool],
    n_clusters: int,
    threads: Workers,
) -> dict[str, dict[str, Floats]]:
    """For every view and scaling the agreement of its neighbours with the other views, item by item of the samples."""
    found: dict[str, dict[str, list[Floats]]] = {
        name: {one: [] for one in (_WIDTHS if words[name] else DENSE_SCALINGS)} for name in names
    }
    points, speaking = [default.points[name] for name in names], [default.speaking[name] for name in names]
    keys = [key_of(rows) for rows in points]
    samples = draw_samples(views.n_items)
    parts = np.cumsum([len(found[name]) * rows.shape[1] for name, rows in zip(names, points, strict=True)])
    for number, sample in enumerate(samples):
        told = witnesses(points, speaking, keys, sample, n_clusters, threads)
        for v, name in enumerate(names):
            has = speaking[v][sample.items]
            others = [one for o, one in enumerate(told) if o != v]
            for one in found[name]:
                rows = _candidate_rows(name, views, points[v][sample.items], has, one, sample.items, threads)
                if rows is None:
                    found[name][one].append(np.full(has.size, np.nan))
                else:
                    pairs = neighbours_in(rows, has, threads)
                    found[name][one].append(_mean_over([agreement_of(*pairs, other) for other in others]))
            reach("views", (number + parts[v] / parts[-1]) / len(samples))
    return {name: {one: np.concatenate(parts) for one, parts in by.items()} for name, by in found.items()}


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else np.nan


def _mean_over(columns: list[Floats]) -> Floats:
    """Item by item the mean of what is known; NaN where nothing is."""
    table = np.column_stack(columns)
    known = np.isfinite(table)
    count = known.sum(axis=1)
    total = np.where(known, table, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(count.size, np.nan), where=count > 0)


def _candidate_rows(
    name: str, views: Views, default: Singles, has: Mask, scaling: str, items: Places, threads: Workers
) -> Singles | None:
    """The rows of a sample in another scaling, learned there; None where it cannot be."""
    if scaling == "rank":
        return default
    if scaling.isdigit():
        return unit_rows(default[:, : int(scaling)], smallest=1e-6).astype(np.float32)
    try:
        return learn_points(name, views[name][items], has, scaling, threads)[0]
    except ViewError:
        return None


def words_again(matrix: Matrix, n_components: int, threads: Workers) -> Singles:
    """Other rows of words, all of them present, prepared anew in so many dimensions."""
    everyone = np.ones(matrix.shape[0], dtype=bool)
    return to_points(cut_words(learn_words(matrix, everyone), n_components), matrix, everyone, threads)[0]


def place_in(
    spaces: Mapping[str, dict[str, Any]], views: Views, threads: Workers
) -> tuple[dict[str, Singles], dict[str, Mask]]:
    """New items in the spaces of ``prepare``: their points, and who has something to say, per view."""
    found = {name: to_points(spaces[name], views[name], views.present(name), threads) for name in spaces}
    return {name: one[0] for name, one in found.items()}, {name: one[1] for name, one in found.items()}


def prepared_views(X: Any, scale: str | None = "rank", n_jobs: int | None = None) -> Views:
    """``X`` with every view as ``ConsensusClustering`` prepares it by default: dense float32, rows of mean length 1.

    Names, order and ids stay. An item whose row of words is empty lacks that view, unless it has no other. A view that
    is the same for every item becomes one column of zeros.
    """
    views = X if isinstance(X, Views) else Views(X)
    with workers(n_jobs) as threads:
        found = prepare(views, scale, threads)
    return as_views(views, found.points, found.speaking)


def as_views(views: Views, points: Mapping[str, Singles], speaking: Mapping[str, Mask]) -> Views:
    """Points in the form of the views they were made of."""
    still = np.zeros((views.n_items, 1), dtype=np.float32)
    matrices = tuple(points[name] if points[name].shape[1] else still for name in views.names)
    mask = np.column_stack([speaking[name] for name in views.names]) & views.mask
    silent = ~mask.any(axis=1)
    mask[silent] = views.mask[silent]
    return Views._trusted(views.names, matrices, mask, views.ids)


def told(chosen: Mapping[str, str], agreement: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Sentences about the views that were not scaled as usual, and why."""
    ways: dict[str, list[str]] = {}
    for name, scaling in chosen.items():
        if scaling not in ("rank", _WIDTHS[-1]):
            ways.setdefault(scaling, []).append(name)
    said = []
    for scaling, names in ways.items():
        gains = [agreement[name][scaling] / agreement[name][_default(scaling)] - 1.0 for name in names]
        one = len(names) == 1
        subject = f"view {names[0]} was" if one else f"views {', '.join(names[:-1])} and {names[-1]} were"
        way = _WAYS.get(scaling, f"cut to {scaling} dimensions")
        more = f"{'its' if one else 'their'} neighbours then agree {percent(float(np.mean(gains)))} more"
        said.append(f"{subject} {way}: {more} with what the other views say.")
    return said


def _default(scaling: str) -> str:
    return _WIDTHS[-1] if scaling in _WIDTHS else "rank"


def has_words(matrix: Matrix, present: Mask) -> bool:
    """Does a view hold words, tags or other things that are counted?"""
    return is_sparse(matrix) or are_counts(matrix, present) or are_weighted_counts(matrix, present)


def key_of(rows: Singles) -> int:
    """A number that depends on what a view holds, not on its name or place. Reads about 1,000 rows."""
    return 1 + crc32(rows[:: max(1, rows.shape[0] // 1_000)].tobytes())
