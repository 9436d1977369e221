"""``manyview fit``: cluster a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..figures import counted
from ..workflow.methods_table import DEFAULT_METHOD, method_list
from .show import print_clusters
from .stopping import stopped_at_once
from .talk import SOME_BAD, CollectionPath, print_bad, print_json, progress, safe, say, spoken


@spoken
def fit(
    collection: CollectionPath,
    method: Annotated[str, typer.Option("-m", "--method", metavar="METHOD", help=f"{method_list()}.")] = DEFAULT_METHOD,
    n_clusters: Annotated[
        int | None,
        typer.Option("-k", "--clusters", min=1, metavar="N", help="Number of clusters. Default: chosen from the data."),
    ] = None,
    view: Annotated[
        list[str] | None,
        typer.Option(metavar="VIEW", help="View to use (repeatable). Default: all views and the tags."),
    ] = None,
    annotations: Annotated[
        Path | None,
        typer.Option(metavar="OTHER.manyview", help="For aplsa: OTHER.manyview, whose tags help; it is only read."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same clusters.")] = 0,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Start afresh instead of continuing a run with the same settings (consensus)."),
    ] = False,
    coarser: Annotated[
        bool, typer.Option("--coarser", help="Fewer clusters: go up to the next level of the newest run (consensus).")
    ] = False,
    finer: Annotated[
        bool, typer.Option("--finer", help="More clusters: go down to the next level of the newest run (consensus).")
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="Language of guessed names: en, de, fr, es, it, pt or nl. Default: your locale's."
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads. Default: all cores.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Group the items, name the groups, and keep the result as a run.

    Missing default views are computed first.
    """
    from ..errors import ParameterError
    from ..workflow.clusters.levels import keep_level
    from ..workflow.collection import Collection
    from ..workflow.fit import fit_collection
    from ..workflow.looks import can_have_looks
    from ..workflow.reading.index import Index
    from ..workflow.reading.typical import best_clusters

    if (coarser or finer) and ((coarser and finer) or n_clusters or view or annotations or fresh):
        raise ParameterError(
            "--coarser and --finer move to another level of the newest run; they take no other option."
        )
    with stopped_at_once(), progress() as bar, Collection.open(collection, write=True) as found:
        if coarser or finer:
            fitted = keep_level(found, "coarser" if coarser else "finer", n_jobs=jobs)
        else:
            fitted = fit_collection(
                found,
                method,
                n_clusters,
                views=view or None,
                annotations=annotations,
                seed=seed,
                fresh=fresh,
                language=language,
                n_jobs=jobs,
                progress=bar,
            )
        clusters = best_clusters(Index(found), fitted.run)
        has_tags, can_look = found.tags.n_tags > 0, can_have_looks(found)
    if as_json:
        print_json(
            {
                "run": fitted.run.id,
                "method": fitted.run.method,
                "n_clusters": len(clusters),
                "said": fitted.said,
                "seconds": round(fitted.run.seconds, 1),
                "clusters": [
                    {
                        "cluster": one.id,
                        "labels": list(one.labels),
                        "name": one.name,
                        "guessed": one.is_guess,
                        "size": one.size,
                    }
                    for one in clusters
                ],
                "changes": None if fitted.changes is None else fitted.changes.to_dict(),
                "bad": [problem._asdict() for problem in fitted.computed.bad],
            }
        )
    else:
        n_found = counted(len(clusters), "cluster")
        if fitted.run.figures.get("n_clusters", len(clusters)) != len(clusters):
            n_found += " after your edits"
        say(f"{safe(collection)}, run {fitted.run.id}: {fitted.run.method}, {n_found}, {fitted.run.seconds:.0f} s")
        for line in fitted.said:
            say(f"  {safe(line)}")
        for line in () if fitted.changes is None else fitted.changes.lines():
            say(f"  {safe(line)}")
        say()
        print_clusters(clusters)
        say(f"\nNext: manyview serve {safe(collection)}, to look at them in the browser")
        if has_tags:
            say(f"      manyview suggest {safe(collection)}, for tags that are missing")
        elif can_look:
            say(f"      manyview suggest {safe(collection)} --first-tags, for a first tag for each cluster")
        else:
            say(f"      manyview edit {safe(collection)} tag CLUSTER WORD, to give the items of a cluster a first tag")
    print_bad(fitted.computed.bad)
    if fitted.computed.bad:
        raise typer.Exit(SOME_BAD)
