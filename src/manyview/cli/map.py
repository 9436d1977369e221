"""``manyview map``: lay the items of a run out on a plane, for the gallery."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ..figures import counted
from .stopping import stopped_at_once
from .talk import CollectionPath, print_json, progress, safe, say, spoken


@spoken
def map(
    collection: CollectionPath,
    run: Annotated[int | None, typer.Option(metavar="N", help="Number of the run. Default: the newest.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The same seed gives the same map from the same start.")
    ] = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Lay it out anew instead of going on from the map there is.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make the map that the gallery shows, similar items close together. A fit makes it too; this does it again."""
    from ..workflow.collection import Collection
    from ..workflow.reading.map_layout import make_map

    with stopped_at_once(), progress() as bar, Collection.open(collection, write=True) as found:
        made = make_map(found, run, seed=seed, fresh=fresh, progress=bar)
    if as_json:
        print_json(asdict(made))
    else:
        lacking = f"; {made.n_lacking} items have nothing to be placed by" if made.n_lacking else ""
        n_items = counted(made.n_items, "item")
        say(f"{safe(collection)}, run {made.run}: {n_items} on the map, {made.seconds:.0f} s{lacking}")
