"""Features of several views as small integer codes, one row per feature, in one feature space."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import Workers, row_blocks
from ...data.views import Views
from ...errors import ParameterError

__all__ = ["MAX_BINS", "Bins", "cut_points", "feature_quota", "idle_views"]

Codes = NDArray[Any]
MAX_BINS = 255  # codes 0 to 254 of a byte; 255 says that an item has no value
_READ_BYTES = 128 * 2**20


@dataclass(frozen=True)
class Bins:
    """Cut-points of all features, one after the other, in the units of the input.

    ``points[start[f]:start[f + 1]]`` are those of feature f, ascending. The code of a value is the number of
    cut-points below it. ``exact`` keeps every cut-point there is, in two bytes, instead of at most 254 in one.
    """

    points: NDArray[np.float64]
    start: NDArray[np.int64]
    exact: bool = False

    @property
    def dtype(self) -> Any:
        return np.uint16 if self.exact else np.uint8

    @property
    def missing(self) -> int:
        """The code of a value that is not there."""
        return 65535 if self.exact else 255

    @classmethod
    def learn(cls, views: Views, max_bins: int | None, threads: Workers) -> tuple[Bins, Codes]:
        """Find the cut-points, and code the same views with them: codes are ``n_features x n_items``."""
        limit = 65535 if max_bins is None else int(max_bins)
        bins = cls(np.empty(0), np.zeros(1, dtype=np.int64), max_bins is None)
        codes = np.empty((sum(views.n_features.values()), views.n_items), dtype=bins.dtype)
        counts, points = [], []
        for part in bins._over(views, codes, threads, lambda column, _: cut_points(column, limit)):
            counts += [found.size for found in part]
            points += part
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(np.concatenate(points), start, bins.exact), codes

    def codes(self, views: Views, threads: Workers) -> Codes:
        """The codes of other items in the same views."""
        codes = np.empty((self.start.size - 1, views.n_items), dtype=self.dtype)
        for _ in self._over(views, codes, threads, lambda _, f: self.points[self.start[f] : self.start[f + 1]]):
            pass
        return codes

    def _over(self, views: Views, codes: Codes, threads: Workers, points_of: Any) -> Any:
        """Fill the codes, a block of features at a time; yields each block's cut-points, in order."""
        first = 0
        for v, (_, matrix) in enumerate(views.items()):
            here = views.mask[:, v]
            source = matrix.tocsc() if is_sparse(matrix) else matrix

            def block_points(columns: slice, first: int = first, source: Any = source, here: Any = here) -> list[Any]:
                part = _columns(source, columns)
                found = []
                for offset in range(columns.stop - columns.start):
                    feature = first + columns.start + offset
                    column = part[offset]
                    held = here & ~np.isnan(column)
                    whole = bool(held.all())
                    values = column if whole else column[held]
                    points = points_of(values, feature)
                    row = codes[feature]
                    row[slice(None) if whole else held] = np.searchsorted(points, values, side="left")
                    if not whole:
                        row[~held] = self.missing
                    found.append(points)
                return found

            width = matrix.shape[1]
            blocks = row_blocks(width, 8.0 * views.n_items, _READ_BYTES // (2 * threads.n_threads))
            yield from threads.map(block_points, blocks)
            first += width


def _columns(source: Matrix, columns: slice) -> NDArray[Any]:
    """Some columns of a view as the rows of a dense array, float32 or float64 as they came."""
    part = source[:, columns]
    return part.toarray().T.copy() if is_sparse(part) else np.ascontiguousarray(part.T)


def cut_points(values: NDArray[Any], max_bins: int = MAX_BINS) -> NDArray[np.float64]:
    """Where a feature may be cut: midway between all neighbouring values, or at most ``max_bins - 1`` of those places.

    With more distinct values than bins, bins hold about equally many items; a value that is more frequent than that
    gets a bin of its own and does not use up the others.
    """
    ordered = np.sort(values, axis=None).astype(np.float64)
    if ordered.size == 0:
        return np.empty(0)
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # the last place of each distinct value
    distinct = ordered[last]
    if distinct.size > max_bins:
        if max_bins > MAX_BINS:
            raise ParameterError(
                f"max_bins=None keeps every distinct value, up to {max_bins}, but a feature has {distinct.size}. "
                "Set max_bins to 255."
            )
        counts = np.diff(last, prepend=-1).astype(np.float64)
        filled = np.cumsum(np.minimum(counts, ordered.size / max_bins))
        chosen = np.minimum((filled * (max_bins / filled[-1]) - 1e-9).astype(np.int64), max_bins - 1)
        kept = np.flatnonzero(chosen[1:] != chosen[:-1])
    else:
        kept = np.arange(distinct.size - 1)
    low, high = distinct[kept], distinct[kept + 1]
    middle = low / 2 + high / 2
    return np.where((middle >= low) & (middle < high), middle, low)


def idle_views(views: Views, bins: Bins) -> list[str]:
    """The views in which nothing can be split: the same for every item, or missing for all of them."""
    edges = np.concatenate([[0], np.cumsum(list(views.n_features.values()))])
    n_cuts = np.diff(bins.start[edges])
    share = views.mask.mean(axis=0)  # where some have a view and some do not, that may be a split
    return [name for v, name in enumerate(views.names) if n_cuts[v] == 0 and share[v] in (0.0, 1.0)]


def feature_quota(max_features: Any, widths: dict[str, int], idle: Collection[str] = ()) -> NDArray[np.int64]:
    """How many features of each view a node tries: equal shares, and what a narrow view cannot use goes to the wider.

    At least one of each view, whatever ``max_features`` is, but none of the ``idle`` ones. What does not divide goes to
    the wider views first.
    """
    widths = {name: 0 if name in idle else width for name, width in widths.items()}
    total = sum(widths.values())
    if isinstance(max_features, str):
        wanted = round(total**0.5)
    elif max_features is None:
        wanted = total
    elif isinstance(max_features, Integral):
        wanted = int(max_features)
    else:
        wanted = round(float(max_features) * total)
    names = list(widths)
    quota = dict.fromkeys(names, 0)
    left = max(np.count_nonzero(list(widths.values())), min(wanted, total))
    while left > 0:
        room = sorted((name for name in names if quota[name] < widths[name]), key=lambda name: (-widths[name], name))
        if not room:
            break
        share = max(1, left // len(room))
        for name in room:
            taken = min(share, widths[name] - quota[name], left)
            quota[name] += taken
            left -= taken
    return np.array([quota[name] for name in names], dtype=np.int64)
