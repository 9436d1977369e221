"""Fit the sources and combine them: the numbers behind ``TagCompleter``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers
from ..figures import percent
from ..methods.base import outside
from ..types import Floats, Ints, Mask, Singles
from .batch import Batch, Source
from .items import Items
from .models import Extras, source_of_model
from .neighbours.copies import one_of_each
from .neighbours.nearest import InvertedLists, Nearest
from .penalties import Penalties, choose_penalties, choose_word_penalties
from .probability import Calibration, fit_calibration
from .ridge import SMALLEST_DENOMINATOR, Ridge, fit_ridge, gather_moments
from .sources import (
    Clusters,
    Companions,
    Frequency,
    ModelScores,
    NaiveBayes,
    Neighbours,
    fit_clusters,
    fit_companions,
    fit_naive_bayes,
    prior_of,
)
from .stacking import COLD, WARM, Judged, judge_scores, mixed, share_by_rank, stack_weights, sum_squares
from .view_space import ViewSpace

__all__ = [
    "COMBINED",
    "RIDGES",
    "OfEach",
    "Recipe",
    "doubtful_tags",
    "fit_recipe",
    "fit_without_copies",
    "pack",
    "source_names",
    "unpack",
]


COMBINED = ("joint", "view_ridge", "neighbours", "naive_bayes", "frequency")
RIDGES = frozenset({"joint", "view_ridge", "words"})
_FOR_COLD = {"view_ridge": 0.6, "neighbours": 0.3, "frequency": 0.1, "words": 0.0}
"""Who is asked about items without tags, and the weights that a hundred tags speak for before there are any."""
_PRIOR_TAGS = 100
_LEAN, _COLD_LEAN = 0.25, 0.5
_PRESS_ITEMS = 2_000
_MOST_PAIRS = 2_000_000
_JUDGED_ITEMS = (2_000, 10_000)
"""The fewest and the most items that the curves are learned from."""
_FEW_TAGS = 1_000
_PER_STEP = (100, 10)
"""Hidden tags in a step of a curve, at least: a share is then known to a tenth. The second where there are few."""
_MISPLACED = 0.05
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

    def with_neighbours_tags(self, tags: Any) -> Recipe:
        """The same with other tags for neighbours to look up; None to keep it without them."""
        sources = {
            name: replace(source, tags=tags) if name == "neighbours" else source
            for name, source in self.sources.items()
        }
        return replace(self, sources=sources)

    def record(self, scores: NDArray[Any], is_cold: NDArray[np.bool_]) -> Floats:
        """How likely the owner's record would contain the tag: for one score per entry of ``is_cold``."""
        warm, cold = (self.calibrations[group].record(scores) for group in (WARM, COLD))
        return np.where(is_cold, cold, warm)


@dataclass(frozen=True)
class OfEach:
    """What was learned from one of each group of near copies: a recipe, and neighbours among these, as in ``Items``."""

    recipe: Recipe
    neighbours: tuple[Nearest, ...]
    lists: tuple[InvertedLists | None, ...]
    searched: Mask

    def on(self, items: Items, tags: Any) -> tuple[Items, Recipe]:
        """With the rest of the items, and tags for neighbours to look up."""
        aside = items.searched & ~self.searched
        among = replace(items, neighbours=self.neighbours, lists=self.lists, searched=self.searched, set_aside=aside)
        return among, self.recipe.with_neighbours_tags(tags)


def source_names(method: str, model: Any) -> tuple[str, ...]:
    """Who is asked: one source, or all of them, and a fitted model where there is one."""
    if method != "combined":
        return (method,)
    return COMBINED if model is None else (*COMBINED, source_of_model(model))


def fit_recipe(
    names: tuple[str, ...],
    items: Items,
    tags: Any,
    extras: Extras,
    rng: np.random.Generator,
    threads: Workers,
    say: Callable[[str], None],
) -> tuple[Recipe, Judged]:
    """Fit the named sources to all tags, and learn their weights and calibrations from each tag left out.

    ``extras`` is what a model says of the items. Gives the scores of items with tags as well.
    """
    sources, penalties = _fit_sources(names, items, tags, extras, rng, threads, say)
    tagged = np.flatnonzero(np.diff(tags.indptr))
    n_tags, per_item = tags.shape[1], tags.nnz / max(1, tagged.size)

    def batches_of(n_items: float) -> list[Callable[[], Batch]]:
        rows = np.sort(rng.permutation(tagged)[: int(n_items)]).astype(np.int64)
        return [partial(_with_answers, make, extras) for make in items.batches(rows, tags)]

    weights = np.ones((2, len(names)))
    if len(names) > 1:
        say("weights, from each tag left out")
        sums = sum_squares(sources, batches_of(max(200.0, _MOST_PAIRS / (n_tags * per_item))), threads)
        weights = np.stack([_warm_weights(names, sums[WARM]), _cold_weights(names, sums[COLD], tags.nnz)])
    judging = batches_of(np.clip(_MOST_PAIRS / n_tags, *_JUDGED_ITEMS))
    if {"joint", "words"} <= set(names):
        weights[WARM] = share_by_rank(sources, weights[WARM], ("joint", "words"), judging, threads)
    if len(names) > 1:
        shown = ", ".join(f"{name} {w:.2f}" for name, w in zip(names, weights[WARM], strict=True))
        say(f"weights for items with tags: {shown}")
    judged = judge_scores(sources, weights, judging, threads)
    per_step = _PER_STEP[int(tags.nnz < _FEW_TAGS)]
    curves = tuple(fit_calibration(one.hidden, one.unknown, one.n_more, per_step) for one in judged)
    return Recipe(sources, weights, curves, penalties), judged[WARM]


def fit_without_copies(
    names: tuple[str, ...],
    items: Items,
    tags: Any,
    extras: Extras,
    rng: np.random.Generator,
    threads: Workers,
    say: Callable[[str], None],
) -> tuple[OfEach, Judged] | None:
    """What to ask about items without tags where most tagged ones have near copies; None where few have.

    With the scores of items with tags, as ``fit_recipe``.
    """
    from scipy.sparse import diags_array

    stand = one_of_each(items.neighbours, items.speaks, np.diff(tags.indptr), items.like)
    if stand is None:
        return None
    say(f"most tagged items have near copies: for items without tags {stand.sum()} of them are learned from")
    of_each = (diags_array(stand.astype(tags.dtype)) @ tags).tocsr()
    of_each.eliminate_zeros()
    among = items.among(stand, rng, threads)
    recipe, judged = fit_recipe(names, among, of_each, extras, rng, threads, say)
    return OfEach(recipe.with_neighbours_tags(None), among.neighbours, among.lists, stand), judged


def doubtful_tags(
    recipe: Recipe, batches: Sequence[Callable[[], Batch]], counts: Floats, n_tagged: int, threads: Workers
) -> tuple[Ints, Ints, Singles, Floats, Floats]:
    """Every known tag as it would be judged had it been hidden: row, column, score, record, and how doubtful it is.

    ``counts`` is how many items carry each tag. Were one tag in twenty moved to a random item, as many would be found
    of a tag as it is frequent, and right ones as often as the record would hold it: their odds are how doubtful it is.
    A tag on one item only is beyond doubt, since nothing is known of it.
    """

    def part(block: slice) -> tuple[Ints, Ints, Singles, Floats]:
        batch = batches[block.start]()
        left = [source.left_out(batch) for source in recipe.sources.values()]
        row, column = batch.known
        alone = (np.diff(batch.tags.indptr) == 1)[row]
        warm = mixed(recipe.weights[WARM], [one.hidden for one in left])
        cold = mixed(recipe.weights[COLD], [one.emptied[batch.known] for one in left])
        score = np.where(alone, cold, warm)
        return batch.rows[row], column, score, recipe.record(score, alone)

    found = list(threads.map(part, [slice(b, b + 1) for b in range(len(batches))]))
    rows, columns, scores, records = (np.concatenate(parts) for parts in zip(*found, strict=True))
    others = (counts[columns] - 0.5) / (n_tagged + 1.0)
    doubt = _MISPLACED * others / (_MISPLACED * others + (1.0 - _MISPLACED) * records)
    return rows, columns, scores, records, np.where(counts[columns] > 1, doubt, 0.0)


def _with_answers(make: Callable[[], Batch], extras: Extras) -> Batch:
    batch = make()
    return extras.add(batch, batch.rows)


def _warm_weights(names: tuple[str, ...], sums: Any) -> Floats:
    """Leaning a little to the ridges on tags and views, which gain most from each tag that an item has."""
    weights = stack_weights(sums, [True] * len(names))
    joint = np.array([name in ("joint", "words") for name in names])
    lean = weights * joint if (weights * joint).any() else joint.astype(float)
    return np.asarray((1.0 - _LEAN) * weights + _LEAN * lean / lean.sum())


def _cold_weights(names: tuple[str, ...], sums: Any, n_known: int) -> Floats:
    """Half of them a guess, and more where few tags are known: what is best for one item in turn leans to neighbours.

    What the guess gives to ridges goes to that on the kernels and that on words as they were found to be worth.
    """
    found = stack_weights(sums, [name in _FOR_COLD for name in names])
    ridges = {name: float(weight) for name, weight in zip(names, found, strict=True) if name in ("view_ridge", "words")}
    total = sum(ridges.values())
    guess = np.array([_FOR_COLD.get(name, 0.0) for name in names])
    if total > 0:
        guess = np.where([name in ridges for name in names], 0.6 * found / total, guess)
    lean = max(_COLD_LEAN, _PRIOR_TAGS / (n_known + _PRIOR_TAGS))
    return np.asarray((1.0 - lean) * found + lean * guess)


def _warn_clipped(ridge: Ridge, sample: Sequence[Callable[[], Batch]]) -> None:
    """Leaving an item out is no longer exact where its leverage is close to one."""
    n_clipped = n_pairs = 0
    for make in sample:
        batch = make()
        residual = batch.tags.toarray() - ridge.fitted(batch)
        n_clipped += int(np.count_nonzero(ridge.denominators(batch, residual) <= SMALLEST_DENOMINATOR))
        n_pairs += residual.size
    share = n_clipped / max(1, n_pairs)
    if share > _CLIPPED_SHARE:
        warnings.warn(
            f"{percent(share)} of the pairs of item and tag decide their own prediction: there are too few items for "
            "so many tags per item. Scores of the items themselves are rough; those of new items are not affected.",
            stacklevel=outside(),
        )


def _fit_sources(
    names: tuple[str, ...],
    items: Items,
    tags: Any,
    extras: Extras,
    rng: np.random.Generator,
    threads: Workers,
    say: Callable[[str], None],
) -> tuple[dict[str, Source], Penalties | None]:
    """Every named source from these tags, and the penalties of the ridges."""
    n_items = tags.shape[0]
    counts = np.asarray(tags.sum(axis=0), dtype=np.float64).ravel()
    n_tagged = int(np.count_nonzero(np.diff(tags.indptr)))
    prior = prior_of(counts, n_tagged)
    made: dict[str, Source] = {}
    penalties = None
    if RIDGES.intersection(names):
        ridges, penalties = _fit_ridges(names, items, tags, rng, threads, say)
        made.update(ridges)
    together: Any = None
    if {"naive_bayes", "cooccurrence"}.intersection(names):
        doubles = tags.astype(np.float64)
        together = (doubles.T @ doubles).tocsr()
    for name in names:
        if name == "neighbours":
            made[name] = Neighbours(tags, prior)
        elif name == "naive_bayes":
            made[name] = fit_naive_bayes(together, counts, n_items)
        elif name == "cooccurrence":
            made[name] = fit_companions(together, counts, n_items)
        elif name == "cluster":
            made[name] = fit_clusters(tags, extras.labels, prior)
        elif name == "frequency":
            made[name] = Frequency(prior, n_tagged)
        elif name not in RIDGES:
            made[name] = ModelScores()
    return {name: made[name] for name in names}, penalties


def _fit_ridges(
    names: tuple[str, ...],
    items: Items,
    tags: Any,
    rng: np.random.Generator,
    threads: Workers,
    say: Callable[[str], None],
) -> tuple[dict[str, Source], Penalties]:
    """The ridges with the leverage of every item. That on the views alone learns from items with tags only."""
    say("sums over all items")
    everyone = np.arange(tags.shape[0], dtype=np.int64)
    has_tags = np.diff(tags.indptr) > 0
    tagged, untagged = everyone[has_tags], everyone[~has_tags]
    width = sum(items.widths)
    of_tagged = moments = gather_moments(items.features, width, tags, tagged, threads)
    if untagged.size:
        moments = of_tagged.and_untagged(gather_moments(items.features, width, tags[:, :0], untagged, threads))

    def sample_of(rows: Ints) -> Batch:
        return items.batch(np.sort(rng.permutation(rows)[:_PRESS_ITEMS]).astype(np.int64), tags, False)

    sample = sample_of(everyone)
    on_tagged = sample_of(tagged) if untagged.size else sample
    penalties, joint, on_views = choose_penalties(moments, sample, of_tagged, on_tagged, items.widths, say)
    fits = {}
    if "joint" in names:
        penalty = np.repeat(np.asarray(penalties.joint_views, dtype=np.float64), items.widths)
        fits["joint"] = (joint or fit_ridge(moments, penalties.tags, penalty), everyone)
    if "view_ridge" in names:
        penalty = np.repeat(np.asarray(penalties.views, dtype=np.float64), items.widths)
        fits["view_ridge"] = (on_views or fit_ridge(of_tagged, None, penalty), tagged)
    if "words" in names:
        n_words = sum(items.word_widths)
        of_words = gather_moments(items.words, n_words, tags, everyone, threads)
        chosen = choose_word_penalties(of_words, sample, penalties.tags, say)
        penalties = replace(penalties, with_words=chosen)
        fits["words"] = (fit_ridge(of_words, chosen[0], np.full(n_words, chosen[1]), on_words=True), everyone)
    made: dict[str, Source] = {}
    for name, (fit, rows) in fits.items():
        ridge = made[name] = fit.with_leverage(items.batches(rows, tags, False), everyone.size, threads)
        if tags.shape[0] >= _ENOUGH_TO_WARN:
            _warn_clipped(ridge, items.batches(sample.rows, tags, False))
    return made, penalties


# --- as plain dicts, so that ``manyview.save`` can keep what a fit learned ---

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Calibration,
        Clusters,
        Companions,
        Frequency,
        InvertedLists,
        Items,
        ModelScores,
        NaiveBayes,
        Nearest,
        Neighbours,
        OfEach,
        Penalties,
        Recipe,
        Ridge,
        ViewSpace,
    )
}


def pack(value: Any) -> Any:
    """A dataclass of this room as a dict, all the way down; arrays are shared, not copied."""
    if is_dataclass(value):
        return {"kind": type(value).__name__, **{one.name: pack(getattr(value, one.name)) for one in fields(value)}}
    if isinstance(value, (tuple, list)):
        return [pack(part) for part in value]
    if isinstance(value, dict):
        return {key: pack(part) for key, part in value.items()}
    return value


def unpack(value: Any) -> Any:
    """What ``pack`` made, as it was; sequences come back as tuples."""
    if isinstance(value, list):
        return tuple(unpack(part) for part in value)
    if isinstance(value, dict):
        parts = {key: unpack(part) for key, part in value.items() if key != "kind"}
        return _KINDS[value["kind"]](**parts) if "kind" in value else parts
    return value
