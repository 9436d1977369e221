"""Tags of items that lack views and of which half of the tags are unknown: completers beside ridges on filled views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...arrays import is_sparse
from ...data.joining import side_by_side
from ...data.tags import TagTable
from ...data.views import Views
from ...types import Floats, Mask, Places, Singles
from ..sources import Sources
from ..tables import Found, Row, Scale, Task
from .outside import IMPUTERS, imml_filled
from .views import filled, lacking

__all__ = ["FIGURES", "Draw", "Labelled", "emoji", "flickr8k", "ranking_precision", "rows"]

FIGURES = ("AP, new items", "AP, items at hand")
MISSING = 0.5  # of the views, and of the labels
_NEW = 0.3  # of the items, none of whose labels is known
_OFTEN = 10  # items that a label is on, at least
_COMPONENTS = 10  # of iMML's imputers: its default
_PENALTIES = tuple(10.0**power for power in range(-3, 4))


@dataclass(frozen=True)
class Labelled:
    """Whole views and labels, of which some will be taken away; the interpreter that has iMML, where there is one."""

    views: Views
    labels: Any
    names: list[str]
    imml: str | None = None


@dataclass(frozen=True)
class Draw:
    """What is left: views of all items, the rows at hand and the new ones, and what is known of the former's labels."""

    views: Views
    at_hand: Places
    new: Places
    yes: Mask
    no: Mask
    names: list[str]
    seed: int

    @classmethod
    def of(cls, data: Labelled, seed: int) -> Draw:
        """Half of the views, half of each label's yes and half of its no are missing; of new items every label is."""
        rng = np.random.default_rng([7, seed])
        turn = rng.permutation(data.views.n_items)
        n_new = round(_NEW * turn.size)
        at_hand, new = np.sort(turn[n_new:]), np.sort(turn[:n_new])
        truth = data.labels[at_hand].toarray() > 0
        kept = np.zeros(truth.shape, dtype=bool)
        for column, carried in enumerate(truth.T):
            for side in (np.flatnonzero(carried), np.flatnonzero(~carried)):
                kept[rng.permutation(side)[: round((1 - MISSING) * side.size)], column] = True
        return cls(lacking(data.views, MISSING, seed), at_hand, new, truth & kept, ~truth & kept, data.names, seed)

    @property
    def tags(self) -> TagTable:
        """The yes that is known; no completer is told the noes, which people do not write down."""
        return TagTable.from_matrix(self.yes.astype(np.float32), self.names)


Scores = tuple[Any, Any]
"""Of the new items and of those at hand: items x labels."""
Complete = Callable[[Draw], Scores]


def ranking_precision(truth: Any, scores: Any) -> float:
    """Label ranking average precision: for each label of an item the share of labels among those ranked as high.

    The mean over items that carry a label; ties count against it.

    >>> round(ranking_precision([[1, 0, 1], [0, 0, 0]], [[0.9, 0.8, 0.1], [0, 0, 0]]), 4)
    0.8333
    """
    from sklearn.metrics import label_ranking_average_precision_score

    relevant = np.asarray(truth) > 0
    some = relevant.any(axis=1)
    return float(label_ranking_average_precision_score(relevant[some], np.asarray(scores)[some]))


def rows(task: Task, scale: Scale) -> list[Row]:
    """A line for each completer."""
    methods: dict[str, Complete] = {
        "TagCompleter": partial(_completer, "combined"),
        "TagCompleter, views alone (view_ridge)": partial(_completer, "view_ridge"),
        "TagCompleter, similar items (neighbours)": partial(_completer, "neighbours"),
        "TagForest, flat, leaf frequency": partial(_forest, 20 if scale.quick else 100),
        "ridge, gaps at the mean": partial(_ridge, _at_the_mean),
        "ridge, gaps from neighbours": partial(_ridge, lambda draw: filled(draw.views)),
        "how frequent a label is": _frequency,
    }
    for method in IMPUTERS if task.data.imml else ():
        fill = partial(_imputed, task.data.imml, method)
        methods[f"ridge, gaps by iMML {method}"] = partial(_ridge, fill)
    return [Row(name, _run(task, complete)) for name, complete in methods.items()]


def _run(task: Task, complete: Complete) -> Callable[[int], Found]:
    def run(seed: int) -> Found:
        draw = Draw.of(task.data, seed)
        new, at_hand = complete(draw)
        truth = task.data.labels[draw.new].toarray()
        hidden = (task.data.labels[draw.at_hand].toarray() > 0) & ~draw.yes
        unknown = np.where(draw.yes | draw.no, np.min(at_hand) - 1.0, at_hand)  # what is known is not asked
        found = (ranking_precision(truth, new), ranking_precision(hidden, unknown))
        return Found(figures=dict(zip(FIGURES, found, strict=True)))

    return run


def _completer(method: str, draw: Draw) -> Scores:
    from ...completion.completer import TagCompleter

    model = TagCompleter(method=method, random_state=draw.seed).fit(draw.views[draw.at_hand], draw.tags)
    return model.tag_scores(draw.views[draw.new]), model.tag_scores()


def _forest(n_trees: int, draw: Draw) -> Scores:
    from ...methods.forest.tag_forest import TagForest

    model = TagForest(2, n_estimators=n_trees, use_hierarchy=False, random_state=draw.seed)
    dense = _dense(draw.views)
    model.fit(dense[draw.at_hand], draw.tags)
    how = "leaf_frequency"
    return model.tag_scores(dense[draw.new], method=how), model.tag_scores(method=how)


def _frequency(draw: Draw) -> Scores:
    often = draw.yes.mean(axis=0)
    return np.tile(often, (draw.new.size, 1)), np.tile(often, (draw.at_hand.size, 1))


def _ridge(fill: Callable[[Draw], Singles], draw: Draw) -> Scores:
    """One ridge for all labels, its penalty by leaving one out; unknown counts as no, which is half of every label."""
    from sklearn.linear_model import RidgeCV

    joined = fill(draw)
    known, target = joined[draw.at_hand], draw.yes.astype(np.float64)
    model = RidgeCV(_PENALTIES, store_cv_results=True).fit(known, target)
    residuals = np.asarray(model.cv_results_)  # items x labels x penalties, squared
    best = int(np.argmin(residuals.mean(axis=(0, 1))))
    # an item at hand is judged without itself: its leave-one-out residual tells what the others say
    out = target - _signed(target, residuals[:, :, best], model.predict(known))
    return model.predict(joined[draw.new]), out


def _signed(target: Floats, squared: Floats, fitted: Floats) -> Floats:
    """Leave-one-out residuals from their squares: they have the sign of the residuals of the fit."""
    return np.sqrt(squared) * np.sign(target - fitted)


def _at_the_mean(draw: Draw) -> Singles:
    from ...methods.preparation import prepared_views

    ready = prepared_views(draw.views)
    parts = [np.asarray(part) for part in ready.values()]
    return side_by_side(parts, ready.mask, [np.zeros(part.shape[1]) for part in parts]).astype(np.float32)


def _imputed(python: str, method: str, draw: Draw) -> Singles:
    return imml_filled(python, method, draw.views, _COMPONENTS, draw.seed)


def _dense(views: Views) -> Views:
    """Words as prepared points: a forest splits those badly one by one."""
    from ...methods.preparation import prepared_views

    words = [name for name in views.names if is_sparse(views[name])]
    if not words:
        return views
    ready = prepared_views(views[words])
    return Views({name: ready[name] if name in words else views[name] for name in views.names}, mask=views.mask)


def flickr8k(sources: Sources, scale: Scale) -> Task:
    """Embedding, colour, and the words of the first caption; tags on ten photographs or more."""
    from sklearn.feature_extraction.text import CountVectorizer

    pictures = sources.pictures("flickr8k-captioned")
    texts = [captions[0] if captions else "" for captions in pictures.captions]
    counts = CountVectorizer(stop_words="english", min_df=2, binary=True).fit_transform(texts).astype(np.float64)
    views = {"embedding": pictures.embedding, "colour": pictures.view("color_moments"), "caption": counts.tocsr()}
    words = (
        "flickr8k-captioned: embedding, colour moments, words of the first of five captions (a tag is a word of two "
        "captions or more, so that the caption may say it)"
    )
    return _task(words, Views(views), pictures.tags, sources)


def emoji(sources: Sources, scale: Scale) -> Task:
    """Embedding, colour and edges; tags on ten emoji or more; every fourth emoji in a quick run."""
    pictures = sources.pictures("emoji")
    if scale.quick:
        pictures = pictures.part(range(0, len(pictures), 4))
    views = {"embedding": pictures.embedding} | {
        name: pictures.view(extractor) for name, extractor in (("colour", "color_moments"), ("edges", "edges"))
    }
    return _task(
        "emoji, which ship with the package: embedding, colour moments, edges", Views(views), pictures.tags, sources
    )


def _task(words: str, views: Views, tags: Sequence[Sequence[str]], sources: Sources) -> Task:
    whole = TagTable.from_lists(tags)
    often = np.flatnonzero(whole.yes.getnnz(axis=0) >= _OFTEN)
    labels = whole.yes[:, often].tocsr()
    said = f"{words}; {views.n_items:,} items, {often.size} tags on ten or more, {labels.nnz / views.n_items:.1f} each"
    data = Labelled(views, labels, [whole.names[i] for i in often], sources.interpreter("imml"))
    return Task(said, data=data)
