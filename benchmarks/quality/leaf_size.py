"""TagForest's leaves: of three items, of ten, or of the size that best finds a fifth of the tags again (sees no class).

The rows are those of HML-RF's Figure 8 (``manyview papers hml-rf --figure 8 --defaults``); the size that is found is
``min_samples_leaf="auto"``. It was built because with all tags at most .02 of NMI is lost against leaves of three, with
40 % of the tags hidden at least .08 gained on photographs with captions, the words of their topics dropped, and nothing
lost on emoji.
"""

from __future__ import annotations

from collections.abc import Iterator

from manyview import metrics
from manyview.papers.hml_rf_rows import emoji, flickr8k, forest_sizes
from manyview.papers.sources import Sources
from manyview.papers.tables import Scale, Task

from ..environments import BENCH
from .collections import data_folder
from .table import Table

FIGURES = ("NMI", "leaf")
SIZES = ("leaves of 3, ", "leaves of 10, ", "leaves found by ")


def tables(quick: bool) -> Iterator[Table]:
    sources, scale = Sources(data_folder(), BENCH / "features"), Scale("defaults", quick)
    if sources.missing(("flickr8k-captioned",)):
        yield Table("flickr8k-captioned.tar is not in MANYVIEW_DATA", FIGURES)
    else:
        for dropped in (True, False):
            yield _compared(flickr8k(dropped)(sources, scale), scale, 1 if quick else 3)
    yield _compared(emoji(sources, scale), scale, 1 if quick else 3)


def _compared(task: Task, scale: Scale, n_seeds: int) -> Table:
    table = Table(task.words, FIGURES)
    for row in forest_sizes(task, scale):
        if row.name.startswith(SIZES):
            table.add(row.name, [_scored(task, row, seed) for seed in range(n_seeds)])
    return table


def _scored(task: Task, row: object, seed: int) -> dict[str, float]:
    found = row.run(seed)
    judged = found.judged
    nmi = metrics.normalized_mutual_info(task.y[judged], found.labels[judged])
    return {"NMI": nmi, "leaf": found.figures.get("leaf", getattr(row, "x", 0.0))}
