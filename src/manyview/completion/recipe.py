"""Fit the sources, rehearse, and combine them: the numbers behind ``TagCompleter``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers
from ..types import Floats, Ints, Singles
from .batch import Batch, Source
from .items import Items
from .models import Extras
from .naive_bayes import fit_naive_bayes
from .penalties import Penalties, choose_penalties
from .probability import Calibration, fit_calibration, record_probability
from .rehearsal import COLD, HIDDEN_SHARE, WARM, Draw, collect_pairs, draw_rehearsals, stack_weights
from .ridge import SMALLEST_DENOMINATOR, Ridge, fit_ridge, gather_moments
from .simple_sources import Frequency, ModelScores, Neighbours, fit_clusters, fit_companions, prior_of

__all__ = ["COMBINED", "RIDGES", "Recipe", "fit_recipe"]


COMBINED = ("joint", "view_ridge", "neighbours", "naive_bayes", "frequency")
RIDGES = frozenset({"joint", "view_ridge"})
_FOR_COLD = frozenset({"view_ridge", "neighbours", "frequency"})
_TAG_BASED = frozenset({"joint", "naive_bayes", "cooccurrence"})
_LEAN = 0.5
_PRESS_ITEMS = 2_000
_CLIPPED_SHARE = 0.01
_ENOUGH_TO_WARN = 100


@dataclass(frozen=True)
class Recipe:
    """Sources by name, their weights (for items with tags and for items without), and the two calibrations."""

    sources: Mapping[str, Any]
    weights: Floats
    calibrations: tuple[Calibration, ...]
    penalties: Penalties | None

    def scores(self, batch: Batch) -> Singles:
        """The weighted sum of the sources: (b, n_tags)."""
        row_weights = self.weights[batch.is_cold.astype(int)].astype(np.float32)
        total = np.zeros(batch.tags.shape, dtype=np.float32)
        for k, source in enumerate(self.sources.values()):
            if row_weights[:, k].any():
                total += row_weights[:, k, None] * source.scores(batch)
        return total

    def record(self, scores: NDArray[Any], is_cold: NDArray[np.bool_]) -> Floats:
        """How likely the owner's record would contain the tag: for one score per entry of ``is_cold``."""
        warm = record_probability(self.calibrations[WARM].hidden_share(scores), HIDDEN_SHARE)
        return np.where(is_cold, self.calibrations[COLD].hidden_share(scores), warm)


def fit_recipe(
    names: tuple[str, ...],
    items: Items,
    tags: Any,
    ask: Callable[[list[Any]], Extras],
    rng: np.random.Generator,
    threads: Workers,
    say: Callable[[str], None],
) -> tuple[Recipe, Extras]:
    """Fit the named sources to all tags, and learn their weights and calibrations by rehearsal.

    ``ask`` gives what a model says of the items, for the tags of the fit and for those left in each rehearsal.
    """
    draws = draw_rehearsals(tags, rng)
    tables = [tags, *(draw.visible for draw in draws)]
    extras = ask(tables[1:])
    moments: list[Any] = [None] * len(tables)
    penalties: Any = None
    if RIDGES.intersection(names):
        say("sums over all items")
        widths = items.widths
        moments[:] = gather_moments(items.features, sum(widths), tables, threads)
        rows = np.sort(rng.permutation(tags.shape[0])[:_PRESS_ITEMS]).astype(np.int64)
        sample = items.batch(rows, tags)
        penalties = choose_penalties(moments[0], sample, widths, say)

    def fitted(number: int, rows: Ints) -> dict[str, Source]:
        return _fit_sources(names, items, tables[number], moments[number], penalties, extras, rows, threads)

    sources = fitted(0, np.arange(tags.shape[0], dtype=np.int64))
    for source in sources.values():
        if isinstance(source, Ridge) and tags.shape[0] >= _ENOUGH_TO_WARN:
            _warn_clipped(source, sample)
    weights, calibrations = _rehearse(names, items, draws, fitted, extras, rng, threads, say)
    return Recipe(sources, weights, calibrations, penalties), extras


def _warn_clipped(ridge: Ridge, sample: Batch) -> None:
    """Leaving an item out is no longer exact where its leverage is close to one."""
    residual = sample.tags.toarray() - ridge.fitted(sample)
    share = float((ridge.denominators(sample, residual) <= SMALLEST_DENOMINATOR).mean())
    if share > _CLIPPED_SHARE:
        warnings.warn(
            f"{share:.0%} of the pairs of item and tag decide their own prediction: there are too few items for so "
            "many tags per item. Scores of the items themselves are rough; those of new items are not affected.",
            stacklevel=4,
        )


def _rehearse(
    names: tuple[str, ...],
    items: Items,
    draws: list[Draw],
    fitted: Callable[[int, Ints], dict[str, Source]],
    extras: Extras,
    rng: np.random.Generator,
    threads: Workers,
    say: Callable[[str], None],
) -> tuple[Floats, tuple[Calibration, ...]]:
    def batches_of(number: int, rows: Ints) -> list[Callable[[], Batch]]:
        def with_answers(make: Callable[[], Batch]) -> Batch:
            batch = make()
            return extras.add(batch, batch.rows, number + 1)

        return [partial(with_answers, make) for make in items.batches(rows, draws[number].visible)]

    def sources_of(number: int, rows: Ints) -> dict[str, Source]:
        say(f"rehearsal {number + 1} of {len(draws)}")
        return fitted(number + 1, rows)

    groups = collect_pairs(draws, sources_of, batches_of, _TAG_BASED, rng, threads)
    weights = np.empty((2, len(names)))
    calibrations = []
    for group, pairs in enumerate(groups):
        used = np.array([len(names) == 1 or group == WARM or name in _FOR_COLD for name in names])
        weights[group] = stack_weights(pairs, used) if pairs.scores.shape[1] == len(names) else used / used.sum()
        if group == WARM and len(names) > 1:
            # Items have fewer tags in the rehearsal than later, which undervalues the source that lives on tags.
            weights[group] *= 1.0 - _LEAN
            weights[group, [name == "joint" for name in names]] += _LEAN
        score = pairs.scores @ weights[group].astype(np.float32) if pairs.scores.size else np.zeros(0)
        calibrations.append(fit_calibration(score, pairs.hidden))
    shown = ", ".join(f"{name} {w:.2f}" for name, w in zip(names, weights[WARM], strict=True))
    say(f"weights for items with tags: {shown}")
    return weights, tuple(calibrations)


def _fit_sources(
    names: tuple[str, ...],
    items: Items,
    tags: Any,
    moments: Any,
    penalties: Any,
    extras: Extras,
    rows: Ints,
    threads: Workers,
) -> dict[str, Source]:
    """Every named source from these tags; ridges know the leverage of ``rows`` only."""
    n_items = tags.shape[0]
    counts = np.asarray(tags.sum(axis=0), dtype=np.float64).ravel()
    prior = prior_of(counts, n_items)
    together: Any = None
    if {"naive_bayes", "cooccurrence"}.intersection(names):
        doubles = tags.astype(np.float64)
        together = (doubles.T @ doubles).tocsr() if moments is None else moments.tags_tags
    made: dict[str, Source] = {}
    for name in names:
        if name in RIDGES:
            joint = name == "joint"
            per_view = penalties.joint_views if joint else penalties.views
            penalty = np.repeat(np.asarray(per_view, dtype=np.float64), items.widths)
            fit = fit_ridge(moments, penalties.tags if joint else None, penalty)
            made[name] = fit.with_leverage(items.batches(rows, tags), threads)
        elif name == "neighbours":
            made[name] = Neighbours(tags, prior)
        elif name == "naive_bayes":
            made[name] = fit_naive_bayes(together, counts, n_items)
        elif name == "cooccurrence":
            made[name] = fit_companions(together, counts, n_items)
        elif name == "cluster":
            made[name] = fit_clusters(tags, extras.labels[0], prior)
        elif name == "frequency":
            made[name] = Frequency(prior)
        else:
            made[name] = ModelScores()
    return made
