"""``manyview suggest``: the tags that items lack, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .talk import SOME_BAD, print_bad, print_json, print_table, progress, safe, say, spoken

_KEPT = 5
"""Proposals per item that are kept, however few are shown."""
_LINES = (0.9, 0.7, 0.5)


@spoken
def suggest(
    collection: Annotated[Path, typer.Argument(help="NAME.manyview")],
    top: Annotated[int, typer.Option(help="Proposals per item.")] = _KEPT,
    min_score: Annotated[float, typer.Option(help="Only those that are at least so likely, from 0 to 1.")] = 0.0,
    tag: Annotated[str | None, typer.Option(help="Only this tag.")] = None,
    item: Annotated[str | None, typer.Option(help="Only this item, by its name or number.")] = None,
    by: Annotated[str, typer.Option(help="Order of the table: score, item, tag, or informative.")] = "score",
    rows: Annotated[int, typer.Option(help="Rows of the table; 0 shows all.")] = 30,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write all of them to a .csv or .json.")] = None,
    completeness: Annotated[
        float | None, typer.Option(help="The share of the true tags that is recorded, if you know it.")
    ] = None,
    only_open: Annotated[
        bool, typer.Option("--open", help="Compute nothing: list what is still open of the last time.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same proposals.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores when not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Propose the tags that items lack, each with a score and a reason.

    A score is the probability that the tag is right. Nothing is changed until you accept.
    """
    from ..errors import ParameterError
    from ..workflow.collection import Collection
    from ..workflow.suggest import line, open_proposals, suggest_tags
    from ..writeback.proposal_files import shown, write_proposals

    orders = ("score", "item", "tag", "informative")
    if by not in orders:
        raise ParameterError(f"--by must be one of {', '.join(orders)}; got {by!r}.")
    said: list[str] = []
    bad: list[Any] = []
    with progress() as bar, Collection.open(collection, write=not only_open) as found:
        if not only_open:
            done = suggest_tags(
                found, top=max(top, _KEPT), completeness=completeness, seed=seed, n_jobs=jobs, progress=bar
            )
            said, bad = done.said, done.computed.bad
        run = found.runs.get(kind="suggest")
        number = None if item is None else found.items.named(item).id
        order = "informative" if by == "informative" else "certain"
        proposals = open_proposals(found, tag=tag, item=number, min_score=min_score or None, order=order)
        table = shown(found, proposals, top)
        lines = [(p, line(found, p, tag=tag)) for p in _LINES if item is None]
    if by in ("item", "tag"):
        table.sort(key=lambda row: row.id if by == "item" else row.tag)
    if output is not None:
        write_proposals(output, table)
    if as_json:
        print_json(
            {
                "run": run.id,
                "completeness": run.figures.get("completeness"),
                "completeness_source": run.figures.get("completeness_source"),
                "said": said,
                "expected_precision": sum(row.score for row in table) / len(table) if table else None,
                "lines": [{"min_score": p, "n": a.n, "expected_precision": a.expected_precision} for p, a in lines],
                "proposals": [row._asdict() for row in table],
                "bad": [problem._asdict() for problem in bad],
            }
        )
    else:
        say(f"{safe(collection)}, run {run.id}: {len(table)} proposals are open")
        for sentence in said or run.figures.get("said", ()):
            say(f"  {safe(sentence)}")
        say()
        print_proposals(table, rows)
        _print_lines(lines, collection)
        if output is not None:
            say(f"wrote {safe(output)}")
    print_bad(bad)
    if bad:
        raise typer.Exit(SOME_BAD)


def print_proposals(table: list[Any], rows: int = 0) -> None:
    """A line per proposal: item, tag, score, reason."""
    listed = table if rows <= 0 else table[:rows]
    if listed:
        cells = [(row.item, row.tag, f"{row.score:.0%}", row.reason.partition(": ")[2]) for row in listed]
        print_table(("item", "tag", ">score", "reason"), cells)
    if len(listed) < len(table):
        say(f"  ... and {len(table) - len(listed)} more; --rows 0 shows all, -o FILE.csv keeps them")


def _print_lines(lines: list[Any], collection: Path) -> None:
    say()
    for p, above in lines:
        if above.n:
            proposals = "1 proposal" if above.n == 1 else f"{above.n} proposals"
            say(f"  score {p} and above: {proposals}, {above.expected_precision:.0%} of them should be right")
    say(f"  Next: manyview accept {safe(collection)} --min-score 0.9, or --item NAME --tag WORD; or reject, for good")
