"""``manyview demo``: from files to named clusters, tags and the gallery, on the pictures that ship."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ..figures import percent
from .evaluate import print_tag_figures
from .serve import run_gallery
from .show import print_clusters
from .suggest import print_proposals
from .talk import print_json, print_table, progress, safe, say, spoken

_N_CLUSTERS, _N_PROPOSALS, _N_LIKE = 5, 3, 2
_N_IN_DETAIL = 8
_IN_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


class DemoSet(StrEnum):
    """What the demo can run on."""

    photographs = "photographs"
    emoji = "emoji"


class _Hidden(NamedTuple):
    """Tags that nobody told manyview, and what it said of them."""

    n_hidden: int
    n_found: int
    n_proposed: int | None
    """None where as many are counted for every item, right or wrong."""
    how: str
    figures: dict[str, Any]


@spoken
def demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where pictures, collection and report go.")] = Path(
        "manyview-demo"
    ),
    chosen: Annotated[
        DemoSet,
        typer.Option(
            "--set",
            metavar="SET",
            help="photographs: 228, half of them with tags; or emoji: 1,849, all with tags.",
        ),
    ] = DemoSet.photographs,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also every cluster, and tables of quality and calibration.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The whole thing on pictures that ship: groups, names, missing tags, how good they are; then the gallery."""
    from ..datasets import unpack_emoji, unpack_photographs
    from ..report.run import publish_run
    from ..workflow.evaluate import evaluate
    from ..workflow.fit import fit_collection
    from ..workflow.proposing.suggest import open_proposals, suggest_tags
    from ..workflow.reading.index import Index
    from ..workflow.reading.typical import best_clusters
    from ..workflow.start import start_collection

    name, is_emoji = chosen.value, chosen is DemoSet.emoji
    path, page, place = folder / f"{name}.manyview", folder / f"{name}.html", folder / name
    rows = (unpack_emoji if is_emoji else unpack_photographs)(place)
    columns: dict[str, Any] = {"id": "name", "image": "file", "tags": "tags", "root": place / "images"}
    source = place / ("items.csv" if is_emoji else name)
    _tell("looking at the pictures, and grouping them by looks and tags ...", as_json)
    with progress() as bar, start_collection(path, source, **(columns if is_emoji else {})) as collection:
        fitted = fit_collection(collection, progress=bar)
        clusters = best_clusters(Index(collection), fitted.run)
        _tell("looking for tags that are missing ...", as_json)
        suggest_tags(collection, progress=bar)
        found = open_proposals(collection)
        if is_emoji or verbose:
            _tell("hiding two fifths of the tags, to see whether they are found again ...", as_json)
            figures = evaluate(collection, draws=1, progress=bar).to_dict()["tags"]
        hidden = _hidden_here(figures) if is_emoji else _hidden_from_files(collection, found, rows)
        publish_run(collection, page)
        n_tagged = int((collection.tags.yes.sum(axis=1) > 0).sum())
        if as_json:
            print_json(_plain(collection, path, page, clusters, found, hidden))
            return
        many = "all" if n_tagged == len(rows) else f"{n_tagged} of them"
        say(f"\n{len(rows):,} {'pictures' if is_emoji else name}, {many} with tags. {len(clusters)} groups were found.")
        if verbose:
            _say_in_detail(collection, clusters, found)
            print_tag_figures(figures)
        else:
            _say_clusters(clusters)
            _say_proposals(collection, found)
        say(f"\nHow good is that? {_how_good(hidden)}\n")
    say(f"A report to keep: {safe(page)}")
    say("With pictures of your own: manyview init FOLDER")
    if sys.stdout.isatty():
        say("\nThe gallery, to look, correct and accept:\n")
        run_gallery(path)
    else:
        say(f"The gallery, to look, correct and accept: manyview serve {safe(path)}")


def _say_clusters(clusters: Sequence[Any]) -> None:
    best = clusters[:_N_CLUSTERS]
    say(f"The {_IN_WORDS.get(len(best), len(best))} clearest, named in the words of the tags:\n")
    print_table(
        ("group", ">pictures", "tags in it"),
        [(one.name, one.size, ", ".join(share["tag"] for share in one.profile["over"][:4])) for one in best],
    )


def _say_proposals(collection: Any, found: Sequence[Any]) -> None:
    """The likeliest proposals with different tags, and why."""
    from ..workflow.proposing.asking import WORTH_ASKING, how_sure

    worth = [one for one in found if (one.probability or 0.0) >= WORTH_ASKING]
    run = collection.runs.get(kind="suggest")
    keys = {item.id: Path(item.key).stem for item in collection.items}
    say(f"\n{len(worth)} tags seem to be missing. Three of them, and why:\n")
    print_table(
        ("picture", "tag", ">how sure", "because it"),
        [
            (keys[one.item_id], one.tag, how_sure(one, run), _short_reason(one.reason, one.tag, keys))
            for one in _different(worth)
        ],
    )


def _different(found: Sequence[Any]) -> Iterator[Any]:
    """The likeliest few, each with another tag and for another item."""
    tags: set[str] = set()
    items: set[int] = set()
    for one in sorted(found, key=lambda one: (-(one.untouched or 0.0) - one.probability, one.item_id)):
        if len(tags) < _N_PROPOSALS and one.tag not in tags and one.item_id not in items:
            tags.add(one.tag)
            items.add(one.item_id)
            yield one


def _short_reason(reason: dict[str, Any], tag: str, keys: dict[int, str]) -> str:
    like = [keys[item] for item in reason.get("like", ()) if item in keys][:_N_LIKE]
    if like:
        return f"looks like {' and '.join(like)}, tagged {tag}"
    return f"has the tags {' and '.join(reason['goes_with'])}" if reason.get("goes_with") else reason["sentence"]


def _hidden_from_files(collection: Any, found: Sequence[Any], rows: Sequence[dict[str, str]]) -> _Hidden:
    """The tags of the photographs whose files do not say them."""
    from ..workflow.proposing.asking import WORTH_ASKING

    truth = {row["file"]: set(row["tags"].split("; ")) for row in rows if row["is_tagged"] == "0"}
    keys = {item.id: item.key for item in collection.items}
    asked = [
        (keys[one.item_id], one.tag)
        for one in found
        if (one.probability or 0.0) >= WORTH_ASKING and keys[one.item_id] in truth
    ]
    right = sum(tag in truth[key] for key, tag in asked)
    n_hidden = sum(map(len, truth.values()))
    how = "The tags of the other half of the photographs are known to us, and were kept from manyview"
    plain = {"n_hidden": n_hidden, "n_found": right, "n_proposed": len(asked)}
    return _Hidden(n_hidden, right, len(asked), how, plain)


def _hidden_here(figures: dict[str, Any]) -> _Hidden:
    """The tags that an evaluation hid and looked for among the first five proposals of each item."""
    recall = figures["methods"]["suggest"]["R@5"]["mean"]
    how = f"We hid {percent(figures['hide'])} of the tags and let manyview propose five for each picture"
    return _Hidden(1000, round(1000 * recall), None, how, figures)


def _how_good(hidden: _Hidden) -> str:
    of_ten = round(10 * hidden.n_found / max(1, hidden.n_hidden))
    told = f"{hidden.how}: of 10 hidden tags it found {of_ten}"
    if hidden.n_proposed:
        told += f", and of 10 that it proposed {round(10 * hidden.n_found / hidden.n_proposed)} were right"
    return told + "."


def _say_in_detail(collection: Any, clusters: Sequence[Any], found: Sequence[Any]) -> None:
    from ..workflow.proposing.asking import WORTH_ASKING, how_sure
    from ..workflow.proposing.suggest import line
    from ..writeback.proposal_files import shown

    run = collection.runs.get(kind="suggest")
    sure = {(one.item_id, one.tag): how_sure(one, run) for one in found}
    say()
    print_clusters(clusters)
    say("\nTags that pictures lack, and why:\n")
    print_proposals(shown(collection, found[:_N_IN_DETAIL]), lambda row: sure[row.id, row.tag])
    say(f"  {line(collection, WORTH_ASKING).n} proposals are worth asking: more likely right than wrong.")


def _plain(
    collection: Any, path: Path, page: Path, clusters: Sequence[Any], found: Sequence[Any], hidden: _Hidden
) -> dict[str, Any]:
    from ..writeback.proposal_files import shown

    return {
        "collection": str(path),
        "report": str(page),
        "clusters": [{"name": one.name, "size": one.size} for one in clusters],
        "proposals": [one._asdict() for one in shown(collection, found[:_N_IN_DETAIL])],
        "hidden_tags": hidden.figures,
    }


def _tell(text: str, is_quiet: bool) -> None:
    """A word before each long step, which the bar on a terminal does not leave behind."""
    if not is_quiet:
        typer.echo(text, err=True)
