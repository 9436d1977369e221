"""``manyview demo``: from files to named clusters and a report, on the pictures that ship."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from .show import print_clusters
from .talk import print_json, progress, safe, say, spoken

_N_CLUSTERS = 24


@spoken
def demo(
    folder: Annotated[Path, typer.Argument(help="Where pictures, collection and report go.")] = Path("manyview-demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The whole thing on 1,849 tagged pictures: read, look, group, name, report."""
    from ..datasets import unpack_emoji
    from ..report.run import publish_run
    from ..workflow.fit import fit_collection
    from ..workflow.start import start_collection

    table = folder / "emoji" / "items.csv"
    path, page = folder / "emoji.manyview", folder / "emoji.html"
    unpack_emoji(table.parent)
    with progress() as bar:
        columns: dict[str, Any] = {"id": "name", "image": "file", "tags": "tags", "root": table.parent / "images"}
        with start_collection(path, table, **columns) as collection:
            n_items, n_tags = len(collection.items), collection.tags.n_tags
            fitted = fit_collection(collection, None, _N_CLUSTERS, progress=bar)
            clusters = collection.runs.clusters(fitted.run.id)
            publish_run(collection, page)
    if as_json:
        print_json(
            {
                "collection": str(path),
                "report": str(page),
                "clusters": [{"name": one.name, "size": one.size} for one in clusters],
            }
        )
        return
    say(f"{n_items} pictures with {n_tags} different tags, in {len(clusters)} clusters:\n")
    print_clusters(clusters)
    say(f"\nThe report with pictures: {safe(page)}")
    say(f"Look closer: manyview show {safe(path)} --cluster {clusters[0].id}")
    say("Your own pictures: manyview init FOLDER")
    if sys.stdout.isatty() and not os.environ.get("MANYVIEW_NO_BROWSER"):
        webbrowser.open(page.resolve().as_uri())
