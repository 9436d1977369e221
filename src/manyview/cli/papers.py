"""``manyview papers``: the tables of the five papers, run again, ours beside theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .talk import print_json, print_table, progress, safe, say, spoken


@spoken
def papers(
    paper: Annotated[
        str | None, typer.Argument(metavar="[PAPER]", help="Which one, or 'all'. Without: the list of papers.")
    ] = None,
    table: Annotated[
        list[str] | None, typer.Option("--table", metavar="N", help="Only this table. Can be given several times.")
    ] = None,
    figure: Annotated[
        list[str] | None, typer.Option("--figure", metavar="N", help="Only this figure. Can be given several times.")
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="COLLECTION", help="Only tables on this collection. Can be given several times."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="FOLDER", help="Where collections that do not ship are: corel5k.npz and others."
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where pages, figures and finished cells are kept.")
    ] = Path("manyview-papers"),
    paper_protocol: Annotated[
        bool,
        typer.Option("--paper-protocol/--defaults", help="Settings as the paper prints them, or our own defaults."),
    ] = True,
    seeds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs of each row. Default: the paper's number.")
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            "--peer",
            metavar="PACKAGE=PYTHON",
            help="An interpreter that has a rival's package which is not installed here: imml=.../bin/python.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small and few: does it all work? Not for numbers.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what an earlier run has finished.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run the tables of the five papers: ours beside theirs, a page for each.

    `manyview papers` lists them and says what can be run with the data at hand. A run that is stopped goes on
    where it was.
    """
    from ..errors import ParameterError
    from ..papers.catalog import asked_for, listing
    from ..papers.sources import Sources
    from ..papers.tables import Scale

    if data is not None and not data.is_dir():
        raise ParameterError(f"--data must be a folder with collections; there is no folder {data}.")
    sources = Sources(data, output / "features", _interpreters(peer or ()))
    numbers = [("table", one) for one in table or ()] + [("figure", one) for one in figure or ()]
    if paper is None and not quick and not numbers and not on:
        _list(listing(sources), as_json)
        return
    scale = Scale("paper" if paper_protocol else "defaults", quick, seeds)
    made, left_out = [], []
    for one, found in asked_for(paper or "all", numbers, on or ()):
        missing = sources.missing(found.needs)
        if missing:
            left_out.append({"paper": one.name, "table": found.name, "on": found.on, "missing": missing})
            if not as_json:
                say(f"{one.name} {found.name} on {found.on}: needs {' and '.join(missing)} (--data FOLDER)")
            continue
        made.append(_run(one.name, found, sources, scale, output, fresh, as_json))
    if as_json:
        print_json({"tables": made, "left_out": left_out})
    elif not made:
        say("nothing of this can be run with the data at hand; `manyview papers` lists what can.")


def _interpreters(peers: Sequence[str]) -> dict[str, str]:
    from ..errors import ParameterError

    found = {}
    for one in peers:
        package, _, python = one.partition("=")
        if not Path(python).is_file():
            raise ParameterError(f"--peer must be PACKAGE=PYTHON with the path of an interpreter, got {one!r}.")
        found[package] = python
    return found


def _list(found: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({"papers": found})
        return
    for paper in found:
        say(f"{paper['name']}: {paper['title']} ({paper['method']})")
        rows = [
            (one["table"], one["on"], "ready" if one["ready"] else f"needs {' and '.join(one['missing'])}")
            for one in paper["tables"]
        ]
        rows += [(one["table"], one["title"], f"not here: {one['why']}") for one in paper["absent"]]
        print_table(("", "", ""), rows)
        say()
    say("Run one with `manyview papers rmkmc --table 5`, everything small with `manyview papers --quick`.")


def _run(paper: str, table: Any, sources: Any, scale: Any, folder: Path, fresh: bool, as_json: bool) -> dict[str, Any]:
    from ..durable import write_file
    from ..papers.results import text
    from ..papers.runner import make_folders, run_table, slug
    from ..report.frame import save_page
    from ..report.papers import paper_page

    make_folders(folder.absolute())
    with progress() as report:
        summary, task = run_table(paper, table, sources, scale, folder.absolute(), report, fresh=fresh)
    summary = {**summary, "command": _command(paper, table, sources, scale)}
    name = slug(paper, table, scale)
    page = folder / f"{name}.html"
    save_page(page, paper_page(summary, task.picture))
    write_file(
        (folder / f"{name}.json").absolute(), [json.dumps(summary, ensure_ascii=False, indent=1).encode() + b"\n"]
    )
    if not as_json:
        say(text(summary))
        say(f"\nwrote {safe(page)}\n")
    return {**summary, "page": str(page)}


def _command(paper: str, table: Any, sources: Any, scale: Any) -> str:
    """What makes the same table again, without the places of this machine."""
    words = ["manyview papers", paper, f"--{table.kind} {table.number}"]
    words += [f"--on {table.on}", *(["--data FOLDER"] if table.needs else [])]
    words += ["--paper-protocol" if scale.as_printed else "--defaults"]
    words += [f"--seeds {scale.seeds}"] if scale.seeds else []
    words += [f"--peer {package}=PYTHON" for package in sources.interpreters]
    return " ".join([*words, *(["--quick"] if scale.quick else [])])
