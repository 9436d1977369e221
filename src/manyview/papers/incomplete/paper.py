"""The tables of missing views and missing labels, which ``manyview papers missing`` runs."""

from __future__ import annotations

from typing import Any

from ..tables import Paper, Table
from . import labels, views

__all__ = ["PAPER"]

_VIEWS = (
    "Every item loses each of its views with the given probability, but for the last one it has (of two views at most "
    "half can go); the same draws for every method, and what is missing at 30 % is missing at 50 %. Every method is "
    "told the number of classes but FusionART; our defaults, nothing chosen with the classes. Three draws, one from "
    "3,000 items on. iMML's methods run with their defaults on the views as we prepare them, the dear ones up to 1,000 "
    "(IMSR, DAIMC) or 3,000 items (SIMCADC, EEIMVC, LFIMVC), PIMVC where every view has as many columns as there are "
    "classes; where one of them fails, its figure is left out. NMI is divided by the mean entropy."
)
_LABELS = (
    "As papers on incomplete views and labels do: half of the views, half of every label's yes and half of its no are "
    "missing, every item keeps a view, three tenths of the items are new and nothing is known of their labels. AP is "
    "the label ranking average precision: of new items over all labels, of items at hand over those that are unknown. "
    "No method is told the noes. Ridges choose their penalty by leaving one out, for all labels at once."
)


def _of_views(on: str, words: str, needs: tuple[str, ...]) -> Table:
    return _table("views", on, f"clusters with missing views, {words}", views, views.load(on), _VIEWS, needs)


def _of_labels(on: str, words: str, load: Any, needs: tuple[str, ...]) -> Table:
    return _table("labels", on, f"half of the views and of the labels missing, {words}", labels, load, _LABELS, needs)


def _table(number: str, on: str, title: str, kind: Any, load: Any, words: str, needs: tuple[str, ...]) -> Table:
    return Table(
        kind="table",
        number=number,
        on=on,
        title=title[0].upper() + title[1:],
        figures=kind.FIGURES,
        protocol={"paper": words, "defaults": words},
        load=load,
        rows=kind.rows,
        judge=lambda task, found, judged: {},
        seeds=(3, 3, 1),
        needs=needs,
        versus="No paper's figures stand beside these: which views are missing differs from paper to paper.",
        published="none",
    )


PAPER = Paper(
    name="missing",
    title="Missing views and missing labels, the yardstick of papers on incomplete views",
    method="ConsensusClustering, TagCompleter",
    tables=(
        _of_views("numerals", "handwritten numerals", ()),
        *(_of_views(on, words, (file,)) for on, (file, words) in views.COLLECTIONS.items()),
        _of_labels("emoji", "emoji", labels.emoji, ()),
        _of_labels("flickr8k", "photographs with captions", labels.flickr8k, ("flickr8k-captioned",)),
    ),
)
