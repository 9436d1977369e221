"""aPLSA's tradeoff without classes: a fifth of the words of every item is held out, and the likeliest tradeoff taken.

For each draw of the paper's table the model is fitted at several tradeoffs to what is left, and asked how likely the
words are that were held out, which is what ``AnnotatedPLSA(tradeoff="auto")`` goes by. Beside it: the entropy of the
classes inside clusters (nats, lower is better) at each tradeoff, from all words; 1 is PLSA of the items alone. Would
the likeliest tradeoff have been a good one?

On the scenes, where the annotations can hurt, a second table asks why: entropies by the number of topics, and whose
grouping aPLSA's is. Its clusters are compared (NMI) with those of the items alone (PLSA) and with those by topics of
the annotations alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from manyview import AnnotatedPLSA, metrics
from manyview.methods.topics._tradeoff import TRIED, USUAL, hold_out, word_likelihood
from manyview.papers.catalog import asked_for
from manyview.papers.sources import Sources
from manyview.papers.tables import Scale

from ..environments import BENCH
from .collections import data_folder
from .table import Table

FIGURES = ("entropy", "held-out log-likelihood", "tradeoff")
WHOSE = ("PLSA", "aPLSA", "aPLSA - PLSA", "like the items' own", "like the annotations'")
PER_CLASS = 50
SETTINGS = {"n_init": 3, "tol": 1e-5}


def tables(quick: bool) -> Iterator[Table]:
    sources = Sources(data_folder(), BENCH / "features")
    for _, paper_table in asked_for("aplsa"):
        if quick and paper_table.on.endswith("interest"):  # minutes for its code book
            continue
        if missing := sources.missing(paper_table.needs):
            yield Table(f"{paper_table.title}: no {' and '.join(missing)} in MANYVIEW_DATA", FIGURES)
            continue
        task = paper_table.load(sources, Scale("defaults", quick))
        yield _compared(f"{paper_table.on}: {task.words}", task.data, 1 if quick else 3)
        if paper_table.on.startswith("scenes"):
            draws = 1 if quick else 5 if task.data.n_classes == 2 else 3  # two classes swing more
            yield _by_topics(f"{paper_table.on}, by the number of topics", task.data, draws)


def _compared(title: str, words: Any, n_draws: int) -> Table:
    table = Table(title, FIGURES)
    runs: dict[float, list[dict[str, float]]] = {tradeoff: [] for tradeoff in TRIED}
    for draw in range(n_draws):
        rows, _, annotations = words.draw(draw, PER_CLASS)
        items, y = csr_matrix(words.targets[rows]), words.y[rows]
        left, held = hold_out(items, np.random.default_rng([draw, 5]))
        for tradeoff, found in runs.items():
            settings = {"tradeoff": tradeoff, "random_state": draw, **SETTINGS}
            labels = AnnotatedPLSA(words.n_classes, **settings).fit(items, annotations=annotations).labels_
            fewer = AnnotatedPLSA(words.n_classes, **settings).fit(left, annotations=annotations)
            figures = (metrics.class_entropy(y, labels), word_likelihood(fewer, held), tradeoff)
            found.append(dict(zip(FIGURES, figures, strict=True)))
    for tradeoff, found in runs.items():
        table.add("PLSA" if tradeoff == 1 else f"aPLSA, tradeoff {tradeoff}", found)
    by_draw = list(zip(*runs.values(), strict=True))
    table.add("the likeliest of each draw", [max(tried, key=lambda one: one[FIGURES[1]]) for tried in by_draw])
    table.add(
        "the best in hindsight, by the classes", [min(tried, key=lambda one: one["entropy"]) for tried in by_draw]
    )
    return table


def _by_topics(title: str, words: Any, n_draws: int) -> Table:
    table = Table(title, WHOSE)
    for n_topics in (words.n_classes, *(many for many in (4, 16) if many > words.n_classes)):
        table.add(f"{n_topics} topics", [_whose(words, n_topics, draw) for draw in range(n_draws)])
    return table


def _whose(words: Any, n_topics: int, draw: int) -> dict[str, float]:
    rows, _, annotations = words.draw(draw, PER_CLASS)
    items, y = csr_matrix(words.targets[rows]), words.y[rows]

    def grouped(tradeoff: float) -> Any:
        model = AnnotatedPLSA(words.n_classes, n_topics=n_topics, tradeoff=tradeoff, random_state=draw, **SETTINGS)
        return model.fit(items, annotations=annotations).labels_

    theirs, both, own = grouped(0.0), grouped(USUAL), grouped(1.0)
    alone, helped = metrics.class_entropy(y, own), metrics.class_entropy(y, both)
    alike = (metrics.normalized_mutual_info(both, labels) for labels in (own, theirs))
    return dict(zip(WHOSE, (alone, helped, helped - alone, *alike), strict=True))
