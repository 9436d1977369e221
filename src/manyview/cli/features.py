"""``manyview features``: compute views of a collection."""

from __future__ import annotations

from typing import Annotated

import typer

from ..figures import counted
from .talk import SOME_BAD, CollectionPath, print_bad, print_json, print_table, progress, safe, say, spoken


@spoken
def features(
    collection: CollectionPath,
    view: Annotated[
        list[str] | None,
        typer.Option(metavar="VIEW", help="View to compute (repeatable). Default: those that --list calls default."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|FOLDER",
            help="An ONNX file of your own for the view 'embedding', or a folder with a pair for pictures and texts.",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Compute the views again, though they are complete.")] = False,
    list_all: Annotated[
        bool, typer.Option("--list", help="Only list the views that are present and those that can be computed.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Threads and child processes. Default: all cores.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask scheduler (tcp://127.0.0.1:8786) whose workers look at the files. They must see them too.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compute views of the items: what pictures look like, what texts say.

    Finished views are kept; an interrupted one continues.
    """
    from ..features.base import extractor_names
    from ..workflow.collection import Collection
    from ..workflow.compute import compute_views, default_views, without_source

    if list_all:
        with Collection.open(collection) as found:
            there = {name: found.segments.info(name) for name in found.view_names}
            wanted, lacking = default_views(found), without_source(found)
        names = [*there, *(name for name in extractor_names() if name not in there and name != "tags")]
        state = {name: "default" if name in wanted else "possible" for name in names}
        state |= {name: f"needs {sort}" for name, sort in lacking.items()} | dict.fromkeys(there, "there")
        if as_json:
            print_json({"views": state})
        else:
            print_table(
                ("view", "state", ">columns"),
                [(name, state[name], there[name].n_columns if name in there else "") for name in names],
            )
        return
    with progress() as bar, Collection.open(collection, write=True) as found:
        done = compute_views(found, view or None, model=model, again=again, n_jobs=jobs, progress=bar, cluster=cluster)
        views = [(name, found.segments.info(name)) for name in found.view_names]
        n_items = len(found.items)
    if as_json:
        print_json(
            {
                "views": {name: {"version": info.version, "columns": info.n_columns} for name, info in views},
                "new_rows": done.rows,
                "duplicates": done.n_duplicates,
                "notes": [note.sentence for note in done.notes],
                "seconds": round(done.seconds, 1),
                "bad": [problem._asdict() for problem in done.bad],
            }
        )
    else:
        say(f"{safe(collection)}: {counted(n_items, 'item')}, {done.seconds:.0f} s")
        rows = [(name, info.n_columns, done.rows.get(name, 0), _short(info.version)) for name, info in views]
        print_table(("view", ">columns", ">new rows", "version"), rows)
        if done.n_duplicates:
            many = f"{done.n_duplicates} pictures repeat others and will be in the same clusters"
            say(f"  {'1 picture repeats another and will be in the same cluster' if done.n_duplicates == 1 else many}")
        for note in done.notes:
            say(f"  {safe(note)}")
    print_bad(done.bad)
    if done.bad:
        raise typer.Exit(SOME_BAD)


def _short(version: str) -> str:
    return version if len(version) <= 24 else f"{version[:24]}..."
