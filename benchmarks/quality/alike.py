"""More like these: of the twenty items that come first, how many are of the kind that was asked for?

Some items of one class are picked, and the twenty most like them are looked at; then as many of each of two classes,
where the right answer is half of each (what is beyond ten of a class counts as wrong). *nearer half* is what
``manyview show --like`` goes by; *all* is the mean over everything that was picked, *nearest* the likeness to that one
which is nearest. Views have equal weights; no layout, cluster or tag of the class is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from manyview.describe import alike
from manyview.describe.likeness import compare_views

from .collections import load
from .table import Table

NAMES = (
    "handwritten_numerals",
    "cub_image_text",
    "scene15",
    "three_sources",
    "bbcsport",
    "reuters_multilingual_1200",
    "webkb_course",
    "newsgroups_ten",
)
FIRST = 20
SHOWN = ("3 of one class", "8 of one class", "3 and 3 of two", "8 and 8 of two")
MOST = 4_000


def tables(quick: bool) -> Iterator[Table]:
    for name in NAMES:
        if (known := load(name)) is None:
            continue
        views, y = known[0], np.asarray(known[1])
        rows = np.sort(np.random.default_rng(0).permutation(y.size)[:MOST])
        y, compared = y[rows], compare_views(views[rows])
        pairs = compared.of_items(slice(0, y.size), slice(0, y.size))
        made = Table(f"{name}: {y.size} items, share of the first {FIRST} that are right", SHOWN)
        for method, score in _methods().items():
            made.add(method, [_judge(pairs, y, score, draw) for draw in range(10 if quick else 100)])
        yield made


def _methods() -> dict[str, Callable[[Any], Any]]:
    return {
        "nearer half": _half,
        "all": lambda part: np.nanmean(part, axis=1),
        "nearest": lambda p: np.nanmax(p, axis=1),
    }


def _half(part: Any) -> Any:
    """By the very function, which is handed the likenesses in place of the views."""

    class Known:
        n_items, row_bytes = part.shape[0], 1.0

        @staticmethod
        def of_items(block: slice, asked: Any) -> Any:
            return part[block]

    return alike.likeness_to(Known, np.arange(part.shape[1]), 1)  # type: ignore[arg-type]


def _judge(pairs: Any, y: Any, score: Callable[[Any], Any], draw: int) -> dict[str, float]:
    rng = np.random.default_rng(draw)
    able = [one for one in np.unique(y) if (y == one).sum() >= 2 * FIRST]
    found = {}
    for n_classes, shown in ((1, SHOWN[:2]), (2, SHOWN[2:])):
        wanted = rng.choice(able, n_classes, replace=False)
        for size, column in zip((3, 8), shown, strict=True):
            asked = np.concatenate([rng.choice(np.flatnonzero(y == one), size, replace=False) for one in wanted])
            value = score(pairs[:, asked])
            value[asked] = -np.inf
            best = np.argsort(-np.nan_to_num(value, nan=-np.inf), kind="stable")[:FIRST]
            right = [min((y[best] == one).sum(), FIRST // n_classes) for one in wanted]
            found[column] = float(sum(right)) / FIRST
    return found
