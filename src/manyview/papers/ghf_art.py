"""GHF-ART, TKDE 2014: Tables 2 to 7 with the studies of gamma, vigilance and learning rate, and time against size."""

from __future__ import annotations

from typing import Any

from .ghf_art_data import corel_by_keyword, corel_by_topic, emoji, newsgroups
from .ghf_art_rows import FIGURES, all_methods, by_class, equal_weights, in_subsets, judge, times, with_classes
from .tables import Absent, Paper, Study, Table

__all__ = ["PAPER"]

LOWER = frozenset({"H_cluster", "H_class"})

_PROTOCOL = {
    "paper": "One pass in a random order, vigilance 0.1, choice 0.01, learning rate 0.6; Fusion ART and SRC with a "
    "text weight of 0.7. K-means (raw concatenation), SRC and NMF: 50 rounds, averaged over every number of clusters "
    "from that of the classes to 15. Semi-supervised rows are told three items of each class, which do not count. "
    "Entropies are in nats: the paper does not define its own, and its Rand index cannot be one.",
    "defaults": "Our defaults: one pass at vigilance 0.1, and a second look for clusters of 1 % and more. Every other "
    "method is told the number of classes and gets ten starts where it has starts. Semi-supervised as in the paper.",
}


STUDIES = (
    Study(
        "gamma",
        "Fixed say of the text, beside what the method finds itself",
        "say of the text (gamma)",
        ("AP",),
        level="GHF-ART",
    ),
    Study("vigilance", "Vigilance of the tags", "vigilance (rho)", ("purity", "NMI")),
    Study("clusters", "How many clusters that makes", "vigilance (rho)", ("clusters",), of="vigilance"),
    Study("beta", "Learning rate of the content", "learning rate (beta)", ("AP", "NMI")),
)
COMPARED = (
    ("Fusion ART, text weight 0.7", "GHF-ART"),
    ("GHF-ART", "GHF-ART(SS), three items of each class"),
)


_OTHER = "Other pictures than the paper's (NUS-WIDE is not here): its layout, its visual features and measures."
_TABLES: tuple[Table, ...] = tuple(
    Table(
        kind="table",
        number=number,
        on=on,
        title=title,
        figures=(*FIGURES, "tag vigilance"),
        protocol=_PROTOCOL,
        load=load,
        rows=all_methods,
        judge=judge,
        seeds=(10, 10, 2),
        needs=needs,
        versus=versus,
        studies=STUDIES,
        compared=COMPARED,
        published=published,
        lower_is_better=LOWER,
        also=also,
    )
    for number, on, title, load, needs, versus, published, also in (
        (
            "2",
            "emoji",
            "GHF-ART, Table 2 and Figure 3: nine groups of emoji",
            emoji,
            (),
            _OTHER,
            "table 2a",
            ("figure 3",),
        ),
        (
            "5",
            "corel5k",
            "GHF-ART, Table 5 and Figure 5: Corel, six topics",
            corel_by_topic(False),
            ("corel5k",),
            "Probably the same CDs, read as topics; blobs stand in for the 426 visual features.",
            "table 5",
            ("figure 5",),
        ),
        (
            "5",
            "corel5k-keywords",
            "GHF-ART, Table 5: Corel, photographs that carry one of six keywords",
            corel_by_keyword,
            ("corel5k",),
            "Another reading of the six classes, all of which are keywords; every photograph then carries its class as "
            "a tag. Blobs stand in for the 426 visual features.",
            "table 5",
            (),
        ),
        (
            "6",
            "corel5k",
            "GHF-ART, Table 6: Corel with the category as a third channel",
            corel_by_topic(True),
            ("corel5k",),
            "Probably the same CDs, read as topics; blobs stand in for the 426 visual features.",
            "table 6",
            (),
        ),
        (
            "7",
            "newsgroups_ten",
            "GHF-ART, Table 7 and Figure 6: ten newsgroups",
            newsgroups,
            ("newsgroups_ten",),
            "The same groups; the words of the messages were cut by other code.",
            "table 7",
            ("figure 6",),
        ),
    )
)


def _class_table(number: str, on: str, title: str, load: Any, rows: Any, needs: tuple[str, ...]) -> Table:
    return Table(
        kind="table",
        number=number,
        on=on,
        title=title,
        figures=("overall",),
        protocol=_PROTOCOL,
        load=with_classes(load),
        rows=rows,
        judge=by_class,
        seeds=(10, 10, 2),
        needs=needs,
        versus=f"The paper's classes are others (NUS-WIDE): see its Table {number}.",
        published="none",
    )


def _time_table(on: str, load: Any, needs: tuple[str, ...]) -> Table:
    words = dict.fromkeys(_PROTOCOL, "CPU seconds of one fit, the second of two; k told where it is needed.")
    return Table(
        kind="figure",
        number="4",
        on=on,
        title=f"GHF-ART, Figure 4: time against the number of items ({on})",
        figures=("CPU seconds",),
        protocol=words,
        load=load,
        rows=times,
        judge=judge,
        seeds=(3, 3, 1),
        needs=needs,
        versus="The paper draws its times and prints two: 9.8 s for 23,284 pictures.",
        studies=(Study("time", "Time against size", "items", ("CPU seconds",)),),
        lower_is_better=frozenset({"CPU seconds"}),
    )


PAPER = Paper(
    name="ghf-art",
    title="Semi-supervised heterogeneous fusion for multimedia data co-clustering (GHF-ART)",
    method="FusionART",
    tables=(
        _TABLES[0],
        _class_table("3", "emoji", "GHF-ART, Table 3: whole and in four subsets, emoji", emoji, in_subsets, ()),
        _class_table(
            "3",
            "corel5k",
            "GHF-ART, Table 3: whole and in four subsets, Corel",
            corel_by_topic(False),
            in_subsets,
            ("corel5k",),
        ),
        _class_table("4", "emoji", "GHF-ART, Table 4: equal weights, emoji", emoji, equal_weights, ()),
        _class_table(
            "4", "corel5k", "GHF-ART, Table 4: equal weights, Corel", corel_by_topic(False), equal_weights, ("corel5k",)
        ),
        *_TABLES[1:],
        _time_table("emoji", emoji, ()),
        _time_table("newsgroups_ten", newsgroups, ("newsgroups_ten",)),
    ),
    absent=(
        Absent("table", "1", "NUS-WIDE by class", "the data are not here; Table 4 has its layout"),
        Absent("table", "2b", "NUS-WIDE, 18 classes", "the data are not here"),
    ),
)
