"""Are promises that miss their mark by little wrong, or unlucky? More draws of the small collections of ``promises``.

The error of promises that are exactly right is not 0: in each bin the share of right ones strays from what was
promised as far as chance goes. "were they true" is the mean error of answers that are drawn as likely as promised.
Which tags are hidden is a second chance that no curve can know of: what happened to be hidden is missing from what it
learns from.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import TagCompleter
from manyview.evaluation import calibration_error, hide_tags

from .completion import HIDE, load
from .promises import _few
from .table import Table

_DRAWS = 10
_ANSWERED = 50
_ASKED = {"cal500": "ECE .032 over three draws", "flickr8k-captioned": "ECE .020 over three draws"}
FIGURES = ("ECE", "were they true", "promised", "right")


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")
    draws = 1 if quick else _DRAWS
    table = Table(f"Items with tags: {HIDE:.0%} hidden, completeness known, {draws} draw(s)", FIGURES)
    few = Table(f"Untouched items, 20 tagged, {draws} draw(s)", ("P@1", "promised", "right"))
    for name, asked in _ASKED.items():
        found = load(name)
        if found is not None:
            table.add(name, [_one(*found, seed) for seed in range(draws)], asked)
    if (photographs := load("flickr8k-captioned")) is not None:
        runs = [_few(*photographs, 20, seed) for seed in range(draws)]
        few.add("flickr8k-captioned", runs, "P@1 .345 over three draws")
    yield table
    yield few


def _one(X: Any, tags: Any, seed: int) -> dict[str, float]:
    left, hidden = hide_tags(tags, HIDE, seed)
    proposals = TagCompleter(completeness=1 - HIDE, random_state=seed, n_jobs=1).fit(X, left).propose(top=5)
    judged = (np.diff(tags.yes.indptr) > 0)[proposals.items]
    promised = proposals.probabilities[judged]
    right = (np.asarray(hidden[proposals.items, proposals.columns]).ravel() > 0)[judged]
    rng = np.random.default_rng(seed)
    by_chance = [calibration_error(promised, rng.random(promised.size) < promised) for _ in range(_ANSWERED)]
    return {
        "ECE": calibration_error(promised, right),
        "were they true": float(np.mean(by_chance)),
        "promised": float(promised.mean()),
        "right": float(right.mean()),
    }
