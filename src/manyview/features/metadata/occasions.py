"""When and where something was taken, as views: ``date`` and ``place``. Only where a person names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError
from ..base import Extractor

__all__ = ["Dates", "Places", "great_circle", "seconds_of"]

_EARTH = 6371.0088
"""Its mean radius in kilometres."""
_YEAR = 365.2425 * 86400
_LANDMARKS = 32
_NEAR = 5.0
"""Kilometres from a landmark at which an item is half as near as at the landmark itself."""


def seconds_of(taken: str) -> float:
    """A moment as seconds, UTC; NaN where a text names no day. A time without a zone is taken for UTC.

    >>> seconds_of("1970-01-02"), seconds_of("1970-01-01T02:00:00+02:00"), seconds_of("1970")
    (86400.0, 0.0, nan)
    """
    if len(taken) < 10:
        return float("nan")
    try:
        moment = datetime.fromisoformat(taken)
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def great_circle(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kilometres between all pairs of places, (n, 2) and (m, 2) degrees, by the haversine."""
    a, b = np.radians(first)[:, None], np.radians(second)[None]
    half = np.sin((a - b)[..., 0] / 2) ** 2 + np.cos(a[..., 0]) * np.cos(b[..., 0]) * np.sin((a - b)[..., 1] / 2) ** 2
    return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.clip(half, 0, 1))))


class Dates(Extractor):
    """The day of the year, as a point on a circle, and the place in the sequence of all items, by the logarithm of the
    gaps: pictures of one afternoon are together, whether the next ones come a week or five years later.

    Dates are texts (``2019-06-14T12:03:04+02:00``). A row is NaN where there is no day. Three numbers.
    """

    name = "date"
    reads = "date"
    learns = True

    def __init__(self) -> None:
        self._moments = np.empty(0)
        self._places = np.empty(0)

    @property
    def columns(self) -> tuple[str, ...]:
        """Day of the year as sine and cosine, and the place in the sequence."""
        return ("day_sine", "day_cosine", "sequence")

    def learn(self, items: Iterable[str], *, n_jobs: int | None = None) -> None:
        """The sequence of all dates."""
        moments = np.unique([seconds_of(text) for text in items])
        self._keep(moments[np.isfinite(moments)])

    def _keep(self, moments: NDArray[np.float64]) -> None:
        gaps = np.log1p(np.diff(moments) / 60.0)  # minutes: a burst is one moment
        steps = np.concatenate([np.zeros(min(1, moments.size)), np.cumsum(gaps)])
        self._moments, self._places = moments, steps / max(float(steps[-1:].sum()), 1e-9) * 2.0

    def extract(self, items: Iterable[str], *, n_jobs: int | None = None) -> NDArray[np.float32]:
        """One row per date, float32 (n_items, 3)."""
        moments = np.array([seconds_of(text) for text in items], dtype=np.float64)
        around = 2 * np.pi * moments / _YEAR
        known = self._moments.size > 0
        sequence = np.interp(moments, self._moments, self._places) if known else np.zeros_like(moments)
        rows = np.column_stack([np.sin(around), np.cos(around), sequence])
        rows[np.isnan(moments)] = np.nan
        return rows.astype(np.float32)

    def state(self) -> dict[str, Any]:
        """The moments of the sequence."""
        return {"moments": self._moments}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what ``state`` gave."""
        if "moments" not in state:
            raise ParameterError(f"the state of {self.name} must hold moments, got {sorted(state)}.")
        self._keep(np.asarray(state["moments"], dtype=np.float64))


class Places(Extractor):
    """How near an item was taken to each of at most 32 places of the collection that lie far apart.

    By the great circle, half as near at 5 km. Places are pairs of latitude and longitude in degrees; a
    row is NaN where one is missing.
    """

    name = "place"
    reads = "place"
    learns = True

    def __init__(self) -> None:
        self._landmarks = np.empty((0, 2))

    @property
    def columns(self) -> tuple[str, ...]:
        """near0, near1, ..."""
        return tuple(f"near{number}" for number in range(len(self._landmarks)))

    def learn(self, items: Iterable[Sequence[float]], *, n_jobs: int | None = None) -> None:
        """Choose landmarks: the place most items are at, then always the one farthest from those chosen."""
        places = _as_places(items)
        places = places[~np.isnan(places).any(axis=1)]
        if not places.size:
            return
        cells, counts = np.unique(np.round(places, 2), axis=0, return_counts=True)
        chosen = [cells[int(np.argmax(counts))]]
        nearest = great_circle(cells, np.array(chosen))[:, 0]
        while len(chosen) < _LANDMARKS and nearest.max() > _NEAR:
            chosen.append(cells[int(np.argmax(nearest))])
            nearest = np.minimum(nearest, great_circle(cells, np.array(chosen[-1:]))[:, 0])
        self._landmarks = np.array(chosen)

    def extract(self, items: Iterable[Sequence[float]], *, n_jobs: int | None = None) -> NDArray[np.float32]:
        """One row per place, float32 (n_items, n_landmarks)."""
        return (1.0 / (1.0 + great_circle(_as_places(items), self._landmarks) / _NEAR)).astype(np.float32)

    def state(self) -> dict[str, Any]:
        """The landmarks."""
        return {"landmarks": self._landmarks} if self._landmarks.size else {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what ``state`` gave."""
        landmarks = np.asarray(state.get("landmarks"), dtype=np.float64)
        if landmarks.ndim != 2 or landmarks.shape[1] != 2:
            raise ParameterError(f"the state of {self.name} must hold landmarks, got {sorted(state)}.")
        self._landmarks = landmarks


def _as_places(items: Iterable[Sequence[float]]) -> NDArray[np.float64]:
    return np.array([tuple(item) for item in items], dtype=np.float64).reshape(-1, 2)
