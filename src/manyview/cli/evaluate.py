"""``manyview eval``: how good is it on my own data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ..figures import counted, percent
from .stopping import stopped_at_once
from .talk import CollectionPath, print_json, print_table, progress, safe, say, spoken

_TAG_FIGURES = ("P@1", "P@5", "R@1", "R@5", "C@1", "C@5", "ECE")


@spoken
def evaluate(
    collection: CollectionPath,
    hide_tags: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the tags to hide and find again; 0 hides none.")
    ] = 0.4,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="CLASSES", help="True classes: a column, a CSV of id,label, or 'folder'. Judges clusters too."
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option("-m", "--method", metavar="METHOD", help="The method whose clusters are judged.")
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option("-k", "--clusters", metavar="N", help="Number of clusters. Default: the number of classes."),
    ] = None,
    draws: Annotated[int, typer.Option(metavar="N", help="Repetitions with different random numbers.")] = 3,
    items: Annotated[int, typer.Option(metavar="N", help="Of a larger collection, judge this many items.")] = 10_000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same figures.")] = 0,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads. Default: all cores.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure quality on your own data: hidden tags found again, and clusters against classes.

    The figures are kept, and the next report shows them.
    """
    from ..workflow.collection import Collection
    from ..workflow.evaluate import evaluate as judge

    with stopped_at_once(), progress() as bar, Collection.open(collection, write=True) as found:
        done = judge(
            found,
            hide_tags or None,
            labels,
            method=method,
            n_clusters=clusters,
            draws=draws,
            max_items=items,
            seed=seed,
            n_jobs=jobs,
            progress=bar,
        )
    plain = done.to_dict()
    if as_json:
        print_json(plain)
        return
    say(f"{safe(collection)}: {counted(done.n_items, 'item')}, {done.draws} {'draw' if done.draws == 1 else 'draws'}")
    for sentence in done.said:
        say(f"  {safe(sentence)}")
    if "tags" in plain:
        print_tag_figures(plain["tags"])
    if "clusters" in plain:
        _print_cluster_figures(plain["clusters"])


def print_tag_figures(tags: dict[str, Any]) -> None:
    """Precision, recall, coverage and calibration of each method, and whether promises were kept."""
    n_tags = counted(tags["n_tags"], "tag is", "tags are")
    say(f"\n{percent(tags['hide'])} of the tags hidden; {n_tags} on two items or more")
    rows = [(name, *_cells(figures, _TAG_FIGURES)) for name, figures in tags["methods"].items()]
    print_table(("method", *(f">{figure}" for figure in _TAG_FIGURES)), rows)
    say("  P, R, C: precision, recall, items with a hit among the first 1 or 5. ECE: calibration error, 0 is best.")
    if tags["promises"]:
        say("\nWhat suggest promised of its first five per item, and what was right:")
        kept = tags["promises"]
        cells = [(one["min_probability"], one["n"], percent(one["promised"]), percent(one["kept"])) for one in kept]
        print_table((">probability from", ">proposals", ">promised", ">right"), cells)


def _print_cluster_figures(clusters: dict[str, Any]) -> None:
    say(
        f"\n{clusters['n_clusters']} clusters against the {clusters['n_classes']} classes of "
        f"{safe(clusters['labels'])}, known for {clusters['n_labelled']} items"
    )
    figures = list(next(iter(clusters["methods"].values())))
    rows = [(name, *_cells(found, figures)) for name, found in clusters["methods"].items()]
    print_table(("method", *(f">{figure}" for figure in figures)), rows)


def _cells(found: dict[str, Any], figures: Sequence[str]) -> list[str]:
    return [_cell(found[figure]) if figure in found else "" for figure in figures]


def _cell(value: dict[str, float]) -> str:
    return f"{value['mean']:.3f}" + (f" ± {value['deviation']:.3f}" if value["draws"] > 1 else "")
