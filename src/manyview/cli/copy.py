"""``manyview copy``: a whole copy of a collection, while others go on writing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..figures import counted
from .talk import CollectionPath, print_json, progress, safe, say, spoken


@spoken
def copy(
    collection: CollectionPath,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="The copy to make: a folder that does not exist yet.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Copy a collection as it is now, whole, while others may go on writing: a backup.

    Your own files are not part of it.
    """
    from ..workflow.copying import copy_collection

    with progress() as bar:
        made = copy_collection(collection, target, progress=bar)
    if as_json:
        print_json({"copy": str(made.folder), "items": made.n_items, "bytes": made.n_bytes})
    else:
        say(f"copied {counted(made.n_items, 'item')} to {safe(made.folder)} ({made.n_bytes / 1e6:.1f} MB)")
