"""HML-RF, Artificial Intelligence 2017: Tables 2 to 8 and Figures 5, 6 and 8 on tagged pictures."""

from __future__ import annotations

from typing import Any

from .hml_rf_rows import (
    MEASURES,
    REMOVED,
    clusterings,
    completion,
    emoji,
    flickr8k,
    forest_sizes,
    layers,
    most_specific,
)
from .hml_rf_rows import removed as tags_removed
from .measures import judged_by
from .tables import Absent, Paper, Study, Table

__all__ = ["PAPER"]

_PROTOCOL = {
    name: f"{trees}, leaves of three, the root of all features tried at a node, graphs of 20 neighbours, a hierarchy "
    "of two layers induced from the tags; every method is told the number of classes, affinity propagation finds its "
    "own (linear kernel, median preference). Looks are the embedding that ships instead of VGG-16 or HOG3D."
    for name, trees in (("paper", "1,000 trees"), ("defaults", "100 trees"))
}
_COMPLETED = {
    name: f"{words} Two fifths of the tags are hidden and looked for again; clusters are as many as classes. The "
    "forest that completes is flat and has 100 trees."
    for name, words in _PROTOCOL.items()
}
_SIZES = {name: f"{words} Sizes of leaves are compared with 100 trees." for name, words in _PROTOCOL.items()}
_PLACES = (
    ("emoji", "emoji", emoji, ()),
    ("flickr8k", "photographs with captions", flickr8k(True), ("flickr8k-captioned",)),
    ("flickr8k-words-kept", "photographs with captions, topic words kept", flickr8k(False), ("flickr8k-captioned",)),
)
_RANKED = tuple(f"{letter}@{number}" for letter in "PRC" for number in range(1, 6))


def _table(kind: Any, number: str, what: str, place: Any, rows: Any, figures: tuple[str, ...], **more: Any) -> Table:
    on, words, load, needs = place
    return Table(
        kind=kind,
        number=number,
        on=on,
        title=f"HML-RF, {kind.capitalize()} {number}: {what}, {words}",
        figures=figures,
        protocol=more.pop("protocol", _PROTOCOL),
        load=load,
        rows=rows,
        judge=judged_by(*MEASURES),
        seeds=more.pop("seeds", (10, 3, 1)),
        needs=needs,
        versus="Other pictures than the paper's: its layout, not a match.",
        **more,
    )


def _of(place: Any) -> tuple[Table, ...]:
    layer_curve = Study("layers", "Layers of the hierarchy", "layers", ("NMI", "purity"))
    trees = Study("trees", "How many trees", "trees (logarithmic)", ("NMI",), log=True)
    leaf = Study("leaf", "How small leaves may be", "items in a leaf, at least (logarithmic)", ("NMI",), log=True)
    shares = tuple(f"{share:.0%}" for share in REMOVED[1:])
    return (
        _table("table", "2", "all methods", place, clusterings, MEASURES, also=("table 1", "figure 4")),
        _table(
            "table",
            "3",
            "relative loss of NMI as tags are removed",
            place,
            tags_removed,
            ("NMI", *shares),
            also=("figure 5", "figure 6"),
            lower_is_better=frozenset(shares),
        ),
        _table("table", "4", "layers of the hierarchy", place, layers, MEASURES, studies=(layer_curve,)),
        _table("table", "5", "only the most specific tags", place, most_specific, MEASURES),
        _table(
            "figure",
            "8",
            "trees and leaves",
            place,
            forest_sizes,
            (*MEASURES, "leaf"),
            protocol=_SIZES,
            studies=(trees, leaf),
        ),
        _table(
            "table",
            "8",
            "missing tags found again",
            place,
            completion,
            _RANKED,
            protocol=_COMPLETED,
            also=("table 6", "table 7"),
            published="tables 7 and 8",
        ),
    )


PAPER = Paper(
    name="hml-rf",
    title="Discovering visual concept structure with sparse and incomplete tags (HML-RF)",
    method="TagForest",
    tables=tuple(table for place in _PLACES for table in _of(place)),
    absent=(
        Absent(
            "figure", "7", "clusters of TRECVID clips", "the clips are not here; the page of Table 2 shows clusters"
        ),
        Absent("figure", "9", "completed tags, picture by picture", "the gallery and `suggest` show these"),
    ),
)
