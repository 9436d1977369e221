"""``manyview demo``: from files to named clusters, tags and the gallery, on the pictures that ship."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .evaluate import print_tag_figures
from .serve import run_gallery
from .show import print_clusters
from .suggest import print_proposals
from .talk import print_json, progress, safe, say, spoken

_N_CLUSTERS = 24
_N_PROPOSALS = 8


@spoken
def demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where pictures, collection and report go.")] = Path(
        "manyview-demo"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The whole thing on 1,849 tagged pictures: groups, names, missing tags, figures, report; then the gallery."""
    from ..datasets import unpack_emoji
    from ..report.run import publish_run
    from ..workflow.clusters.living import current_clusters
    from ..workflow.evaluate import evaluate
    from ..workflow.fit import fit_collection
    from ..workflow.proposing.asking import WORTH_ASKING, how_sure
    from ..workflow.proposing.suggest import line, open_proposals, suggest_tags
    from ..workflow.start import start_collection
    from ..writeback.proposal_files import shown

    table = folder / "emoji" / "items.csv"
    path, page = folder / "emoji.manyview", folder / "emoji.html"
    unpack_emoji(table.parent)
    _tell("reading the pictures and grouping them by looks and tags ...", as_json)
    with progress() as bar:
        columns: dict[str, Any] = {"id": "name", "image": "file", "tags": "tags", "root": table.parent / "images"}
        with start_collection(path, table, **columns) as collection:
            n_items, n_tags = len(collection.items), collection.tags.n_tags
            fitted = fit_collection(collection, None, _N_CLUSTERS, progress=bar)
            clusters = current_clusters(collection, fitted.run.id)
            _tell("looking for tags that are missing ...", as_json)
            suggest_tags(collection, progress=bar)
            found = open_proposals(collection, top=_N_PROPOSALS)
            proposals = shown(collection, found)
            run = collection.runs.get(kind="suggest")
            sure = {(one.item_id, one.tag): how_sure(one, run) for one in found}
            above = line(collection, WORTH_ASKING)
            _tell("hiding two fifths of the tags, to see whether they are found again ...", as_json)
            judged = evaluate(collection, draws=1, progress=bar).to_dict()["tags"]
            publish_run(collection, page)
    if as_json:
        print_json(
            {
                "collection": str(path),
                "report": str(page),
                "clusters": [{"name": one.name, "size": one.size} for one in clusters],
                "proposals": [one._asdict() for one in proposals],
                "hidden_tags": judged,
            }
        )
        return
    say(f"{n_items} pictures with {n_tags} different tags, in {len(clusters)} clusters:\n")
    print_clusters(clusters)
    say("\nTags that pictures lack, and why:\n")
    print_proposals(proposals, lambda row: sure[row.id, row.tag])
    say(f"  {above.n} proposals are worth asking: more likely right than wrong.")
    print_tag_figures(judged)
    say(f"\nThe report with pictures: {safe(page)}")
    say(f"Look closer: manyview show {safe(path)} --cluster {clusters[0].id}")
    say(f"All proposals: manyview suggest {safe(path)}; say yes with manyview accept, no with manyview reject")
    say("Your own pictures: manyview init FOLDER")
    if sys.stdout.isatty():
        say("\nAnd the gallery, to look, correct and accept:\n")
        run_gallery(path)
    else:
        say(f"The gallery: manyview serve {safe(path)}")


def _tell(text: str, is_quiet: bool) -> None:
    """A word before each long step, which the bar on a terminal does not leave behind."""
    if not is_quiet:
        typer.echo(text, err=True)
